"""A client of ``heatline mcp`` that speaks lines, right and wrong ones."""

import json
import os
import queue
import signal
import subprocess
import threading
from pathlib import Path
from typing import Any, Optional

from support.paths import REPO, heatline_executable
from support.runs import clean_environment

MODERN = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
}
OFFICIAL_PYTHON = REPO / ".test-env" / "mcp" / "bin" / "python"  # has the package "mcp"


class Server:
    """The server in ``folder``.  ``era``: "legacy" (opened by initialize), "modern", or None."""

    def __init__(self, folder: Path, era: Optional[str] = "modern"):
        self.process = subprocess.Popen(
            [str(heatline_executable()), "mcp"],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=clean_environment({"TMPDIR": str(folder)}),
            start_new_session=True,
        )
        self.era = era
        self.last_id = 0
        self.lines: queue.Queue = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        if era == "legacy":
            self.opened = self.request("initialize", {"protocolVersion": "2025-11-25"})
            self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def _read(self) -> None:
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(b"")

    def write(self, line: bytes) -> None:
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def send(self, message: dict) -> None:
        self.write(json.dumps(message).encode())

    def receive(self, timeout: float = 60) -> dict:
        """The next message; whatever stands on standard output must be one."""
        line = self.lines.get(timeout=timeout)
        assert line.endswith(b"\n"), line
        message = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        return message

    def begin(self, method: str, params: Optional[dict] = None, **meta: Any) -> int:
        self.last_id += 1
        params = dict(params or {})
        if self.era == "modern":
            params["_meta"] = {**META, **meta}
        elif meta:
            params["_meta"] = meta
        self.send({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params})
        return self.last_id

    def request(self, method: str, params: Optional[dict] = None, **meta: Any) -> dict:
        """The whole response to this request, progress and the like passed over."""
        number = self.begin(method, params, **meta)
        while True:
            message = self.receive()
            if message.get("id") == number:
                return message

    def call(self, tool: str, **arguments: Any) -> dict:
        """What a tool gives; fails when it is an error."""
        result = self.request("tools/call", {"name": tool, "arguments": arguments})["result"]
        assert not result["isError"], result["content"][0]["text"]
        return {"text": result["content"][0]["text"], **result["structuredContent"]}

    def refusal(self, tool: str, **arguments: Any) -> str:
        """The sentence of a tool that refuses."""
        result = self.request("tools/call", {"name": tool, "arguments": arguments})["result"]
        assert result["isError"], result
        return result["content"][0]["text"]

    def end(self, timeout: float = 30) -> int:
        """Ends the input; the exit status."""
        self.process.stdin.close()
        return self.process.wait(timeout=timeout)

    def close(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        for stream in (self.process.stdin, self.process.stderr):
            try:
                stream.close()
            except OSError:
                pass
