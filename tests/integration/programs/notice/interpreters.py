"""Interpreters within the interpreter, one after the other and in threads."""

import sys
import threading

from burn import burn

CODE = """
import sys
n = 0
for i in range(300000):
    n += i
sys.stdout.write(str(n) + chr(10))
sys.stdout.flush()
"""


def run_one():
    if sys.version_info >= (3, 14):
        from concurrent import interpreters

        inner = interpreters.create()
        inner.exec(CODE)
        inner.close()
        return
    if sys.version_info >= (3, 13):
        import _interpreters as interpreters
    else:
        import _xxsubinterpreters as interpreters
    number = interpreters.create()
    interpreters.run_string(number, CODE)
    interpreters.destroy(number)


for _ in range(3):
    run_one()
    burn(0.02)
# Running them side by side is safe from 3.12 on, where each state is its own.
if sys.version_info >= (3, 12):
    threads = [threading.Thread(target=run_one) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
print("done")
