"""A scripted provider on the loopback address that speaks all seven shapes.

    with ScriptedProvider() as provider:
        run(..., env=provider.environment("anthropic"))
        provider.seen[-1].headers

What it does is chosen by the name of the model: "good", "split" (tiny pieces, cut within
characters), "unauthorised", "busy" (429 twice, then good), "later" (429, an hour), "broken"
(500), "silent", "refusal", "cut" (its limit), "lost" (breaks off), "huge" (10 MB), "echo"
(repeats the key), "slow" (a piece now and then, until the client is gone); any other is
not found.

As a program it prints its port and serves until its input ends; GET /seen tells what was
asked, PUT /answer sets the text of the answers.
"""

import json
import re
import struct
import sys
import threading
import time
import zlib
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable, Dict, Iterator, List, Optional

KEY = "sk-test-7f3a9c1e5b2d8f40-not-a-real-key"
SECRET = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"  # the one of Amazon's own documentation
MODELS = ["good", "split"]
HUGE_BYTES = 10 << 20

ANSWER = """DIAGNOSIS: `x in list` looks at every item – é, 漢字, 😀.
DIFF:
```diff
--- a/program.py
+++ b/program.py
@@ -1,2 +1,2 @@
-wanted = list(range(10))
+wanted = set(range(10))
 print(3 in wanted)
```
GAIN: 2 to 10
RISKS: none
TEST: run it twice
"""


@dataclass
class Seen:
    """One request as it came."""

    method: str
    path: str
    headers: Dict[str, str]
    body: str
    is_left: bool = False  # the client closed while it was being answered


def environment(port: int, provider: Optional[str] = None, key: str = KEY) -> Dict[str, str]:
    """What a user's environment has for this provider; for all of them without a name."""
    at = f"http://127.0.0.1:{port}"
    rows = {
        "openai": {"OPENAI_API_KEY": key, "OPENAI_BASE_URL": f"{at}/v1"},
        "compatible": {"OPENAI_API_KEY": key, "OPENAI_BASE_URL": f"{at}/v1"},
        "azure": {"AZURE_OPENAI_API_KEY": key, "AZURE_OPENAI_ENDPOINT": at},
        "anthropic": {"ANTHROPIC_API_KEY": key, "ANTHROPIC_BASE_URL": at},
        "bedrock": {
            "AWS_BEARER_TOKEN_BEDROCK": key,
            "AWS_REGION": "eu-central-1",
            "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": at,
            "AWS_ENDPOINT_URL_BEDROCK": at,
        },
        "gemini": {"GEMINI_API_KEY": key, "GOOGLE_GEMINI_BASE_URL": at},
        "ollama": {"OLLAMA_HOST": f"127.0.0.1:{port}"},
    }
    if provider:
        return rows[provider]
    return {name: value for row in rows.values() for name, value in row.items()}


PROVIDERS = ["anthropic", "azure", "bedrock", "compatible", "gemini", "ollama", "openai"]
VARIABLES = [*environment(1), "GOOGLE_API_KEY", "ANTHROPIC_AUTH_TOKEN", "AZURE_OPENAI_AD_TOKEN"]
VARIABLES += ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_DEFAULT_REGION"]
VARIABLES += ["OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_API_VERSION", "HEATLINE_AI_TIMEOUT"]


# --- the shapes: how a piece of text, the end, and a refusal look ---


def _sse(value: Any) -> bytes:
    return b"data: " + json.dumps(value, ensure_ascii=False).encode() + b"\n\n"


def _frame(event: str, value: Any, kind: str = "event") -> bytes:
    head = b""
    name = ":event-type" if kind == "event" else ":exception-type"
    for key, text in ((name, event), (":content-type", "application/json"), (":message-type", kind)):
        head += bytes([len(key)]) + key.encode() + b"\x07" + struct.pack(">H", len(text)) + text.encode()
    body = json.dumps(value, ensure_ascii=False).encode()
    frame = struct.pack(">II", 16 + len(head) + len(body), len(head))
    frame += struct.pack(">I", zlib.crc32(frame)) + head + body
    return frame + struct.pack(">I", zlib.crc32(frame))


def _candidate(text: str = "", reason: str = "", thought: bool = False) -> bytes:
    part = {"text": text, "thought": True} if thought else {"text": text}
    candidate: Dict[str, Any] = {"content": {"role": "model", "parts": [part]}}
    if reason:
        candidate["finishReason"] = reason
    return _sse({"candidates": [candidate]})


