"""alarm() and its handler: as a timeout that raises, and as a reminder that returns."""

import signal
import time

from burn import burn


class TooLong(Exception):
    pass


def raise_too_long(number, frame):
    raise TooLong(number)


signal.signal(signal.SIGALRM, raise_too_long)
signal.setitimer(signal.ITIMER_REAL, 0.2)
try:
    while True:
        burn(0.01)
except TooLong as error:
    print("timeout", int(error.args[0]))

signal.setitimer(signal.ITIMER_REAL, 0.1)
try:
    time.sleep(30)
except TooLong as error:
    print("timeout in sleep", int(error.args[0]))

print("left of an alarm", signal.alarm(100), signal.alarm(0) in (99, 100))
seen = []
signal.signal(signal.SIGALRM, lambda number, frame: seen.append(frame.f_code.co_name))
signal.alarm(1)


def wait_here():
    start = time.monotonic()
    while not seen and time.monotonic() - start < 20:
        pass


wait_here()
print("in", seen, "pending", signal.getitimer(signal.ITIMER_REAL))
