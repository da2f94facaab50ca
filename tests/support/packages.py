"""Packages that programs of the tests import, which scripts/setup puts into folders of their own."""

from typing import Dict

import pytest

from support.paths import REPO
from support.pythons import Python


def trio_environment(python: Python) -> Dict[str, str]:
    """Variables with which this Python finds trio and anyio, in a release that it can run."""
    folder = REPO / ".test-env" / "trio" / ("new" if python.version >= (3, 10) else "old")
    if not (folder / "trio").is_dir():
        pytest.skip("trio is not installed (scripts/setup does that, where it can)")
    return {"PYTHONPATH": str(folder)}


def numpy_folder(python: Python) -> str:
    """Where this Python finds numpy, for its PYTHONPATH."""
    folder = REPO / ".test-env" / "numpy" / ("%d.%d" % python.version)
    if not (folder / "numpy").is_dir():
        pytest.skip("numpy is not installed for this Python (scripts/setup does that, where it can)")
    return str(folder)
