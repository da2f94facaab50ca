"""The same text, run by the program and by a library."""

import bdb
import time

NAMES = {"numbers": list(range(20000))}
TEXT = "sorted(numbers)"


class Library(bdb.Bdb):
    """Runs a text as a debugger would, and does not debug it."""

    def reset(self):
        pass

    def trace_dispatch(self, frame, event, arg):
        return None


def run_for(seconds, work):
    end = time.process_time() + seconds
    while time.process_time() < end:
        work()


run_for(0.4, lambda: exec(TEXT, NAMES))
run_for(0.4, lambda: Library().run(TEXT, NAMES))  # LIBRARY
