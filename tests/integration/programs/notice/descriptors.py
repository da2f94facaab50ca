"""Which descriptors are open, which comes next, how many there may be; closing all is harmless."""

import os
import resource
import subprocess
import sys
import threading
import time

from burn import burn


def listing():
    return sorted((int(name) for name in os.listdir("/proc/self/fd")))[:-1]


def targets():
    return {fd: os.readlink("/proc/self/fd/%d" % fd).split(":")[0] for fd in listing() if fd > 2}


print("open", listing(), targets())
burn()
print("open", listing(), targets())
fd = os.open("/dev/null", os.O_RDONLY)
print("next", fd)
os.close(fd)
thread = threading.Thread(target=lambda: (burn(), print("thread", listing())))
thread.start()
thread.join()
time.sleep(0.05)  # until the system has done away with it too
sys.stdout.flush()
pid = os.fork()
if pid == 0:
    burn()
    print("child", listing(), targets(), flush=True)
    os._exit(0)
os.waitpid(pid, 0)
code = "import os; print(sorted(int(name) for name in os.listdir('/proc/self/fd')))"
print("inherited", subprocess.check_output([sys.executable, "-c", code], close_fds=False))

soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (20, hard))
room = []
try:
    while True:
        room.append(os.open("/dev/null", os.O_RDONLY))
except OSError as error:
    print("room for", len(room), error)
burn()
for fd in room:
    os.close(fd)
resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

os.closerange(3, 4096)
burn(0.1)
for fd in range(3, 200):
    os.dup2(1, fd)
burn(0.1)
print("after closing all", len(listing()))
os.closerange(3, 4096)
burn()
print("at the end", listing())
