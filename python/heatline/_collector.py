"""The collector of ``heatline.start``: a process beside this one, ``heatline session``.

It belongs to nobody (so that ``os.wait`` of the program never meets it), is spoken to over two pipes, and
ends with them: see src/collect/session.h."""

import os
import shutil
import subprocess
from typing import List

from heatline._command import command

_STARTED, _ENDED = b"\1", b"\3"


class Collector:
    def __init__(self, words: List[str]) -> None:
        with subprocess.Popen(
            [command(), "session", *words, str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process:
            assert process.stdin is not None and process.stdout is not None and process.stderr is not None
            self._to = os.dup(process.stdin.fileno())
            self._from = open(os.dup(process.stdout.fileno()), "rb")
            complaint = process.stderr.read().decode(errors="replace").strip()
        self.agent_path = self._read_line()
        self.folder = self._read_line()
        if not self.folder:
            self.abandon()
            raise RuntimeError(complaint or "heatline's collector could not be started")

    def _read_line(self) -> str:
        return os.fsdecode(self._from.readline()).rstrip("\n")

    def tell_started(self) -> None:
        os.write(self._to, _STARTED)

    def finish(self) -> bytes:
        """The profile.  The agent has left the process."""
        try:
            os.write(self._to, _ENDED)
            profile = self._from.read()
        except BrokenPipeError:
            profile = b""
        self.forget()
        if not profile:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise RuntimeError("heatline's collector was ended from outside: there is no profile")
        return profile

    def abandon(self) -> None:
        """Nobody wants the profile.  Returns when the collector has gone."""
        os.close(self._to)
        self._to = -1
        self._from.read()
        self._from.close()

    def forget(self) -> None:
        """Lets go of it; another process may still hold it."""
        if self._to >= 0:
            os.close(self._to)
        self._to = -1
        self._from.close()
