"""The main thread works in a second interpreter, then waits in its own while the other is idle.

With the argument "forever" it goes on working there.
"""

import sys
import time

try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters

WORK = """
import time
kept = []
def work(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        kept.append(bytearray(1 << 20))
        del kept[:-8]
        for i in range(10000):
            pass
    return len(kept)
print("ready", flush=True)
work(%s)
"""


def run(interpreter, code):
    execute = interpreters.exec if hasattr(interpreters, "exec") else interpreters.run_string
    execute(interpreter, "exec(compile(%r, %r, 'exec'))" % (code, __file__ + "-inside"))


made = interpreters.create()
run(made, WORK % (1e9 if sys.argv[1:] == ["forever"] else 0.6))  # enter
time.sleep(0.5)  # leave
