"""Asking a provider: the prompt, all seven shapes with all their failures, keys that stay in.

The provider is a scripted one on the loopback address (support/provider.py).
"""

import json
import os
import subprocess
from pathlib import Path

import pytest

from support.provider import KEY, MODELS, PROVIDERS, SECRET, VARIABLES, ScriptedProvider
from support.running import wait_until
from support.served import Served

SEARCH = '''\
def find(wanted, numbers):
    found = 0
    for number in numbers:
        if number in wanted:
            found += 1
    return found
'''
PROGRAM = f'''\
import os

API_KEY = "sk-proj-abcdefghijklmnop1234567890"
DATABASE = "postgres://bob:hunter22@db.example.com/x"


{SEARCH}

def main():
    wanted = list(range(3000))
    print(find(wanted, range(0, 30000, 2)))


main()
'''
HOT_LINE = 10


def only(variables):
    """An environment for heatline with these of the providers' variables and no others."""
    nowhere = {"XDG_CONFIG_HOME": "/nonexistent", "OLLAMA_HOST": "127.0.0.1:1"}
    return {**dict.fromkeys(VARIABLES), **nowhere, **variables}


@pytest.fixture(scope="module")
def profile(tmp_path_factory, any_python):
    """A profile whose hottest line is known."""
    script = tmp_path_factory.mktemp("suggest") / "program.py"
    script.write_text(PROGRAM)
    run = any_python.heatline_run(script, options=["--cpu-only"], outfile=script.parent / "p.json")
    assert run.returncode == 0, run.stderr
    return run.profile_path


@pytest.fixture(scope="module")
def provider():
    with ScriptedProvider() as scripted:
        yield scripted


@pytest.fixture(scope="module")
def page(heatline, profile, provider):
    """The page of the profile, with keys for every provider."""
    env = only({**provider.environment(), "HEATLINE_AI_TIMEOUT": "1"})
    with Served(heatline, ["view", "--port", "0", profile], env=env) as served:
        yield served


def place(scope="function", **more):
    return {"profile": 0, "file": 0, "line": HOT_LINE, "scope": scope, **more}


def send(page, provider, model):
    """The events of an answer: (name, data)."""
    answer = page.post("api/suggest/send", place(provider=provider, model=model))
    assert answer.status == 200, answer.text()
    return answer.events()


# --- the prompt ---


@pytest.mark.parametrize(
    "scope, first, last, masked", [("line", 10, 10, 2), ("loop", 9, 11, 0), ("function", 7, 12, 2)]
)
def test_the_prompt_has_code_and_figures_and_no_secrets(page, scope, first, last, masked):
    answer = page.post("api/suggest/prompt", place(scope)).json()
    text = answer["prompt"]
    marked = [int(line[1:7]) for line in text.splitlines() if line.startswith(">")]
    assert marked == list(range(first, last + 1))
    assert "File: program.py\n" in text and "import os\n" in text
    assert "in Python code" in text and "- main, program.py line 17" in text
    assert "sk-proj" not in text and "hunter22" not in text and answer["masked"] == masked
    assert answer["bytes"] == len(text.encode()) + len(answer["system"].encode())


def test_a_prompt_is_bounded(page, heatline, any_python, tmp_path):
    script = tmp_path / "long.py"
    body = "".join(f"    x = {i} * {i}  # {'é' * 300}\n" for i in range(3000))
    script.write_text(f"def work():\n{body}\nfor i in range(8000):\n    work()\n")
    run = any_python.heatline_run(script, options=["--cpu-only"])
    with Served(heatline, ["view", "--port", "0", run.profile_path], env=only({})) as served:
        hot = max(served.get("api/profile/0").json()["files"][str(script)]["lines"],
                  key=lambda line: line.get("n_cpu_percent_python", 0))
        answer = served.post("api/suggest/prompt", {**place(), "line": hot["lineno"]})
    assert answer.status == 200, answer.text()
    assert 1000 < answer.json()["bytes"] <= 40 << 10
    assert f"{hot['lineno']}" in answer.json()["prompt"]


@pytest.mark.parametrize(
    "body, status",
    [
        ({"profile": 0, "file": 0}, 400),
        (place("everything"), 400),
        ({**place(), "line": 0}, 400),
        ({**place(), "line": 99999}, 404),
        ({**place(), "file": 99}, 404),
        ({**place(), "profile": 7}, 404),
        ([], 400),
        (b"{", 400),
    ],
)
def test_wrong_places_are_refused(page, body, status):
    assert page.post("api/suggest/prompt", body).status == status


def test_only_the_page_may_ask(page):
    body = place(provider="openai", model="good")
    assert page.post("api/suggest/send", body, Origin="http://evil.example").status == 403
    assert page.post("api/suggest/send", body, Content_Type="text/plain").status == 403
    assert page.get("api/suggest/send").status == 405
    assert page.post("api/suggest/providers", {}).status == 405
    assert page.ask("/api/suggest/providers").status == 404


# --- providers and models ---


