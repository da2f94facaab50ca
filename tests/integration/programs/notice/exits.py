"""Ends in the way that its argument names."""

import atexit
import ctypes
import os
import sys
import threading

from burn import burn


class Loud:
    def __del__(self):
        raise ValueError("raised while the interpreter goes down")


def chained():
    try:
        {}["missing"]
    except KeyError as error:
        raise RuntimeError("chained") from error


def in_thread(target):
    thread = threading.Thread(target=target, name="worker")
    thread.start()
    thread.join()
    print("joined")


def os_exit():
    try:
        os._exit(7)
    finally:
        print("finally must not run")


def unraisable():
    global loud
    loud = Loud()
    del loud
    print("after the unraisable error")


def closed_stdout():
    print("lost")
    os.close(1)


def raises_at_exit():
    atexit.register(lambda: 1 // 0)


WAYS = {
    "falls_off": lambda: None,
    "exit_none": lambda: sys.exit(None),
    "exit_zero": lambda: sys.exit(0),
    "exit_three": lambda: sys.exit(3),
    "exit_300": lambda: sys.exit(300),
    "exit_negative": lambda: sys.exit(-1),
    "exit_true": lambda: sys.exit(True),
    "exit_message": lambda: sys.exit("a message"),
    "exit_tuple": lambda: sys.exit((1, 2)),
    "exception": chained,
    "keyboard_interrupt": lambda: exec("raise KeyboardInterrupt('by hand')"),
    "exit_in_thread": lambda: in_thread(lambda: sys.exit("ignored")),
    "exception_in_thread": lambda: in_thread(chained),
    "os_exit": os_exit,
    "abort": os.abort,
    "segfault": lambda: ctypes.string_at(0),
    "unraisable": unraisable,
    "raises_at_exit": raises_at_exit,
    "closed_stdout": closed_stdout,
    "os_exit_in_thread": lambda: in_thread(lambda: os._exit(9)),
}

if __name__ == "__main__":
    atexit.register(lambda: print("atexit", flush=True))
    print("start", flush=True)
    burn()
    WAYS[sys.argv[1]]()
    burn()
    print("end", flush=True)