def _line(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode() + b"\n"


@dataclass
class Shape:
    path: str  # a pattern; its group, if any, is the model
    text: Callable[[str], bytes]
    end: Callable[[], bytes]
    cut: Callable[[], bytes]
    refusal: Callable[[], bytes]
    before: bytes = b""  # what comes before the text, and is no part of it
    type: str = "text/event-stream"


SHAPES = [
    Shape(
        r"/(?:openai/)?v1/responses",
        lambda text: _sse({"type": "response.output_text.delta", "delta": text}),
        lambda: _sse({"type": "response.completed", "response": {"status": "completed"}}),
        lambda: _sse(
            {
                "type": "response.incomplete",
                "response": {"incomplete_details": {"reason": "max_output_tokens"}},
            }
        ),
        lambda: _sse({"type": "response.refusal.delta", "delta": "not this one"}),
        b"event: response.created\n" + _sse({"type": "response.created", "response": {}}),
    ),
    Shape(
        r"/v1/chat/completions|/openai/deployments/([^/]+)/chat/completions\?api-version=.+",
        lambda text: _sse({"choices": [{"delta": {"content": text}, "finish_reason": None}]}),
        lambda: _sse({"choices": [{"delta": {}, "finish_reason": "stop"}]}) + b"data: [DONE]\n\n",
        lambda: _sse({"choices": [{"delta": {}, "finish_reason": "length"}]}),
        lambda: _sse({"choices": [{"delta": {"refusal": "not this one"}}]}),
        b": a comment\n\n" + _sse({"choices": []}),
    ),
    Shape(
        r"/v1/messages",
        lambda text: _sse(
            {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": text}}
        ),
        lambda: _sse({"type": "message_delta", "delta": {"stop_reason": "end_turn"}})
        + _sse({"type": "message_stop"}),
        lambda: _sse({"type": "message_delta", "delta": {"stop_reason": "max_tokens"}}),
        lambda: _sse({"type": "message_delta", "delta": {"stop_reason": "refusal"}}),
        _sse({"type": "message_start"})
        + _sse(
            {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "hm"}}
        ),
    ),
    Shape(
        r"/model/([^/]+)/converse-stream",
        lambda text: _frame("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": text}}),
        lambda: _frame("messageStop", {"stopReason": "end_turn"}) + _frame("metadata", {"usage": {}}),
        lambda: _frame("messageStop", {"stopReason": "max_tokens"}),
        lambda: _frame("messageStop", {"stopReason": "guardrail_intervened"}),
        _frame("messageStart", {"role": "assistant"}),
        "application/vnd.amazon.eventstream",
    ),
    Shape(
        r"/v1beta/models/([^/:]+):streamGenerateContent\?alt=sse",
        lambda text: _candidate(text),
        lambda: _candidate(reason="STOP"),
        lambda: _candidate(reason="MAX_TOKENS"),
        lambda: _sse({"promptFeedback": {"blockReason": "SAFETY"}}),
        _candidate("hm", thought=True),
    ),
    Shape(
        r"/api/chat",
        lambda text: _line({"message": {"role": "assistant", "content": text}, "done": False}),
        lambda: _line({"message": {"content": ""}, "done": True, "done_reason": "stop"}),
        lambda: _line({"message": {"content": ""}, "done": True, "done_reason": "length"}),
        lambda: _line({"message": {"content": ""}, "done": True, "done_reason": "content_filter"}),
        type="application/x-ndjson",
    ),
]

LISTS = {
    r"/(?:openai/)?v1/models": lambda: {"data": [{"id": name} for name in MODELS]},
    r"/v1/models\?limit=1000": lambda: {"data": [{"id": name} for name in MODELS]},
    r"/foundation-models": lambda: {
        "modelSummaries": [
            {"modelId": MODELS[0], "outputModalities": ["TEXT"]},
            {"modelId": "pictures", "outputModalities": ["IMAGE"]},
        ]
    },
    r"/inference-profiles": lambda: {
        "inferenceProfileSummaries": [{"inferenceProfileId": MODELS[1]}]
    },
    r"/v1beta/models\?pageSize=1000": lambda: {
        "models": [
            *({"name": f"models/{m}", "supportedGenerationMethods": ["generateContent"]} for m in MODELS),
            {"name": "models/embedding", "supportedGenerationMethods": ["embedContent"]},
        ]
    },
    r"/api/tags": lambda: {"models": [{"name": name} for name in MODELS]},
}


