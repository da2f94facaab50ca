"""Signal safety is checked: what can run inside a handler is one archive, and this is all it takes.

signal_safe_symbols.txt gives every symbol with its reason.  malloc, locks, stdio and
__tls_get_addr (a thread-local that is not initial-exec) are not in it and never will be.
"""

import re
from pathlib import Path

from support import symbols
from support.paths import build_dir

ARCHIVE = "src/agent/libheatline-safe.a"
ALLOWED = Path(__file__).with_name("signal_safe_symbols.txt")


def taken():
    archive = build_dir() / ARCHIVE
    assert archive.is_file(), f"{archive} is not there: run make first"
    outside = symbols.names(archive, "--undefined-only") - symbols.names(archive, "--defined-only")
    # Atomic operations that GCC makes calls of: libgcc.a's, a few instructions.
    outside = {name for name in outside if not name.startswith("__aarch64_")}
    # mmap64 is mmap by its large-file name, which depends on the flags.
    return {re.sub("64$", "", name) for name in outside} - {"_GLOBAL_OFFSET_TABLE_"}


def test_the_handler_reaches_only_what_is_safe():
    wrong = taken() - set(symbols.read_list(ALLOWED))
    assert not wrong, (
        f"{ARCHIVE} takes {sorted(wrong)}; if a handler may call it at any moment, "
        f"{ALLOWED.name} must say why"
    )


def test_the_list_holds_nothing_that_is_not_taken():
    stale = set(symbols.read_list(ALLOWED)) - taken()
    # What the compiler may or may not call on its own.
    assert not stale - {"memcpy", "memset", "memmove", "memcmp"}, f"remove them from {ALLOWED.name}"
