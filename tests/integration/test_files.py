"""The files of a run: descriptors that are closed, outputs that are in the way or do not fit."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from support.runs import clean_environment

HOT = """
    total = 0
    for i in range(3000000):
        total += i * i % 7
    """


@pytest.fixture
def hot(program):
    return program(HOT, "hot.py")


@pytest.fixture
def shell(any_python, heatline, tmp_path):
    """shell(line, word…): the line in bash, in which "$@" is heatline with these words."""
    return lambda line, *words, **options: any_python.run(
        ["bash", "-c", line, "bash", heatline, *words], cwd=tmp_path, **options
    )


DESCRIPTORS = """
    import os, sys

    def state(fd):
        try:
            return os.fstat(fd).st_mode
        except OSError as error:
            return error.errno

    for i in range(2000000):
        i * i
    with open(sys.argv[1], "w") as out:
        states = [state(fd) for fd in range(20)]
        print(states, [file is None for file in (sys.stdin, sys.stdout, sys.stderr)], file=out)
    """


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&-", "<&- >&- 2>&-"])
def test_closed_descriptors(any_python, program, shell, tmp_path, closed):
    """The program finds them closed, and what heatline opens does not end up in their place."""
    script = program(DESCRIPTORS)
    profile = tmp_path / "p.json"
    words = ["bash", any_python.executable, script, tmp_path / "plain"]
    plain = any_python.run(["bash", "-c", '"$@" ' + closed, *words])
    words = ["--python", any_python.executable, "-o", profile, script, tmp_path / "seen"]
    done = shell('"$@" ' + closed, "run", "-q", *words)
    assert (done.returncode, done.stdout, done.stderr) == (plain.returncode, "", "")
    assert (tmp_path / "seen").read_text() == (tmp_path / "plain").read_text()
    assert str(script) in json.loads(profile.read_text())["files"]


def test_report_to_a_closed_descriptor(any_python, shell, hot):
    """It is not lost without a word."""
    profile = any_python.heatline_run(hot).profile_path
    done = shell('"$@" >&-', "view", "--cli", profile)
    assert done.returncode == 1
    assert "could not be written" in done.stderr


class TestEmptyProfile:
    """One without a line does not replace one that has some."""

    @pytest.mark.measures
    @pytest.mark.parametrize("text", ["import nonexistent_module\n", "def broken(:\n", "pass\n"])
    def test_a_good_one_is_left(self, any_python, hot, program, tmp_path, text):
        profile = tmp_path / "p.json"
        any_python.heatline_run(hot, outfile=profile)
        good = profile.read_bytes()
        script = program(text, "short.py")
        done = any_python.heatline_run(script, options=["--cpu-only"], outfile=profile)
        assert done.returncode == any_python.run_plain(script).returncode
        assert f"so '{profile}' is left as it was" in done.stderr
        reasons = ("could be sampled", "in the files that are reported")
        assert sum(done.stderr.count(reason) for reason in reasons) == 1, done.stderr
        assert "Saved to" not in done.stderr
        assert profile.read_bytes() == good

    def test_time_elsewhere_only(self, any_python, hot, tmp_path):
        profile = tmp_path / "p.json"
        any_python.heatline_run(hot, outfile=profile)
        good = profile.read_bytes()
        work = ["-c", "import sys, timeit; timeit.timeit('sum(range(1000))', number=30000)"]
        command = ["run", "-q", "-o", profile, any_python.executable, *work]
        done = any_python.heatline([*command[:2], "--profile-only=nowhere", *command[2:]])
        assert done.returncode == 0
        assert "--profile-all" in done.stderr and "left as it was" in done.stderr
        assert profile.read_bytes() == good

    def test_where_there_was_nothing(self, any_python, program, tmp_path):
        """It is written: the figures of the whole run are in it."""
        profile = tmp_path / "p.json"
        profile.touch()
        done = any_python.heatline_run(program("pass\n"), options=["-q"], outfile=profile)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.profile["files"] == {}


def assert_refused(done, *words):
    """One sentence, status 2."""
    assert (done.returncode, done.stdout) == (2, ""), done
    assert len(done.stderr.splitlines()) == 1 and done.stderr.startswith("heatline: "), done
    for word in words:
        assert word in done.stderr, done


class TestOutputInTheWay:
    """-o does not replace what is no output, and nothing that is read."""

    @pytest.fixture
    def profile(self, any_python, hot, tmp_path):
        return any_python.heatline_run(hot, outfile=tmp_path / "p.json").profile_path

    @pytest.mark.parametrize("form", ["hot.py", "./hot.py", "link.py"])
    def test_program_itself(self, any_python, hot, tmp_path, form):
        (tmp_path / "link.py").symlink_to(hot)
        text = hot.read_text()
        done = any_python.heatline(["run", "-o", form, "hot.py"], cwd=tmp_path)
        assert_refused(done, form, "the program itself")
        assert hot.read_text() == text

    @pytest.mark.parametrize("command", ["run", "merge"])
    def test_something_else(self, any_python, hot, profile, tmp_path, command):
        notes = tmp_path / "notes.txt"
        notes.write_text("\n  to be kept\n")
        given = {"run": hot, "merge": profile}[command]
        done = any_python.heatline([command, "-o", notes, given])
        assert_refused(done, "notes.txt", "not a profile")
        assert notes.read_text() == "\n  to be kept\n"

    def test_attach(self, any_python, tmp_path):
        notes = tmp_path / "notes.txt"
        notes.write_text("kept")
        done = any_python.heatline(["attach", "-o", notes, str(os.getpid())])
        assert_refused(done, "notes.txt", "not a profile")
        assert notes.read_text() == "kept"

    @pytest.mark.parametrize("words", [["view", "--html"], ["export", "-f", "speedscope"]])
    def test_input(self, any_python, profile, words):
        before = profile.read_bytes()
        assert_refused(any_python.heatline([*words, profile, "-o", profile]), "p.json", "is read")
        assert profile.read_bytes() == before

    def test_page_over_another_profile(self, any_python, profile, tmp_path):
        other = tmp_path / "other.json"
        other.write_text("{}")
        assert_refused(any_python.heatline(["view", "--html", profile, "-o", other]), "not a page")
        assert other.read_text() == "{}"

    def test_export_over_a_program(self, any_python, hot, profile):
        text = hot.read_text()
        words = ["export", "-f", "svg", profile, "-o", hot]
        assert_refused(any_python.heatline(words), "hot.py", "not an export")
        assert hot.read_text() == text

    def test_py_spy(self, any_python, hot, heatline, tmp_path):
        name = tmp_path / "py-spy"
        name.symlink_to(heatline)
        text = hot.read_text()
        words = ["record", "-o", hot, "--", any_python.executable, hot]
        assert_refused(any_python.run([name, *words]), "the program itself")
        assert hot.read_text() == text

    def test_own_kind_is_replaced(self, any_python, hot, profile, tmp_path):
        page = tmp_path / "page.html"
        page.write_text("<!doctype html>\n")
        assert any_python.heatline(["view", "--html", profile, "-o", page]).returncode == 0
        assert page.stat().st_size > 10000
        assert any_python.heatline(["merge", profile, "-o", profile]).returncode == 0
        profile.write_text("\ufeff \n{}", encoding="utf-8")
        done = any_python.heatline_run(hot, options=["-q"], outfile=profile)
        assert (done.returncode, done.stderr) == (0, "")
        assert str(hot) in done.profile["files"]

    def test_what_holds_nothing(self, any_python, hot, tmp_path):
        (tmp_path / "blank").write_text(" \n")
        for name in ("/dev/null", tmp_path / "blank"):
            done = any_python.heatline_run(hot, options=["-q"], outfile=name)
            assert (done.returncode, done.stderr) == (0, "")

    def test_fifo(self, any_python, hot, tmp_path):
        os.mkfifo(tmp_path / "fifo")
        with subprocess.Popen(["cat", tmp_path / "fifo"], stdout=subprocess.PIPE) as reader:
            done = any_python.heatline_run(hot, options=["-q"], outfile=tmp_path / "fifo")
            assert (done.returncode, done.stderr) == (0, "")
            assert str(hot) in json.load(reader.stdout)["files"]


@pytest.mark.parametrize(
    "line",
    [
        '"$@" -o /dev/stdout hot.py',
        '"$@" -o >(cat >&2) hot.py',
        '"$@" -o /proc/self/fd/2 hot.py',
        '"$@" -o /dev/fd/5 hot.py 5>p.json',
    ],
)
def test_output_is_a_descriptor(shell, hot, line):
    """The profile would be written when it is closed: said before the program runs."""
    assert_refused(shell(line, "run"), "descriptor")


class TestPipes:
    """A profile may come through a pipe, a part at a time."""

    SLOWLY = "{ head -c 100; sleep 0.3; cat; } < p.json"

    @pytest.mark.parametrize(
        "line",
        [SLOWLY + ' | "$@" /dev/stdin', f'"$@" <({SLOWLY})', f'"$@" /dev/fd/3 3< <({SLOWLY})'],
    )
    def test_profile(self, any_python, hot, shell, tmp_path, line):
        any_python.heatline_run(hot, outfile=tmp_path / "p.json")
        done = shell(line, "view", "--cli")
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == shell('"$@" p.json', "view", "--cli").stdout

    def test_nobody_writes(self, any_python, shell, tmp_path):
        os.mkfifo(tmp_path / "fifo")
        assert_refused(shell('"$@" fifo', "view", "--cli", timeout=20), "it is empty")
        assert_refused(shell('"$@" <(:)', "view", "--cli", timeout=20), "it is empty")


def test_output_folder_is_removed_meanwhile(any_python, program, tmp_path):
    """The summary names the file that there is."""
    folder, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.mkdir()
    script = program(f"import os\nfor i in range(2000000): i * i\nos.rmdir({str(folder)!r})\n")
    environment = {"TMPDIR": str(elsewhere)}
    done = any_python.heatline_run(script, outfile=folder / "p.json", env=environment)
    assert done.returncode == 0
    (found,) = elsewhere.iterdir()
    assert f"'{folder}' does not exist; the profile is in '{found}' instead" in done.stderr
    assert f"Saved to {found}" in done.stderr
    assert str(script) in json.loads(found.read_text())["files"]


def test_attach_to_a_full_device(any_python, program, tmp_path):
    script = program("import sys\nprint('ready', flush=True)\nwhile True: sum(range(1000))\n")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    words = ["attach", "-q", "-d", "0.5", "-o", "/dev/full"]
    with subprocess.Popen([any_python.executable, script], stdout=subprocess.PIPE) as target:
        try:
            target.stdout.readline()
            environment = {"TMPDIR": str(elsewhere)}
            done = any_python.heatline([*words, str(target.pid)], env=environment)
        finally:
            target.kill()
    (found,) = elsewhere.iterdir()
    assert_refused(done, "/dev/full", f"the profile is in '{found}' instead")
    assert str(script) in json.loads(found.read_text())["files"]


def unfinished_folders():
    """Of runs that did not get as far as a whole control page."""
    pages = [page for place in ("/dev/shm", "/tmp") for page in Path(place).glob("heatline-*/control")]
    return {page for page in pages if page.stat().st_size == 0}


@pytest.mark.alone
def test_files_may_not_be_large(shell, hot):
    """Not even the control page: said before the program runs, and nothing stays behind."""
    before = unfinished_folders()
    assert_refused(shell('ulimit -f 1; "$@" hot.py', "run", "-o", "/dev/null"), "ulimit -f")
    assert unfinished_folders() <= before


def test_program_is_still_ended_by_large_files(any_python, program, shell):
    """It is only heatline that overlooks the signal; Python does too, but not what it starts."""
    program(
        """
        import signal, subprocess
        done = subprocess.run(["sh", "-c", "ulimit -f 1; head -c 100000 /dev/zero > large"])
        print(signal.getsignal(signal.SIGXFSZ), done.returncode)
        """,
        "large.py",
    )
    plain = shell(f"{any_python.executable} large.py")
    done = shell('"$@" large.py', "run", "-q", "--python", any_python.executable)
    assert (done.returncode, done.stdout) == (0, plain.stdout)


def run_with_small_disks(any_python, heatline, script, outfile, mounts):
    """heatline run where these places have little room: {place: size}."""
    mount = "mount -t tmpfs -o size={} tmpfs {} || exit 77; "
    inner = "".join(mount.format(size, place) for place, size in mounts.items())
    words = [heatline, "run", "-q", "--python", any_python.executable, "-o", outfile, script]
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", inner + 'exec "$@"', "sh", *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env=clean_environment({"TMPDIR": None}),
        timeout=60,
    )
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip("needs the right to mount")
    return done


@pytest.mark.parametrize("size", ["4k", "16k", "100k"])
def test_no_room_in_shared_memory(any_python, heatline, hot, tmp_path, size):
    """Another place has some: nobody notices."""
    if any_python.is_in_sid:
        pytest.skip("the other tree does not see new mounts")
    out = tmp_path / "p.json"
    done = run_with_small_disks(any_python, heatline, hot, out, {"/dev/shm": size})
    assert (done.returncode, done.stderr) == (0, "")
    profile = json.loads(out.read_text())
    assert str(hot) in profile["files"]
    assert profile["heatline"]["quality"]["lost"] == []
