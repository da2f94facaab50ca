"""The recursion limit, and the depth at which it bites: Python, C, threads, a raised limit."""

import json
import sys
import threading

print("limit", sys.getrecursionlimit())


def depth(n=1):
    try:
        return depth(n + 1)
    except RecursionError:
        return n


def endless():
    endless()


class Compares:
    def __eq__(self, other):
        return self == other


def try_it(what, call):
    try:
        print(what, call())
    except RecursionError as error:
        print(what, "RecursionError:", str(error)[:40])


for _ in range(30):
    reached = depth()
print("depth", reached)
try_it("compare", lambda: Compares() == Compares())
try_it("json", lambda: len(json.loads("[" * 500 + "]" * 500)))
try_it("repr", lambda: len(repr(eval("[" * 50 + "]" * 50))))
thread = threading.Thread(target=lambda: print("in a thread", depth()))
thread.start()
thread.join()
sys.setrecursionlimit(3000)
for _ in range(20):
    reached = depth()
print("raised", reached)
endless()
