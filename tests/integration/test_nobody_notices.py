"""A program cannot tell that it is profiled: the same output, messages and exit status.

Each program of programs/notice runs plain and under ``heatline run --quiet``;
both streams and the status must be the same to the byte.  The only things made
alike before comparing are addresses, which differ between any two runs.
"""

import difflib
import os
import pty
import re
import select
import signal
import subprocess
import termios
import time
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

import pytest

from support.paths import PROGRAMS, heatline_executable
from support.runs import clean_environment
from support.stacks import stack_nodes
from support.terminals import wait_until_asleep

NOTICE = PROGRAMS / "notice"
STEADY = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0"}


@dataclass
class Case:
    """One way to run one program."""

    id: str
    script: List[Any]
    input: Optional[str] = None
    env: Dict[str, str] = field(default_factory=dict)
    cwd: Optional[Path] = None


def program_case(name: str, *args: str, **more: Any) -> Case:
    return Case("-".join([name, *args]), [NOTICE / f"{name}.py", *args], **more)


EXITS = """
    falls_off exit_none exit_zero exit_three exit_300 exit_negative exit_true exit_message
    exit_tuple exception keyboard_interrupt exit_in_thread exception_in_thread os_exit
    os_exit_in_thread abort segfault unraisable raises_at_exit closed_stdout
    """.split()
SIGNALS = """
    SIGTERM SIGKILL SIGINT SIGPIPE SIGUSR1 SIGHUP SIGCHLD SIGSTKFLT SIGTRAP SIGPROF SIGRTMIN
    SIGXCPU
    """.split()
EXECS = "execv execve_bare execvp_shell exec_in_thread exec_fails posix_spawn exec_again".split()

CASES = [
    *(program_case("exits", how) for how in EXITS),
    *(program_case("kills_itself", number) for number in SIGNALS),
    *(program_case("execs", how) for how in EXECS),
    *(program_case("process_pools", method) for method in ("fork", "spawn", "forkserver")),
    program_case("fault_dumps"),
    program_case("fault_dumps", "segfault"),
    program_case("fault_dumps", "abort"),
    program_case("small_alternate_stack"),
    program_case("every_signal"),
    program_case("handlers_and_children"),
    program_case("signal_masks"),
    program_case("alarms"),
    program_case("interval_timers"),
    program_case("wakeup_fd"),
    program_case("threads"),
    program_case("fork_with_warnings"),
    program_case("forks"),
    program_case("subprocesses"),
    program_case("environment"),
    program_case("prctl"),
    program_case("debugs"),
    program_case("descriptors"),
    program_case("main_module"),
    program_case("recursion"),
    program_case("lazy_memory"),
    program_case("garbage"),
    program_case("tracing"),
    program_case("event_loop"),
    program_case("interpreters"),
    program_case("generators"),
    program_case("warn"),
    Case(
        "warn-by-environment",
        [NOTICE / "warn.py"],
        env={"PYTHONWARNINGS": "error::DeprecationWarning"},
    ),
    program_case("command_line"),
    program_case("command_line", "", "two words", "--help", "-o", "x", "---", "-c", "ünï", "a\nb"),
    Case("reads-empty-stdin", [NOTICE / "reads_stdin.py"], input=""),
    Case("reads-stdin", [NOTICE / "reads_stdin.py"], input="one\ntwo\nthree\nfour"),
    *(
        Case(f"locale-{value}", [NOTICE / "locales.py"], env={"LC_ALL": value, "LANG": value})
        for value in ("C", "POSIX", "C.UTF-8", "no_SUCH.locale")
    ),
    Case("locale-none", [NOTICE / "locales.py"], env={"LC_ALL": None, "LANG": None}),
    Case("locale-utf8-mode", [NOTICE / "locales.py"], env={"LC_ALL": "C", "PYTHONUTF8": "1"}),
    Case("module", ["-m", "package", "an", "argument"], cwd=NOTICE),
    Case("module-in-package", ["-m", "package.inner"], cwd=NOTICE),
    Case("module-missing", ["-m", "no_such_module"], cwd=NOTICE),
    Case("folder", [NOTICE / "package"], env={"PYTHONPATH": str(NOTICE)}),
]


def normalised(output: bytes) -> bytes:
    """Without addresses, which the system chooses anew for every process."""
    return re.sub(rb"0x[0-9a-f]{4,}", b"0xADDRESS", output)


def shell_status(returncode: int) -> int:
    """The status as a shell shows it: 128 + n for a death by signal n."""
    return returncode if returncode >= 0 else 128 - returncode


