"""heatline mcp: driven by the official client and by lines, right and wrong ones."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from support.paths import REPO
from support.mcp_lines import META, MODERN, OFFICIAL_PYTHON, Server
from support.running import is_running, wait_until
from support.runs import run

APP = """
    def prepare(count):
        return [i * 3 for i in range(count)]

    def crunch(values):
        total = 0
        for value in values:
            total += sum(range(value % 97, 5000))
        return total

    print("total", crunch(prepare(6000)))
"""

SLEEPER = """
    import os, sys, time
    open("pid", "w").write(str(os.getpid()))
    time.sleep(60)
"""

QUESTIONS = ["summary", "hot_lines", "source", "callers", "memory", "advice", "compare"]
TOOLS = ["profile_run", "profile_attach", "list_runs", *QUESTIONS, "export"]


@pytest.fixture
def serve(tmp_path):
    """serve(era): a server in the test's folder."""
    servers = []

    def start(era="modern"):
        servers.append(Server(tmp_path, era))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture
def profiled(serve, program):
    """A server that has run app.py as run-1."""
    program(APP, "app.py")
    server = serve()
    server.ran = server.call("profile_run", command=["app.py"], python=sys.executable)
    return server


def sleeper_pid(folder):
    path = folder / "pid"
    return wait_until(lambda: path.exists() and path.read_text() and int(path.read_text()))


# ---- the official client ----


@pytest.mark.parametrize("mode, version", [("auto", MODERN), ("legacy", "2025-11-25")])
def test_three_calls_find_the_hot_line(heatline, program, tmp_path, mode, version):
    if not OFFICIAL_PYTHON.exists():
        pytest.skip("the package mcp could not be installed (scripts/setup)")
    program(APP, "app.py")
    script = REPO / "tests" / "support" / "mcp_official.py"
    done = run([OFFICIAL_PYTHON, script, heatline, tmp_path, mode], check=True)
    found = json.loads(done.stdout)
    assert (found["version"], found["server"]) == (version, "heatline")
    assert found["tools"] == TOOLS
    assert found["line"]["file"] == "app.py" and "sum(range(" in found["line"]["text"]
    assert found["line"]["percent"] > 60
    assert found["shown"]["percent"] == found["line"]["percent"]
    assert found["is_refused"]


# ---- both eras ----


def test_legacy_versions(serve):
    server = serve(None)
    expected = {"2025-11-25": "2025-11-25", "2025-06-18": "2025-06-18", "2025-03-26": "2024-11-05",
                "2024-11-05": "2024-11-05", "2099-01-01": "2025-11-25", "nonsense": "2025-11-25"}
    for asked, given in expected.items():
        opened = server.request("initialize", {"protocolVersion": asked})["result"]
        assert opened["protocolVersion"] == given, asked
        assert opened["serverInfo"]["name"] == "heatline" and opened["capabilities"] == {"tools": {}}
    assert server.request("ping")["result"] == {}
    tools = server.request("tools/list")["result"]
    assert [tool["name"] for tool in tools["tools"]] == TOOLS
    assert "resultType" not in tools
    assert server.request("server/discover")["error"]["code"] == -32601
    assert server.end() == 0


def test_modern_requests_stand_for_themselves(serve):
    server = serve()
    found = server.request("server/discover")["result"]
    assert MODERN in found["supportedVersions"] and found["resultType"] == "complete"
    assert found["ttlMs"] >= 0 and found["cacheScope"] in ("public", "private")
    tools = server.request("tools/list")["result"]
    assert tools["resultType"] == "complete" and "ttlMs" in tools and "cacheScope" in tools
    for tool in tools["tools"]:
        assert tool["inputSchema"]["type"] == "object" and tool["description"]
        assert tool["annotations"]["readOnlyHint"] == (tool["name"] in QUESTIONS + ["list_runs"])
    assert server.request("ping")["error"]["code"] == -32601
    listed = server.request("tools/call", {"name": "list_runs"})["result"]
    assert listed["resultType"] == "complete" and listed["structuredContent"] == {"runs": []}


def test_versions_that_are_not_spoken(serve):
    server = serve(None)
    lacking = server.request("tools/list")
    assert lacking["error"]["code"] == -32602
    unknown = server.request("tools/list", {"_meta": {**META, "io.modelcontextprotocol/protocolVersion": "2030-01-01"}})
    assert unknown["error"]["code"] == -32022 and MODERN in unknown["error"]["data"]["supported"]
    only_version = {"io.modelcontextprotocol/protocolVersion": MODERN}
    assert server.request("tools/list", {"_meta": only_version})["error"]["code"] == -32602
    assert "result" in server.request("tools/list", {"_meta": META})


