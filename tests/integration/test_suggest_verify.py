"""Proposed changes tried in a copy: right, slower, wrong in output, failing, not compiling.

What is asserted of speed is only what cannot be otherwise: the changes make the program
many times faster or slower.
"""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from support.provider import ScriptedProvider
from support.running import is_running, wait_until
from support.runs import clean_environment
from support.served import Served
from test_suggest import SEARCH, only

PROGRAM = f'''\
import sys


{SEARCH}

def main():
    wanted = list(range(2000))
    print(find(wanted, range(0, 12000, 2)))


if __name__ == "__main__":
    main()
'''
HOT_LINE = 7
FASTER = """@@ -4,3 +4,4 @@
 def find(wanted, numbers):
+    wanted = set(wanted)
     found = 0
     for number in numbers:
         if number in wanted:
"""
SLOWER = """@@ -6,2 +6,3 @@
     for number in numbers:
+        [sum(wanted) for _ in range(6)]
         if number in wanted:
"""
WRONG = "@@ -7 +7 @@\n-        if number in wanted:\n+        if number not in wanted:\n"
BROKEN = "@@ -7 +7 @@\n-        if number in wanted:\n+        if number in wanted\n"
CRASHES = "@@ -7 +7 @@\n-        if number in wanted:\n+        if number in 5:\n"


def fenced(diff):
    return f"DIAGNOSIS: a list is searched.\nDIFF:\n```diff\n{diff}```\nGAIN: 5 to 50\nRISKS: none\nTEST: none\n"


@pytest.fixture(scope="module")
def project(tmp_path_factory, any_python):
    """A profiled program in a folder with data beside it."""
    folder = tmp_path_factory.mktemp("project")
    script = folder / "program.py"
    script.write_text(PROGRAM)
    (folder / "data.txt").write_text("data\n")
    run = any_python.heatline_run(script, ["x"], options=["--cpu-only"], outfile=folder / "p.json")
    assert run.returncode == 0, run.stderr
    return folder


@pytest.fixture(scope="module")
def page(heatline, project, tmp_path_factory):
    temporary = tmp_path_factory.mktemp("temporary")
    env = only({"TMPDIR": str(temporary)})
    with Served(heatline, ["view", "--port", "0", project / "p.json"], env=env, cwd=project) as served:
        served.temporary = temporary
        yield served


def place(**more):
    return {"profile": 0, "file": 0, "line": HOT_LINE, "scope": "function", **more}


def verify(page, diff, test="", runs=3):
    answer = page.post("api/suggest/verify", place(diff=diff, test=test, runs=runs))
    assert answer.status == 200, answer.text()
    assert list(page.temporary.iterdir()) == []  # nothing stays behind
    return answer.events()


def test_a_change_that_is_right(page, project):
    before = (project / "program.py").read_bytes()
    test = "python3 -c 'import program, os; assert os.path.exists(\"data.txt\")'"
    *progress, (kind, verdict) = verify(page, FASTER, test)
    assert kind == "done" and verdict["outcome"] == "faster", verdict
    assert verdict["here"]["low"] > 1 and verdict["whole"]["low"] > 1
    assert "same output" in verdict["sentence"] and "the test command succeeds" in verdict["sentence"]
    assert [data["step"] for _, data in progress] == list(range(1, progress[-1][1]["steps"] + 1))
    assert (project / "program.py").read_bytes() == before


def test_a_change_that_is_slower(page):
    kind, verdict = verify(page, SLOWER)[-1]
    assert kind == "done" and verdict["outcome"] == "slower", verdict
    assert verdict["here"]["high"] < 1 and "same output" in verdict["sentence"]


@pytest.mark.parametrize(
    "diff, test, outcome, detail",
    [
        (WRONG, "", "other output", ""),
        (BROKEN, "", "does not compile", "SyntaxError"),
        (CRASHES, "", "fails", "TypeError"),
        (FASTER, "python3 -c 'raise SystemExit(3)'", "test fails", ""),
        (WRONG, "python3 -c 'import program; assert program.find([1], [1]) == 1'", "test fails", "AssertionError"),
    ],
)
def test_changes_that_are_wrong(page, project, diff, test, outcome, detail):
    kind, verdict = verify(page, diff, test)[-1]
    assert kind == "done" and verdict["outcome"] == outcome, verdict
    assert detail in verdict["details"] and str(page.temporary) not in verdict["details"]
    assert verdict["here"] is None and (project / "program.py").read_text() == PROGRAM


