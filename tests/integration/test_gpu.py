"""GPU work by line, with stand-ins for NVIDIA's libraries.

The stand-ins (doubles/) are test doubles: no GPU is needed, and every way in which the real
libraries fail can be had.  What a real GPU does is in tests/gpu.
"""

import json
import subprocess
from pathlib import Path

import pytest

from support.package import environment

DOUBLES = Path(__file__).parent / "doubles"
MB = 1 << 20

HEAD = """\
import ctypes, os, sys, threading, time
from ctypes import c_long

cuda = ctypes.CDLL("libcuda.so.1")
cuda.cuInit(0)
"""


def build(folder, source, name, *flags):
    folder.mkdir(parents=True, exist_ok=True)
    command = ["gcc", "-shared", "-fPIC", "-Wall", "-Werror", "-o", folder / name, DOUBLES / source]
    subprocess.run([*command, f"-Wl,-soname,{name}", *flags, "-ldl", "-lpthread"], check=True)


@pytest.fixture(scope="session")
def doubles(tmp_path_factory):
    """Folders with the stand-ins: driver (with NVML), cupti, cupti-lacking."""
    root = tmp_path_factory.mktemp("doubles")
    build(root / "driver", "cuda.c", "libcuda.so.1")
    build(root / "nvml", "nvml.c", "libnvidia-ml.so.1")
    build(root / "cupti", "cupti.c", "libcupti.so.13")
    build(root / "foreign", "foreign.c", "libforeign.so", f"-L{root / 'cupti'}", "-l:libcupti.so.13")
    build(root / "cupti-lacking", "cupti.c", "libcupti.so.13", "-DWITHOUT_FLUSH_PERIOD")
    return root


class Gpu:
    """Runs programs under Heatline with some of the stand-ins."""

    def __init__(self, python, program, doubles):
        self.python, self.program, self.doubles = python, program, doubles

    def run(self, body, *folders, options=(), injection=None, **settings):
        script = self.program(HEAD + body)
        path = ":".join(str(self.doubles / name) for name in ("driver", *folders))
        env = {"LD_LIBRARY_PATH": path, **{f"DOUBLE_{k.upper()}": str(v) for k, v in settings.items()}}
        if injection:
            env["CUDA_INJECTION64_PATH"] = injection
        done = self.python.heatline_run(script, options=options, env=env)
        assert done.returncode == 0, done.describe()
        return done


@pytest.fixture
def gpu(python_build, program, doubles):
    return Gpu(python_build, program, doubles)


@pytest.fixture
def one_gpu(any_python, program, doubles):
    """For what is the same on every Python."""
    return Gpu(any_python, program, doubles)


def line_with(done, text):
    found = [line for line in done.lines_of("program.py").values() if text in line["line"]]
    assert len(found) == 1, f"{text}: {found}"
    return found[0]


WORK = """
def small():
    for _ in range(500):
        cuda.double_launch(0, 100, 1)

def main():
    cuda.double_memory(0, c_long(512 << 20), 1)
    cuda.double_copy(0, 5000, c_long(10 << 20), 1)  # to
    small()
    cuda.double_copy(0, 2000, c_long(3 << 20), 2)  # from
    cuda.double_launch(0, 1000, 7)  # graph
    cuda.double_runtime_launch(0, 4000)  # runtime
    cuda.double_synchronise(0)
    cuda.double_memory(0, c_long(512 << 20), 0)

main()
"""


def test_work_is_booked_to_the_line_that_launched_it(gpu):
    done = gpu.run(WORK, "cupti")
    whole = done.profile["heatline"]["gpu"]
    assert whole["source"] == "cupti" and whole["note"] is None
    small = line_with(done, "double_launch(0, 100, 1)")
    assert small["gpu_launches"] == 500 and small["gpu_kernel_s"] == pytest.approx(0.05)
    assert small["n_gpu_percent"] == pytest.approx(100 * 0.05 / 0.068, abs=0.01)
    to, back = line_with(done, "# to"), line_with(done, "# from")
    assert to["gpu_copy_s"] == pytest.approx(0.005) and to["gpu_to_device_mb"] == 10
    assert to["gpu_copied_mb"] == 10 and to["gpu_from_device_mb"] == 0 and to["gpu_launches"] == 0
    assert back["gpu_copy_s"] == pytest.approx(0.002) and back["gpu_from_device_mb"] == 3
    graph = line_with(done, "# graph")
    assert graph["gpu_launches"] == 7 and graph["gpu_s"] == pytest.approx(0.007)
    assert line_with(done, "# runtime")["gpu_s"] == pytest.approx(0.004)
    assert whole["kernel_s"] == pytest.approx(0.061) and whole["copy_s"] == pytest.approx(0.007)
    assert whole["launches"] == 508 and whole["copied_mb"] == 13


