"""Threads that allocate and free as fast as they can, with forks in between.

    python heap.py SECONDS THREADS

Blocks of all kinds are handed from thread to thread, so that most are freed by another one than
made them.  At the end everything has been freed, and every block has held what was written to it.
"""

import ctypes
import gc
import os
import queue
import random
import sys
import threading
import time

SECONDS, THREADS = float(sys.argv[1]), int(sys.argv[2])
libc = ctypes.CDLL(None)
libc.malloc.restype = libc.calloc.restype = libc.realloc.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]
libc.calloc.argtypes = [ctypes.c_size_t, ctypes.c_size_t]
libc.realloc.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]
libc.memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
exchange = queue.Queue(maxsize=200)
until = time.monotonic() + SECONDS
wrong = []


class Node:
    def __init__(self, value, other):
        self.value, self.other = value, other

    def __del__(self):
        self.made_while_freed = [self.value] * 3


def objects(dice):
    first = None
    for i in range(dice.randrange(200)):
        first = Node(str(i), first)
    if first is not None and dice.random() < 0.3:
        first.other = first  # a cycle, for the collector
    return {i: (str(i), [i] * 5) for i in range(dice.randrange(100))}


def native(dice):
    size = dice.choice((1, 30, 500, 4000, 70000, 2000000))
    block = libc.calloc(1, size) if dice.random() < 0.3 else libc.malloc(size)
    if dice.random() < 0.3:
        size = size * 3 // 2 + 1
        block = libc.realloc(block, size)
    libc.memset(block, size & 127, min(size, 5000))
    return block, size


def give_back(block, size):
    held = ctypes.string_at(block, min(size, 5000))
    if held != bytes([size & 127]) * len(held):
        wrong.append("a block of %d bytes was changed" % size)
    libc.free(block)


def turn(dice, mine):
    kind = dice.randrange(4)
    if kind == 0:
        mine.append(objects(dice))
    elif kind == 1:
        mine.append(bytearray(dice.choice((10, 600, 5000, 300000))))
    elif kind == 2:
        mine.append([None] * dice.randrange(1, 20000))
    else:
        made = native(dice)
        try:
            exchange.put_nowait(made)
        except queue.Full:
            give_back(*made)
    if dice.random() < 0.5:
        try:
            give_back(*exchange.get_nowait())
        except queue.Empty:
            pass
    if len(mine) > 30:
        del mine[: dice.randrange(30)]


def worker(seed):
    dice, mine = random.Random(seed), []
    while time.monotonic() < until and not wrong:
        turn(dice, mine)


def child(seed):
    """What a child does: the same for a moment, with what it has inherited in its hands."""
    dice, mine = random.Random(seed), []
    for _ in range(100):
        kind = dice.randrange(3)
        mine.append(objects(dice) if kind == 0 else bytearray(3000) if kind == 1 else [0] * 1000)
        give_back(*native(dice))
    del mine
    gc.collect()
    os._exit(1 if wrong else 0)


def main():
    threads = [threading.Thread(target=worker, args=(seed,)) for seed in range(THREADS)]
    for thread in threads:
        thread.start()
    forks = 0
    while time.monotonic() < until and not wrong:
        pid = os.fork()
        if pid == 0:
            child(forks)
        status = os.waitpid(pid, 0)[1]
        if status != 0:
            wrong.append("a child ended with status %#x" % status)
        forks += 1
        time.sleep(0.01)
    for thread in threads:
        thread.join()
    while not exchange.empty():
        give_back(*exchange.get())
    gc.collect()
    print("; ".join(wrong) or "all as it should be")


main()
