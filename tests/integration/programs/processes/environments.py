"""Children with environments that the program makes itself; each prints what it was given."""

import os
import subprocess
import sys

SHOW = "import os; print(sorted(i for i in os.environ.items() if i[0] != 'LC_CTYPE'), flush=True)"
WORK = SHOW + "; sum(i * i for i in range(10 ** 6))"
CHILD = [sys.executable, "-c", WORK]
ABOVE = [sys.executable, "-c", "import subprocess, sys; subprocess.check_call(sys.argv[1:])", *CHILD]

subprocess.check_call(CHILD, env={})
subprocess.check_call(CHILD, env={"A": "1", "LD_PRELOAD": "", "B": "2"})
subprocess.check_call(CHILD, env={"LD_PRELOAD": "libm.so.6", "B": "2"})
subprocess.check_call(ABOVE, env={"A": "1"})
subprocess.check_call(["env", "-i", "A=1", *CHILD])
os.waitpid(os.posix_spawn(sys.executable, CHILD, {"A": "1"}), 0)
os.waitpid(os.posix_spawnp(sys.executable, CHILD, {"A": "1"}), 0)
if os.fork() == 0:
    os.execve(sys.executable, CHILD, {"A": "1"})
os.wait()
if os.fork() == 0:
    os.execve(os.open(sys.executable, os.O_RDONLY), CHILD, {"A": "1"})
os.wait()
