"""Programs that know what their lines do to memory.

A case marks lines with `# @name` and says of each, while it runs, how many bytes it allocates,
keeps until the end, holds at most and copies, from the sizes that Python itself gives (sys.getsizeof) or that it
asks for:

    truth = Truth()
    for _ in range(20):
        kept.append(bytearray(MB))  # @kept
    truth.line("kept", malloc=20 * size_of(kept[0]), kept=20 * size_of(kept[0]))
    truth.write()

Only the standard library is used, and only what Python 3.6 has.
"""
import json
import os
import sys

MB = 1 << 20
size_of = sys.getsizeof


class Growth:
    """What a container takes that is enlarged bit by bit: call seen() after every step."""

    def __init__(self, container):
        self.empty = self.size = size_of(container)
        self.container = container
        self.malloc = 0

    def seen(self):
        size = size_of(self.container)
        if size != self.size:
            self.size = size
            self.malloc += size - self.empty


class Truth:
    def __init__(self):
        self.lines = {}

    def line(self, name, malloc=None, kept=None, peak=None, copy=None, leaks=False):
        """What is not given is not judged."""
        self.lines[name] = {"malloc": malloc, "kept": kept, "peak": peak, "copy": copy, "leaks": leaks}

    def write(self):
        """To the file named by $ACCURACY_TRUTH (or to stdout)."""
        path = os.environ.get("ACCURACY_TRUTH")
        if path:
            with open(path, "w") as out:
                json.dump(self.lines, out)
        else:
            json.dump(self.lines, sys.stdout, indent=1)
            print()
