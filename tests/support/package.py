"""The Python package as it stands in the tree, with the executable under test."""

import os
import sys
from typing import Dict

from support.paths import REPO, heatline_executable

PACKAGE_FOLDER = REPO / "python"


def environment() -> Dict[str, str]:
    """What a Python needs to import the package from the tree and to find the executable under test."""
    path = os.pathsep.join([str(heatline_executable().parent), os.environ["PATH"]])
    return {"PYTHONPATH": str(PACKAGE_FOLDER), "PATH": path}


def import_here() -> None:
    """Makes ``import heatline`` work in the tests' own Python."""
    if str(PACKAGE_FOLDER) not in sys.path:
        sys.path.insert(0, str(PACKAGE_FOLDER))
