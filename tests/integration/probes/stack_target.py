"""A process with a known stack, for a walker that looks from outside.

Prints one line of JSON (pid, version, addresses, thread id, the stack as this
process sees it itself, innermost first), then waits for its stdin to close.
The argument names how the stack is made.
"""

import ctypes
import json
import os
import sys
import threading

api = ctypes.pythonapi


def address_of(symbol):
    return ctypes.addressof(ctypes.c_char.in_dll(api, symbol))


def runtime_address():
    """_PyRuntime, or for 3.6 a variable that holds the first interpreter."""
    if sys.version_info >= (3, 7):
        return address_of("_PyRuntime")
    head = api.PyInterpreterState_Head
    head.restype = ctypes.c_void_p
    runtime_address.variable = ctypes.c_void_p(head())
    return ctypes.addressof(runtime_address.variable)


def report():
    """Says where we are and waits.  This frame has gone on when it is looked at."""
    stack = []
    frame = sys._getframe()
    while frame is not None:
        name = getattr(frame.f_code, "co_qualname", frame.f_code.co_name)
        stack.append([name, frame.f_code.co_filename, frame.f_lineno, frame.f_lasti])
        frame = frame.f_back
    facts = {
        "pid": os.getpid(),
        "version": sys.version_info[0] << 8 | sys.version_info[1],
        "runtime": runtime_address(),
        "code_type": address_of("PyCode_Type"),
        "thread": threading.get_ident(),
        "stack": stack,
    }
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()
    os.read(0, 1)


def plain():
    report()


def generators():
    def inner():
        yield report()

    def middle():
        yield from inner()

    def outer():
        for value in middle():
            yield value

    for _ in outer():
        pass


def mixed():
    """Python called from C, from a generator, from a class being made."""

    class Thing:
        def __init__(self):
            self.deep = sorted([2, 1], key=self.key)

        def key(self, value):
            for item in (report() for _ in range(1)):
                return value
            return value

    for _ in range(3):
        Quick(None)
    list(map(lambda _: Thing(), [1]))


class Quick:
    def __init__(self, call):
        if call is not None:
            call()


def init():
    """Enough calls of a class for the interpreter to specialise them."""

    def make(call):
        return Quick(call)

    for _ in range(100):
        make(None)
    make(report)


def coroutines():
    async def leaf():
        report()

    async def branch():
        await leaf()

    async def root():
        await branch()

    coroutine = root()
    try:
        coroutine.send(None)
    except StopIteration:
        pass


def down(depth):
    if depth == 0:
        report()
    else:
        down(depth - 1)


def deep():
    sys.setrecursionlimit(10000)
    threading.stack_size(256 << 20)
    down(900)


def wide(depth):
    """Large frames, which make for many chunks of the frame stack."""
    a0 = a1 = a2 = a3 = a4 = a5 = a6 = a7 = a8 = a9 = depth
    b0 = b1 = b2 = b3 = b4 = b5 = b6 = b7 = b8 = b9 = depth
    if depth == 0:
        report()
    elif depth % 7 == 0:
        max([depth - 1], key=wide)
    else:
        next(wide(n) for n in [depth - 1])
    return a0 + a1 + a2 + a3 + a4 + a5 + a6 + a7 + a8 + a9 + b0 + b1 + b2 + b3 + b4 + b5 + b6 + b7 + b8 + b9


def chunks():
    sys.setrecursionlimit(10000)
    wide(120)


def thread():
    worker = threading.Thread(target=lambda: down(5), name="worker")
    worker.start()
    worker.join()


def names():
    scope = {"report": report}
    exec(compile("def größe(): report()\ndef 测试(): größe()\ndef 𐌰(): 测试()\n𐌰()", "<дом 🏠>", "exec"), scope)


globals()[sys.argv[1]]()
