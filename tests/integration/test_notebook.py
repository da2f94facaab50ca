"""The magics of IPython in a real kernel: notebooks are run as Jupyter runs them, and their outputs read."""

import re
import textwrap
from typing import Any, List

import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from support import package

LOAD = "%load_ext heatline"
SLOW = """
def slow(n):
    total = 0
    for i in range(n):
        total += i * i % 7
    return total
"""


class Cell:
    """What came out of a cell."""

    def __init__(self, cell: Any) -> None:
        self.outputs = cell.outputs

    @property
    def printed(self) -> str:
        return "".join(output.text for output in self.outputs if output.output_type == "stream")

    @property
    def errors(self) -> List[str]:
        return [output.ename for output in self.outputs if output.output_type == "error"]

    @property
    def shown(self) -> List[Any]:
        """The data of each thing that was displayed."""
        return [output.data for output in self.outputs if "data" in output]

    @property
    def text(self) -> str:
        """The profile as text: the last thing that was displayed."""
        assert self.shown, self.outputs
        return self.shown[-1]["text/plain"]

    @property
    def html(self) -> str:
        return self.shown[-1]["text/html"]


@pytest.fixture
def notebook(tmp_path, monkeypatch):
    """notebook(cell, cell, …): runs them in a fresh kernel; after the run the folder holds what they left."""
    for name, value in package.environment().items():
        monkeypatch.setenv(name, value)
    here, scratch = tmp_path / "here", tmp_path / "scratch"
    here.mkdir()
    scratch.mkdir()
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("TMPDIR", str(scratch))

    def run(*sources: str) -> List[Cell]:
        cells = [new_code_cell(textwrap.dedent(source).strip("\n")) for source in sources]
        client = NotebookClient(
            new_notebook(cells=cells),
            timeout=120,
            kernel_name="python3",
            allow_errors=True,
            resources={"metadata": {"path": str(here)}},
        )
        client.execute()
        assert not list(here.iterdir()) and not list(scratch.glob("heatline*")), "something was left behind"
        return [Cell(cell) for cell in client.nb.cells]

    return run


def test_a_cell_and_the_functions_of_another(notebook):
    """Both are named by their numbers and have their sources; figures are of the right lines."""
    cells = notebook(
        LOAD,
        SLOW,
        """
        %%heatline -o p
        x = slow(2_000_000)

        for i in range(2_000_000): x += i * i % 7
        x
        """,
        "s = p.data['heatline']['stacks']; print(sorted(s['strings'][f[0]] for f in s['files'] if f[1]))",
        "print([line.text for line in p.lines if (line.file, line.line) == ('Cell [2]', 4)])",
        "print([line['line'] for line in p.data['files']['Cell [3]']['lines']][:2])",
    )
    assert cells[2].shown[0]["text/plain"].isdigit(), "the value of the cell is shown as ever"
    assert "Cell [2] line 4" in cells[2].text and "total += i * i % 7" in cells[2].text
    assert "Cell [3] line 4" in cells[2].text and "x += i * i % 7" in cells[2].text
    assert "'Cell [2]', 'Cell [3]'" in cells[3].printed and "ipykernel" not in cells[3].printed
    assert cells[4].printed == "['total += i * i % 7']\n"
    assert cells[5].printed == r"['%%heatline -o p\n', 'x = slow(2_000_000)\n']" + "\n"


def test_memory(notebook):
    cells = notebook(
        LOAD,
        """
        %%heatline --no-page -o p
        held = bytearray(40 << 20)
        """,
        "print([round(line.peak_mb) for line in p.lines if (line.file, line.line) == ('Cell [2]', 2)])",
    )
    assert "Cell [2] line 2" in cells[1].text and "40 MB" in cells[1].text
    assert cells[2].printed == "[40]\n"


def test_what_is_shown(notebook):
    cells = notebook(
        LOAD,
        SLOW,
        "%%heatline\nslow(3_000_000)",
        "%%heatline --no-page --top 1\nslow(3_000_000)",
        "%heatline --no-page slow(3_000_000)",
    )
    html = cells[2].html
    assert html.index("<table") < html.index("<iframe") and "srcdoc=" in html and "<script" not in html
    assert len(html) < 2 << 20
    assert "<iframe" not in cells[3].html and cells[3].html.count("<tr>") == 2
    assert "Cell [2] line 4" in cells[4].text


def test_a_cell_that_awaits(notebook):
    cells = notebook(
        LOAD,
        """
        %%heatline --no-page --cpu-only
        import asyncio
        async def nap():
            await asyncio.sleep(0.5)
        await nap()
        """,
    )
    assert cells[1].errors == []
    assert float(re.search(r"ran (\d+\.\d+) s", cells[1].text)[1]) >= 0.5
    assert "Cell [2] line 4" in cells[1].text