def outcome(done: subprocess.CompletedProcess) -> List[str]:
    """All that can be seen of a run from outside, as lines."""
    lines = [f"status {shell_status(done.returncode)}"]
    for name, stream in (("stdout", done.stdout), ("stderr", done.stderr)):
        text = normalised(stream).decode("utf-8", "backslashreplace")
        lines += [f"{name}: {line}" for line in text.split("\n")]
    return lines


def assert_same(profiled: subprocess.CompletedProcess, plain: subprocess.CompletedProcess) -> None:
    change = difflib.unified_diff(
        outcome(plain), outcome(profiled), "plain", "profiled", n=1, lineterm=""
    )
    text = "\n".join(change)
    assert not text, text


def assert_unnoticed(python, case: Case, cwd: Path) -> None:
    options = dict(
        input=None if case.input is None else case.input.encode(),
        text=False,
        env={**STEADY, **case.env},
        cwd=case.cwd or cwd,
    )
    plain = python.run_plain(case.script, **options)
    profiled = python.heatline_run(case.script, options=["--quiet"], **options)
    assert_same(profiled, plain)
    assert profiled.profile["heatline"]


@pytest.mark.parametrize(
    "case", CASES, ids=lambda case: case.id.encode("ascii", "replace").decode()
)
def test_program(python, case, tmp_path):
    if case.id == "interpreters" and python.version < (3, 9):
        pytest.skip("3.8's interpreters within interpreters are not stable by themselves")
    assert_unnoticed(python, case, tmp_path)


@pytest.mark.parametrize("wanted", ["one", "few", "strict"])
@pytest.mark.parametrize("found, call", [("linked", "prctl"), ("by_name", "syscall")])
def test_program_that_forbids_itself_system_calls(python, tmp_path, found, call, wanted):
    """Under a filter that would end it for ours none is made; the profile says what is missing."""
    script = NOTICE / "forbids.py"
    options = dict(text=False, env=STEADY, cwd=tmp_path)
    plain = python.run_plain(script, found, call, wanted, **options)
    profiled = python.heatline_run(script, [found, call, wanted], ["--quiet"], **options)
    assert_same(profiled, plain)
    assert (b"computed" if wanted == "strict" else b"installed 0") in plain.stdout
    assert "before" in {node.function for node in stack_nodes(profiled.profile)}
    assert [w for w in profiled.profile["heatline"]["quality"]["warnings"] if "seccomp" in w]


def test_program_that_has_system_calls_fail(python, tmp_path):
    """A filter that does not kill does no harm: all goes on being measured."""
    script = NOTICE / "forbids.py"
    options = dict(text=False, env=STEADY, cwd=tmp_path)
    plain = python.run_plain(script, "linked", "prctl", "fail", **options)
    profiled = python.heatline_run(script, ["linked", "prctl", "fail"], ["--quiet"], **options)
    assert_same(profiled, plain)
    assert {"before", "compute"} <= {node.function for node in stack_nodes(profiled.profile)}
    assert not [w for w in profiled.profile["heatline"]["quality"]["warnings"] if "seccomp" in w]


def heatline_command(python, arguments: List[str], cwd: Path, **options: Any):
    """heatline run --quiet python3 arguments…"""
    outfile = ["-o", cwd / "profile.json"]
    command = ["run", "--quiet", *outfile, python.executable, *arguments]
    return python.heatline(command, cwd=cwd, **options)


@pytest.mark.parametrize(
    "arguments",
    [
        ["-c", "import sys; print(sys.argv, sys.path[0] == '', sys.flags); sys.exit(4)", "a", "-m"],
        ["-c", "1 // 0"],
        ["-X", "importtime", "-c", "pass"],
        ["-I", "-S", "-B", "-c", "import sys; print(sys.flags, sorted(sys.modules))"],
        ["-E", "-W", "error", "-O", str(NOTICE / "command_line.py"), "x"],
        ["-V"],
        ["--no-such-option"],
        [str(NOTICE / "no_such_program.py")],
    ],
    ids=["code", "error", "x_option", "isolated", "options", "version", "bad_option", "missing"],
)
def test_command_line_of_python(python, arguments, tmp_path):
    """``heatline run python3 …``: whatever Python itself accepts or refuses."""
    plain = python.run([python.executable, *arguments], text=False, env=STEADY, cwd=tmp_path)
    profiled = heatline_command(python, arguments, tmp_path, text=False, env=STEADY)
    if "importtime" in arguments:
        plain.stderr, profiled.stderr = (
            re.sub(rb"[ \d]+\|", b"|", done.stderr) for done in (plain, profiled)
        )
    assert_same(profiled, plain)