def test_memory_and_devices(gpu):
    done = gpu.run(WORK, "cupti")
    whole = done.profile["heatline"]["gpu"]
    assert done.profile["gpu"] is True and done.profile["gpu_device"] == "Double GPU 0"
    (device,) = whole["devices"]
    assert device["name"] == "Double GPU 0" and device["memory_mb"] == 8192
    assert device["peak_memory_mb"] == 512 and whole["alloc_mb"] == 512
    assert line_with(done, "c_long(512 << 20), 1)")["gpu_alloc_mb"] == 512
    small = line_with(done, "double_launch(0, 100, 1)")
    assert small["n_gpu_avg_memory_mb"] == small["n_gpu_peak_memory_mb"] == 512
    assert max(whole["memory_mb"]) == 512
    assert len(whole["memory_mb"]) == len(whole["utilisation"]) <= 200


def test_busy_idle_and_waiting(gpu):
    done = gpu.run(
        """
def load():
    end = time.time() + 0.4
    while time.time() < end: pass  # load

for _ in range(2):
    cuda.double_launch(0, 200000, 1)
    cuda.double_synchronise(0)
    load()
cuda.double_launch(0, 1000, 1)
cuda.double_synchronise(0)
load()  # behind the last work
""",
        "cupti",
    )
    whole = done.profile["heatline"]["gpu"]
    assert whole["busy_s"] == pytest.approx(0.401, rel=0.02)
    assert whole["idle_s"] >= 0.78
    # A part of the loading lies behind the last work, and is no idling.  What the thread stood ready
    # without a CPU is booked later than it was, some of it there.
    load = line_with(done, "# load")
    assert 0.4 * whole["idle_s"] < load["gpu_idle_s"] < 1.25 * whole["idle_s"]
    sync = [l for l in done.lines_of("program.py").values() if "synchronise" in l["line"]]
    # Of 0.4 s, less what the program stood ready without a CPU between launch and wait.
    assert sync[0]["gpu_waits"] == 2 and sync[0]["gpu_wait_s"] >= 0.3
    assert sync[0]["gpu_idle_s"] < 0.2 * sync[0]["gpu_wait_s"]
    assert whole["waits"] == 3
    assert max(whole["utilisation"]) > 50


def test_a_thread_without_python_works_for_the_one_that_waits(gpu):
    """Autograd's threads launch what backward() in another thread asked for."""
    done = gpu.run(
        """
def backward():
    cuda.double_launch(0, 10, 1)  # as backward() does itself
    cuda.double_engine(0, 1000, 20)  # backward

def step():
    cuda.double_launch(0, 500, 1)  # forward
    backward()

for _ in range(5):
    step()
cuda.double_synchronise(0)
""",
        "cupti",
    )
    assert line_with(done, "# backward")["gpu_s"] == pytest.approx(0.1, rel=0.01)
    assert line_with(done, "# forward")["gpu_s"] == pytest.approx(0.0025, rel=0.01)


FOREIGN = """
for _ in range(20):
    cuda.double_launch(0, 100, 1)  # before
print("begun", begin(), flush=True)
for _ in range(30):
    cuda.double_launch(0, 100, 1)  # within
print("saw", end(), flush=True)
time.sleep(0.5)
"""

LINKED = """
foreign = ctypes.CDLL("libforeign.so")
begin, end = foreign.foreign_begin, foreign.foreign_end
"""

# Looks CUPTI's functions up by name, as some profilers do.
BY_NAME = """
cupti = ctypes.CDLL("libcupti.so.13")
handle = ctypes.c_void_p()
def begin():
    return cupti.cuptiSubscribe(ctypes.byref(handle), None, None)
def end():
    return 30
"""


