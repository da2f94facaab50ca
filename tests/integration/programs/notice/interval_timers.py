"""The three interval timers: untouched at the start, and ticking at the rate asked for."""

import signal
import time

TIMERS = [
    ("real", signal.ITIMER_REAL, signal.SIGALRM),
    ("virtual", signal.ITIMER_VIRTUAL, signal.SIGVTALRM),
    ("prof", signal.ITIMER_PROF, signal.SIGPROF),
]


def ticks(which, number):
    """How many ticks of 20 ms arrive in 0.4 s on the timer's own clock."""
    seen = []
    signal.signal(number, lambda n, frame: seen.append(n))
    clock = time.monotonic if which == signal.ITIMER_REAL else time.process_time
    signal.setitimer(which, 0.02, 0.02)
    end = clock() + 0.4
    while clock() < end:
        sum(range(2000))  # in user mode, which is all that the virtual timer counts
    interval = signal.setitimer(which, 0)[1]
    signal.signal(number, signal.SIG_DFL)
    return len(seen), interval


for name, which, number in TIMERS:
    print(name, signal.getitimer(which))
for name, which, number in TIMERS:
    count, interval = ticks(which, number)
    # Ticks merge on a busy machine, and the kernel rounds; a profiler would add hundreds.
    print(name, "ticks as asked" if 3 <= count <= 30 else count, round(interval, 3))
    print(name, signal.getitimer(which))
