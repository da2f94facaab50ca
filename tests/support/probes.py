"""The drivers that show src/python and src/remote from outside, and the scripts that go with them."""

from pathlib import Path

import pytest

from support.paths import REPO, build_dir

PROBES = REPO / "tests" / "integration" / "probes"


def driver(name: str) -> Path:
    """A driver of the build under test, such as python_probe."""
    path = build_dir() / "tests" / "unit" / name
    if not path.exists():
        pytest.fail(f"{path} is not there: build with cmocka installed")
    return path
