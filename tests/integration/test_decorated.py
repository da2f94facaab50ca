"""A bare @profile under heatline run: the name is there, and only such functions are reported."""

import pytest

MARKED = """
import sys
import helper

def burn(n):
    total = 0
    for i in range(n):
        total += i * i % 7
    return total

class Work:
    @staticmethod
    @profile
    def wanted(n):
        rows = [[i] * 100 for i in range(5000)]
        return burn(n) + sum(i for i in range(n)) + len(rows)

if len(sys.argv) == 1:
    Work.wanted(600_000)
burn(600_000)
helper.more(300_000)
print(profile.__name__, profile(3))
"""

HELPER = """
def more(n):
    return [i * i for i in range(n)]
"""


@pytest.fixture
def marked(program):
    program(HELPER, "helper.py")
    return program(MARKED)


def functions_of(profile):
    return {f["line"].split(".")[-1] for file in profile["files"].values() for f in file["functions"]}


def notes_of(profile):
    return [text for text in profile["heatline"]["quality"]["warnings"] if "@profile" in text]


def test_only_decorated_functions_are_reported(python, marked):
    run = python.heatline_run(marked)
    assert run.returncode == 0 and run.stdout == "profile 3\n"
    assert functions_of(run.profile) == {"wanted"}
    assert len(notes_of(run.profile)) == 1
    [file] = run.profile["files"].values()
    with_figures = {line["lineno"] for line in file["lines"] if line.get("n_samples") or line["n_malloc_mb"]}
    assert with_figures and with_figures <= {15, 16}
    [wanted] = file["functions"]
    assert wanted["n_malloc_mb"] > 2


def test_all_means_all(newest_python, marked):
    run = newest_python.heatline_run(marked, options=["--profile-all"])
    assert run.returncode == 0 and run.stdout == "profile 3\n"
    assert {"wanted", "burn"} <= functions_of(run.profile)


def test_marks_that_nothing_ran_do_not_count(newest_python, marked):
    run = newest_python.heatline_run(marked, ["other"])
    assert run.returncode == 0
    assert {"burn", "more"} <= functions_of(run.profile)
    assert not notes_of(run.profile)


def test_the_name_is_there_only_where_it_is_needed(newest_python, program):
    run = newest_python.heatline_run(program("import builtins\nprint(hasattr(builtins, 'profile'))\n"))
    assert run.stdout == "False\n"


ASKS = "import builtins\nprint(hasattr(builtins, 'profile'))\n"
BARE = "@profile\ndef f(): pass\n"


@pytest.mark.parametrize(
    "files, words, is_there",
    [
        ({"main.py": ASKS, "other.py": BARE}, [], False),
        ({"main.py": ASKS, "other.py": BARE}, ["other"], True),
        ({"main.py": ASKS + "another = 1\n", "other.py": BARE, "more.py": "import other\n"}, [], False),
        ({"main.py": ASKS + "import other\n", "other.py": BARE}, [], True),
        ({"main.py": ASKS + "import more\n", "other.py": BARE, "more.py": "import other\n"}, [], True),
        ({"main.py": ASKS + "import pkg\n", "pkg/__init__.py": "from . import one\n", "pkg/one.py": BARE}, [], True),
        ({"main.py": ASKS + "str('plugins')\n", "plugins/one.py": BARE}, [], True),
    ],
)
def test_the_name_is_there_for_what_may_be_imported(newest_python, program, files, words, is_there):
    paths = [program(text, name) for name, text in files.items()]
    run = newest_python.heatline_run(paths[0], words)
    assert run.returncode == 0 and run.stdout == f"{is_there}\n", run.describe()
