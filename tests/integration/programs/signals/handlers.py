"""Works until told to stop by the signal that its argument names; says what it received."""

import os
import signal
import sys
import time

received = []
for name in ("SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGQUIT", "SIGINT", "SIGWINCH", "SIGCONT"):
    signal.signal(getattr(signal, name), lambda number, frame: received.append(int(number)))
print("ready", os.getpid(), flush=True)
deadline = time.monotonic() + 60
while not received and time.monotonic() < deadline:
    sum(range(1000))
time.sleep(0.2)
print("received", received, flush=True)
sys.exit(17)
