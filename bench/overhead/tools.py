"""The profilers that are compared: how each one is started on a program.

A tool is a function from (python, program, output file) to a command line.
All are asked for what they do by default, at the rate in their name; those that measure memory too
are there with and without it.  Those that can follow a program's children are asked to, where it has
some: Heatline and Scalene do by themselves.  All write a profile file; none shows it."""
import common


def plain(python, program, output):
    return [python, program.path, *program.arguments]


def heatline(options=("--cpu-only",)):
    def command(python, program, output):
        return [common.heatline(), "run", "--quiet", *options, "-o", output + ".json",
                "--python", python, program.path, *program.arguments]
    return command


def scalene(options=("--cpu-only",)):
    def command(python, program, output):
        return [common.peer("scalene"), "run", *options, "-o", output + ".json",
                program.path, "---", *program.arguments]
    return command


def memray(options=()):
    def command(python, program, output):
        children = ["--follow-fork"] if program.has_children else []
        return [common.peer("memray"), "run", "-q", *children, *options, "-o", output + ".memray",
                program.path, *program.arguments]
    return command


def fil(python, program, output):
    return [common.peer("fil-profile"), "--no-browser", "-o", output + ".fil", "run", program.path, *program.arguments]


def py_spy(rate):
    def command(python, program, output):
        children = ["--subprocesses"] if program.has_children else []
        return [common.peer("py-spy"), "record", *children, "--rate", str(rate), "--format", "raw",
                "-o", output + ".raw", "--", python, program.path, *program.arguments]
    return command


def austin(python, program, output):
    children = ["--children"] if program.has_children else []
    return [common.peer("austin"), *children, "-i", "1ms", "-o", output + ".austin",
            python, program.path, *program.arguments]


def pyinstrument(python, program, output):
    return [common.peer("pyinstrument"), "-r", "json", "-o", output + ".json", program.path, *program.arguments]


def cprofile(python, program, output):
    return [python, "-m", "cProfile", "-o", output + ".pstats", program.path, *program.arguments]


# name: (command, executable that must run here, PyPI package)
TOOLS = {
    "plain": (plain, None, None),
    "plain-again": (plain, None, None),  # what the machine's own noise makes of nothing at all
    "heatline": (heatline(), None, None),
    "heatline-all": (heatline(()), None, None),  # time, memory and copies: what `heatline run` does
    "scalene": (scalene(), "scalene", "scalene"),
    "scalene-all": (scalene(()), "scalene", "scalene"),
    "memray": (memray(), "memray", "memray"),
    "memray-python": (memray(("--trace-python-allocators",)), "memray", "memray"),
    "fil": (fil, "fil-profile", "filprofiler"),
    "py-spy-100": (py_spy(100), "py-spy", "py-spy"),
    "py-spy-1000": (py_spy(1000), "py-spy", "py-spy"),
    "austin": (austin, "austin", "austin-dist"),
    "pyinstrument": (pyinstrument, "pyinstrument", "pyinstrument"),
    "cprofile": (cprofile, None, None),
}


def find(name):
    """The command function of a tool; "heatline@0.001" is Heatline with that sampling interval."""
    if name.startswith("heatline@"):
        return heatline(("--cpu-only", "--cpu-sampling-rate", name.split("@", 1)[1]))
    return TOOLS[name][0]


def available():
    """Names of the tools that run on this machine, and sentences about those that do not."""
    names, missing = [], []
    for name, (_, executable, _) in TOOLS.items():
        if executable is None or common.runs_here(common.peer(executable)):
            names.append(name)
        else:
            missing.append("%s does not run here and is left out" % name)
    return names, missing


def versions(names):
    """"scalene 2.4.0, py-spy 0.4.3" for those of the tools that have a package."""
    packages = {TOOLS[name][2] for name in names if name in TOOLS and TOOLS[name][2]}
    return ", ".join("%s %s" % (package, common.peer_version(package)) for package in sorted(packages))
