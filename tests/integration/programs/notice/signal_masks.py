"""Blocks all signals, burns CPU time, and looks at what is pending and what arrives."""

import os
import signal
import sys
import threading

from burn import burn

ALL = set(range(1, signal.NSIG)) - {signal.SIGKILL, signal.SIGSTOP, 32, 33}


def masks():
    with open("/proc/thread-self/status") as status:
        return [line.strip() for line in status if line.startswith(("SigPnd", "ShdPnd", "SigIgn"))]


def in_thread():
    print("thread mask", sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])))
    burn()
    print("thread pending", signal.sigpending())
    print("thread received", signal.sigtimedwait(ALL, 0.01))


print("mask", sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])))
before = signal.pthread_sigmask(signal.SIG_BLOCK, ALL)
print("before", sorted(before))
print("blocked", sorted(int(s) for s in signal.pthread_sigmask(signal.SIG_BLOCK, [])))
burn(0.1)
print("pending", signal.sigpending(), masks())
print("received", signal.sigtimedwait(ALL, 0.05))
thread = threading.Thread(target=in_thread)
thread.start()
thread.join()

for number in (signal.SIGUSR1, 16, signal.SIGTRAP, signal.SIGPROF, signal.SIGRTMIN, signal.SIGRTMAX):
    os.kill(os.getpid(), number)
    burn(0.01)
    print("pending", sorted(int(s) for s in signal.sigpending()))
    print("waited for", int(signal.sigwait({number})))
    os.kill(os.getpid(), number)
    info = signal.sigwaitinfo(ALL)
    print("info", info.si_signo, info.si_code, info.si_pid == os.getpid())
print("pending", signal.sigpending())
print("was", sorted(int(s) for s in signal.pthread_sigmask(signal.SIG_SETMASK, before)))
print("mask", sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])))
burn()

# Signals that arrive while blocked are delivered when unblocked, once each.
seen = []
for number in (signal.SIGUSR1, 16, signal.SIGTRAP, signal.SIGPROF):
    signal.signal(number, lambda n, frame: seen.append(n))
    signal.pthread_sigmask(signal.SIG_BLOCK, {number})
    os.kill(os.getpid(), number)
    burn(0.01)
    print("held back", seen)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
    burn(0.01)
    print("delivered", seen)
sys.stdout.flush()
