"""The programs that are profiled, each some 2-5 s of CPU time, with deterministic work.

Our own stand in programs/ and take one argument, the scale of the work.  Those of pyperformance
are run where pip installed them, in its own worker mode (one process, a fixed number of loops)."""
import glob
import os

import common

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs")
HAVE_CHILDREN = {"prefork_server", "process_pool", "subprocess_io"}
PYPERFORMANCE = {"raytrace": 6, "pprint": 1, "deepcopy": 1500}  # name: loops


class Program:
    def __init__(self, name, path, arguments, is_ours):
        self.name = name
        self.path = path
        self.arguments = arguments
        self.is_ours = is_ours  # its output is the same each time
        self.has_children = name in HAVE_CHILDREN


def empty():
    """The program for the start-up time."""
    return Program("empty", os.path.join(FOLDER, "empty.py"), [], True)


def collect(scale):
    """All programs that can run here, by name; numpy and pyperformance need bench/setup-peers."""
    found = {}
    for path in sorted(glob.glob(os.path.join(FOLDER, "*.py"))):
        name = os.path.basename(path)[:-3]
        if name != "empty" and (name != "numpy_mix" or common.peer("python")):
            found[name] = Program(name, path, [str(scale)], True)
    for name, loops in PYPERFORMANCE.items():
        pattern = "lib/python3*/site-packages/pyperformance/data-files/benchmarks/bm_%s/run_benchmark.py" % name
        for path in glob.glob(os.path.join(common.PEERS, pattern)):
            count = str(max(1, int(loops * scale)))
            arguments = ["--worker", "--loops", count, "--warmups", "0", "--values", "1"]
            found["pyperformance-" + name] = Program("pyperformance-" + name, path, arguments, False)
    return found
