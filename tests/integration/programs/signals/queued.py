"""Waits for a real-time signal and says what value it carries."""

import ctypes
import os
import signal

number = signal.SIGRTMIN + 3
signal.pthread_sigmask(signal.SIG_BLOCK, [number])
print("ready", os.getpid(), flush=True)
# Python does not show a signal's value: it stands behind number, errno, code, sender and user.
info = (ctypes.c_uint * 32)()
mask = (ctypes.c_ulong * 16)(1 << (number - 1))
ctypes.CDLL(None).sigwaitinfo(mask, info)
print("value", info[6] | info[7] << 32, flush=True)
