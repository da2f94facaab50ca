"""Makes and drops frames, generators, code, threads and exceptions as fast as it can.

The stacks of this program can be checked: what follows ``_from_`` in a function's name
is its only legal caller (``_or_`` between several; ``module`` is ``<module>``).  Every
kind of work comes in two shapes that alternate, a and b, with equal bodies and equal
stack depths, so that a caller left over from the moment before would be seen.  Code made
at run time, function ``made_N_from_module`` in the file ``<made-N>``, begins on line
N % 50 * 10 + 1.

    storm.py SECONDS
"""

import asyncio
import functools
import itertools
import re
import sys
import threading
import time


class Wrong(Exception):
    pass


numbers = itertools.count()
SOURCE = [
    "\n" * (10 * i)
    + "def made_%d_from_module(n):\n    for i in range(n):\n        i += 1\n"
    + "    return sum(range(n))\nresult = made_%d_from_module(10)\n"
    for i in range(50)
]


# Plain calls.
def leaf_from_calls_a(n):
    return n + 1


def calls_a_from_turn_a(n):
    for _ in range(20):
        n = leaf_from_calls_a(n)
    return n


# Recursion, deep enough to need new room for frames, and back.
def deep_a_from_recursion_a_or_deep_a(n):
    return 1 + deep_a_from_recursion_a_or_deep_a(n - 1) if n else 0


def recursion_a_from_turn_a(n):
    return deep_a_from_recursion_a_or_deep_a(30 + n % 150)


# Generators: delegated; dropped half way, closed.
def inner_a_from_outer_a(n):
    for i in range(n):
        yield i


def outer_a_from_generators_a(n):
    yield from inner_a_from_outer_a(n)


def ended_a_from_generators_a(n):
    try:
        while True:
            yield n
    finally:
        n += 1


def generators_a_from_turn_a(n):
    total = sum(outer_a_from_generators_a(12))
    dropped = ended_a_from_generators_a(5)
    next(dropped)
    del dropped
    closed = ended_a_from_generators_a(5)
    next(closed)
    closed.close()
    return total + sum(i for i in range(5))


# Coroutines, driven by hand.
async def awaited_a_from_coroutine_a(n):
    return n * 2


async def coroutine_a_from_coroutines_a(n):
    total = 0
    for i in range(5):
        total += await awaited_a_from_coroutine_a(i)
    return total + n


def coroutines_a_from_turn_a(n):
    coroutine = coroutine_a_from_coroutines_a(n)
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value
    raise Wrong("coroutine")


# Exceptions through several frames.
def raises_a_from_passes_a(n):
    raise KeyError(n)


def passes_a_from_exceptions_a_or_passes_a(n, depth):
    if depth:
        return passes_a_from_exceptions_a_or_passes_a(n, depth - 1)
    try:
        return raises_a_from_passes_a(n)
    finally:
        n += 1


def exceptions_a_from_turn_a(n):
    caught = 0
    for i in range(4):
        try:
            passes_a_from_exceptions_a_or_passes_a(i, n % 8)
        except KeyError as error:
            caught += error.args[0]
    return caught


# Python called from C: sorting, mapping, matching, attributes of a class made here.
def key_a_from_callbacks_a(value):
    return -value


def match_a_from_sub(found):
    return found.group().upper()


def callbacks_a_from_turn_a(n):
    numbers = sorted(range(8), key=key_a_from_callbacks_a)
    text = re.sub("[ab]", match_a_from_sub, "abc" * 4)
    mapped = functools.reduce(max, map(key_a_from_callbacks_a, numbers))
    made = type("Made", (), {"value": property(lambda self: len(text))})
    return made().value + mapped + len([number for number in numbers if number > 2])


# Code that is compiled, run once and dropped.
def code_a_from_turn_a(n):
    number = next(numbers)
    names = {}
    exec(compile(SOURCE[number % 50] % (number, number), "<made-%d>" % number, "exec"), names)
    return names["result"]


# Threads that live for a moment.
def thread_a_from_run(results):
    total = 0
    for i in range(50):
        total += work_a_from_thread_a(i)
    results.append(total)


def work_a_from_thread_a(n):
    return n + 1


