"""Prints what a call takes, in ns, the least of many tries: {"what": ns}.  python hooks.py HOOKS.so"""
import ctypes
import json
import sys
import time

library = ctypes.CDLL(sys.argv[1])
library.pairs.argtypes = library.copies.argtypes = [ctypes.c_long, ctypes.c_size_t]


def small_objects(count):
    make = object
    for _ in range(count):
        make()


def lists(count):
    for _ in range(count):
        [None, None]


def tuples_kept(count):
    kept = [None] * count
    for i in range(count):
        kept[i] = (i,)


def least_ns(function, *arguments):
    count, least = arguments[0], float("inf")
    for _ in range(15):
        start = time.process_time()
        function(*arguments)
        least = min(least, time.process_time() - start)
    return 1e9 * least / count


print(json.dumps({
    "malloc and free, 64 B": least_ns(library.pairs, 1000000, 64),
    "malloc and free, 4 KiB": least_ns(library.pairs, 500000, 4096),
    "memcpy, 12 B": least_ns(library.copies, 1000000, 12),
    "memcpy, 64 B": least_ns(library.copies, 1000000, 64),
    "memcpy, 4 KiB": least_ns(library.copies, 500000, 4096),
    "object(), freed at once": least_ns(small_objects, 300000),
    "[None, None], freed at once": least_ns(lists, 300000),
    "(i,), kept": least_ns(tuples_kept, 100000),
}))
