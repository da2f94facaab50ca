"""Generators, coroutines, contexts, exceptions, exec'd code: frames in all their forms."""

import contextlib
import contextvars
import sys
import traceback
import types

from burn import burn


def count(n):
    try:
        for i in range(n):
            sent = yield i
            if sent:
                yield sent
    finally:
        closed.append(n)


def nested(n):
    if n:
        yield from nested(n - 1)
    yield n


@contextlib.contextmanager
def managed():
    try:
        yield "inside"
    except KeyError as error:
        print("swallowed", error)


@types.coroutine
def pause():
    return (yield "paused")


async def coroutine():
    got = await pause()
    raise LookupError(got)


closed = []
for _ in range(200):
    generator = count(10)
    next(generator)
    generator.send("sent")
    generator.close()
print("closed", len(closed), sum(sum(nested(50)) for _ in range(100)))
with managed() as value:
    burn()
    raise KeyError(value)
running = coroutine()
print(running.send(None))
burn()
try:
    running.send("value")
except LookupError:
    print(
        [
            (frame.name, frame.lineno, frame.line)
            for frame in traceback.extract_tb(sys.exc_info()[2])
        ]
    )
variable = contextvars.ContextVar("variable", default=0)
context = contextvars.copy_context()
context.run(variable.set, 5)
print(variable.get(), context[variable])
for number in range(300):
    names = {}
    exec(
        compile(
            "def made(n):\n    return [k for k in range(n) if k %% 2 == %d]" % (number % 2),
            "<made>",
            "exec",
        ),
        names,
    )
    result = names["made"](50)
print(len(result), sys._getframe().f_lineno)
try:
    exec("def f():\n    1 // 0\nf()")
except ZeroDivisionError:
    traceback.print_exc()
