"""A manager that has nothing to do while the program works; then a get that it makes its client wait for."""

import multiprocessing
import threading
import time

if __name__ == "__main__":
    with multiprocessing.get_context("fork").Manager() as manager:
        shared = manager.Queue()
        while time.thread_time() < 1.2:
            sum(range(1000))
        threading.Timer(0.4, shared.put, ["late"]).start()
        shared.get()
