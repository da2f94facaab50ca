"""Bad input gets one sentence that says what is wrong, exit status 2, and harms nothing.

Where the program itself ran, the status is its own, and the sentence says why there is
no profile.
"""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

KEPT = '{"an older": "profile that must stay as it is"}\n'


@pytest.fixture
def kept(tmp_path):
    """A profile of an earlier run, in the way of the new one; must not be touched."""
    path = tmp_path / "kept.json"
    path.write_text(KEPT)
    os.utime(path, (1_000_000_000, 1_000_000_000))
    yield path
    assert path.read_text() == KEPT
    assert path.stat().st_mtime == 1_000_000_000


@pytest.fixture
def good(program):
    """A program that leaves a mark when it runs."""
    return program(
        """
        import pathlib, sys
        pathlib.Path(__file__).with_name("it-ran").touch()
        print("the program ran")
        sys.exit(5)
        """,
        "good.py",
    )


def sentence(stderr: str) -> str:
    """Checks that this is one line, one sentence with our name; returns it."""
    lines = stderr.splitlines()
    assert len(lines) == 1, stderr
    assert re.match(r"heatline: \S", lines[0]), stderr
    assert not lines[0].rstrip().endswith(":"), stderr
    return lines[0]


def assert_refused(done: subprocess.CompletedProcess, *words: str) -> None:
    assert (done.returncode, done.stdout) == (2, ""), (done.returncode, done.stdout, done.stderr)
    text = sentence(done.stderr)
    for word in words:
        assert word in text, text


@pytest.fixture
def elsewhere(tmp_path):
    """A folder for temporary files, in which there are none."""
    path = tmp_path / "elsewhere"
    path.mkdir()
    return path


def assert_rescued(text: str, script: Path, folder: Path) -> None:
    """The profile is in this folder, and the sentence says so."""
    (found,) = folder.iterdir()
    assert text.endswith(f"; the profile is in '{found}' instead"), text
    assert found.stat().st_mode & 0o777 == 0o600
    assert json.loads(found.read_text())["program"] == str(script)


def assert_not_run(script: Path) -> None:
    assert not script.with_name("it-ran").exists()


@pytest.fixture
def future(python, tmp_path):
    """future(is_damaged): a Python 3.99, as its environment; damaged, it describes itself wrongly.

    It is the newest real one with a version of its own, and a copy of its library in which
    the published table of offsets may be overwritten.
    """
    if python.version < (3, 13) or python.is_in_sid:
        pytest.skip("needs a 3.13 or newer that can be changed")
    ask = "import sysconfig as c; print(c.get_config_var('LIBDIR'), c.get_config_var('INSTSONAME'))"
    library = Path(*python.run_plain(["-c", ask]).stdout.split())
    copy = tmp_path / "lib" / library.name
    copy.parent.mkdir()
    source = tmp_path / "version.c"
    source.write_text('const char *Py_GetVersion(void) { return "3.99.0 (to come)"; }\n')
    version = tmp_path / "version.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", version, source], check=True)

    def make(is_damaged: bool) -> dict:
        image = bytearray(library.read_bytes())
        # The table begins with a word and the version; the word is in the code too.
        minor = bytes([python.version[1]])
        table = re.search(rb"xdebugpy..%s\x03\0{4}" % re.escape(minor), image, re.DOTALL)
        if is_damaged and table:
            image[table.start() + 24 : table.start() + 200] = b"\xff" * 176
        copy.write_bytes(bytes(image))
        environment = {"LD_PRELOAD": str(version), "LD_LIBRARY_PATH": str(copy.parent)}
        look = (
            f"import sys; print(sys.version[:4], {str(copy)!r} in open('/proc/self/maps').read())"
        )
        if python.run_plain(["-c", look], env=environment).stdout != "3.99 True\n":
            pytest.skip("this Python does not run when it is changed")
        return environment

    return make


