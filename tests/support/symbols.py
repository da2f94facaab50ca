"""What a library or archive defines and takes, and the lists that say what it may."""

import subprocess
from pathlib import Path
from typing import Dict, Set


def names(path: Path, *flags: str) -> Set[str]:
    """Symbol names as `nm` gives them with these flags, without versions."""
    output = subprocess.run(
        ["nm", "--format=posix", *flags, path], stdout=subprocess.PIPE, check=True, encoding="utf-8"
    ).stdout
    # Member headings end in a colon: "archive.a[walk.c.o]:".
    lines = (line for line in output.splitlines() if line and not line.endswith(":"))
    return {line.split()[0].split("@")[0] for line in lines}


def read_list(path: Path) -> Dict[str, str]:
    """{symbol: reason} of a list file; a symbol without a reason fails the test."""
    listed = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, _, reason = line.partition(" ")
            assert reason.strip(), f"{path.name}: {name} has no reason"
            listed[name] = reason.strip()
    return listed
