"""Two threads that run code in interpreters of their own (3.14)."""

from concurrent.futures import InterpreterPoolExecutor


def work(number):
    import time

    end = time.thread_time() + 0.4
    while time.thread_time() < end:
        for _ in range(1000):
            pass


if __name__ == "__main__":
    with InterpreterPoolExecutor(2) as pool:
        list(pool.map(work, range(4)))