class TestRun:
    """heatline run, before and after the program."""

    @pytest.fixture
    def run(self, any_python, kept, tmp_path):
        def run(*arguments, python=any_python, **options):
            command = ["run", "--python", python.executable, "-o", kept, *arguments]
            return python.heatline(command, cwd=tmp_path, **options)

        return run

    def test_missing_program(self, run):
        assert_refused(run("no_such.py"), "no_such.py")
        assert_refused(run("folder/no such.py", "argument"), "no such.py")
        assert_refused(run("no-such-command"), "no-such-command")

    def test_short_form_of_a_missing_program(self, any_python, tmp_path):
        assert_refused(any_python.heatline(["no_such.py"], cwd=tmp_path), "no_such.py")

    def test_no_program(self, run):
        assert_refused(run(), "program")

    def test_folder_without_main(self, run, tmp_path):
        (tmp_path / "folder").mkdir()
        assert_refused(run(tmp_path / "folder"), "folder")

    @pytest.mark.parametrize(
        "wrong, meant",
        [
            ("--profile-al", "--profile-all"),
            ("--profile-exlude=x", "--profile-exclude"),
            ("--quite", "--quiet"),
            ("--sampling-rate", "--cpu-sampling-rate"),
        ],
    )
    def test_unknown_option_names_the_nearest(self, run, good, wrong, meant):
        assert_refused(run(wrong, good), wrong.split("=")[0], meant)
        assert_not_run(good)

    def test_unknown_option_unlike_any(self, run, good):
        assert_refused(run("--xyzzy", good), "--xyzzy")
        assert_refused(run("-Z", good), "-Z")
        assert_not_run(good)

    @pytest.mark.parametrize(
        "option",
        [
            "--cpu-sampling-rate=fast",
            "--cpu-sampling-rate=-1",
            "--cpu-sampling-rate=0",
            "--cpu-sampling-rate=nan",
            "--cpu-sampling-rate=",
            "--cpu-percent-threshold=200",
            "--profile-interval=-5",
            "--profile-interval=1x",
            "--profile-all=yes",
            "--program-path=no-such-folder",
        ],
    )
    def test_wrong_value(self, run, good, option):
        assert_refused(run(option, good), option.split("=")[0])
        assert_not_run(good)

    def test_option_without_its_value(self, any_python, tmp_path):
        for option in ("-o", "--outfile", "--python", "-c", "-m"):
            assert_refused(any_python.heatline(["run", option], cwd=tmp_path), option)

    def test_interpreter_that_is_none(self, any_python, kept, good, tmp_path):
        for name in ("/no/such/python", "no-such-python", "/bin/ls", str(good), str(tmp_path)):
            done = any_python.heatline(["run", "--python", name, "-o", kept, good], cwd=tmp_path)
            if name == "/bin/ls":  # it runs, lists the script, and never becomes Python
                assert sentence(done.stderr).startswith("heatline: '/bin/ls' ran, but")
            else:
                assert_refused(done, name)
        assert_not_run(good)

    def test_output_folder_missing(self, any_python, good, tmp_path):
        done = any_python.heatline(
            ["run", "--python", any_python.executable, "-o", tmp_path / "no" / "p.json", good]
        )
        assert_refused(done, str(tmp_path / "no"))
        assert_not_run(good)

    def test_output_is_a_folder(self, any_python, good, tmp_path):
        done = any_python.heatline(
            ["run", "--python", any_python.executable, "-o", tmp_path, good], cwd=tmp_path
        )
        assert_refused(done, str(tmp_path))
        assert_not_run(good)

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
    def test_output_folder_not_writable(self, any_python, good, tmp_path):
        locked = tmp_path / "locked"
        locked.mkdir(mode=0o500)
        done = any_python.heatline(
            ["run", "--python", any_python.executable, "-o", locked / "p.json", good]
        )
        assert_refused(done, str(locked))
        assert_not_run(good)

    def test_output_does_not_fit(self, any_python, good, elsewhere):
        """A full device is seen only after the run: the status is the program's."""
        environment = {"TMPDIR": str(elsewhere)}
        full = Path("/dev/full")
        done = any_python.heatline_run(good, options=["--quiet"], outfile=full, env=environment)
        assert (done.returncode, done.stdout) == (5, "the program ran\n")
        assert "/dev/full" in sentence(done.stderr)
        assert_rescued(sentence(done.stderr), good, elsewhere)

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")
    def test_disk_full(self, any_python, program, elsewhere, tmp_path):
        """An older profile survives on a disk that has no room for the new one, which goes elsewhere."""
        if any_python.is_in_sid:
            pytest.skip("the other tree does not see new mounts")
        disk = tmp_path / "disk"
        disk.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk]
        if subprocess.run(mount, stderr=subprocess.DEVNULL).returncode:
            pytest.skip("mounting is not permitted here")
        try:
            (disk / "kept.json").write_text(KEPT)
            with open(disk / "filler", "wb", buffering=0) as filler, pytest.raises(OSError):
                while True:
                    filler.write(bytes(4096))
            script = program("for i in range(2000000): i * i\nprint('the program ran')")
            environment = {"TMPDIR": str(elsewhere)}
            out = disk / "kept.json"
            done = any_python.heatline_run(script, options=["-q"], outfile=out, env=environment)
            assert (done.returncode, done.stdout) == (0, "the program ran\n")
            assert "kept.json" in sentence(done.stderr) and "full" in done.stderr
            assert_rescued(sentence(done.stderr), script, elsewhere)
            assert (disk / "kept.json").read_text() == KEPT
            assert sorted(os.listdir(disk)) == ["filler", "kept.json"]
        finally:
            subprocess.run(["umount", disk], check=True)

    @pytest.mark.parametrize(
        "command, status", [(["true"], 0), (["false"], 1), (["sh", "-c", "exit 3"], 3)]
    )
    def test_program_that_never_becomes_python(self, any_python, kept, command, status):
        done = any_python.heatline(["run", "--quiet", "-o", kept, *command])
        assert (done.returncode, done.stdout) == (status, "")
        assert "Python" in sentence(done.stderr)

    def test_static_executable(self, run, tmp_path):
        """It would ignore the preload, and the profile would be empty: refused at once."""
        source = tmp_path / "still.c"
        source.write_text('#include <stdio.h>\nint main(void) { puts("it ran"); return 3; }\n')
        subprocess.run(["gcc", "-static", "-o", tmp_path / "still", source], check=True)
        assert_refused(run(tmp_path / "still"), "still", "static")

    def test_file_that_is_no_program(self, any_python, tmp_path):
        """It is Python's to say what is wrong with a script."""
        path = tmp_path / "data"
        path.write_bytes(bytes(range(256)))
        plain = any_python.run_plain(path)
        done = any_python.heatline_run(path, options=["--quiet"])
        assert (done.returncode, done.stderr) == (plain.returncode, plain.stderr)

    def test_python_too_old(self, any_python, good, kept, tmp_path):
        """Python 2, if there is one, runs as it is; a sentence says that it is too old."""
        found = [*Path.home().glob(".pyenv/versions/2.7*/bin/python2"), Path("/usr/bin/python2")]
        old = [path for path in found if path.exists()]
        if not old:
            pytest.skip("no Python 2 on this machine")
        script = tmp_path / "old.py"
        script.write_text("print('ran')\n")
        command = ["run", "--quiet", "--python", old[0], "-o", kept, script]
        done = any_python.heatline(command, cwd=tmp_path)
        assert (done.returncode, done.stdout) in ((0, "ran\n"), (2, ""))
        assert re.search(r"2\.7|3\.8", sentence(done.stderr))

    def test_python_too_new(self, python, future, good, kept):
        """A version to come whose published layout does not hold runs, without a profile."""
        environment = future(is_damaged=True)
        done = python.heatline_run(good, options=["--quiet"], outfile=kept, env=environment)
        assert (done.returncode, done.stdout) == (5, "the program ran\n")
        assert "3.99" in sentence(done.stderr)

    def test_python_newer_than_known(self, python, future, program):
        """A version to come that describes itself well is profiled."""
        script = program("def hot():\n    for i in range(3000000):\n        i * i\nhot()\n")
        done = python.heatline_run(script, env=future(is_damaged=False))
        assert done.returncode == 0
        assert done.profile["heatline"]["python"].startswith("3.99")
        assert sum(line["n_cpu_percent_python"] for line in done.lines_of(script).values()) > 50

    @pytest.mark.parametrize(
        "text, words",
        [
            ("cpu-sampling-rate: fast\n", ["cpu-sampling-rate"]),
            ("profile-al: true\n", ["profile-al", "profile-all"]),
            ("- a\n- list\n", ["config.yaml"]),
            ("outfile: [1, 2\n", ["config.yaml"]),
            ("\x00\x01\x02", ["config.yaml"]),
            ("just words\n", ["config.yaml"]),
            ("profile-all: maybe\n", ["profile-all"]),
        ],
        ids=["value", "key", "list", "open", "binary", "words", "boolean"],
    )
    def test_config_that_is_wrong(self, run, good, tmp_path, text, words):
        (tmp_path / "config.yaml").write_text(text)
        assert_refused(run("-c", "config.yaml", good), *words)
        assert_not_run(good)

    def test_config_missing(self, run, good):
        assert_refused(run("-c", "no-such.yaml", good), "no-such.yaml")
        assert_not_run(good)

    def test_agent_missing(self, any_python, good, kept, heatline, tmp_path):
        """Installed without its library: said at once, not after the run."""
        lonely = tmp_path / "heatline"
        lonely.write_bytes(heatline.read_bytes())
        lonely.chmod(0o755)
        command = [lonely, "run", "--python", any_python.executable, "-o", kept, good]
        assert_refused(any_python.run(command), "libheatline-agent")
        assert_not_run(good)


