"""Looks at every signal's handler, then installs its own for each and raises it."""

import os
import signal

from burn import burn

UNCATCHABLE = {signal.SIGKILL, signal.SIGSTOP}
# A real fault on the way back from the handler is not what is tested here.
signals = [s for s in range(1, signal.NSIG) if s not in UNCATCHABLE and s not in (32, 33)]

for number in signals:
    print(number, signal.getsignal(number))
burn()

seen = []
for number in signals:
    before = signal.signal(number, lambda n, frame: seen.append(n))
    burn(0.002)
    os.kill(os.getpid(), number)
    for _ in range(1000):
        pass
    print(number, before, seen, callable(signal.getsignal(number)))
    seen.clear()
    again = signal.signal(number, signal.SIG_IGN)
    os.kill(os.getpid(), number)
    burn(0.002)
    print(number, callable(again), signal.getsignal(number), seen)
    signal.signal(number, signal.SIG_DFL)
    print(number, signal.getsignal(number))
burn()
