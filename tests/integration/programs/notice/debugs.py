"""Runs Python as a debugger does (it is called gdb), and shows each signal that stops it."""

import ctypes
import os
import signal
import sys

from burn import burn

PR_SET_NAME = 15
TRACEME, CONTINUE = 0, 7
WORK = "import time\nend = time.process_time() + .2\nwhile time.process_time() < end: pass\nprint('worked')"

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
burn()
libc.prctl(PR_SET_NAME, b"gdb")
sys.stdout.flush()
child = os.fork()
if child == 0:
    libc.ptrace(TRACEME, 0, None, None)
    os.execv(sys.executable, [sys.executable, "-c", WORK])


def is_python():
    with open("/proc/%d/cmdline" % child) as command:
        return WORK in command.read()


status = os.waitpid(child, 0)[1]
while os.WIFSTOPPED(status):
    number = os.WSTOPSIG(status)
    if is_python():  # and not the copy of this program
        print("stopped by", number)
    libc.ptrace(CONTINUE, child, None, number if number != signal.SIGTRAP else None)
    status = os.waitpid(child, 0)[1]
print("ended", status)
