"""Makes and drops frames in every way there is, for step_probe to watch.

Prints what stack_target.py prints, waits for a line on stdin, then works.
Everything imported or compiled before the line is; nothing below may import.
"""

import ctypes
import functools
import json
import os
import sys
import threading

api = ctypes.pythonapi


def leaf_a(value):
    return value


def leaf_b(value):
    """Larger than its sister, so that what follows lies elsewhere."""
    one = two = three = four = value
    return one


def hot_a(value):
    return leaf_a(value)


def hot_b(value, *more, **options):
    return leaf_b(value)


def key_of(value):
    return leaf_a(-value)


def count_up(limit):
    n = 0
    while n < limit:
        yield leaf_a(n)
        n += 1


def delegate(limit):
    yield from count_up(limit)


async def wait_leaf():
    return leaf_b(1)


async def wait_root():
    return await wait_leaf()


class Suspend:
    def __await__(self):
        yield 1


async def suspended():
    await Suspend()


class Thing:
    def __init__(self, value):
        self.value = leaf_a(value)

    def __del__(self):
        leaf_b(0)

    def __enter__(self):
        return hot_a(1)

    def __exit__(self, *reason):
        return leaf_b(False)

    def __getitem__(self, index):
        return leaf_a(index)

    def __lt__(self, other):
        return leaf_b(self.value < other.value)

    @property
    def size(self):
        return leaf_a(self.value)


def fails(depth):
    if depth == 0:
        raise ValueError
    return fails(depth - 1)


def down(depth):
    return leaf_a(depth) if depth == 0 else down(depth - 1)


def throw_into():
    generator = delegate(3)
    next(generator)
    try:
        generator.throw(KeyError)
    except KeyError:
        leaf_a(0)
    generator = count_up(3)
    next(generator)
    generator.close()


def work(n):
    hot_a(1)
    hot_b(2, 3, four=4)
    sorted([3, 1, 2], key=key_of)
    list(map(hot_b, [1, 2]))
    for _ in count_up(2):
        hot_a(0)
    list(delegate(2))
    sum(leaf_b(x) for x in (1, 2))
    [leaf_a(x) for x in (1, 2)]
    for coroutine in (wait_root(), suspended()):
        try:
            coroutine.send(None)
        except StopIteration:
            pass
        coroutine.close()
    thing = Thing(n)
    thing[1]
    thing.size
    with thing:
        hot_b(1)
    sorted([Thing(2), Thing(1)])
    del thing
    try:
        fails(3)
    except ValueError:
        leaf_a(0)
    throw_into()
    functools.reduce(partial_b, [1, 2, 3])
    down(12)
    exec(code, {"hot_a": hot_a})
    eval(expression, {"leaf_b": leaf_b})


def partial_b(left, right):
    return hot_b(left)


# ---- by chance: every way of calling, from within every other ----


def way_call(depth):
    go(depth)


def way_large(depth, *rest):
    one = two = three = four = five = six = depth
    go(one)


def way_iterate(depth):
    for _ in produce(depth):
        go(depth)


def produce(depth):
    go(depth)
    yield 1
    go(depth)


def way_delegate(depth):
    for _ in hand_over(depth):
        pass


def hand_over(depth):
    yield from produce(depth)
    go(depth)


def way_exhaust(depth):
    sum(produce(depth))


def way_sort(depth):
    sorted([depth, depth], key=go)


def way_map(depth):
    list(map(go, [depth]))


def way_init(depth):
    Maker(depth)


class Maker:
    def __init__(self, depth):
        go(depth)

    def __getitem__(self, depth):
        go(depth)

    def __del__(self):
        go(0)

    @property
    def depth(self):
        go(1)


def way_item(depth):
    maker = Maker(0)
    maker[depth]
    maker.depth


def way_await(depth):
    coroutine = awaits(depth)
    try:
        coroutine.send(None)
    except StopIteration:
        pass


async def awaits(depth):
    go(depth)
    await awaited(depth)


async def awaited(depth):
    go(depth)


def way_raise(depth):
    try:
        raiser(depth)
    except KeyError:
        go(depth)


def raiser(depth):
    go(depth)
    raise KeyError


def way_listed(depth):
    [go(depth) for _ in (1,)]


def way_keywords(depth):
    way_named(**{"depth": depth})


def way_named(depth=0, **rest):
    go(*[depth])


WAYS = [
    way_call, way_large, way_iterate, way_delegate, way_exhaust, way_sort, way_map, way_init,
    way_item, way_await, way_raise, way_listed, way_keywords,
]  # fmt: skip
chance = 12345


def go(depth):
    """Goes on in some way, the same ones in every run."""
    global chance
    chance = (chance * 1103515245 + 12345) % 2147483648
    if depth > 0:
        WAYS[(chance >> 16) % len(WAYS)](depth - 1)
    return 0


code = compile("def made(x):\n    return hot_a(x)\nmade(1)\n", "<made>", "exec")
expression = compile("leaf_b(5)", "<expression>", "eval")


def runtime_address():
    if sys.version_info >= (3, 7):
        return ctypes.addressof(ctypes.c_char.in_dll(api, "_PyRuntime"))
    head = api.PyInterpreterState_Head
    head.restype = ctypes.c_void_p
    runtime_address.variable = ctypes.c_void_p(head())
    return ctypes.addressof(runtime_address.variable)


def main():
    for n in range(int(sys.argv[1])):
        work(n)  # let the interpreter specialise, or not
        go(4)
    facts = {
        "pid": os.getpid(),
        "version": sys.version_info[0] << 8 | sys.version_info[1],
        "runtime": runtime_address(),
        "code_type": ctypes.addressof(ctypes.c_char.in_dll(api, "PyCode_Type")),
        "thread": threading.get_ident(),
    }
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()
    os.read(0, 1)
    for n in range(1000):
        work(n) if sys.argv[2] == "plan" else go(4)


main()
