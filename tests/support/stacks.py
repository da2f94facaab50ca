"""The stack tree of a profile (heatline.stacks in docs/profile-format.md), made easy to read."""

from dataclasses import dataclass
from typing import List, Optional


@dataclass
class Node:
    """One frame below its callers; ``samples`` are those that ended in it."""

    function: str
    file: str
    first_line: int
    line: int
    samples: int
    parent: Optional["Node"]

    def path(self) -> str:
        """The callers and the frame, outermost first, for a failure's message."""
        above = self.parent.path() + " > " if self.parent else ""
        return f"{above}{self.function}:{self.line}"


def stack_nodes(profile: dict) -> List[Node]:
    """Every node but the root; a node whose parent is None is an outermost frame."""
    tree = profile["heatline"]["stacks"]
    strings, made = tree["strings"], {0: None}
    for index, (parent, function, line, *figures) in enumerate(tree["nodes"]):
        if index == 0:
            continue
        name, file, first_line = tree["functions"][function]
        path = strings[tree["files"][file][0]] if file >= 0 else ""
        samples = figures[0] if figures else 0
        made[index] = Node(strings[name], path, first_line, line, samples, made[parent])
    return [node for node in made.values() if node]
