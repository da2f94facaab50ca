"""The command line: help, completions, man page, config files, and what wrong words get."""

import os
import re
import shutil
import signal
import subprocess

import pytest

from support.paths import SRC
from support.runs import run
from support.terminals import read_all

# The list that the executable is built with.
COMMANDS = re.findall(r"^\t&command_(\w+),", (SRC / "cli" / "commands.c").read_text(), re.M)


def on_terminal(argv, env):
    """What a command prints on a terminal of its own."""
    leader, follower = os.openpty()
    process = subprocess.Popen(argv, stdout=follower, stderr=follower, env={**os.environ, **env})
    os.close(follower)
    text = read_all(leader)
    process.wait(timeout=30)
    return text.decode()


# ---- help ----


def test_without_words_heatline_shows_help_and_fails(heatline):
    done = run([heatline])
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("usage: heatline")


@pytest.mark.parametrize("words", [["--help"], ["-h"], ["help"]])
def test_the_overview_names_every_command(heatline, words):
    done = run([heatline, *words], check=True)
    assert done.stderr == ""
    for command in COMMANDS:
        assert f"\n  {command} " in done.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(heatline, command):
    by_option = run([heatline, command, "--help"], check=True)
    by_command = run([heatline, "help", command], check=True)
    assert by_option.stdout == by_command.stdout
    assert by_option.stdout.startswith(f"usage: heatline {command} ")
    assert "--help" in by_option.stdout
    assert all(len(line) <= 80 for line in by_option.stdout.splitlines())
    assert "\033" not in by_option.stdout


def test_the_two_helps_share_no_option(heatline):
    few = run([heatline, "run", "--help"], check=True).stdout
    others = run([heatline, "run", "--help-advanced"], check=True).stdout
    assert "--outfile FILE" in few and "--outfile" not in others
    assert "--cpu-sampling-rate" in others and "--cpu-sampling-rate" not in few
    assert "--gpu" in others and "--gpu" not in few


def test_help_of_the_threshold_names_all_that_a_file_is_listed_for(heatline):
    run_help, attach_help = (
        " ".join(run([heatline, command, "--help-advanced"], check=True).stdout.split())
        for command in ("run", "attach")
    )
    rule = "share of the time, working or waiting"
    assert f"{rule}, of the GPU's time and of the memory's peak (and see" in run_help
    assert f"{rule}. Default: 1." in attach_help


def test_help_is_coloured_on_a_terminal_unless_forbidden(heatline):
    coloured = {"TERM": "xterm", "NO_COLOR": ""}
    assert "\033[1;36m" in on_terminal([heatline, "run", "--help"], coloured)
    assert "\033" not in on_terminal([heatline, "run", "--help"], {**coloured, "NO_COLOR": "1"})
    assert "\033" not in on_terminal([heatline, "run", "--help"], {**coloured, "TERM": "dumb"})


def test_version(heatline):
    assert run([heatline, "--version"], check=True).stdout.startswith("heatline ")


