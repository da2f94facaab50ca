"""Sampling at the highest rate through a storm of frames: no crash, no impossible stack.

The programs run for HEATLINE_STRESS_SECONDS each (3 by default; 60 for a full run:
``HEATLINE_STRESS_SECONDS=60 make test ARGS="-m stress"``).
"""

import ast
import os
import re
from pathlib import Path
from typing import Dict, List, Optional

import pytest

from support.paths import PROGRAMS
from support.stacks import Node, stack_nodes

STORM = PROGRAMS / "stress" / "storm.py"
SECONDS = float(os.environ.get("HEATLINE_STRESS_SECONDS", "3"))
FASTEST = ["--cpu-sampling-rate", "0.0001"]


def enclosing_functions(source: str) -> Dict[int, str]:
    """For each line the name of the innermost def around it; none at module level."""
    found: Dict[int, str] = {}

    def visit(node: ast.AST, name: str) -> None:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            name = node.name
            found.update(dict.fromkeys(range(node.lineno, node.end_lineno + 1), name))
        for child in ast.iter_child_nodes(node):
            visit(child, name)

    visit(ast.parse(source), "<module>")
    return found


ENCLOSING = enclosing_functions(STORM.read_text())


CLASS_LINES = {
    node.name: range(node.lineno, node.end_lineno + 1)
    for node in ast.parse(STORM.read_text()).body
    if isinstance(node, ast.ClassDef)
}


def base_name(function: str) -> str:
    """Storm.turn_a_from_main → turn_a: what callees call their caller."""
    return function.split(".")[-1].split("_from_")[0]


def is_of_storm(node: Node) -> bool:
    return node.file == str(STORM) or node.file.startswith("<made-")


def legal_callers(node: Node) -> Optional[List[str]]:
    """Who may call this frame; None: anybody."""
    name = node.function.split(".")[-1]
    if not is_of_storm(node):
        return None
    if "_from_" in name:
        callers = name.split("_from_")[1].split("_or_")
        return ["<module>" if caller == "module" else caller for caller in callers]
    if name == "<module>":
        return ["code_a", "code_b"] if node.file != str(STORM) else None
    if name.startswith("<"):
        return [base_name(ENCLOSING.get(node.first_line, "<module>"))]
    return None


def what_is_wrong(node: Node) -> Optional[str]:
    """Why this frame cannot be where the profile says it was."""
    callers = legal_callers(node)
    caller = base_name(node.parent.function) if node.parent else "nobody"
    if callers is not None and caller not in callers:
        return f"{node.path()}: called by {caller}, not by {' or '.join(callers)}"
    made = re.match(r"made_(\d+)_from_module", node.function)
    if made:
        number = int(made.group(1))
        begin = number % 50 * 10 + 1
        if node.file != f"<made-{number}>" or not begin <= node.line <= begin + 3:
            return f"{node.path()} of {node.file}: code of another function"
    elif node.file == str(STORM) and node.function in CLASS_LINES:
        # The body of a class runs once, when the module is loaded.
        if caller != "<module>" or node.line not in CLASS_LINES[node.function]:
            return f"{node.path()}: line {node.line}, called by {caller}"
    elif node.file == str(STORM) and node.function != "<module>":
        around = node.function.split(".<locals>")[0]
        if ENCLOSING.get(node.line) != around and not around.startswith("<"):
            return f"{node.path()}: line {node.line} is in {ENCLOSING.get(node.line)}"
    return None


@pytest.mark.stress
@pytest.mark.timeout(300 + 20 * SECONDS)
@pytest.mark.parametrize("options", [FASTEST, []], ids=["fastest", "default"])
def test_storm(python, options, tmp_path):
    seconds = SECONDS if options else SECONDS / 2
    done = python.heatline_run(
        STORM, [seconds], options=["--quiet", *options], timeout=120 + 10 * seconds
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "all as it should be\n", ""), done
    nodes = stack_nodes(done.profile)
    wrong = [problem for problem in map(what_is_wrong, nodes) if problem]
    samples = sum(node.samples for node in nodes)
    assert not wrong, f"{len(wrong)} of {len(nodes)} nodes, {samples} samples:\n" + "\n".join(
        wrong[:10]
    )
    quality = done.profile["heatline"]["quality"]
    # By the CPU time that it had: on a busy machine that is less than its seconds.
    assert quality["rate_hz"] > (400 if options else 60), quality
    assert quality["samples"] > 10 * SECONDS, quality
    lost = {loss["reason"]: loss["count"] for loss in quality["lost"]}
    assert sum(lost.values()) <= 0.05 * quality["samples"], lost


@pytest.mark.stress
def test_the_check_itself():
    """Frames that are wrong by hand are found."""
    module = Node("<module>", str(STORM), 1, 1, 0, None)
    main = Node("main_from_module", str(STORM), 1, line_of("main_from_module"), 0, module)
    turn = "turn_a_from_main_or_worker"
    turn = Node(turn, str(STORM), 1, line_of(turn), 0, main)
    right = Node("calls_a_from_turn_a", str(STORM), 1, line_of("calls_a_from_turn_a"), 1, turn)
    assert not any(map(what_is_wrong, [module, main, turn, right]))
    leaf = Node("leaf_from_calls_b", str(STORM), 1, line_of("leaf_from_calls_b"), 1, right)
    assert "not by calls_b" in what_is_wrong(leaf)
    assert "not by <module>" in what_is_wrong(Node(main.function, main.file, 1, main.line, 1, None))
    right.line = line_of("calls_b_from_turn_b")
    assert "is in calls_b" in what_is_wrong(right)
    assert "another function" in what_is_wrong(
        Node("made_7_from_module", "<made-8>", 71, 72, 1, module)
    )


def line_of(function: str) -> int:
    return next(line for line, name in sorted(ENCLOSING.items()) if name == function)


def test_storm_needs_no_profiler(python):
    """The program says the same by itself."""
    done = python.run_plain(Path(STORM), 0.2)
    assert (done.returncode, done.stdout, done.stderr) == (0, "all as it should be\n", "")
