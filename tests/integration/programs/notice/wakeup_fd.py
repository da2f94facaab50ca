"""A wake-up descriptor sees the program's own signals and no others."""

import os
import signal
import socket

from burn import burn

reader, writer = socket.socketpair()
reader.setblocking(False)
writer.setblocking(False)
print("before", signal.set_wakeup_fd(writer.fileno()))
signal.signal(signal.SIGUSR1, lambda number, frame: None)
signal.siginterrupt(signal.SIGUSR1, False)
burn(0.1)
os.kill(os.getpid(), signal.SIGUSR1)
burn(0.1)
print("bytes", reader.recv(4096))
try:
    print("more", reader.recv(4096))
except BlockingIOError:
    print("no more")
print("was ours", signal.set_wakeup_fd(-1) == writer.fileno())
