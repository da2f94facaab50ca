"""Handlers outlive the start of a child, which resets its own, in 3.10 and later in this memory."""

import os
import signal
import subprocess

from burn import burn

NUMBERS = (signal.SIGUSR1, 16, signal.SIGTRAP, signal.SIGRTMIN)

seen = []
for number in NUMBERS:
    signal.signal(number, lambda n, frame: seen.append(n))
burn()
for options in ({}, {"close_fds": False}, {"restore_signals": False}, {"preexec_fn": lambda: None}):
    print(subprocess.run(["sh", "-c", "kill -TRAP $$"], **options).returncode)
    for number in NUMBERS:
        os.kill(os.getpid(), number)
        burn(0.002)
    print(seen, [callable(signal.getsignal(number)) for number in NUMBERS])
    seen.clear()
