"""A module includes only what stands below it; `#include` lines are the proof.

    python, wire < agent
    base, python, wire < remote, profile < collect, report, suggest < serve, mcp < cli

What the agent is made of stands beside base, not on it: base takes memory from the heap.

Include paths are relative to src/, so the first part of a path names the module.
"""

import re

from support.paths import SRC
from support.sources import c_files, relative

MAY_INCLUDE = {
    "base": set(),
    "python": set(),
    "wire": set(),
    "agent": {"python", "wire"},
    "profile": {"base"},
    "remote": {"base", "python"},
    "collect": {"base", "python", "wire", "remote", "profile"},
    "report": {"base", "profile"},
    "suggest": {"base", "profile"},
    "serve": {"base", "profile", "report", "suggest"},
    "mcp": {"base", "profile", "report"},
    "cli": {"base", "python", "wire", "remote", "profile", "collect", "report", "suggest", "serve", "mcp"},
}


def includes(path):
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
        if match:
            yield number, match.group(1)


def test_modules_include_only_what_stands_below_them():
    wrong = []
    for path in c_files():
        module = path.relative_to(SRC).parts[0]
        for number, target in includes(path):
            other = target.split("/")[0]
            if not (SRC / target).is_file():
                wrong.append(f"{relative(path)}:{number}: {target} is no path relative to src/")
            elif other != module and other not in MAY_INCLUDE[module]:
                wrong.append(f"{relative(path)}:{number}: {module} may not include {target}")
    assert not wrong, "\n" + "\n".join(wrong)


def test_every_module_has_its_place():
    unknown = {path.relative_to(SRC).parts[0] for path in c_files()} - set(MAY_INCLUDE)
    assert not unknown, f"say in {__name__} what these may include: {sorted(unknown)}"