def test_run_again_and_compared(notebook):
    cells = notebook(
        LOAD,
        SLOW,
        "%%heatline --no-page --compare last --cpu-only\nx = slow(12_000_000)",
        "%%heatline --no-page --compare last --cpu-only -o p\nx = slow(400_000)",
        "%%heatline --no-page --compare p --cpu-only\nx = slow(400_000)",
        "%%heatline --no-page --compare x\nx = slow(400_000)",
    )
    assert len(cells[2].shown) == 1, "there is no last one yet"
    assert cells[3].shown[0]["text/plain"].startswith("Faster")
    assert "Cell [2]:4" in cells[3].shown[0]["text/plain"]
    assert len(cells[4].shown) == 2
    assert "--compare" in cells[5].printed and not cells[5].shown


def test_however_a_cell_ends(notebook):
    cells = notebook(
        LOAD,
        SLOW,
        "%%heatline --no-page\nslow(3_000_000)\n1 / 0",
        "%%heatline --no-page\nslow(3_000_000)\nraise KeyboardInterrupt",
        "%%heatline --no-page\nslow(3_000_000)\nraise SystemExit",
        "%%heatline --no-page\nget_ipython().run_cell('y = 1')\nx = slow(3_000_000)",
        "%%heatline --no-page\n%%time\nx = slow(3_000_000)",
        "%heatline --no-page 1 / 0",
        "import heatline; print(heatline.enabled())",
    )
    assert [cell.errors for cell in cells[2:4]] == [["ZeroDivisionError"], ["KeyboardInterrupt"]]
    for cell in cells[2:7]:
        assert "Cell [2] line 4" in cell.text, cell.outputs
    assert cells[7].errors == ["ZeroDivisionError"]
    assert cells[8].printed == "False\n"


def test_what_is_mistyped_is_told_in_a_sentence(notebook):
    cells = notebook(
        LOAD,
        "%%heatline --nonsense\nprint('ran')",
        "%%heatline --top many\nprint('ran')",
        "%heatline",
        "%heatline --top 3",
        "%heatline await x",
        "%%heatline --top '3\nprint('ran')",
        "import heatline; print(heatline.enabled())",
    )
    for cell in cells[1:7]:
        assert cell.printed.startswith("UsageError: heatline: ") and "ran" not in cell.printed
        assert len(cell.printed.strip().splitlines()) == 1 and not cell.shown
    assert cells[7].printed == "False\n"


def test_what_cannot_be_had_is_told_in_a_sentence(notebook):
    cells = notebook(
        LOAD,
        SLOW,
        "%%heatline --no-page --save /nonexistent/p.json\nslow(3_000_000)",
        "%heatline --no-page --save /nonexistent/p.json slow(3_000_000)",
        "%%heatline --no-page\nimport heatline\np = heatline.stop()",
        "import heatline._collector\ndef missing(): raise FileNotFoundError('no command')\n"
        "heatline._collector.command = missing",
        "%%heatline\nprint('ran')",
    )
    for cell in cells[2:4]:
        assert "Cell [2] line 4" in cell.text
        assert cell.printed == "heatline: cannot save the profile to /nonexistent/p.json: No such file or directory\n"
    assert cells[4].printed.startswith("heatline: this cell has no profile: ") and cells[4].printed.count("\n") == 1
    assert cells[6].printed == "UsageError: heatline: no command\n" and not cells[6].errors


def test_scalenes_names(notebook):
    cells = notebook(
        LOAD,
        SLOW,
        "%%scalene --cpu-only\nx = slow(3_000_000)",
        "%scrun x = slow(3_000_000)",
        "%unload_ext heatline",
        "%%scalene\nx = slow(3_000_000)",
        """
        from IPython.core.magic import register_cell_magic
        @register_cell_magic
        def scalene(line, cell):
            print("Scalene's own")
        """,
        LOAD,
        "%%scalene\nx = 1",
        "%%heatline --no-page\nx = slow(3_000_000)",
    )
    assert "Cell [2] line 4" in cells[2].text and "Cell [2] line 4" in cells[3].text
    assert "not found" in cells[5].printed
    assert cells[8].printed == "Scalene's own\n"
    assert "Cell [2] line 4" in cells[9].text


def test_no_process_is_left(notebook):
    """The collector is gone when the profile is there."""
    cells = notebook(
        LOAD,
        "%%heatline --no-page\nx = sum(i * i for i in range(1_000_000))",
        """
        import os, pathlib
        mine = []
        for status in pathlib.Path("/proc").glob("[0-9]*/environ"):
            try:
                if status.parent.name != str(os.getpid()) and os.environ["TMPDIR"].encode() in status.read_bytes():
                    mine.append((status.parent / "comm").read_text().strip())
            except OSError:
                pass
        print([name for name in mine if name.startswith("heatline")])
        """,
    )
    assert cells[2].printed == "[]\n"


def test_by_hand(notebook):
    """heatline.start and stop know cells too."""
    cells = notebook(
        SLOW,
        """
        import heatline
        with heatline.profiling(cpu_only=True) as p:
            x = slow(3_000_000)
        """,
        "print([line.file for line in p.profile.lines][:1])",
        "p.profile",
    )
    assert cells[2].printed == "['Cell [1]']\n"
    assert "<iframe" in cells[3].html