def test_output_that_cannot_be_written_is_a_failure(heatline):
    with open("/dev/full", "w") as full:
        done = subprocess.run([heatline, "run", "--help"], stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 1
    assert b"cannot write" in done.stderr


# ---- what is made from the option tables ----


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completions_are_valid(heatline, shell, tmp_path):
    script = tmp_path / "completions"
    script.write_text(run([heatline, "completions", shell], check=True).stdout)
    if not shutil.which(shell):
        pytest.skip(f"no {shell} on this machine")
    run([shell, "-n", script], check=True)


@pytest.mark.parametrize(
    "words, wanted",
    [
        (["r"], {"run", "recover"}),
        (["run", "--profile-o"], {"--profile-only"}),
        (["run", "--no-s"], {"--no-stacks"}),
        (["run", "-o", "two w"], {"two words.json"}),
        (["run", "--cpu-sampling-rate", ""], set()),
        (["completions", ""], {"bash", "zsh", "fish"}),
        (["help", ""], set(COMMANDS)),
        (["view", "--color", "a"], {"auto", "always"}),
    ],
)
def test_bash_completes(heatline, words, wanted, tmp_path):
    (tmp_path / "two words.json").touch()
    completions = run([heatline, "completions", "bash"], check=True).stdout
    ask = 'COMP_WORDS=(heatline "$@"); COMP_CWORD=$#; _heatline; printf "%s\\n" "${COMPREPLY[@]}"'
    done = run(["bash", "-c", completions + ask, "bash", *words], cwd=tmp_path, check=True)
    assert set(done.stdout.split("\n")) - {""} == wanted


def test_completions_need_a_known_shell(heatline):
    for words in ([], ["tcsh"], ["bash", "zsh"]):
        done = run([heatline, "completions", *words])
        assert done.returncode == 2
        assert "bash|zsh|fish" in done.stderr


def test_the_man_page(heatline, tmp_path):
    page = tmp_path / "heatline.1"
    page.write_text(run([heatline, "help", "--man"], check=True).stdout)
    for words in ([".SH NAME"], [".SH EXIT STATUS"], ["\\-\\-cpu\\-sampling\\-rate SECONDS"]):
        assert words[0] in page.read_text()
    if not shutil.which("groff"):
        pytest.skip("no groff on this machine")
    done = run(["groff", "-man", "-ww", "-Tascii", page], check=True)
    assert done.stderr == ""
    assert "profile Python programs, line by line" in done.stdout


# ---- wrong words ----


@pytest.mark.parametrize(
    "words, sentence",
    [
        (["rnu", "x.py"], "there is no command 'rnu'; did you mean 'heatline run'?"),
        (["nosuch"], "'nosuch' is neither a command nor a file"),
        (["nosuch.py"], "there is no file 'nosuch.py'"),
        (["--nosuch"], "unknown option '--nosuch'"),
        (["help", "veiw"], "did you mean 'heatline view'?"),
        (["run"], "name the program to profile"),
        (["run", "--profile-onyl", "x", "p.py"], "did you mean '--profile-only'?"),
        (["run", "--html", "p.py"], "unknown option '--html'; it is one of 'heatline view'"),
        (["view", "--no-stacks"], "unknown option '--no-stacks'; it is one of 'heatline run'"),
        (["mcp", "--folder", "nosuch"], "'nosuch' cannot be entered: No such file or directory"),
        (["run", "--outfile"], "--outfile needs a FILE"),
        (["run", "-o", "nosuch/p.json", "p.py"], "'nosuch' does not exist"),
        (["run", "-o", ".", "p.py"], "it is a folder"),
        (["run", "--cpu-sampling-rate", "0", "p.py"], "a number from 0.0001 to 10"),
        (["run", "--malloc-threshold", "-1", "p.py"], "from 0 to 1000000000000, not"),
        (["run", "--allocation-sampling-window", "1", "p.py"], "from 256 to 1073741824, not"),
        (["run", "--gpu", "--cpu-only", "p.py"], "--gpu and --cpu-only exclude each other"),
        (["run", "--python", "nosuch", "p.py"], "there is no interpreter 'nosuch'"),
        (["run", "--program-path", "p.py", "p.py"], "is not a folder"),
        (["run", "-c", "nosuch.yaml", "p.py"], "there is no config file 'nosuch.yaml'"),
        (["run", "-m"], "-m needs the name of a module"),
    ],
)
def test_wrong_words_get_one_sentence(heatline, program, tmp_path, words, sentence):
    program("print('started')", "p.py")
    done = run([heatline, *words], cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("heatline: ")
    assert done.stderr.count("\n") == 1
    assert sentence in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["p.py"]


@pytest.mark.parametrize(
    "text, sentence",
    [
        ("outfle: x", "c.yaml:1: unknown key 'outfle'; did you mean 'outfile'?"),
        ("quiet: true\nstacks: 7", "c.yaml:2: stacks is true or false, not '7'"),
        ("outfile: [", "c.yaml:2: this is not YAML"),
        ("just words", "is no list of options"),
    ],
)
def test_wrong_config_files_get_one_sentence(heatline, program, tmp_path, text, sentence):
    program("print('started')", "p.py")
    (tmp_path / "c.yaml").write_text(text + "\n")
    done = run([heatline, "run", "-c", "c.yaml", "p.py"], cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert sentence in done.stderr


# ---- running ----

PROGRAM = """
    import sys
    print(sys.argv[1:])
    sys.exit(7)
"""


@pytest.mark.parametrize(
    "words, seen",
    [
        (["run", "p.py", "-o", "--quiet"], ["-o", "--quiet"]),
        (["p.py", "a"], ["a"]),
        (["run", "p.py", "---", "--help"], ["--help"]),
        (["run", "---", "p.py", "a"], ["a"]),
        (["-m", "p", "a"], ["a"]),
        (["run", "-q", "-m", "p", "-m"], ["-m"]),
        (["--quiet", "p.py"], []),
        (["run", "PYTHON", "-u", "p.py", "a"], ["a"]),
    ],
)
def test_the_ways_to_name_a_program(heatline, any_python, program, tmp_path, words, seen):
    program(PROGRAM, "p.py")
    python = str(any_python.executable)
    words = [python if word == "PYTHON" else word for word in words]
    done = run(
        [heatline, *words],
        cwd=tmp_path,
        env={"PATH": f"{os.path.dirname(python)}:{os.environ['PATH']}"},
    )
    assert done.stdout == f"{seen}\n"
    assert done.returncode == 7


@pytest.mark.parametrize("words", [["-", "a"], ["run", "-q", "-", "a"], ["-q", "-", "a"]])
def test_a_program_from_stdin(heatline, any_python, tmp_path, words):
    path = f"{os.path.dirname(any_python.executable)}:{os.environ['PATH']}"
    done = run([heatline, *words], cwd=tmp_path, env={"PATH": path}, input="import sys; print(sys.argv)")
    assert (done.returncode, done.stdout) == (0, "['-', 'a']\n")


def test_a_config_file_sets_what_the_command_line_does_not(heatline, any_python, program, tmp_path):
    program("sum(range(3_000_000))", "p.py")
    (tmp_path / "c.yaml").write_text(
        f"outfile: from-config.json\npython: {any_python.executable}\nquiet: true\n"
    )
    done = run([heatline, "run", "-c", "c.yaml", "p.py"], cwd=tmp_path, check=True)
    assert done.stderr == ""
    assert (tmp_path / "from-config.json").exists()
    run([heatline, "run", "-c", "c.yaml", "-o", "given.json", "p.py"], cwd=tmp_path, check=True)
    assert (tmp_path / "given.json").exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV])
def test_heatline_ends_by_the_programs_signal(heatline, any_python, program, tmp_path, number):
    script = program(f"import os; os.kill(os.getpid(), {int(number)})")
    done = run([heatline, "run", "--python", any_python.executable, script], cwd=tmp_path)
    assert done.returncode == -number


def test_a_version_that_pyenv_has_installed(heatline, any_python, program, tmp_path):
    """Its stand-ins start only what is switched on."""
    script = program("import sys; print(sys.executable)")
    shims, version = tmp_path / "shims", "%d.%d" % any_python.version
    shims.mkdir()
    for name in ("python3", f"python{version}"):
        (shims / name).write_text("#!/bin/sh\nexit 127\n")
        (shims / name).chmod(0o755)
    for folder in (f"{version}.2", f"{version}.10", f"{version}0.1", f"{version}.10-broken"):
        (tmp_path / "versions" / folder / "bin").mkdir(parents=True)
    for folder in (f"{version}.2", f"{version}.10", f"{version}0.1"):
        wrapper = tmp_path / "versions" / folder / "bin" / "python"
        wrapper.write_text(f'#!/bin/sh\necho {folder}\nexec "{any_python.executable}" "$@"\n')
        wrapper.chmod(0o755)
    search = {"PATH": f"{shims}:{os.environ['PATH']}"}
    for asked, taken in ((version, f"{version}.10"), (f"{version}.2", f"{version}.2")):
        done = run([heatline, "run", "--python", asked, script], cwd=tmp_path, env=search, check=True)
        assert done.stdout.split()[0] == taken, asked
    # Where it is not on the PATH, it is asked for where it installs.
    elsewhere = {"PATH": "/usr/bin:/bin", "PYENV_ROOT": str(tmp_path)}
    done = run([heatline, "run", "--python", f"{version}.2", script], cwd=tmp_path, env=elsewhere, check=True)
    assert done.stdout.split()[0] == f"{version}.2"


def test_the_interpreter_of_the_active_environment_is_taken(heatline, any_python, program, tmp_path):
    script = program("import sys; print(sys.prefix)")
    environment = tmp_path / "environment"
    run([any_python.executable, "-m", "venv", "--without-pip", environment], check=True)
    done = run([heatline, script], cwd=tmp_path, env={"VIRTUAL_ENV": str(environment)}, check=True)
    assert done.stdout.strip() == str(environment)
    named = run([heatline, "run", "--python", environment, script], cwd=tmp_path, check=True)
    assert named.stdout == done.stdout
