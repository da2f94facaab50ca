"""The agent in this process, by the functions of src/agent/session.h."""

import ctypes
import sys
from typing import Optional

_OUT, _ON = 0, 1


class _Request(ctypes.Structure):
    _fields_ = [
        ("folder", ctypes.c_char_p),
        ("idents", ctypes.POINTER(ctypes.c_ulong)),
        ("ident_count", ctypes.c_size_t),
    ]


class Agent:
    def __init__(self, library: ctypes.PyDLL, waiting: ctypes.CDLL) -> None:
        # All but one are called with the GIL held: no other thread is in Python's allocators meanwhile.
        self._start = library.heatline_agent_start
        self._start.argtypes = [ctypes.POINTER(_Request), ctypes.c_char_p, ctypes.c_size_t]
        self._stop = library.heatline_agent_stop
        self._stop.restype = None
        self._state = library.heatline_agent_state
        self._switch = library.heatline_agent_switch
        self._switch.restype = None
        self._mark = library.heatline_agent_mark
        self._mark.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
        self._mark.restype = None
        self._show = waiting.heatline_agent_show
        self._show.argtypes = [ctypes.c_char_p, ctypes.c_size_t]

    @classmethod
    def load(cls, path: str) -> "Agent":
        try:
            return cls(ctypes.PyDLL(path), ctypes.CDLL(path))
        except OSError as error:  # a musl, no room for thread-local variables
            raise RuntimeError("this process cannot be profiled: %s" % error) from error

    def start(self, folder: str) -> None:
        # Before 3.11 a thread's number is not in its state: the agent finds it by this.
        idents = list(sys._current_frames()) if sys.version_info < (3, 11) else []
        request = _Request(folder.encode(), (ctypes.c_ulong * len(idents))(*idents), len(idents))
        why = ctypes.create_string_buffer(256)
        if self._start(ctypes.byref(request), why, len(why)) != 0:
            raise RuntimeError("this process cannot be profiled: " + why.value.decode(errors="replace"))

    def stop(self) -> None:
        self._stop()

    def is_out(self) -> bool:
        return bool(self._state() == _OUT)

    def is_on(self) -> bool:
        return bool(self._state() == _ON)

    def switch(self, is_on: bool) -> None:
        self._switch(int(is_on))

    def mark(self, text: str) -> None:
        data = str(text).encode("utf-8", "replace")[:200].decode("utf-8", "ignore").encode("utf-8")
        self._mark(data, len(data))

    def show(self) -> str:
        """The path of the profile so far, which is written now."""
        path = ctypes.create_string_buffer(4096)
        if self._show(path, len(path)) != 0:
            raise RuntimeError("heatline's collector does not answer")
        return path.value.decode()


def preloaded() -> Optional[Agent]:
    """The agent that ``heatline run`` has put into this process, or None."""
    try:
        return Agent(ctypes.PyDLL(None), ctypes.CDLL(None))
    except AttributeError:
        return None
