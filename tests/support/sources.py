"""The files of the repository, for the lints."""

import functools
import re
import subprocess
from pathlib import Path
from typing import List, Tuple

from support.paths import REPO, SRC


@functools.lru_cache(maxsize=None)
def repository_files() -> Tuple[Path, ...]:
    """Every file that is tracked or could be: what git does not ignore."""
    listed = subprocess.run(
        ["git", "-c", "safe.directory=*", "ls-files", "-co", "--exclude-standard", "-z"],
        cwd=REPO,
        stdout=subprocess.PIPE,
        check=True,
    ).stdout.decode()
    paths = (REPO / name for name in sorted(set(listed.split("\0"))) if name)
    return tuple(path for path in paths if path.is_file())


def c_files(suffixes: Tuple[str, ...] = (".c", ".h")) -> List[Path]:
    return sorted(path for path in SRC.rglob("*") if path.suffix in suffixes)


def relative(path: Path) -> str:
    return str(path.relative_to(REPO))


def without_comments_and_strings(source: str) -> str:
    """C source with comments and literals blanked; line numbers stay as they are."""

    def blank(match: "re.Match[str]") -> str:
        return re.sub(r"[^\n]", " ", match.group())

    token = r"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'"""
    return re.sub(token, blank, source, flags=re.DOTALL)
