"""Replaces itself by another program, in the way that its argument names."""

import os
import sys

from burn import burn

CODE = """
import os, sys, time
end = time.process_time() + .05
while time.process_time() < end: pass
print("same process", sys.argv[1] == str(os.getpid()))
sys.exit(8)
"""

print("before", flush=True)
burn()
way = sys.argv[1]
command = [sys.executable, "-c", CODE, str(os.getpid())]
if way == "execv":
    os.execv(sys.executable, command)
elif way == "execve_bare":
    os.execve(sys.executable, command, {})
elif way == "execvp_shell":
    os.execvp("sh", ["sh", "-c", "echo from the shell; exit 6"])
elif way == "exec_in_thread":
    import threading

    thread = threading.Thread(target=os.execv, args=(sys.executable, command))
    thread.start()
    thread.join()
elif way == "exec_fails":
    try:
        os.execv("/nonexistent/program", ["x"])
    except OSError as error:
        print(error)
    burn()
    sys.exit(4)
elif way == "posix_spawn":
    child = os.posix_spawn(sys.executable, command, os.environ)
    print("status", os.waitpid(child, 0)[1], flush=True)
    child = os.posix_spawn("/bin/sh", ["sh", "-c", "exit 7"], {}, setsigmask=[], setsigdef=[10])
    print("status", os.waitpid(child, 0)[1], flush=True)
elif way == "exec_again":
    left = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    print("left", left, flush=True)
    if left:
        os.execv(sys.executable, [sys.executable, sys.argv[0], way, str(left - 1)])