def test_providers_say_what_they_need(heatline, profile):
    with Served(heatline, ["view", "--port", "0", profile], env=only({})) as served:
        answer = served.get("api/suggest/providers").json()
        refused = send(served, "anthropic", "good")
    assert answer["available"] is True and answer["note"] == ""
    assert sorted(row["id"] for row in answer["providers"]) == PROVIDERS
    assert not any(row["ready"] for row in answer["providers"])
    assert refused == [("error", "Anthropic needs ANTHROPIC_API_KEY")]


@pytest.mark.parametrize("name", PROVIDERS)
def test_models_come_from_the_provider(page, name):
    models = page.get(f"api/suggest/models/{name}").json()["models"]
    assert [model.replace("models/", "") for model in models] == MODELS


def test_an_unknown_provider(page):
    assert page.get("api/suggest/models/nobody").status == 404
    answer = page.post("api/suggest/send", place(provider="nobody", model="good"))
    assert answer.status == 400 and "ollama" in answer.text()


# --- answers ---


@pytest.mark.parametrize("model", ["good", "split", "busy"])
@pytest.mark.parametrize("name", PROVIDERS)
def test_answers_of_every_shape(page, provider, name, model):
    events = send(page, name, model)
    text = "".join(data for kind, data in events if kind == "text")
    assert text == provider.answer
    assert events[-1][0] == "done"
    assert events[-1][1]["diff"].startswith("--- a/program.py") and "note" not in events[-1][1]
    assert "漢字, 😀" in events[-1][1]["diagnosis"]
    seen = provider.seen[-1]
    assert KEY not in seen.path and "sk-proj" not in seen.body and "number in wanted" in seen.body


FAILURES = {
    "unauthorised": "refuses the key (status 401)",
    "missing": "has no model 'missing' (status 404)",
    "later": "wants no more questions for 3600 s (status 429)",
    "broken": "has trouble of its own (status 500); try it later",
    "silent": "was silent for too long",
    "refusal": "refuses to answer",
    "huge": "KB; the rest was not read",
}


@pytest.mark.parametrize("name", PROVIDERS)
def test_failures_are_one_sentence(page, name):
    for model, sentence in FAILURES.items():
        kind, data = send(page, name, model)[-1]
        assert kind == "error", model
        assert sentence in data and "\n" not in data and KEY not in data


@pytest.mark.parametrize("name", PROVIDERS)
@pytest.mark.parametrize("model, note", [("cut", "limit"), ("lost", "broke off")])
def test_half_an_answer_says_so(page, name, model, note):
    kind, data = send(page, name, model)[-1]
    assert kind == "done" and note in data["note"]