class _Handler(BaseHTTPRequestHandler):
    server: "_Server"

    def log_message(self, *unused: Any) -> None:
        pass

    def note(self) -> Seen:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        seen = Seen(self.command, self.path, dict(self.headers), body)
        self.server.owner.seen.append(seen)
        return seen

    def reply(self, status: int, value: Any, headers: Optional[Dict[str, str]] = None) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name, text in (headers or {}).items():
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        if self.path == "/seen":
            self.reply(200, [vars(seen) for seen in self.server.owner.seen])
            return
        self.note()
        for pattern, models in LISTS.items():
            if re.fullmatch(pattern, self.path):
                self.reply(200, models())
                return
        self.reply(404, {"error": {"message": "no such list"}})

    def do_PUT(self) -> None:
        self.server.owner.answer = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.reply(200, {})

    def do_POST(self) -> None:
        seen = self.note()
        for shape in SHAPES:
            match = re.fullmatch(shape.path, self.path)
            if match:
                model = (match.groups() and match.group(1)) or json.loads(seen.body).get("model")
                self.act(shape, seen, model)
                return
        self.reply(404, {"error": {"message": "no such address"}})

    def act(self, shape: Shape, seen: Seen, model: str) -> None:
        if model == "unauthorised":
            self.reply(401, {"error": {"message": f"Incorrect API key provided: {KEY}"}})
        elif model == "busy" and self.server.owner.turn_away():
            self.reply(429, {"error": "too many"}, {"Retry-After": "0"})
        elif model == "later":
            self.reply(429, {"message": "too many"}, {"Retry-After": "3600"})
        elif model == "broken":
            self.reply(500, {"error": {"message": "it\nbroke"}})
        elif model == "silent":
            self.server.owner.leaving.wait(60)
        elif model in ("good", "split", "busy", "refusal", "cut", "lost", "huge", "echo", "slow"):
            self.stream(shape, seen, model)
        else:
            self.reply(404, {"error": {"message": f"no model {model}"}})

    def stream(self, shape: Shape, seen: Seen, model: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", shape.type)
        self.end_headers()
        size = 2 if model == "split" else 1 << 16
        data = b"".join(self.pieces(shape, model)) if model == "split" else None
        pieces: Any = [data[i : i + size] for i in range(0, len(data), size)] if data else self.pieces(shape, model)
        try:
            for piece in pieces:
                self.wfile.write(piece)
                self.wfile.flush()
                if model == "split":
                    time.sleep(0.0002)
        except (BrokenPipeError, ConnectionResetError):
            seen.is_left = True

    def pieces(self, shape: Shape, model: str) -> Iterator[bytes]:
        answer = self.server.owner.answer
        half = len(answer) // 2
        yield shape.before
        if model == "refusal":
            yield shape.refusal()
        elif model in ("cut", "lost"):
            yield shape.text(answer[:half])
            yield shape.cut() if model == "cut" else b""
        elif model == "huge":
            for _ in range(HUGE_BYTES >> 14):
                yield shape.text("x" * (1 << 14))
        elif model == "echo":
            yield shape.text(f"your key is {KEY}") + shape.end()
        elif model == "slow":
            while not self.server.owner.leaving.wait(0.1):
                yield shape.text("and ")
        else:
            for start in range(0, len(answer), 11):
                yield shape.text(answer[start : start + 11])
            yield shape.end()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    owner: "ScriptedProvider"


class ScriptedProvider:
    def __init__(self, answer: str = ANSWER):
        self.answer = answer
        self.seen: List[Seen] = []
        self.leaving = threading.Event()
        self._turned_away = 0
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.owner = self
        self.port = self._server.server_address[1]

    def turn_away(self) -> bool:
        self._turned_away += 1
        return self._turned_away % 3 != 0

    def environment(self, provider: Optional[str] = None, key: str = KEY) -> Dict[str, str]:
        return environment(self.port, provider, key)

    def __enter__(self) -> "ScriptedProvider":
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *unused: Any) -> None:
        self.leaving.set()
        self._server.shutdown()
        self._server.server_close()


if __name__ == "__main__":
    with ScriptedProvider() as served:
        print(served.port, flush=True)
        sys.stdin.read()