NOT_PROFILES = {
    "empty": b"",
    "spaces": b"  \n\n",
    "words": b"this is not JSON\n",
    "binary": bytes(range(256)),
    "half": b'{"files": {"a.py": {"lines": [{"lineno": 1, "n_cpu_perc',
    "empty object": b"{}",
    "list": b"[]",
    "number": b"17",
    "null": b"null",
    "other object": b'{"name": "package", "version": "1.0"}',
    "files is a number": b'{"files": 3, "elapsed_time_sec": 1.0}',
    "files is a list": b'{"files": [1, 2], "elapsed_time_sec": 1.0}',
    "lines is text": b'{"files": {"a.py": {"lines": "x"}}, "elapsed_time_sec": 1.0}',
    "line is null": b'{"files": {"a.py": {"lines": [null]}}, "elapsed_time_sec": 1.0}',
    "lineno is text": b'{"files": {"a.py": {"lines": [{"lineno": "x"}]}}, "elapsed_time_sec": 1.0}',
    "deep": b"[" * 100000,
    "later schema": b'{"files": {}, "elapsed_time_sec": 1.0, "heatline": {"schema": 999}}',
    "bad utf-8": b'{"files": {"\xff\xfe": {}}}',
}


class TestView:
    """heatline view, with files that are no profiles."""

    @pytest.fixture
    def view(self, any_python, tmp_path):
        return lambda *arguments, **options: any_python.heatline(
            ["view", "--cli", *arguments], cwd=tmp_path, **options
        )

    def test_missing_file(self, view):
        assert_refused(view("no-such.json"), "no-such.json")

    def test_no_default_file(self, view):
        assert_refused(view(), "heatline-profile.json")

    def test_folder(self, view, tmp_path):
        assert_refused(view(tmp_path), str(tmp_path))

    @pytest.mark.parametrize("content", NOT_PROFILES.values(), ids=NOT_PROFILES)
    def test_no_profile(self, view, tmp_path, content):
        path = tmp_path / "given.json"
        path.write_bytes(content)
        assert_refused(view(path), "given.json")
        assert path.read_bytes() == content

    def test_truncated_at_any_place(self, view, any_python, program, tmp_path):
        """A profile cut anywhere is refused, whatever it is cut in the middle of."""
        script = program("for i in range(300000): i * i\n")
        whole = any_python.heatline_run(script).profile_path.read_bytes().rstrip()
        path = tmp_path / "cut.json"
        for share in (0.001, 0.1, 0.5, 0.9, 0.999):
            path.write_bytes(whole[: int(len(whole) * share)])
            assert_refused(view(path), "cut.json")

    def test_numbers_out_of_range(self, view, any_python, program, tmp_path):
        """Absurd figures are refused or shown as something; never a crash."""
        script = program("for i in range(300000): i * i\n")
        profile = any_python.heatline_run(script).profile
        for value in (-1, 1e308, 10**30, None, "x", [], {}, True):
            for key in ("elapsed_time_sec", "alloc_samples", "program", "args"):
                changed = {**profile, key: value}
                path = tmp_path / "changed.json"
                path.write_text(json.dumps(changed))
                done = view(path)
                assert done.returncode in (0, 2), (key, value, done)
                if done.returncode == 2:
                    sentence(done.stderr)

    def test_unknown_option(self, view):
        assert_refused(view("--reducd"), "--reducd", "--reduced")


class TestCommand:
    """heatline itself."""

    def test_unknown_command(self, any_python, tmp_path):
        """A word that is neither a command nor a file: perhaps a mistyped command."""
        assert_refused(any_python.heatline(["veiw"], cwd=tmp_path), "veiw", "view")
        assert_refused(any_python.heatline(["rnu", "x.py"], cwd=tmp_path), "rnu", "run")

    def test_unknown_option(self, any_python):
        assert_refused(any_python.heatline(["--versoin"]), "--versoin", "--version")
