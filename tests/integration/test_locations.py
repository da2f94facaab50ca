"""The location-table decoders against every interpreter's own answer."""

import os

import pytest

from support.probes import PROBES, driver


@pytest.mark.slow
@pytest.mark.timeout(1000)
def test_standard_library(python):
    """Every code unit of every code object of the standard library.

    HEATLINE_WHOLE=1 adds the library's own tests: three times as much, several minutes.
    """
    whole = ["--with-tests"] if os.environ.get("HEATLINE_WHOLE") == "1" else []
    command = [PROBES / "locations.py", driver("python_probe"), *whole]
    done = python.run_plain(command, timeout=900 if whole else 280)
    assert done.returncode == 0, done.stderr + done.stdout
    codes, units = map(int, done.stdout.split())
    assert codes > 5000 and units > 100_000