# ---- lines ----


def test_garbage_is_answered_and_survived(serve):
    server = serve()
    for line, code in [
        (b"hello", -32700), (b"{", -32700), (b'"text"', -32700), (b"\xff\xfe{}", -32700), (b"[]", -32600),
        (b"{}", -32600), (b'{"jsonrpc":"2.0","id":{},"method":"x"}', -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":"x","params":7}', -32602),
        (b"[" * 100_000, -32700), (b'{"jsonrpc": "2.0", "id": ' + b"9" * 400 + b', "method": "x"}', -32700),
    ]:
        server.write(line)
        assert server.receive()["error"]["code"] == code, line[:40]
    server.write(b"")
    server.write(b'{"jsonrpc":"2.0","method":"notifications/unknown"}')
    server.write(b'{"jsonrpc":"2.0","id":5,"result":{}}')
    server.write(b'{"pad":"' + b"x" * 3_000_000 + b'"}')
    assert server.receive()["error"]["code"] == -32600
    assert server.request("no/such/method")["error"]["code"] == -32601
    assert server.request("tools/call", {"name": "no_such"})["error"]["code"] == -32602
    assert server.request("tools/call", {"name": "summary", "arguments": []})["error"]["code"] == -32602
    assert server.end() == 0
    assert server.process.stderr.read() == b""


def test_the_end_of_input_ends_all(serve, program, tmp_path):
    program(SLEEPER, "app.py")
    server = serve()
    server.begin("tools/call", {"name": "profile_run", "arguments": {"command": ["app.py"], "python": sys.executable}})
    pid = sleeper_pid(tmp_path)
    assert server.end(timeout=30) == 0  # it does not wait for the program
    wait_until(lambda: not is_running(pid))


def test_cancel_kills_the_program(serve, program, tmp_path):
    program(SLEEPER, "app.py")
    server = serve()
    number = server.begin("tools/call", {"name": "profile_run", "arguments": {"command": ["app.py"], "python": sys.executable}})
    pid = sleeper_pid(tmp_path)
    server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})
    wait_until(lambda: not is_running(pid))
    # The request is never answered; what comes next is the next one's.
    assert server.request("tools/call", {"name": "list_runs"})["result"]["structuredContent"] == {"runs": []}
    server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99}})
    assert server.end() == 0
    assert server.lines.get(timeout=30) == b""


def test_other_requests_go_on_beside_a_run(serve, program, tmp_path):
    program(SLEEPER, "app.py")
    server = serve()
    arguments = {"command": ["app.py"], "timeout_s": 4, "python": sys.executable}
    number = server.begin("tools/call", {"name": "profile_run", "arguments": arguments}, progressToken="p")
    sleeper_pid(tmp_path)
    assert "result" in server.request("tools/list")
    messages = []
    while not messages or messages[-1].get("id") != number:
        messages.append(server.receive())
    progress = [m["params"] for m in messages if m.get("method") == "notifications/progress"]
    assert progress and all(p["progressToken"] == "p" for p in progress)
    result = messages[-1]["result"]
    assert result["structuredContent"]["is_timed_out"] and not result["isError"]
    assert result["structuredContent"]["wait_s"] > 0.5  # the profile so far was written


# ---- tools ----


def test_run_and_questions(profiled):
    ran = profiled.ran
    assert ran["profile"] == "run-1" and ran["ended"] == "exit status 0"
    assert ran["output_tail"].startswith("total ") and os.path.exists(ran["path"])
    assert "sum(range(" in ran["lines"][0]["text"]
    functions = profiled.call("hot_lines", profile="run-1", by="function", metric="inclusive")
    assert [row["function"] for row in functions["functions"]][:2] == ["<module>", "crunch"]
    callers = profiled.call("callers", profile="run-1", at="crunch")
    assert callers["callers"][0]["function"] == "<module>"
    memory = profiled.call("memory", profile="run-1", view="peak")
    assert memory["peak_mb"] > 0
    assert profiled.call("advice", profile="run-1")["advice"] == []
    same = profiled.call("compare", before="run-1", after=ran["path"])
    assert (same["before"], same["after"], same["slower"]) == ("run-1", "run-1", 0)
    assert profiled.call("list_runs")["runs"] == [{"run": "run-1", "path": ran["path"]}]
    assert len(profiled.call("summary", profile="run-1")["text"]) < 8000
    assert profiled.end() == 0 and not os.path.exists(os.path.dirname(ran["path"]))