@pytest.mark.parametrize("how", ["linked", "by name"])
def test_the_programs_own_profiler_gets_cupti(one_gpu, how):
    done = one_gpu.run((LINKED if how == "linked" else BY_NAME) + FOREIGN, "cupti", "foreign", "nvml")
    assert "begun 0" in done.stdout and "saw 30" in done.stdout, done.describe()
    whole = done.profile["heatline"]["gpu"]
    assert "uses CUPTI itself" in whole["note"] and whole["source"] == "nvml"
    assert line_with(done, "# before")["gpu_launches"] == 20
    assert line_with(done, "# within").get("gpu_launches", 0) == 0
    assert line_with(done, "time.sleep(0.5)")["gpu_s"] > 0.1  # 60 % of the time, by samples


def test_the_users_own_injection_stays(one_gpu, tmp_path):
    done = one_gpu.run("time.sleep(2)", "cupti", "nvml", injection=str(tmp_path / "nsys.so"))
    whole = done.profile["heatline"]["gpu"]
    assert whole["source"] == "nvml" and "CUDA_INJECTION64_PATH" in whole["note"]


def test_buffers_that_come_late_and_in_any_order(one_gpu):
    """CUPTI gives a buffer back when it is full, or at the end; one thread's before another's."""
    done = one_gpu.run(
        """
def load():
    end = time.time() + 0.05
    while time.time() < end: pass  # load

for _ in range(30):
    load()
    cuda.double_copy(0, 2000, c_long(1 << 20), 1)
    cuda.double_launch(0, 3000, 1)
    cuda.double_synchronise(0)
""",
        "cupti",
        buffers=2,
    )
    whole = done.profile["heatline"]["gpu"]
    assert whole["busy_s"] == pytest.approx(whole["gpu_s"], rel=0.01) == pytest.approx(0.15, rel=0.01)
    assert whole["idle_s"] >= 29 * 0.05
    assert line_with(done, "# load")["gpu_idle_s"] > 0.6 * 29 * 0.05


# ---- what the reader is told ----


STARVED = """
def load():
    end = time.time() + 0.05
    while time.time() < end: pass  # load

def main():
    for _ in range(20):
        load()
        cuda.double_launch(0, 8000, 1)  # step
        cuda.double_copy(0, 500, c_long(4 << 20), 1)
        cuda.double_synchronise(0)

main()
"""


def test_the_report_names_the_line_that_starves_the_gpu(one_gpu):
    done = one_gpu.run(STARVED, "cupti")
    assert "GPU busy " in done.stderr and "idle while Python ran" in done.stderr, done.describe()
    assert "while time.time() < end" in done.stderr.split("GPU busy")[1].splitlines()[0]
    report = one_gpu.python.heatline(["view", "--cli", done.profile_path], env={"COLUMNS": "150"}).stdout
    head, section = report.split("\nGPU  busy ", 1)
    step = next(line for line in head.splitlines() if "# step" in line)
    assert " GPU " in head and ("94%" in step or "95%" in step)
    section = section.split("\n\nMemory")[0]
    assert "Double GPU 0  busy" in section and "20 kernels" in section and "80 MB to the device" in section
    busy, rest = section.split("Kept it busy")[1].split("Ran while it was idle")
    idle, waits = rest.split("Blocked until it had finished")
    assert "# step" in busy.splitlines()[1] and "# load" in idle.splitlines()[1]
    assert "20 times" in waits and "double_synchronise" in waits
    (advice,) = [a for a in done.profile["heatline"]["advice"] if a["rule"] == "gpu-idle"]
    assert advice["line"] == line_with(done, "# load")["lineno"]


def test_exports_by_gpu_time(one_gpu):
    done = one_gpu.run(STARVED, "cupti")
    export = ["export", "-o", "-", done.profile_path]
    stacks = one_gpu.python.heatline([*export, "--format", "collapsed", "--metric", "gpu"]).stdout
    assert sum(int(line.split()[-1]) for line in stacks.splitlines()) == 170000, stacks
    head, *rows = one_gpu.python.heatline([*export, "--format", "csv"]).stdout.splitlines()
    assert ",gpu_s,gpu_launches,gpu_copied_bytes,gpu_wait_s,gpu_idle_s,source" in head
    assert any(",0.160000,20,0,0.000000," in row for row in rows if "# step" in row), rows


