"""Heatline: where the time and the memory of a Python program go, line by line.

The profiler is the command ``heatline`` (also ``python -m heatline``).  This package finds it, and
gives programs the names that they may want to use whether they are being profiled or not."""

import os
import shutil
import sysconfig

__all__ = ["command", "profile"]


def profile(function):
    """Mark a function as worth a look.  Returns it as it is: the program runs as without."""
    return function


def command() -> str:
    """The path of the executable that was installed with this package."""
    for folder in (sysconfig.get_path("scripts"), _user_scripts(), _scripts_beside_package()):
        path = os.path.join(folder, "heatline") if folder else ""
        if path and os.access(path, os.X_OK):
            return path
    path = shutil.which("heatline")
    if path is None:
        raise FileNotFoundError("the heatline executable is not installed with this package")
    return path


def _user_scripts():
    scheme = os.name + "_user"
    return sysconfig.get_path("scripts", scheme) if scheme in sysconfig.get_scheme_names() else None


def _scripts_beside_package():
    """<prefix>/bin where the package is <prefix>/lib/pythonX.Y/site-packages/heatline."""
    folder = os.path.dirname(os.path.abspath(__file__))
    for _ in range(4):
        folder = os.path.dirname(folder)
    return os.path.join(folder, "bin")
