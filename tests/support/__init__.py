"""What the tests share: the Pythons of this machine and how to run things with them.

    from support.paths import REPO, heatline_executable
    from support.pythons import Python, all_pythons

Most tests need only the fixtures of conftest.py: ``python`` (one test per
version), ``newest_python``, ``any_python`` and ``program``.
"""
