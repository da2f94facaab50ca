"""Everything by which a program can see how it was started."""

import os
import sys

from burn import burn

burn()
print("argv", sys.argv)
print("orig_argv", getattr(sys, "orig_argv", None))
print("path", sys.path)
print("executable", sys.executable, os.path.realpath("/proc/self/exe"))
for name in (
    "prefix",
    "base_prefix",
    "exec_prefix",
    "pycache_prefix",
    "dont_write_bytecode",
    "warnoptions",
    "_xoptions",
    "flags",
    "platlibdir",
    "hash_info",
    "version",
    "_base_executable",
):
    print(name, getattr(sys, name, None))
with open("/proc/self/cmdline", "rb") as cmdline:
    print("cmdline", cmdline.read().split(b"\0"))
with open("/proc/self/comm") as comm:
    print("comm", comm.read())
print("cwd", os.getcwd())
