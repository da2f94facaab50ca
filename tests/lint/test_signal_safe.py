"""Signal safety is checked: what can run inside a handler is one archive, and this is all it takes.

signal_safe_symbols.txt gives every symbol with its reason.  malloc, locks, stdio and
__tls_get_addr (a thread-local that is not initial-exec) are not in it and never will be.
"""

import subprocess
from pathlib import Path

from support.paths import build_dir

ARCHIVE = "src/agent/libheatline-safe.a"
ALLOWED = Path(__file__).with_name("signal_safe_symbols.txt")


def symbols(archive, *flags):
    output = subprocess.run(
        ["nm", "--format=posix", *flags, archive], stdout=subprocess.PIPE, check=True, encoding="utf-8"
    ).stdout
    # Member headings end in a colon: "archive.a[walk.c.o]:".
    return {line.split()[0] for line in output.splitlines() if line and not line.endswith(":")}


def allowed_symbols():
    allowed = {}
    for line in ALLOWED.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, _, reason = line.partition(" ")
            assert reason.strip(), f"{ALLOWED.name}: {name} has no reason"
            allowed[name] = reason.strip()
    return allowed


def taken_symbols():
    archive = build_dir() / ARCHIVE
    assert archive.is_file(), f"{archive} is not there: run make first"
    return symbols(archive, "--undefined-only") - symbols(archive, "--defined-only")


def test_the_handler_reaches_only_what_is_safe():
    wrong = taken_symbols() - set(allowed_symbols()) - {"_GLOBAL_OFFSET_TABLE_"}
    assert not wrong, (
        f"{ARCHIVE} takes {sorted(wrong)}; if a handler may call it at any moment, "
        f"{ALLOWED.name} must say why"
    )
