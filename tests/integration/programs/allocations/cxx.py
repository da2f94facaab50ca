"""Memory through C++: python cxx.py HELPER.so [no-throw] (see lines.py for the comments)."""

import ctypes
import sys

MB = 1 << 20
helper = ctypes.CDLL(sys.argv[1])
for name in ("new", "vector"):
    getattr(helper, "get_" + name).argtypes = [ctypes.c_size_t]
    getattr(helper, "get_" + name).restype = ctypes.c_void_p
    getattr(helper, "give_back_" + name).argtypes = [ctypes.c_void_p]

if "no-throw" not in sys.argv:  # mimalloc ends the program instead
    assert helper.throws_bad_alloc() == 1  #: malloc 0
for _ in range(10):
    helper.give_back_new(helper.get_new(2 * MB))  #: malloc 20, python 0, kept 0, peak 2
    helper.give_back_vector(helper.get_vector(2 * MB))  #: malloc 20, python 0, kept 0, peak 2
for _ in range(2000):
    helper.give_back_new(helper.get_new(6000))  #: malloc 11.4, kept 0
held = helper.get_vector(4 * MB)  #: malloc 4, python 0, kept 4
print("done")
