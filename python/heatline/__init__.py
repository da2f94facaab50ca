"""Heatline: where the time and the memory of a Python program go, line by line.

The profiler is the command ``heatline`` (also ``python -m heatline``).  This package finds it, opens its
profiles, and gives programs the names that they may want to use whether they are being profiled or not.

A program that only says ``from heatline import profile`` pays for nothing else: the rest is imported when
it is first used."""

import importlib
from typing import TYPE_CHECKING, Any, Callable, List, TypeVar

if TYPE_CHECKING:
    from heatline._command import command
    from heatline.api import enabled, mark, profiling, start, stop
    from heatline.results import Function, Line, Profile

__all__ = [
    "Function",
    "Line",
    "Profile",
    "command",
    "enabled",
    "mark",
    "profile",
    "profiling",
    "start",
    "stop",
]

_HOMES = {
    "Function": "heatline.results",
    "Line": "heatline.results",
    "Profile": "heatline.results",
    "command": "heatline._command",
    "enabled": "heatline.api",
    "load_ipython_extension": "heatline.magics",
    "mark": "heatline.api",
    "profiling": "heatline.api",
    "start": "heatline.api",
    "stop": "heatline.api",
    "unload_ipython_extension": "heatline.magics",
}

_Function = TypeVar("_Function", bound=Callable[..., object])


def profile(function: _Function) -> _Function:
    """Mark a function as worth a look.  Returns it as it is: the program runs as without."""
    return function


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError("module %r has no attribute %r" % (__name__, name))
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> List[str]:
    return sorted({*globals(), *__all__})