def test_changes_that_do_not_fit(page):
    for diff, sentence in (
        ("@@ -1 +1 @@\n-no such line\n+x\n", "does not fit"),
        ("--- a/other.py\n+++ b/other.py\n@@ -1 +1 @@\n-import sys\n+import os\n", "another file"),
    ):
        kind, data = verify(page, diff)[-1]
        assert kind == "error" and sentence in data
    assert page.post("api/suggest/verify", place()).status == 400
    assert page.post("api/suggest/verify", place(diff=FASTER, file=0, profile=3)).status == 404
    kind, data = verify(page, FASTER, "no-such-command-anywhere")[-1]
    assert kind == "error" and "cannot be started" in data


def test_closing_the_connection_ends_the_programs(page, tmp_path):
    marker = tmp_path / "pid"
    test = f"python3 -c 'import os, time; open(\"{marker}\", \"w\").write(str(os.getpid()) + \".\"); time.sleep(600)'"
    body = json.dumps(place(diff=FASTER, test=test))
    with page.connect() as connection:
        connection.sendall(
            f"POST {page.path('api/suggest/verify')} HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: http://127.0.0.1\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()
        )
        wait_until(lambda: marker.exists() and marker.read_text().endswith("."))
    pid = int(marker.read_text()[:-1])
    wait_until(lambda: not is_running(pid))
    wait_until(lambda: list(page.temporary.iterdir()) == [])


def test_apply_makes_the_change_or_says_why_not(heatline, project, tmp_path):
    copy = tmp_path / "program.py"
    copy.write_text(PROGRAM)
    copy.chmod(0o640)
    profile = (project / "p.json").read_text().replace(str(project / "program.py"), str(copy))
    (tmp_path / "p.json").write_text(profile)
    with Served(heatline, ["view", "--port", "0", tmp_path / "p.json"], env=only({})) as served:
        answer = served.post("api/suggest/apply", place(diff=FASTER))
        assert answer.status == 200 and answer.json() == {}
        assert "    wanted = set(wanted)\n" in copy.read_text()
        assert copy.stat().st_mode & 0o777 == 0o640
        again = served.post("api/suggest/apply", place(diff=FASTER))
        assert again.status == 409 and "does not fit" in again.text()
        assert served.post("api/suggest/apply", place(diff=FASTER), Origin="null").status == 403


# --- the command ---


@pytest.fixture
def own_project(project, tmp_path):
    """A project that may be changed."""
    (tmp_path / "program.py").write_text(PROGRAM)
    profile = (project / "p.json").read_text().replace(str(project), str(tmp_path))
    (tmp_path / "heatline-profile.json").write_text(profile)
    return tmp_path


def suggest(heatline, folder, words, env):
    return subprocess.run(
        [str(heatline), "suggest", *words],
        cwd=folder,
        env=clean_environment(only(env)),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        timeout=300,
    )


def test_from_hot_line_to_verified_change(heatline, own_project):
    keyless = """sh -c 'test -z "$OPENAI_API_KEY" && test -n "$HOME"'"""
    with ScriptedProvider(fenced(FASTER)) as provider:
        words = ["--provider", "openai", "--model", "good", "--verify", keyless, "--runs", "3", "--apply"]
        done = suggest(heatline, own_project, words, provider.environment("openai"))
    assert done.returncode == 0, done.stderr
    assert "DIAGNOSIS: a list is searched." in done.stdout
    assert "VERIFIED: " in done.stdout and "faster" in done.stdout and "same output" in done.stdout
    assert "wanted = set(wanted)" in (own_project / "program.py").read_text()
    assert f"program.py:{HOT_LINE}" in done.stderr


def test_a_change_that_is_not_right_is_not_made(heatline, own_project):
    with ScriptedProvider(fenced(WRONG)) as provider:
        words = ["--model", "good", "--verify", "", "--runs", "3", "--apply", "--line", "program.py:7"]
        done = suggest(heatline, own_project, words, provider.environment("anthropic"))
    assert done.returncode == 1 and "prints something else" in done.stdout
    assert "is not made" in done.stderr
    assert (own_project / "program.py").read_text() == PROGRAM


