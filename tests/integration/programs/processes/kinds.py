"""Children of every kind; says which process is which, one "name pid" a line."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor


def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def job(seconds):
    burn(seconds)
    return os.getpid()


def say(name, pid):
    print(name, pid, flush=True)


def fork(action):
    pid = os.fork()
    if pid == 0:
        action()
    os.waitpid(pid, 0)
    return pid


def become_python():
    code = "import time\nend = time.process_time() + 0.1\nwhile time.process_time() < end: pass"
    os.execv(sys.executable, [sys.executable, "-c", code])


def die():
    burn(0.1)
    os.kill(os.getpid(), signal.SIGKILL)


def leave():
    burn(0.1)
    os._exit(9)


def unequal_work():
    """Two workers of which one does three times as much as the other."""
    context = multiprocessing.get_context("fork")
    for name, seconds in (("light", 0.1), ("heavy", 0.3)):
        worker = context.Process(target=burn, args=(seconds,))
        worker.start()
        worker.join()
        say(name, worker.pid)


def main():
    say("main", os.getpid())
    code = "import os; print('subprocess', os.getpid())"
    subprocess.run([sys.executable, "-c", code], check=True)
    code = "import os; print('below_shell', os.getpid())"
    subprocess.run(["sh", "-c", '"$0" -c "$1"; true', sys.executable, code], check=True)
    say("exec", fork(become_python))
    say("killed", fork(die))
    say("left", fork(leave))
    unequal_work()
    for method in ("spawn", "forkserver"):
        worker = multiprocessing.get_context(method).Process(target=burn, args=(0.1,))
        worker.start()
        worker.join()
        say(method, worker.pid)
    with ProcessPoolExecutor(1) as executor:
        say("executor", executor.submit(job, 0.1).result())
    if hasattr(os, "posix_spawn"):
        words = [sys.executable, "-c", "pass"]
        pid = os.posix_spawn(sys.executable, words, os.environ)
        os.waitpid(pid, 0)
        say("posix_spawn", pid)


if __name__ == "__main__":
    main()
