"""Lines that allocate, keep and copy known numbers of bytes; prints those that depend on Python."""

import json
import mmap
import os
import sys
import threading

CHILDREN = 2


def keep_one():
    return bytearray(20_000_000)  # KEEP


def keep_many(count):
    return [bytes(100 + i % 50) for i in range(count)]  # SMALL


def churn(count):
    for _ in range(count):
        bytearray(1_000_000)  # CHURN


def copy(source, count):
    for _ in range(count):
        bytes(source)  # COPY


def grow(count):
    rows = []
    for i in range(count):
        rows.append(i)  # GROW
    return len(rows)


def in_thread():
    results.append([bytes(1000) for _ in range(10_000)])  # THREAD


def child():
    part = [bytearray(500_000) for _ in range(20)]  # CHILD
    os._exit(len(part) != 20)


results = []
one = keep_one()
many = keep_many(200_000)
churn(200)
copy(one, 10)
grow(100_000)
native = mmap.mmap(-1, 10_000_000)  # NATIVE
for page in range(0, len(native), mmap.PAGESIZE):
    native[page] = 1
thread = threading.Thread(target=in_thread)
thread.start()
thread.join()
for _ in range(CHILDREN):
    pid = os.fork()
    if pid == 0:
        child()
    os.waitpid(pid, 0)
truth = {"SMALL": sum(map(sys.getsizeof, many)) + sys.getsizeof(many)}
json.dump(truth, sys.stdout)
