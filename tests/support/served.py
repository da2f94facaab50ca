"""A page served by ``heatline view``, and raw requests to it."""

import gzip
import json
import os
import select
import signal
import socket
import subprocess
from pathlib import Path
from typing import Any, List, Mapping, Optional, Sequence, Tuple

from support.runs import clean_environment

STARTED_S = 60  # a busy machine under a sanitizer
ANSWERED_S = 30


class Answer:
    """One HTTP answer, taken apart."""

    def __init__(self, raw: bytes):
        head, _, self.body = raw.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        self.status = int(lines[0].split()[1]) if lines[0] else 0
        pairs = (line.split(":", 1) for line in lines[1:])
        self.headers = {name.strip().lower(): value.strip() for name, value in pairs}
        if self.headers.get("transfer-encoding") == "chunked":
            self.body = _without_chunks(self.body)

    def text(self) -> str:
        body = self.body
        if self.headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        return body.decode("utf-8")

    def json(self) -> Any:
        return json.loads(self.text())

    def events(self) -> List[Tuple[str, Any]]:
        """Server-sent events whose data is JSON: (name, data)."""
        found = []
        for block in self.text().split("\n\n"):
            fields = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
            if fields:
                found.append((fields["event"], json.loads(fields["data"])))
        return found


def _without_chunks(body: bytes) -> bytes:
    whole = b""
    while body:
        size, _, rest = body.partition(b"\r\n")
        count = int(size, 16)
        whole += rest[:count]
        body = rest[count + 2 :] if count else b""
    return whole


class Served:
    """``heatline view`` with these words, from its address to Ctrl-C.

    Use it in a with statement; ``status`` and ``stderr`` are there after it.
    """

    def __init__(
        self,
        heatline: Path,
        words: Sequence[Any],
        env: Optional[Mapping[str, Optional[str]]] = None,
        cwd: Any = None,
    ):
        quiet = dict.fromkeys(("DISPLAY", "WAYLAND_DISPLAY", "BROWSER", "VISUAL", "EDITOR"))
        self.process = subprocess.Popen(
            [str(heatline), *map(str, words)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=clean_environment({**quiet, **(env or {})}),
            cwd=cwd,
            start_new_session=True,
        )
        self.status: Optional[int] = None
        self.stderr = ""
        ready, _, _ = select.select([self.process.stdout], [], [], STARTED_S)
        self.address = self.process.stdout.readline().decode().strip() if ready else ""
        if not self.address.startswith("http://127.0.0.1:"):
            self.end(signal.SIGKILL)
            raise AssertionError(f"no page is served: {self.address}\n{self.stderr}")
        self.port = int(self.address.split(":")[2].split("/")[0])
        self.token = self.address.rstrip("/").rsplit("/", 1)[1]

    def __enter__(self) -> "Served":
        return self

    def __exit__(self, *unused: Any) -> None:
        self.end()

    def end(self, number: int = signal.SIGINT) -> None:
        """Ctrl-C, or another signal; again does nothing."""
        if self.status is not None:
            return
        os.kill(self.process.pid, number)
        try:
            _, err = self.process.communicate(timeout=ANSWERED_S)
        except subprocess.TimeoutExpired:
            os.kill(self.process.pid, signal.SIGKILL)
            self.process.communicate()
            raise AssertionError("it does not end") from None
        self.stderr = err.decode()
        self.status = self.process.returncode

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=ANSWERED_S)

    def path(self, rest: str = "") -> str:
        return f"/{self.token}/{rest}"

    def raw(self, request: bytes) -> Answer:
        """Sends these bytes and reads until the server closes."""
        with self.connect() as connection:
            try:
                connection.sendall(request)
            except (BrokenPipeError, ConnectionResetError):
                pass  # it has answered before all was sent
            return Answer(read_all(connection))

    def ask(
        self,
        path: str,
        method: str = "GET",
        headers: Optional[Mapping[str, Optional[str]]] = None,
        body: bytes = b"",
    ) -> Answer:
        """A request as a client without a page makes it; a header of None is left out."""
        lines = {"Host": f"127.0.0.1:{self.port}", "Connection": "close"}
        if body:
            lines["Content-Length"] = str(len(body))
        lines.update(headers or {})
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items() if value is not None)
        return self.raw(f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode("latin-1") + body)

    def get(self, rest: str = "", **headers: str) -> Answer:
        return self.ask(self.path(rest), headers={k.replace("_", "-"): v for k, v in headers.items()})

    def post(self, rest: str, value: Any, **headers: Optional[str]) -> Answer:
        """A request as the page itself makes it."""
        own = {"Origin": f"http://127.0.0.1:{self.port}", "Content-Type": "application/json"}
        own.update({k.replace("_", "-"): v for k, v in headers.items()})
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        return self.ask(self.path(rest), "POST", own, body)


def read_all(connection: socket.socket) -> bytes:
    """Everything until the other side closes, or is silent for too long."""
    data = b""
    try:
        while chunk := connection.recv(1 << 16):
            data += chunk
    except (ConnectionResetError, socket.timeout):
        pass
    return data
