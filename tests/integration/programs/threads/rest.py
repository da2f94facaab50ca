"""Three threads, one after the other, that work for longer than their samples tell; the last
does not come to its end."""

import threading
import time


def work(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def first():
    work(0.14)  # first


def second():
    work(0.13)  # second


def third():
    work(0.15)  # third
    has_worked.set()
    time.sleep(100)


has_worked = threading.Event()
for target in (first, second):
    thread = threading.Thread(target=target, name=target.__name__)
    thread.start()
    thread.join()
threading.Thread(target=third, name="third", daemon=True).start()
has_worked.wait()