def threads_a_from_turn_a(n):
    results = []
    threads = [threading.Thread(target=thread_a_from_run, args=(results,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(results)


def turn_a_from_main_or_worker(n, with_threads):
    found = [
        calls_a_from_turn_a(n) - n,
        recursion_a_from_turn_a(n) - 30 - n % 150,
        generators_a_from_turn_a(n),
        coroutines_a_from_turn_a(n) - n,
        exceptions_a_from_turn_a(n),
        callbacks_a_from_turn_a(n),
        code_a_from_turn_a(n),
        threads_a_from_turn_a(n) if with_threads else 2550,
    ]
    if found != [20, 0, 76, 20, 6, 17, 45, 2550]:
        raise Wrong(found)


# Plain calls.
def leaf_from_calls_b(n):
    return n + 1


def calls_b_from_turn_b(n):
    for _ in range(20):
        n = leaf_from_calls_b(n)
    return n


# Recursion, deep enough to need new room for frames, and back.
def deep_b_from_recursion_b_or_deep_b(n):
    return 1 + deep_b_from_recursion_b_or_deep_b(n - 1) if n else 0


def recursion_b_from_turn_b(n):
    return deep_b_from_recursion_b_or_deep_b(30 + n % 150)


# Generators: delegated; dropped half way, closed.
def inner_b_from_outer_b(n):
    for i in range(n):
        yield i


def outer_b_from_generators_b(n):
    yield from inner_b_from_outer_b(n)


def ended_b_from_generators_b(n):
    try:
        while True:
            yield n
    finally:
        n += 1


def generators_b_from_turn_b(n):
    total = sum(outer_b_from_generators_b(12))
    dropped = ended_b_from_generators_b(5)
    next(dropped)
    del dropped
    closed = ended_b_from_generators_b(5)
    next(closed)
    closed.close()
    return total + sum(i for i in range(5))


# Coroutines, driven by hand.
async def awaited_b_from_coroutine_b(n):
    return n * 2


async def coroutine_b_from_coroutines_b(n):
    total = 0
    for i in range(5):
        total += await awaited_b_from_coroutine_b(i)
    return total + n


def coroutines_b_from_turn_b(n):
    coroutine = coroutine_b_from_coroutines_b(n)
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value
    raise Wrong("coroutine")


# Exceptions through several frames.
def raises_b_from_passes_b(n):
    raise KeyError(n)


def passes_b_from_exceptions_b_or_passes_b(n, depth):
    if depth:
        return passes_b_from_exceptions_b_or_passes_b(n, depth - 1)
    try:
        return raises_b_from_passes_b(n)
    finally:
        n += 1


def exceptions_b_from_turn_b(n):
    caught = 0
    for i in range(4):
        try:
            passes_b_from_exceptions_b_or_passes_b(i, n % 8)
        except KeyError as error:
            caught += error.args[0]
    return caught


# Python called from C: sorting, mapping, matching, attributes of a class made here.
def key_b_from_callbacks_b(value):
    return -value


def match_b_from_sub(found):
    return found.group().upper()


def callbacks_b_from_turn_b(n):
    numbers = sorted(range(8), key=key_b_from_callbacks_b)
    text = re.sub("[ab]", match_b_from_sub, "abc" * 4)
    mapped = functools.reduce(max, map(key_b_from_callbacks_b, numbers))
    made = type("Made", (), {"value": property(lambda self: len(text))})
    return made().value + mapped + len([number for number in numbers if number > 2])


# Code that is compiled, run once and dropped.
def code_b_from_turn_b(n):
    number = next(numbers)
    names = {}
    exec(compile(SOURCE[number % 50] % (number, number), "<made-%d>" % number, "exec"), names)
    return names["result"]


# Threads that live for a moment.
def thread_b_from_run(results):
    total = 0
    for i in range(50):
        total += work_b_from_thread_b(i)
    results.append(total)


def work_b_from_thread_b(n):
    return n + 1


def threads_b_from_turn_b(n):
    results = []
    threads = [threading.Thread(target=thread_b_from_run, args=(results,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(results)


def turn_b_from_main_or_worker(n, with_threads):
    found = [
        calls_b_from_turn_b(n) - n,
        recursion_b_from_turn_b(n) - 30 - n % 150,
        generators_b_from_turn_b(n),
        coroutines_b_from_turn_b(n) - n,
        exceptions_b_from_turn_b(n),
        callbacks_b_from_turn_b(n),
        code_b_from_turn_b(n),
        threads_b_from_turn_b(n) if with_threads else 2550,
    ]
    if found != [20, 0, 76, 20, 6, 17, 45, 2550]:
        raise Wrong(found)


# An event loop with many tasks that alternate.
async def task_a_from__run_or_loop(n):
    for _ in range(n):
        await asyncio.sleep(0)
    return n


async def task_b_from__run_or_loop(n):
    for _ in range(n):
        await asyncio.sleep(0)
    return n


async def loop_from__run_or_main():
    tasks = []
    for _ in range(25):
        tasks.append(task_a_from__run_or_loop(5))
        tasks.append(task_b_from__run_or_loop(5))
    return sum(await asyncio.gather(*tasks))


def worker_from_run(end):
    for n in itertools.count():
        turn_a_from_main_or_worker(n, False)
        turn_b_from_main_or_worker(n, False)
        if time.monotonic() > end:
            return


def main_from_module(seconds):
    end = time.monotonic() + seconds
    workers = [threading.Thread(target=worker_from_run, args=(end,)) for _ in range(2)]
    for worker in workers:
        worker.start()
    for n in itertools.count():
        turn_a_from_main_or_worker(n, n % 4 == 0)
        turn_b_from_main_or_worker(n, n % 4 == 0)
        if n % 50 == 0 and asyncio.run(loop_from__run_or_main()) != 250:
            raise Wrong("loop")
        if time.monotonic() > end:
            break
    for worker in workers:
        worker.join()
    print("all as it should be")


if __name__ == "__main__":
    main_from_module(float(sys.argv[1]))