@pytest.mark.parametrize(
    "arguments", [["-"], [], ["-i"], ["-i", "-c", "x = 5"]], ids="dash none i i_code".split()
)
def test_program_on_stdin(python, arguments, tmp_path):
    code = b"import sys\nprint(sys.argv, __name__, sys.flags.interactive)\nprint(*vars())\n1//0\n"
    options = dict(input=code, text=False, env=STEADY)
    plain = python.run([python.executable, *arguments], cwd=tmp_path, **options)
    profiled = heatline_command(python, arguments, tmp_path, **options)
    assert_same(profiled, plain)


BODY = "import sys, time\nend = time.process_time() + .05\nwhile time.process_time() < end: pass\n"


def write_latin1(folder: Path) -> Path:
    path = folder / "latin1.py"
    path.write_bytes(
        ("# -*- coding: latin-1 -*-\n" + BODY + "print(ascii('äöü'))\ngröße = 1 // 0\n").encode(
            "latin-1"
        )
    )
    return path


def write_utf8_sig(folder: Path) -> Path:
    path = folder / "signed.py"
    path.write_text(
        BODY + "größe = 'ß'\nprint(ascii(größe))\nraise ValueError(größe)\n", encoding="utf-8-sig"
    )
    return path


def write_badly_encoded(folder: Path) -> Path:
    path = folder / "bad.py"
    path.write_bytes(BODY.encode() + b"x = '\xff'\n")
    return path


def write_crlf(folder: Path) -> Path:
    path = folder / "crlf.py"
    path.write_bytes((BODY + "print(1)\n1 // 0").replace("\n", "\r\n").encode())
    return path


def write_non_ascii_name(folder: Path) -> Path:
    path = folder / "größe 数.py"
    path.write_text(BODY + "print(ascii(__file__), ascii(sys.argv))\n1 // 0\n", encoding="utf-8")
    return path


def write_undecodable_name(folder: Path) -> str:
    path = os.fsdecode(os.fsencode(folder) + b"/\xff\xfe.py")
    with open(path, "w") as file:
        file.write(BODY + "print(ascii(__file__))\n")
    return path


def write_spaces(folder: Path) -> Path:
    path = folder / "a folder  with spaces" / "a 'quoted' \"program\".py"
    path.parent.mkdir()
    path.write_text(BODY + "print(sys.argv, sys.path[0])\n1 // 0\n")
    return path


def write_no_suffix(folder: Path) -> Path:
    path = folder / "program"
    path.write_text(BODY + "print(sys.argv)\nsys.exit(5)\n")
    return path


def write_zip(folder: Path) -> Path:
    path = folder / "application.pyz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(
            "__main__.py", BODY + "import helper\nprint(__file__, sys.argv)\nhelper.fail()\n"
        )
        archive.writestr("helper.py", "def fail():\n    raise RuntimeError('in a zip file')\n")
    return path


def write_empty(folder: Path) -> Path:
    path = folder / "empty.py"
    path.write_bytes(b"")
    return path


def write_syntax_error(folder: Path) -> Path:
    path = folder / "wrong.py"
    path.write_text("print(1)\ndef f(:\n")
    return path


@pytest.mark.parametrize(
    "write",
    [
        write_latin1,
        write_utf8_sig,
        write_badly_encoded,
        write_crlf,
        write_non_ascii_name,
        write_undecodable_name,
        write_spaces,
        write_no_suffix,
        write_zip,
        write_empty,
        write_syntax_error,
    ],
    ids=lambda write: write.__name__.replace("write_", ""),
)
def test_source_file(python, write, tmp_path):
    assert_unnoticed(python, Case(write.__name__, [write(tmp_path), "argument"]), tmp_path)


def test_relative_paths_stay_relative(python, tmp_path):
    folder = tmp_path / "below"
    folder.mkdir()
    (folder / "it.py").write_text(
        "import sys, os\nprint(sys.argv, sys.path[0], os.getcwd(), os.environ.get('PWD'))\n"
    )
    for script in ("it.py", "./it.py", "../below/it.py", "../below/../below//it.py"):
        assert_unnoticed(python, Case(script, [script]), folder)


