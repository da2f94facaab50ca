"""The test set-up itself: every version is here, and runs where its path says."""

import os

import pytest

from support.pythons import missing_versions, wanted_versions


@pytest.mark.parametrize("version", wanted_versions(), ids=lambda v: "py%d.%d" % v)
def test_every_version_is_here(version):
    """A version that is missing is a skip on a desk and a failure in CI."""
    if version not in missing_versions():
        return
    message = "no Python %d.%d on this machine" % version
    if os.environ.get("CI") == "true" and os.environ.get("HEATLINE_ALLOW_SKIP") != "1":
        pytest.fail(message + "; HEATLINE_ALLOW_SKIP=1 lets this pass")
    pytest.skip(message)


def test_a_python_runs_with_paths_of_this_machine(python, program, tmp_path):
    script = program(
        """
        import os, sys
        print("%d.%d" % sys.version_info[:2], os.getcwd(), sys.argv[1], sys.stdin.read())
        sys.exit(7)
        """
    )
    result = python.run_plain(script, "an argument", cwd=tmp_path, input="typed")
    assert result.stdout == "%d.%d %s an argument typed\n" % (*python.version, tmp_path)
    assert result.returncode == 7
    assert result.stderr == ""
