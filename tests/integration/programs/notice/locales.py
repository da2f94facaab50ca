"""What the program believes of languages and encodings."""

import locale
import os
import sys

from burn import burn

burn()
print(
    "now",
    [
        locale.setlocale(getattr(locale, name))
        for name in sorted(dir(locale))
        if name.startswith("LC_") and name != "LC_ALL"
    ],
)
print(
    "preferred",
    locale.getpreferredencoding(False),
    sys.getfilesystemencoding(),
    sys.getfilesystemencodeerrors(),
)
print(
    "streams",
    [(s.encoding, s.errors, s.line_buffering) for s in (sys.stdin, sys.stdout, sys.stderr)],
)
print(
    "utf8 mode",
    sys.flags.utf8_mode,
    [os.environ.get(name) for name in ("LC_ALL", "LC_CTYPE", "LANG")],
)
try:
    print("from the environment", locale.setlocale(locale.LC_ALL, ""))
except locale.Error as error:
    print(error)
print("number", locale.format_string("%.2f", 1234.5, grouping=True))
sys.stdout.buffer.write("höß\n".encode(sys.stdout.encoding, "backslashreplace"))
