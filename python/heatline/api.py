"""Profile a part of a program: ``start`` and ``stop``, ``with profiling()``, ``mark``.

In a process that ``heatline run`` has started they switch that run on and off.  In any other process
``start`` loads the profiler into it and starts a collector beside it, and ``stop`` takes both away again."""

import atexit
import os
import sys
import sysconfig
import threading
from types import TracebackType
from typing import Any, Iterable, List, Optional, Type, Union

from heatline._agent import Agent, preloaded
from heatline._collector import Collector
from heatline.results import Profile, made_here

__all__ = ["enabled", "mark", "profiling", "start", "stop"]


class _State:
    """What this process has started.  Touched under the lock only."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.depth = 0
        self.agent: Optional[Agent] = preloaded()
        self.is_run = self.agent is not None
        self.collector: Optional[Collector] = None


_state = _State()


def start(
    *,
    cpu_only: bool = False,
    memory: bool = True,
    program_path: Union[str, "os.PathLike[str]", None] = None,
    profile_all: bool = False,
    profile_only: Iterable[str] = (),
    profile_exclude: Iterable[str] = (),
    profile_system_libraries: bool = False,
    stacks: bool = True,
    cpu_sampling_rate: Optional[float] = None,
    allocation_sampling_window: Optional[int] = None,
) -> None:
    """Begin to measure this process, all of its threads.

    The options are those of ``heatline run``; ``cpu_only=True`` and ``memory=False`` are the same.  Under
    ``heatline run`` the run goes on with its own options.

    Starts are counted: after a second one, the first ``stop`` returns the profile so far, and only the
    second one ends it.  The options of the first count."""
    words: List[str] = []
    _add_flag(words, "--cpu-only", cpu_only or not memory)
    _add_flag(words, "--profile-all", profile_all)
    _add_flag(words, "--profile-system-libraries", profile_system_libraries)
    _add_flag(words, "--no-stacks", not stacks)
    _add_list(words, "--profile-only", profile_only)
    _add_list(words, "--profile-exclude", profile_exclude)
    if cpu_sampling_rate is not None:
        words.append("--cpu-sampling-rate=%s" % cpu_sampling_rate)
    if allocation_sampling_window is not None:
        words.append("--allocation-sampling-window=%d" % allocation_sampling_window)
    with _state.lock:
        if _state.is_run:
            _run_agent().switch(True)
        elif _state.depth == 0:
            _begin(words, program_path)
        _state.depth += 1


def stop() -> Profile:
    """End what the last ``start`` began, and return the profile.

    Under ``heatline run`` it suspends the run and returns the profile so far; the run writes its own at
    its end."""
    with _state.lock:
        if _state.is_run:
            _state.depth = max(0, _state.depth - 1)
            agent = _run_agent()
            if _state.depth == 0:
                agent.switch(False)
            return _so_far(agent)
        if _state.depth == 0:
            raise RuntimeError("nothing has been started: heatline.stop() comes after heatline.start()")
        _state.depth -= 1
        if _state.depth > 0:
            assert _state.agent is not None
            return _so_far(_state.agent)
        return _end()


class profiling:
    """``with heatline.profiling() as p:`` measures its block; ``p.profile`` is the profile, also when the
    block ends in an exception.  Takes the options of ``start``."""

    profile: Optional[Profile] = None

    def __init__(self, **options: Any) -> None:
        self._options = options
        self._was_on = False
        self._pid = 0

    def __enter__(self) -> "profiling":
        self._was_on = enabled()
        start(**self._options)
        self._pid = os.getpid()
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        if os.getpid() != self._pid and not _state.is_run:
            return  # a child that was forked inside the block: this profile is its parent's
        self.profile = stop()
        if _state.is_run and self._was_on:
            _run_agent().switch(True)


def enabled() -> bool:
    """Whether this process is being measured now."""
    agent = _state.agent
    return agent is not None and agent.is_on()


def mark(text: str) -> None:
    """Put a word on the profile's timeline: ``mark("epoch 3")``.  Does nothing in a process that is not being
    profiled.  A text is cut at 200 bytes, and a profile keeps the first 1000."""
    agent = _state.agent
    if agent is not None:
        agent.mark(text)


# --- under heatline run ---


def _run_agent() -> Agent:
    assert _state.agent is not None
    if _state.agent.is_out():
        raise RuntimeError("this process belongs to a run of heatline, but is left out of it")
    return _state.agent


def _so_far(agent: Agent) -> Profile:
    with open(agent.show(), "rb") as file:
        return made_here(file.read())


# --- in any other process ---


def _begin(words: List[str], program_path: Union[str, "os.PathLike[str]", None]) -> None:
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        raise RuntimeError("this process cannot be profiled: Python runs without its lock (the GIL)")
    script = getattr(sys.modules.get("__main__"), "__file__", None)
    script = os.path.abspath(script) if script else ""
    # pytest, or a notebook's kernel, is a name, but none of the user's files.
    is_users = bool(script) and not _is_library(script)
    program = script if is_users else os.path.basename(script or sys.argv[0]) or "python"
    folder = program_path if program_path is not None else os.path.dirname(script) if is_users else os.getcwd()
    words += ["--program=" + program, "--program-path=" + os.path.abspath(folder)]
    collector = Collector(words)
    try:
        _state.agent = Agent.load(collector.agent_path)
        _state.agent.start(collector.folder)
        collector.tell_started()
    except BaseException:
        collector.abandon()
        raise
    _state.collector = collector


def _is_library(program: str) -> bool:
    """Whether it is a command of an installed package, or a module of Python's own."""
    folders = [sysconfig.get_path(name) for name in ("scripts", "stdlib", "purelib", "platlib")]
    return any(folder and program.startswith(folder + os.sep) for folder in folders)


def _end() -> Profile:
    collector, _state.collector = _state.collector, None
    assert collector is not None and _state.agent is not None
    _state.agent.stop()
    return made_here(collector.finish())


def _at_exit() -> None:
    collector = _state.collector
    if collector is not None and _state.agent is not None:
        _state.depth, _state.collector = 0, None
        _state.agent.stop()
        collector.abandon()


def _after_fork() -> None:
    """The parent's profile has what a child does until the parent stops; the child has started nothing."""
    _state.lock = threading.RLock()
    _state.depth = 0
    if _state.collector is not None:
        _state.collector.forget()
        _state.collector = None


def _add_flag(words: List[str], flag: str, is_set: bool) -> None:
    if is_set:
        words.append(flag)


def _add_list(words: List[str], option: str, items: Iterable[str]) -> None:
    items = [items] if isinstance(items, str) else list(items)
    if items:
        words.append("%s=%s" % (option, ",".join(items)))


atexit.register(_at_exit)
os.register_at_fork(after_in_child=_after_fork)
