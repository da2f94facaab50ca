"""Small copies are made by the agent itself: every size, also where the two overlap."""

import ctypes

libc = ctypes.CDLL(None)
ROOM = 300
PATTERN = bytes(i * 7 % 251 for i in range(ROOM))


def copy(name, to, source, size):
    """What the pattern is after the copy of some of them to others of them."""
    block = ctypes.create_string_buffer(PATTERN, ROOM)
    start = ctypes.addressof(block)
    function = getattr(libc, name)
    function.restype = ctypes.c_void_p
    rest = [ctypes.c_size_t(ROOM)] if name.endswith("_chk") else []
    arguments = ctypes.c_void_p(start + to), ctypes.c_void_p(start + source), ctypes.c_size_t(size)
    assert function(*arguments, *rest) == start + to
    return block.raw


for size in range(80):
    for function in ("memcpy", "__memcpy_chk", "memmove", "__memmove_chk"):
        for distance in (100, -100) if "cpy" in function else (100, 1, 7, 16, 0, -1, -9, -16):
            wanted = bytearray(PATTERN)
            wanted[100 + distance : 100 + distance + size] = PATTERN[100 : 100 + size]
            assert copy(function, 100 + distance, 100, size) == wanted, (function, size, distance)
print("done")