@pytest.mark.parametrize("name", PROVIDERS)
def test_closing_the_connection_stops_the_transfer(page, provider, name):
    body = json.dumps(place(provider=name, model="slow"))
    head = (
        f"POST {page.path('api/suggest/send')} HTTP/1.1\r\nHost: 127.0.0.1:{page.port}\r\n"
        f"Origin: http://127.0.0.1:{page.port}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    before = len(provider.seen)
    with page.connect() as connection:
        connection.sendall((head + body).encode())
        assert connection.recv(4096)
        wait_until(lambda: len(provider.seen) > before)
    wait_until(lambda: provider.seen[before].is_left)


def test_the_server_ends_while_somebody_is_asked(heatline, profile, provider):
    env = only(provider.environment("openai"))
    with Served(heatline, ["view", "--port", "0", profile], env=env) as served:
        body = json.dumps(place(provider="openai", model="slow")).encode()
        with served.connect() as connection:
            connection.sendall(
                f"POST {served.path('api/suggest/send')} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                f"Origin: http://127.0.0.1\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(body)}\r\n\r\n".encode()
                + body
            )
            assert connection.recv(4096)
            served.end()
    assert served.status == 0


# --- keys ---


def test_the_key_is_nowhere(heatline, profile, provider):
    """Not in the page, in an answer, in an address, on the terminal, in the list of processes."""
    texts = []
    with Served(
        heatline, ["view", "--port", "0", profile], env=only(provider.environment())
    ) as served:
        texts += [served.get(path).text() for path in ("", "app.js", "api/info", "api/suggest/providers")]
        for name in PROVIDERS:
            for model in ("good", "echo", "unauthorised"):
                answer = served.post("api/suggest/send", place(provider=name, model=model))
                texts += [answer.text(), str(answer.headers)]
            texts.append(served.get(f"api/suggest/models/{name}").text())
        for process in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                texts.append(process.read_text(errors="replace"))
            except OSError:
                pass
    texts += [served.stderr, served.address, *(seen.path for seen in provider.seen)]
    assert not [text for text in texts if KEY in text]
    assert any(KEY in str(seen.headers) for seen in provider.seen)  # it does reach its owner
    assert all(KEY not in seen.body for seen in provider.seen)


@pytest.fixture
def key_file(tmp_path, provider):
    path = tmp_path / "heatline" / "providers"
    path.parent.mkdir()
    path.write_text(f"# mine\nANTHROPIC_API_KEY={KEY}\nANTHROPIC_BASE_URL=http://127.0.0.1:{provider.port}\n")
    path.chmod(0o600)
    return path


def test_keys_from_a_file(heatline, profile, provider, key_file):
    env = only({"XDG_CONFIG_HOME": str(key_file.parent.parent)})
    with Served(heatline, ["view", "--port", "0", profile], env=env) as served:
        ready = [row["id"] for row in served.get("api/suggest/providers").json()["providers"] if row["ready"]]
        assert ready == ["anthropic"]
        assert send(served, "anthropic", "good")[-1][0] == "done"
        assert provider.seen[-1].headers["x-api-key"] == KEY
        key_file.chmod(0o644)
        answer = served.get("api/suggest/providers").json()
        assert "others can read" in answer["note"] and not any(r["ready"] for r in answer["providers"])
        kind, sentence = send(served, "anthropic", "good")[-1]
        assert kind == "error" and "chmod 600" in sentence


@pytest.mark.parametrize(
    "address, sentence",
    [
        ("http://example.com/v1", "not encrypted"),
        ("http://127.0.0.1.example.com/v1", "not encrypted"),
        ("ftp://127.0.0.1/v1", "no address"),
        ("http://user:pass@127.0.0.1/v1", "'@'"),
        ("https://127.0.0.1:1/v1", "cannot be reached"),
    ],
)
def test_keys_are_not_sent_in_the_clear(heatline, profile, address, sentence):
    env = only({"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": address})
    with Served(heatline, ["view", "--port", "0", profile], env=env) as served:
        kind, data = send(served, "openai", "good")[-1]
    assert kind == "error" and sentence in data


# --- Amazon's signature ---


@pytest.mark.parametrize("session", [None, "session/token+1="])
def test_signed_requests_are_as_botocore_signs_them(heatline, profile, provider, session):
    auth = pytest.importorskip("botocore.auth")
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials

    variables = {**provider.environment("bedrock"), "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE"}
    variables.update({"AWS_SECRET_ACCESS_KEY": SECRET, "AWS_BEARER_TOKEN_BEDROCK": None})
    variables["AWS_SESSION_TOKEN"] = session
    with Served(heatline, ["view", "--port", "0", profile], env=only(variables)) as served:
        send(served, "bedrock", "eu.some.model-v1:0")
        asked = provider.seen[-1]
        assert served.get("api/suggest/models/bedrock").json()["models"] == MODELS
        listed = provider.seen[-1]
    assert asked.path == "/model/eu.some.model-v1%3A0/converse-stream"
    for seen in (asked, listed):
        names = re_signed(seen.headers["Authorization"])
        headers = {name: value for name, value in seen.headers.items() if name.lower() in names}
        request = AWSRequest(
            seen.method, f"http://127.0.0.1:{provider.port}{seen.path}", headers, seen.body or None
        )
        request.context["timestamp"] = seen.headers["X-Amz-Date"]
        signer = auth.SigV4Auth(Credentials("AKIDEXAMPLE", SECRET, session), "bedrock", "eu-central-1")
        canonical = signer.canonical_request(request)
        signature = signer.signature(signer.string_to_sign(request, canonical), request)
        assert seen.headers["Authorization"].endswith(f"Signature={signature}"), canonical
        assert SECRET not in str(seen)


def re_signed(authorization):
    """The names of the headers that were signed."""
    return authorization.split("SignedHeaders=")[1].split(",")[0].split(";")


# --- without the library, and in a file ---


def test_the_standalone_file_has_the_prompts_of_its_hottest_lines(heatline, profile, any_python, tmp_path):
    out = tmp_path / "page.html"
    done = any_python.heatline(["view", "--html", "-o", out, profile])
    assert done.returncode == 0, done.stderr
    text = out.read_text()
    block = text.split('id="heatline-prompts">', 1)[1].split("</script>", 1)[0]
    prompts = json.loads(block)
    entry = prompts[f"{os.path.dirname(profile)}/program.py:{HOT_LINE}"]
    assert "number in wanted" in entry["prompt"] and "DIAGNOSIS" in entry["system"]
    assert "hunter22" not in block and 1 <= len(prompts) <= 50


WITHOUT_CURL = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

void *dlopen(const char *name, int flags)
{
	void *(*real)(const char *, int) = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");

	return name && strstr(name, "libcurl") ? NULL : real(name, flags);
}
"""


def test_without_libcurl_everything_else_works(heatline, profile, provider, tmp_path):
    (tmp_path / "none.c").write_text(WITHOUT_CURL)
    library = tmp_path / "none.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, tmp_path / "none.c", "-ldl"], check=True)
    env = only({**provider.environment(), "LD_PRELOAD": str(library)})
    before = len(provider.seen)
    with Served(heatline, ["view", "--port", "0", profile], env=env) as served:
        answer = served.get("api/suggest/providers").json()
        assert answer["available"] is False and "libcurl4" in answer["note"]
        assert served.post("api/suggest/prompt", place()).status == 200
        kind, sentence = send(served, "openai", "good")[-1]
        assert kind == "error" and "libcurl4" in sentence
        assert "libcurl4" in served.get("api/suggest/models/openai").json()["error"]
    assert len(provider.seen) == before