def test_hostile_answers_are_harmless_in_a_terminal(heatline, own_project):
    answer = "DIAGNOSIS:\té, 漢字\x1b]0;title\x07\nDIFF:\nnone\x1b[2J\x9b2J\n"
    with ScriptedProvider(answer) as provider:
        for locale in (None, "C"):  # into a file it goes as it is, but for what a terminal obeys
            env = {**provider.environment("openai"), "LC_ALL": locale}
            done = suggest(heatline, own_project, ["--model", "good"], env)
            assert done.returncode == 0, done.stderr
            assert done.stdout == "DIAGNOSIS:\té, 漢字\\x1b]0;title\\x07\nDIFF:\nnone\\x1b[2J\\x9b2J\n"


def test_prompts_models_and_nobody_to_ask(heatline, own_project):
    prompt = suggest(heatline, own_project, ["--prompt-only", "--scope", "loop"], {})
    assert prompt.returncode == 0 and f">{HOT_LINE:5} " in prompt.stdout
    nobody = suggest(heatline, own_project, [], {})
    assert nobody.returncode == 2 and "nobody to ask" in nobody.stderr
    with ScriptedProvider() as provider:
        env = provider.environment("ollama")
        models = suggest(heatline, own_project, ["--list-models"], env)
        assert models.returncode == 0 and models.stdout.split() == ["good", "split"]
        which = suggest(heatline, own_project, [], env)
        assert which.returncode == 2 and "--list-models" in which.stderr
        assert not any(seen.method == "POST" for seen in provider.seen)


@pytest.mark.parametrize(
    "words, sentence",
    [
        (["--line", "program.py"], "--line takes FILE:LINE"),
        (["--line", "other.py:3"], "no file 'other.py'"),
        (["--line", "program.py:9999"], "no line 9999"),
        (["--top", "0"], "--top takes"),
        (["missing.json"], "missing.json"),
    ],
)
def test_wrong_words(heatline, own_project, words, sentence):
    done = suggest(heatline, own_project, ["--prompt-only", *words], {})
    assert done.returncode == 2 and sentence in done.stderr and not done.stdout


def test_ctrl_c_while_a_change_is_tried(heatline, own_project, tmp_path_factory):
    temporary = tmp_path_factory.mktemp("interrupted")
    with ScriptedProvider(fenced(FASTER)) as provider:
        process = subprocess.Popen(
            [str(heatline), "suggest", "--model", "good", "--verify", "sleep 600"],
            cwd=own_project,
            env=clean_environment(only({**provider.environment("openai"), "TMPDIR": str(temporary)})),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        for line in process.stderr:
            if b"test command" in line:
                break
        os.kill(process.pid, signal.SIGINT)
        process.communicate(timeout=60)
    assert process.returncode == 1
    assert list(Path(temporary).iterdir()) == []


def test_a_package_that_is_run_as_a_module(heatline, any_python, tmp_path):
    """The copy's modules are used, not those of the original, wherever they are found from."""
    package = tmp_path / "src" / "pack"
    package.mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'pack'\n")
    (tmp_path / ".git").mkdir()
    (package / "__init__.py").write_text("")
    (package / "__main__.py").write_text("from pack.search import main\n\nmain()\n")
    (package / "search.py").write_text(PROGRAM)
    env = {"PYTHONPATH": str(tmp_path / "src")}
    run = any_python.heatline_run(
        ["-m", "pack"], options=["--cpu-only", "--program-path", tmp_path], outfile=tmp_path / "p.json",
        cwd=tmp_path, env=env,
    )
    assert run.returncode == 0, run.stderr
    with ScriptedProvider(fenced(FASTER)) as provider:
        words = ["p.json", "--line", "search.py:7", "--model", "good", "--verify", "", "--runs", "3"]
        done = suggest(heatline, tmp_path, words, {**provider.environment("gemini"), **env})
    assert done.returncode == 0, done.stderr
    assert "faster" in done.stdout and "at the changed lines" in done.stdout
    assert (package / "search.py").read_text() == PROGRAM
