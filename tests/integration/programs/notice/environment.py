"""The environment, its order, and that of a child; limits, masks, groups, priorities, folders."""

import os
import resource
import subprocess
import sys

from burn import burn

HIDDEN = ("LD_PRELOAD", "HEATLINE", "CUDA_INJECTION64_PATH")


def visible(names):
    return [name for name in names if not name.startswith(HIDDEN)]


burn()
for name in visible(os.environ):
    print(name, os.environ[name])
listing = "import os\nfor item in os.environ.items(): print(*item)"
for line in subprocess.check_output([sys.executable, "-c", listing]).decode().splitlines():
    if not line.startswith(HIDDEN):
        print("child", line)
for name in sorted(name for name in dir(resource) if name.startswith("RLIMIT_")):
    print(name, resource.getrlimit(getattr(resource, name)))
previous = os.umask(0)
os.umask(previous)
print("umask", oct(previous))
print("group and session", os.getpgrp() == os.getsid(0))
print("nice", os.nice(0), "cpus", os.sched_getaffinity(0), "policy", os.sched_getscheduler(0))
print("user", os.getuid(), os.geteuid(), os.getgid(), os.getgroups())
print("folder", os.getcwd(), sorted(os.listdir(".")))
with open("/proc/self/status") as status:
    for line in status:
        if line.startswith(
            (
                "Umask",
                "SigIgn",
                "ShdPnd",
                "NoNewPrivs",
                "Seccomp:",
                "CapEff",
                "Threads",
                "TracerPid",
            )
        ):
            print(line.strip())
