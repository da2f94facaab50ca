"""Work in children of several kinds, each in a function of its own."""

import multiprocessing
import os
import subprocess
import sys
import time
import warnings

warnings.simplefilter("ignore")


def spend(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        for i in range(500):
            i * i


def in_fork():
    spend(0.3)  # FORK


def in_spawn():
    spend(0.3)  # SPAWN


def in_subprocess():
    spend(0.3)  # SUBPROCESS


if __name__ == "__main__":
    if sys.argv[1:] == ["child"]:
        in_subprocess()
        sys.exit()
    pid = os.fork()
    if pid == 0:
        in_fork()
        os._exit(0)
    os.waitpid(pid, 0)
    process = multiprocessing.get_context("spawn").Process(target=in_spawn)
    process.start()
    process.join()
    subprocess.run([sys.executable, __file__, "child"], check=True)