def test_two_runs_compared(one_gpu):
    slower = WORK.replace("double_launch(0, 100, 1)", "double_launch(0, 300, 1)")
    before, after = (one_gpu.run(body, "cupti").profile_path for body in (WORK, slower))
    text = one_gpu.python.heatline(["diff", before, after]).stdout
    (total,) = [line for line in text.splitlines() if line.startswith("  GPU time")]
    assert "68 ms" in total and "0.17 s" in total and "within noise" not in total
    assert "double_launch(0, 300, 1)" in text.split("More GPU time")[1].split("\n\n")[0]


def test_without_a_gpu_nothing_is_said_of_one(any_python, program):
    done = any_python.heatline_run(program("for i in range(3000000): pass\n"))
    assert "gpu" not in done.profile["heatline"] and "GPU" not in done.stderr
    assert "GPU" not in any_python.heatline(["view", "--cli", done.profile_path]).stdout
    refused = any_python.heatline(["export", "--format", "svg", "--metric", "gpu", done.profile_path])
    assert refused.returncode == 2 and "no GPU figures" in refused.stderr


# ---- what goes wrong ----

# A driver so old that no CUPTI goes with it, whatever is installed.
NO_CUPTI = {"driver": 10020}


@pytest.mark.parametrize(
    "folders, settings, note",
    [
        ((), NO_CUPTI, "CUPTI is not installed"),
        (("cupti-lacking",), {}, "lacks functions"),
        (("cupti",), {"version": 10}, "too old"),
        (("cupti",), {"subscribe": 39}, "another profiler has CUPTI"),
        (("cupti",), {"subscribe": 999}, "CUPTI_ERROR_UNKNOWN"),
        (("cupti",), {"enable": 35}, "administrator only"),
        (("cupti",), {"enable": 14}, "does not fit the driver"),
    ],
)
def test_without_cupti_utilisation_is_sampled(one_gpu, folders, settings, note):
    body = """
end = time.time() + 1.2
while time.time() < end: pass  # busy
"""
    done = one_gpu.run(body, "nvml", *folders, **settings)
    whole = done.profile["heatline"]["gpu"]
    assert whole["source"] == "nvml" and note in whole["note"]
    assert whole["launches"] == 0 and whole["devices"][0]["name"] == "Double GPU 0"
    assert whole["devices"][0]["peak_memory_mb"] == 300
    assert 50 < max(whole["utilisation"]) < 70  # the stand-in says 60 %
    busy = line_with(done, "# busy")
    assert busy["gpu_s"] > 0.3 and busy["gpu_kernel_s"] == 0 and busy["n_gpu_percent"] > 50
    assert busy["n_gpu_peak_memory_mb"] == 300


def test_neither_cupti_nor_nvml(one_gpu):
    done = one_gpu.run("time.sleep(0.3)", **NO_CUPTI)
    assert "gpu" not in done.profile["heatline"]
    (warning,) = [w for w in done.profile["heatline"]["quality"]["warnings"] if "CUDA" in w]
    assert "CUPTI is not installed" in warning


def test_records_that_make_no_sense(one_gpu):
    body = """
for _ in range(2000): cuda.double_launch(0, 1, 1)  # more than a buffer
time.sleep(0.5)
"""
    done = one_gpu.run(body, "cupti", "nvml", nonsense=1)
    whole = done.profile["heatline"]["gpu"]
    assert "not understood" in whole["note"] and whole["launches"] == 0 and whole["source"] == "nvml"
    done = one_gpu.run("cuda.double_launch(0, 1, 100)", "cupti", nonsense=1)
    assert any("not understood" in w for w in done.profile["heatline"]["quality"]["warnings"])


@pytest.mark.parametrize("settings, word", [({"devices": 0}, "there is none"), ({"init": 9}, "error 9")])
def test_insisting_where_there_is_no_gpu(any_python, program, doubles, settings, word):
    env = {"LD_LIBRARY_PATH": str(doubles / "nvml"), **{f"DOUBLE_{k.upper()}": str(v) for k, v in settings.items()}}
    done = any_python.heatline_run(program("print(1)\n"), options=["--gpu"], env=env)
    assert done.returncode == 2 and word in done.stderr and "1\n" not in done.stdout


