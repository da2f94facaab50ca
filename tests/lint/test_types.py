"""The package's type hints: what a user's type checker reads, checked as strictly as it can be."""

import subprocess
import sys

from support.paths import REPO


def test_strict(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path, "heatline"],
        cwd=REPO / "python",
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
