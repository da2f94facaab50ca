"""Sessions begin and end while threads begin and end, allocate, fork and trace."""

import os
import subprocess
import sys
import threading
import tracemalloc

import heatline
from parts import say

is_ending = False


def short():
    [bytearray(2000) for _ in range(50)]


def spawn():
    while not is_ending:
        threads = [threading.Thread(target=short) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def work():
    while not is_ending:
        data = {i: str(i) * 3 for i in range(2000)}
        data.clear()


def fork():
    pid = os.fork()
    if pid == 0:
        short()
        os._exit(0)
    return os.waitpid(pid, 0)[1]


busy = [threading.Thread(target=target) for target in (spawn, work, work)]
for thread in busy:
    thread.start()
profiles, statuses = [], []
for turn in range(12):
    if turn == 3:
        tracemalloc.start()
    heatline.start(cpu_only=turn % 4 == 1)
    statuses.append(fork())
    if turn == 5:
        tracemalloc.stop()
    if turn == 6:
        statuses.append(subprocess.call([sys.executable, "-c", "pass"]))
    short()
    profiles.append(heatline.stop())
    statuses.append(fork())
is_ending = True
for thread in busy:
    thread.join()
say(turns=len(profiles), statuses=statuses, memory=[p.data["memory"] for p in profiles])
