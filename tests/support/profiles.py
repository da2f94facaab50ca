"""Profiles made by hand: small, valid, and with known sums."""

import json
from pathlib import Path
from typing import Any, List, Optional, Sequence

MB = 1024 * 1024

# The order of a stack node's figures; times in microseconds, memory in bytes.
FIGURES = (
    "samples python native system wait cpu idle allocated kept copied at_peak gil gc".split()
)


class Node:
    """A node of the stack tree: ``parent`` is the index of another, 0 the root."""

    def __init__(self, parent: int, function: str, file: str, line: int, **figures: int):
        assert not set(figures) - set(FIGURES), figures
        self.parent, self.function, self.file, self.line = parent, function, file, line
        self.figures = figures

    @property
    def time(self) -> int:
        return sum(self.figures.get(kind, 0) for kind in ("python", "native", "system", "wait"))


def line(number: int, text: str = "", function_start: int = 0, **figures: Any) -> dict:
    """A line's record.  Figures: seconds by kind, and any key of the format."""
    record = {
        "lineno": number,
        "line": text + "\n",
        "n_samples": figures.pop("samples", 0),
        "start_region_line": number,
        "end_region_line": number,
        "start_function_line": function_start,
        "end_function_line": number if function_start else 0,
        **figures,
    }
    kinds = ("python_s", "native_s", "system_s", "wait_s")
    record.setdefault("inclusive_s", sum(record.get(kind, 0) for kind in kinds))
    return record


def function(name: str, first_line: int, **figures: Any) -> dict:
    return line(first_line, **figures) | {"line": name}


def file(lines: Sequence[dict], functions: Sequence[dict] = ()) -> dict:
    return {"lines": list(lines), "functions": list(functions), "imports": [], "leaks": {},
            "reduced": True}


def seconds_of(record: dict) -> float:
    return sum(record.get(kind, 0) for kind in ("python_s", "native_s", "system_s", "wait_s"))


def make(
    files: dict,
    nodes: Optional[Sequence[Node]] = None,
    *,
    root: str = "/project",
    samples: Optional[int] = None,
    memory: Optional[dict] = None,
    outside_s: float = 0,
    elapsed_s: Optional[float] = None,
) -> dict:
    """A profile with these files (path to file()) and stacks.

    ``memory`` are keys of heatline.memory: it was measured.  The sums are made from the lines.
    """
    records = [record for content in files.values() for record in content["lines"]]
    time: dict = {
        kind: sum(record.get(kind, 0) for record in records)
        for kind in ("python_s", "native_s", "system_s", "wait_s", "cpu_s", "idle_s")
    }
    total_s = sum(seconds_of(record) for record in records) + outside_s
    time["python_s"] += outside_s
    count = sum(record["n_samples"] for record in records) if samples is None else samples
    heatline: dict = {
        "version": "0",
        "schema": 1,
        "python": "3.11.7",
        "time": {**time, "total_s": total_s, "outside_s": outside_s, "samples": count,
                 "elapsed_s": total_s if elapsed_s is None else elapsed_s},
        "quality": {"samples": count, "lost": [], "warnings": []},
        "processes": [],
        "threads": [],
    }
    if memory is not None:
        heatline["memory"] = memory
    if nodes is not None:
        heatline["stacks"] = _stacks(nodes)
    return {
        "program": f"{root}/main.py",
        "entrypoint_dir": root,
        "args": [],
        "elapsed_time_sec": total_s if elapsed_s is None else elapsed_s,
        "start_time_absolute": 1700000000.0,
        "start_time_perf": 0,
        "memory": memory is not None,
        "files": files,
        "heatline": heatline,
    }


def _stacks(nodes: Sequence[Node]) -> dict:
    strings: List[str] = []
    files: List[list] = []
    functions: List[list] = []

    def number(table: list, item: Any) -> int:
        if item not in table:
            table.append(item)
        return table.index(item)

    rows: List[list] = [[0, -1, 0]]
    for node in nodes:
        file_row = [number(strings, node.file), 1]
        row = [number(strings, node.function), number(files, file_row), 1]
        figures = [node.figures.get(name, 0) for name in FIGURES]
        while figures and figures[-1] == 0:
            figures.pop()
        rows.append([node.parent, number(functions, row), node.line, *figures])
    return {"nodes": rows, "functions": functions, "files": files, "strings": strings}


def write(path: Path, profile: dict) -> Path:
    path.write_text(json.dumps(profile), encoding="utf-8")
    return path
