"""Pools whose processes have nothing to do while the program works; then each sleeps, as its work."""

import multiprocessing
import time
from concurrent.futures import ProcessPoolExecutor

if __name__ == "__main__":
    executor = ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork"))
    with multiprocessing.get_context("fork").Pool(2) as pool, executor:
        pool.map(abs, range(4))
        list(executor.map(abs, range(4)))
        while time.thread_time() < 0.8:
            sum(range(1000))
        pool.map(time.sleep, [0.3, 0.3])
        list(executor.map(time.sleep, [0.3, 0.3]))