# ---- several of them ----


def test_two_devices(one_gpu):
    done = one_gpu.run(
        """
cuda.double_memory(1, c_long(256 << 20), 1)
for _ in range(10):
    cuda.double_launch(0, 20000, 1)  # first
    cuda.double_launch(1, 10000, 1)  # second
    cuda.double_synchronise(0)
""",
        "cupti",
    )
    whole = done.profile["heatline"]["gpu"]
    devices = {d["name"]: d for d in whole["devices"]}
    assert devices["Double GPU 0"]["busy_s"] == pytest.approx(0.2, rel=0.02)
    assert devices["Double GPU 1"]["busy_s"] == pytest.approx(0.1, rel=0.02)
    assert devices["Double GPU 1"]["peak_memory_mb"] == 256 and devices["Double GPU 1"]["memory_mb"] == 9216
    # They work side by side: together as long as the one that is busier.
    assert whole["busy_s"] == pytest.approx(0.2, rel=0.1) and whole["gpu_s"] == pytest.approx(0.3, rel=0.01)
    assert line_with(done, "# second")["gpu_s"] == pytest.approx(0.1, rel=0.01)


def test_a_child_process(one_gpu):
    """A fresh interpreter begins CUDA anew; one that was forked from a user of CUDA leaves it alone."""
    done = one_gpu.run(
        """
import subprocess
if len(sys.argv) > 1:
    for _ in range(30):
        cuda.double_launch(0, 1000, 1)  # child
else:
    cuda.double_launch(0, 5000, 1)  # parent
    if os.fork() == 0:
        cuda.double_launch(0, 7000, 1)
        os._exit(0)
    os.wait()
    subprocess.run([sys.executable, __file__, "child"], check=True)
""",
        "cupti",
    )
    whole = done.profile["heatline"]["gpu"]
    assert len(whole["devices"]) == 1  # one card, whoever uses it
    assert line_with(done, "# child")["gpu_launches"] == 30
    assert line_with(done, "# parent")["gpu_launches"] == 1
    assert whole["kernel_s"] == pytest.approx(0.035, rel=0.01)


SESSIONS = """\
import ctypes, json, sys
import heatline

cuda = ctypes.CDLL("libcuda.so.1")
libc = ctypes.CDLL(None)
libc.getenv.restype = ctypes.c_char_p
foreign = ctypes.CDLL("libforeign.so") if sys.argv[1] == "foreign" else None

def work():
    for _ in range(100):
        cuda.double_launch(0, 100, 1)  # launch

def session():
    heatline.start()
    if sys.argv[1] == "later":
        cuda.cuInit(0)
    if foreign:
        foreign.foreign_begin()
    work()
    cuda.double_synchronise(0)
    profile = heatline.stop()
    gpu = profile.data["heatline"].get("gpu") or {}
    at = [line.gpu_s for line in profile.lines if "# launch" in line.text]
    return [gpu.get("source"), gpu.get("note"), round(sum(at), 6)]

if sys.argv[1] != "later":
    cuda.cuInit(0)
seen = []
for _ in range(1 if foreign else 3):
    work()  # not measured
    seen.append(session())
print(json.dumps([seen, libc.getenv(b"CUDA_INJECTION64_PATH") is None, foreign and foreign.foreign_end()]))
"""


def session_facts(one_gpu, when, *folders):
    path = ":".join(str(one_gpu.doubles / name) for name in ("driver", "cupti", *folders))
    env = {"LD_LIBRARY_PATH": path, **environment()}
    done = one_gpu.python.run_plain(one_gpu.program(SESSIONS), when, env=env)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("when", ["before", "later"])
def test_sessions(one_gpu, when):
    """CUDA in use already, or begun within the first session; each has its own work and no other."""
    sessions, is_clean, _ = session_facts(one_gpu, when)
    assert sessions == [["cupti", None, 0.01]] * 3
    assert is_clean


def test_a_profiler_of_the_program_comes_first_in_a_session(one_gpu):
    sessions, _, told = session_facts(one_gpu, "foreign", "foreign")
    assert sessions == [[None, None, 0]]
    assert told == 100
