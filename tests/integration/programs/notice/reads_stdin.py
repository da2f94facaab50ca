"""Reads lines, then the rest of its standard input; sees what kind of file it is."""

import os
import sys

from burn import burn

print("terminal", [os.isatty(fd) for fd in range(3)])
burn()
try:
    print("first", repr(input("prompt> ")))
    burn()
    print("second", repr(sys.stdin.readline()))
    print("rest", repr(sys.stdin.read()))
except EOFError as error:
    print("end of file:", error)
