"""Trees of forked processes: in threads, nested, in numbers, with ends of all kinds."""

import os
import signal
import sys
import threading
import warnings

from burn import burn

warnings.simplefilter("ignore")
sys.stdout.reconfigure(line_buffering=True)


def ends(how):
    pid = os.fork()
    if pid == 0:
        burn(0.02)
        if how == "exit":
            os._exit(4)
        if how == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if how == "nested":
            os._exit(ends("exit") >> 8)
        os._exit(len(list(range(3))))
    return os.waitpid(pid, 0)[1]


for how in ("exit", "kill", "nested", "other"):
    print(how, ends(how))

statuses = []
busy = threading.Thread(target=burn, args=(0.2,))
busy.start()
forker = threading.Thread(target=lambda: statuses.append(ends("exit")))
forker.start()
forker.join()
busy.join()
print("from a thread", statuses)

pids = []
for i in range(30):
    pid = os.fork()
    if pid == 0:
        burn(0.005)
        os._exit(i)
    pids.append(pid)
print("many", [os.waitpid(pid, 0)[1] >> 8 for pid in pids])

pid = os.fork()
if pid == 0:
    print("child goes down in good order")
    sys.exit(6)
print("good order", os.waitpid(pid, 0)[1])
try:
    os.wait()
except ChildProcessError as error:
    print("no other child:", error)
