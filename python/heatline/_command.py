"""Where the ``heatline`` executable is that was installed with this package."""

import os
import shutil
import sysconfig
from typing import Iterator, Optional


def command() -> str:
    """The path of the executable that was installed with this package."""
    for folder in (*_beside_package(), sysconfig.get_path("scripts"), _user_scripts()):
        path = os.path.join(folder, "heatline") if folder else ""
        if path and os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    found = shutil.which("heatline")
    if found is None:
        raise FileNotFoundError("the heatline executable is not installed with this package")
    return found


def _beside_package() -> Iterator[str]:
    """<prefix>/bin where the package is <prefix>/lib/pythonX.Y/site-packages/heatline, and DIR/bin where it
    is DIR/heatline (pip install --target DIR)."""
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    above = os.path.dirname(os.path.dirname(folder))
    if os.path.basename(above) == "lib":
        yield os.path.join(os.path.dirname(above), "bin")
    yield os.path.join(folder, "bin")


def _user_scripts() -> Optional[str]:
    scheme = os.name + "_user"
    return sysconfig.get_path("scripts", scheme) if scheme in sysconfig.get_scheme_names() else None
