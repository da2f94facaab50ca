"""Puts itself under a seccomp filter (forbids.py FOUND CALL FILTER), and goes on."""

import ctypes
import os
import platform
import struct
import sys
import threading

from burn import burn

IS_X86 = platform.machine() == "x86_64"
PERMIT, KILL, FAIL = 0x7FFF0000, 0x80000000, 0x50001
SECCOMP, PROCESS_VM_READV, EXIT = (317, 310, 60) if IS_X86 else (277, 270, 93)
PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 22, 38

# What a program that only computes and prints calls until its end: no clock, no handler's return.
FEW = (
    [0, 1, 3, 5, 8, 9, 10, 11, 12, 13, 14, 16, 25, 28, 60, 131, 202, 231, 262]
    if IS_X86
    else [29, 57, 62, 63, 64, 79, 80, 93, 94, 98, 132, 134, 135, 214, 215, 216, 222, 226, 233]
)

found, call, wanted = sys.argv[1:]
libc = ctypes.CDLL("libc.so.6" if found == "by_name" else None, use_errno=True)


def steps():
    yield 0x20, 0, 0, 4  # the architecture; a filter of libseccomp begins so
    yield 0x15, 1, 0, 0xC000003E if IS_X86 else 0xC00000B7
    yield 0x06, 0, 0, KILL
    yield 0x20, 0, 0, 0
    if wanted == "few":
        for number in FEW:
            yield from [(0x15, 0, 1, number), (0x06, 0, 0, PERMIT)]
        yield 0x06, 0, 0, KILL
    else:
        yield 0x15, 0, 1, PROCESS_VM_READV
        yield 0x06, 0, 0, FAIL if wanted == "fail" else KILL
        yield 0x06, 0, 0, PERMIT


def install():
    code = ctypes.create_string_buffer(b"".join(struct.pack("<HBBI", *step) for step in steps()))
    program = struct.pack("<HxxxxxxQ", len(code) // 8, ctypes.addressof(code))
    if call == "prctl":
        return libc.prctl(PR_SET_SECCOMP, 2, ctypes.c_char_p(program), 0, 0)
    return libc.syscall(SECCOMP, 1, 0, ctypes.c_char_p(program))


def before():
    burn(0.3)


def compute():
    """No clock is asked, and no memory of the system."""
    for _ in range(20000):
        sum(n * n for n in range(40))


def after():
    compute()
    for i in range(20):
        kept = [bytes(size) for size in range(1000)]
        kept.append(bytearray(i << 16))


before()
if wanted == "strict":
    libc.prctl(PR_SET_SECCOMP, 1, 0, 0, 0)
    compute()
    os.write(1, b"computed\n")
    libc.syscall(EXIT, 4)
print("no address", libc.prctl(PR_SET_SECCOMP, 2, 1, 0, 0), ctypes.get_errno())
print("privileges", libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
print("installed", install())
after()
if wanted != "few":
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        after()
        os.execv(sys.executable, [sys.executable, "-c", "import sys; sys.exit(7)"])
    print("child", os.waitpid(child, 0)[1])
    thread = threading.Thread(target=after)
    thread.start()
    thread.join()