def test_virtual_environment(python, tmp_path):
    """A virtual environment's interpreter finds its own folder, as it does by itself."""
    made = python.run_plain(["-m", "venv", "--without-pip", "--symlinks", tmp_path / "env"])
    if made.returncode:
        pytest.skip("this Python cannot make a virtual environment")
    inside = type(python)(python.version, str(tmp_path / "env" / "bin" / "python"), python.prefix)
    assert_unnoticed(inside, program_case("command_line"), tmp_path)


def test_own_preload_is_kept(python, tmp_path):
    """A library that the user preloads is still loaded, and LD_PRELOAD still names it."""
    source = tmp_path / "mine.c"
    source.write_text("int mine(void) { return 42; }\n")
    library = tmp_path / "mine.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, source], check=True)
    code = (
        "import ctypes, os; print(ctypes.CDLL(None).mine(), 'mine.so' in os.environ['LD_PRELOAD'])"
    )
    script = tmp_path / "program.py"
    script.write_text(code)
    assert_unnoticed(python, Case("preload", [script], env={"LD_PRELOAD": str(library)}), tmp_path)


def test_detached_process_goes_on(python, tmp_path):
    """What the program leaves running finishes its work, and nobody waits for it."""
    results = []
    for number, run in enumerate(
        (
            python.run_plain,
            lambda script, *args, **options: python.heatline_run(
                script, args, options=["--quiet"], **options
            ),
        )
    ):
        path = tmp_path / str(number)
        results.append(run(NOTICE / "daemon.py", path, text=False, cwd=tmp_path))
        deadline = time.monotonic() + 30
        while not path.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        assert path.read_text() == "finished by the daemon"
    assert_same(results[1], results[0])


def lead_session(command: List[str], cwd: Path) -> None:
    """Runs the command as a shell would; never returns.

    A terminal drops what it has not passed on yet when its session's leader ends, and at
    Ctrl-C.  So somebody else leads, ends a little later, and the second is forbidden.
    """
    attributes = termios.tcgetattr(0)
    attributes[3] |= termios.NOFLSH
    termios.tcsetattr(0, termios.TCSANOW, attributes)
    signal.signal(signal.SIGINT, lambda number, frame: None)
    environment = clean_environment({**STEADY, "TERM": "dumb"})
    status = subprocess.Popen(command, cwd=cwd, env=environment).wait()
    time.sleep(0.3)
    os._exit(shell_status(status))


def in_terminal(
    command: List[str], typing: List[Tuple[bytes, bytes]], cwd: Path
) -> Tuple[bytes, int]:
    """Runs a command in a terminal of its own; returns what it showed and its status.

    ``typing`` is what to wait for and what to type then.
    """
    pid, terminal = pty.fork()
    if pid == 0:
        lead_session(command, cwd)
    shown = b""
    left = list(typing)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if select.select([terminal], [], [], 1)[0]:
            try:
                shown += os.read(terminal, 65536)
            except OSError:
                break
        if left and left[0][0] in shown:
            wait_until_asleep(terminal)
            os.write(terminal, left.pop(0)[1])
    os.close(terminal)
    # the terminal sends the signal before it echoes ^C: what the program says meanwhile
    # may stand on either side of it, with Heatline or without
    return normalised(shown.replace(b"^C", b"")), os.WEXITSTATUS(os.waitpid(pid, 0)[1])


IN_TERMINAL = """
import os, sys, time, signal
print([os.isatty(fd) for fd in range(3)], os.get_terminal_size(), os.ttyname(0) == os.ttyname(1))
print("foreground", os.tcgetpgrp(0) == os.getpgrp())
answer = input("what> ")
print("answer", repr(answer))
if answer == "wait":
    try:
        print("asleep")
        time.sleep(30)
    except KeyboardInterrupt:
        print("interrupted")
        sys.exit(9)
"""


TYPINGS = {
    "line": [(b"> ", b"hello\n")],
    "end_of_file": [(b"> ", b"\x04")],
    "interrupt": [(b"> ", b"\x03")],
    "interrupt_while_waiting": [(b"> ", b"wait\n"), (b"asleep", b"\x03")],
}


@pytest.mark.parametrize("typing", TYPINGS.values(), ids=TYPINGS)
def test_in_a_terminal(python, program, typing, tmp_path):
    """On a terminal: prompts, typing lines, end of file, Ctrl-C."""
    script = program(IN_TERMINAL)
    plain = in_terminal(python.command([python.executable, script]), typing, tmp_path)
    words = ["run", "--quiet", "--python", python.executable, "-o", tmp_path / "profile.json", script]
    profiled = in_terminal(python.command([heatline_executable(), *words]), typing, tmp_path)
    assert profiled == plain
    assert (tmp_path / "profile.json").exists()