def test_export(profiled, tmp_path):
    made = profiled.call("export", profile="run-1", format="collapsed", outfile="out.txt")
    assert "crunch" in (tmp_path / "out.txt").read_text() and made["path"] == str(tmp_path / "out.txt")
    assert "format is one of" in profiled.refusal("export", profile="run-1", format="nonsense")
    (tmp_path / "link.csv").symlink_to("/nonexistent/file")
    assert "is a link" in profiled.refusal("export", profile="run-1", format="csv", outfile="link.csv")
    for outside in ("../out.txt", "/out.txt"):
        assert "outside of" in profiled.refusal("export", profile="run-1", format="csv", outfile=outside)


def test_an_export_replaces_neither_a_program_nor_its_profile(profiled, tmp_path):
    assert "is not an export" in profiled.refusal("export", profile="run-1", format="csv", outfile="app.py")
    assert "def crunch" in (tmp_path / "app.py").read_text()
    profile = tmp_path / "own.json"
    shutil.copy(profiled.ran["path"], profile)
    assert "would be lost" in profiled.refusal("export", profile="own.json", format="speedscope", outfile="own.json")
    assert "files" in json.loads(profile.read_text())
    for _ in range(2):
        profiled.call("export", profile="run-1", format="csv", outfile="out.csv")


def test_a_long_list_of_runs_says_what_it_leaves_out(profiled, tmp_path):
    for number in range(40):
        path = tmp_path / f"{number}-{'ü' * 60}.json"
        shutil.copy(profiled.ran["path"], path)
        profiled.call("summary", profile=str(path))
    listed = profiled.call("list_runs")
    assert len(listed["runs"]) == 41
    *rows, last = listed["text"].splitlines()
    assert rows == [f"{one['run']}  {one['path']}" for one in listed["runs"][: len(rows)]]
    assert 10 < len(rows) < 41 and last.startswith(f"Left out: {41 - len(rows)} older, down to run-1")


def test_bad_arguments(profiled, tmp_path):
    refusal = profiled.refusal
    assert refusal("summary") == "summary needs 'profile'"
    assert refusal("summary", profile=7) == "profile is not of type string"
    assert refusal("summary", profile="run-1", x=1) == "summary takes no argument 'x'"
    assert "list_runs" in refusal("summary", profile="run-2")
    assert "cannot be read" in refusal("summary", profile="app.py")
    assert "no such file" in refusal("summary", profile="missing.json").lower()
    assert "is not a file" in refusal("summary", profile="/dev/zero")
    assert refusal("hot_lines", profile="run-1", top=100000) == "top is from 1 to 200"
    assert refusal("hot_lines", profile="run-1", by="colour").startswith("by is one of")
    assert "no figures" in refusal("source", profile="run-1", at="elsewhere.py:3")
    assert "outside of" in refusal("profile_run", command=["app.py"], cwd="..")
    assert "no folder" in refusal("profile_run", command=["app.py"], cwd="missing")
    assert "begins with" in refusal("profile_run", command=["--live", "app.py"])
    assert "words" in refusal("profile_run", command=[])
    assert "no file 'missing.py'" in refusal("profile_run", command=["missing.py"])
    assert "No profile was made" in refusal("profile_attach", pid=4194000, seconds=0.2)


def test_environment_and_failure_of_the_program(serve, program):
    program("import os, sys; x = sum(range(3000000)); print(os.environ['GREETING'])\nsys.exit(3)", "app.py")
    server = serve("legacy")
    ran = server.call("profile_run", command=["app.py"], env={"GREETING": "good day"}, cpu_only=True,
                      python=sys.executable)
    assert ran["ended"] == "exit status 3" and ran["output_tail"] == "good day\n"
    assert "peak_mb" not in ran


def test_attach(serve, program, tmp_path):
    script = program("import time\nend = time.time() + 60\nwhile time.time() < end:\n    sum(range(2000))\n", "app.py")
    busy = subprocess.Popen([sys.executable, script])
    try:
        seen = serve().call("profile_attach", pid=busy.pid, seconds=1)
        assert seen["profile"] == "run-1" and "sum(range(2000))" in seen["lines"][0]["text"]
    finally:
        busy.kill()
        busy.wait()
