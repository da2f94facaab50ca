"""Memory that nobody touched takes none: zeroed blocks stay lazy."""

import ctypes

MB = 1 << 20
libc = ctypes.CDLL(None)
libc.calloc.restype = ctypes.c_void_p
libc.calloc.argtypes = [ctypes.c_size_t, ctypes.c_size_t]


def resident_mb():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * 4096 / MB


before = resident_mb()
block = libc.calloc(256, MB)
lazy = bytes(256 * MB)
after = resident_mb()
assert block and lazy[12345] == 0
assert after - before < 4, (before, after)
print("lazy")
