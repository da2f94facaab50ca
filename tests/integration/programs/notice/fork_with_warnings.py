"""fork() with warnings as errors: from 3.12 on it warns when there is a second thread."""

import os
import sys
import threading
import warnings

from burn import burn

warnings.simplefilter("error")
sys.stdout.reconfigure(line_buffering=True)


def child_of(fork):
    pid = fork()
    if pid == 0:
        burn(0.05)
        print("child: threads", threading.active_count(), len(os.listdir("/proc/self/task")))
        os._exit(5)
    print("parent:", os.waitpid(pid, 0)[1])


burn()
for _ in range(3):
    child_of(os.fork)
child_of(lambda: os.forkpty()[0])
try:
    os.wait()
except ChildProcessError as error:
    print("no other child:", error)
