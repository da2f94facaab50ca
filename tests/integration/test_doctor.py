"""heatline doctor: what works here, what does not, and the line that fixes it; in places that were
made to lack something."""

import json
import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest
from test_allocations import find_allocator
from test_gpu import NO_CUPTI, build

from support.paths import heatline_executable
from support.runs import clean_environment, run
from support.seccomp import without

CHECKS = "python run clock waiting memory gpu shared_memory attach page browser suggest left_behind".split()
AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="mounts something, so it needs the right to")

# Nothing of the user's is to decide what the tests see.
NO_KEYS = {
    name: None
    for name in os.environ
    if name.endswith(("_API_KEY", "_BASE_URL", "_ENDPOINT")) or name.startswith(("AWS_", "OLLAMA_"))
}


class Report:
    """What `heatline doctor --json` says."""

    def __init__(self, done):
        assert done.stderr == "", done
        self.status, self.text = done.returncode, done.stdout
        report = json.loads(done.stdout)
        assert set(report) == {"version", "works", "checks"}
        self.works, self.names = report["works"], [check["name"] for check in report["checks"]]
        self.checks = {check["name"]: check for check in report["checks"]}
        assert self.works == (self.status == 0)

    def __getitem__(self, name):
        return self.checks[name]

    def is_(self, name, state, *words, fix=None):
        check = self.checks[name]
        assert check["state"] == state, self.text
        assert all(word in check["text"] for word in words), check
        assert fix is None or fix in (check["fix"] or ""), check
        return check["facts"]


@pytest.fixture
def doctor(any_python, tmp_path):
    """doctor(*words, env={...}, before=lambda command: command): its report, for a user with
    a home of his own; its temporary files are gone."""

    def examine(*words, env=None, before=lambda command: command, python=any_python.executable):
        place = tmp_path / "temporary"
        place.mkdir(exist_ok=True)
        env = {**NO_KEYS, "TMPDIR": str(place), "HOME": str(tmp_path), "XDG_CONFIG_HOME": None, **(env or {})}
        words = [*words, "--python", python] if python else words
        report = Report(run(before([heatline_executable(), "doctor", "--json", *words]), env=env))
        assert list(place.iterdir()) == []
        return report

    return examine


# ---- where all is well ----


@pytest.mark.measures
def test_every_python(python_build):
    done = python_build.heatline(["doctor", "--json", "--python", python_build.executable])
    report = Report(done)
    assert report.names == CHECKS and report.status == 0, report.text
    python = report["python"]["facts"]
    assert python["version"].split(".")[:2] == list(map(str, python_build.version))
    assert python["implementation"] == "cpython" and python["is_free_threaded"] is False
    assert report.is_("run", "ok", "samples")["samples"] > 0
    assert report.is_("memory", "ok")["seen_bytes"] == pytest.approx(4e6, rel=0.3)
    assert report.is_("waiting", "ok")["wait_s"] == pytest.approx(0.07, rel=0.5)


def test_the_text_fits_on_a_screen(heatline, any_python):
    done = run([heatline, "doctor", "--python", any_python.executable], check=True)
    lines = done.stdout.splitlines()
    assert len(lines) <= 24 and all(len(line) <= 100 for line in lines if "fix: " not in line)
    starts = [line.split()[0] for line in lines[:-2] if not line.startswith("   ")]
    assert len(starts) == len(CHECKS) and set(starts) <= {"ok", "limited", "no", "-"}
    assert lines[-1].startswith("heatline run works here") and "\033" not in done.stdout


def test_the_same_interpreter_as_run_chooses(doctor, any_python, tmp_path):
    environment = tmp_path / "venv"
    subprocess.run([any_python.executable, "-m", "venv", "--without-pip", environment], check=True)
    report = doctor(python=None, env={"VIRTUAL_ENV": str(environment)})
    assert report["python"]["facts"]["path"] == str(environment / "bin" / "python3")


@pytest.mark.parametrize("words", [["--jsno"], ["extra"], ["--python"]])
def test_bad_usage(heatline, words):
    done = run([heatline, "doctor", *words])
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith("heatline: ") and done.stderr.count("\n") == 1


# ---- run does not work ----


def test_without_the_agents(doctor, tmp_path):
    (tmp_path / "empty").mkdir()
    report = doctor(env={"HEATLINE_LIBDIR": str(tmp_path / "empty")})
    assert report.status == 1
    report.is_("python", "ok")
    report.is_("run", "no", "libheatline-agent-memory.so", fix="unset HEATLINE_LIBDIR")


