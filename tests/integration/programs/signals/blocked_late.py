"""A call that works in the kernel for a while before it blocks, and signals that are to end it, or not.

To find the one lock that is in its way it looks at some thousand others."""

import fcntl
import os
import signal
import tempfile
import threading
import time

LOCKS = 5000


class Ended(Exception):
    pass


def end(number, frame):
    raise Ended


def hold(file, ready):
    for i in range(LOCKS):
        fcntl.lockf(file, fcntl.LOCK_SH, 1, i * 2)
    fcntl.lockf(file, fcntl.LOCK_EX, 1, LOCKS * 2)
    os.write(ready, b".")
    signal.pause()


def block(file):
    """How long it blocked."""
    begin = time.monotonic()
    try:
        fcntl.lockf(file, fcntl.LOCK_SH, LOCKS * 2 + 1)
    except Ended:
        pass
    return time.monotonic() - begin


def with_alarm(file):
    """A second alarm comes for one that was not heard."""
    signal.setitimer(signal.ITIMER_REAL, 0.003, 1)
    took_s = block(file)
    signal.setitimer(signal.ITIMER_REAL, 0)
    return took_s


def with_alarm_that_waits(file):
    """The alarm's handler lets the call go on, and Python hears of it when another signal has ended the call."""
    is_sent, heard_early = [], []

    def send():
        time.sleep(0.02)
        is_sent.append(True)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGUSR1)

    signal.signal(signal.SIGALRM, lambda number, frame: heard_early.append(not is_sent))
    signal.siginterrupt(signal.SIGALRM, False)
    sender = threading.Thread(target=send)
    sender.start()
    signal.setitimer(signal.ITIMER_REAL, 0.003)
    block(file)
    sender.join()
    return True in heard_early


def main():
    file = tempfile.TemporaryFile()
    is_ready, ready = os.pipe()
    holder = os.fork()
    if holder == 0:
        hold(file, ready)
    os.read(is_ready, 1)
    try:
        signal.signal(signal.SIGALRM, end)
        print("heard late:", sum(with_alarm(file) > 0.9 for _ in range(200)))
        signal.signal(signal.SIGUSR1, end)
        print("heard early:", sum(with_alarm_that_waits(file) for _ in range(100)))
    finally:
        os.kill(holder, signal.SIGKILL)
        os.waitpid(holder, 0)


main()
