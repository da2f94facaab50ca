"""Where things are, all relative to the repository."""

import os
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]
SRC = REPO / "src"
PROGRAMS = REPO / "tests" / "integration" / "programs"
SID_TREE = REPO / ".test-env" / "sid"
IN_SID = REPO / "scripts" / "in-sid"


def build_dir() -> Path:
    """The build folder under test: $HEATLINE_BUILD, or build/."""
    return Path(os.environ.get("HEATLINE_BUILD", REPO / "build")).resolve()


def heatline_executable() -> Path:
    """The heatline under test: $HEATLINE, or the one in the build folder."""
    return Path(os.environ.get("HEATLINE", build_dir() / "heatline")).absolute()