def test_an_agent_that_cannot_be_loaded(doctor, tmp_path):
    for name in ("libheatline-agent.so", "libheatline-agent-memory.so"):
        (tmp_path / name).write_text("no library\n")
    report = doctor(env={"HEATLINE_LIBDIR": str(tmp_path)})
    assert report.status == 1
    report.is_("run", "no", "cannot be loaded")


@pytest.mark.parametrize(
    "name, words",
    [("/no/such/python", "no interpreter"), ("/bin/true", "no Python that works"), ("7.7", "no interpreter")],
)
def test_no_python(doctor, name, words):
    report = doctor(python=name)
    assert report.status == 1
    report.is_("python", "no", words, fix="--python")
    report.is_("run", "no", "not tried")
    report.is_("memory", "note")
    report.is_("page", "ok")


def test_a_python_that_fails(doctor, tmp_path):
    python = tmp_path / "python3"
    python.write_text("#!/bin/sh\necho 'Fatal: \033[31mno codec' >&2\nexit 1\n")
    python.chmod(0o755)
    report = doctor(python=str(python))
    assert report.status == 1
    report.is_("python", "no", "Fatal: ?[31mno codec")


def test_a_free_threaded_python(doctor, tmp_path):
    python = tmp_path / "python3"
    python.write_text("#!/bin/sh\necho version 3.14.0\necho is_free_threaded 1\n")
    python.chmod(0o755)
    report = doctor(python=str(python))
    assert report.status == 1
    assert report.is_("python", "no", "free-threaded", fix="--python")["is_free_threaded"] is True
    report.is_("run", "no", "no Python that could be profiled")


# ---- less than there could be ----


def test_perf_events_are_forbidden(doctor):
    report = doctor(before=lambda command: without("perf_event_open", command))
    assert report.status == 0
    facts = report.is_("clock", "limited", "kernel's tick", fix="" if os.geteuid() else "--cap-add PERFMON")
    assert facts["has_perf"] is False and report["run"]["facts"]["clock"] == "CPU timers"
    report.is_("attach", "limited", "system time")


def test_other_processes_cannot_be_read(doctor):
    report = doctor(before=lambda command: without("process_vm_readv", command))
    assert report.status == 0
    report.is_("waiting", "limited", "seccomp", fix="docker run --cap-add SYS_PTRACE")
    report.is_("attach", "no", "seccomp", fix="docker run --cap-add SYS_PTRACE")


@AS_ROOT
@pytest.mark.parametrize(
    "how, place, fix",
    [("size=30m", "/tmp", "size=1g"), ("size=128k", "/tmp", "size=1g"), ("ro", "/tmp", "chmod 1777 /dev/shm")],
)
def test_shared_memory(doctor, how, place, fix):
    mount = f'mount -t tmpfs -o {how} none /dev/shm && exec "$@"'
    if run(["unshare", "-m", "sh", "-c", mount, "sh", "true"]).returncode != 0:
        pytest.skip("nothing may be mounted here")
    report = doctor(before=lambda command: ["unshare", "-m", "sh", "-c", mount, "sh", *command])
    assert report.status == 0
    # In a container the size is the container's.
    fix = "--shm-size" if how.startswith("size") and os.path.exists("/.dockerenv") else fix
    assert report.is_("shared_memory", "limited", fix=fix)["place"] == place


def test_a_folder_for_temporary_files_that_is_not_there(doctor):
    """A run does without it, and so does the trial of one."""
    report = doctor(env={"TMPDIR": "/nosuch"})
    assert report.status == 0
    report.is_("run", "ok")


def test_a_preloaded_allocator_is_named(doctor):
    report = doctor(env={"LD_PRELOAD": find_allocator("jemalloc")})
    assert report.status == 0
    assert "jemalloc" in report.is_("memory", "limited", "jemalloc", fix="-u LD_PRELOAD")["preloaded_allocator"]


WITHOUT_LIBRARIES = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

void *dlopen(const char *name, int flags)
{
	void *(*real)(const char *, int) = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");

	return name && (strstr(name, "libcurl") || strstr(name, "libmicrohttpd")) ? NULL : real(name, flags);
}
"""


def test_libraries_that_are_missing(doctor, tmp_path):
    (tmp_path / "none.c").write_text(WITHOUT_LIBRARIES)
    library = tmp_path / "none.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, tmp_path / "none.c", "-ldl"], check=True)
    report = doctor(env={"LD_PRELOAD": str(library)})
    assert report.status == 0
    is_debian = os.path.exists("/etc/debian_version")
    report.is_("page", "limited", "--html", fix="apt-get install libmicrohttpd12" if is_debian else "libmicrohttpd.so")
    report.is_("suggest", "limited", "--prompt-only", fix="apt-get install libcurl4" if is_debian else "libcurl.so")


def test_a_port_in_use(doctor):
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            taken.bind(("127.0.0.1", 11235))
            taken.listen()
        except OSError:
            pass  # somebody else has it, which does as well
        facts = doctor().is_("page", "ok", "11235 is in use")
    assert facts["is_usual_port"] is False and facts["port"] != 11235


def test_browsers(doctor, tmp_path):
    nowhere = {"DISPLAY": None, "WAYLAND_DISPLAY": None, "BROWSER": None}
    doctor(env=nowhere).is_("browser", "note", "no display")
    doctor(env={**nowhere, "BROWSER": "/bin/true"}).is_("browser", "ok", "/bin/true")
    doctor(env={**nowhere, "BROWSER": "no-such-browser"}).is_("browser", "limited", fix="BROWSER")


def test_keys_are_named_and_never_shown(doctor, tmp_path):
    doctor(env={"OLLAMA_HOST": "127.0.0.1:9"}).is_("suggest", "note", fix="heatline help suggest")
    report = doctor(env={"OPENAI_API_KEY": "sk-hunter22", "OLLAMA_HOST": "127.0.0.1:9"})
    assert report.is_("suggest", "ok", "OpenAI")["providers"] == "OpenAI"
    assert "hunter22" not in report.text
    settings = tmp_path / ".config" / "heatline" / "providers"
    settings.parent.mkdir(parents=True)
    settings.write_text("ANTHROPIC_API_KEY=sk-hunter23\n")
    settings.chmod(0o644)
    report = doctor()
    report.is_("suggest", "limited", str(settings))
    assert "hunter23" not in report.text


# ---- the GPU, by stand-ins ----


@pytest.fixture(scope="module")
def drivers(tmp_path_factory):
    root = tmp_path_factory.mktemp("drivers")
    build(root / "driver", "cuda.c", "libcuda.so.1")
    build(root / "driver", "nvml.c", "libnvidia-ml.so.1")
    build(root / "cupti", "cupti.c", "libcupti.so.13")
    return root


def test_gpu(doctor, drivers):
    report = doctor(env={"LD_LIBRARY_PATH": f"{drivers}/driver:{drivers}/cupti"})
    facts = report.is_("gpu", "ok", "CUPTI")
    assert facts["has_cupti"] is True and facts["devices"] >= 1
    assert facts["cupti"] == f"{drivers}/cupti/libcupti.so.13"
    report.is_("run", "ok")


def test_gpu_without_cupti(doctor, drivers):
    old_driver = {f"DOUBLE_{name.upper()}": str(value) for name, value in NO_CUPTI.items()}
    report = doctor(env={"LD_LIBRARY_PATH": f"{drivers}/driver", **old_driver})
    assert report.status == 0
    report.is_("gpu", "limited", "CUPTI", fix="pip install nvidia-cuda-cupti")


# ---- nothing stays ----


def test_ctrl_c_leaves_nothing_behind(heatline, tmp_path):
    python = tmp_path / "python3"
    python.write_text(f"#!/bin/sh\ntouch {tmp_path}/started\nexec sleep 60\n")
    python.chmod(0o755)
    place = tmp_path / "temporary"
    place.mkdir()
    process = subprocess.Popen(
        [heatline, "doctor", "--python", python], stdout=subprocess.PIPE, env=clean_environment({"TMPDIR": str(place)})
    )
    while not (tmp_path / "started").exists():
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out = process.communicate(timeout=30)[0]
    assert process.returncode == -signal.SIGINT and out == b""
    assert list(Path(place).iterdir()) == []


def test_the_current_folder_is_left_alone(heatline, any_python, tmp_path):
    shutil.copytree(Path(__file__).parent / "doubles", tmp_path / "here")
    before = sorted(os.listdir(tmp_path / "here"))
    run([heatline, "doctor", "--python", any_python.executable], cwd=tmp_path / "here", check=True)
    assert sorted(os.listdir(tmp_path / "here")) == before
