"""Does a bit of everything for a while: chaos.py KIND SECONDS STATUS."""

import multiprocessing
import os
import subprocess
import sys
import threading
import time

kind, seconds, status = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])


def work(seconds=seconds):
    end = time.monotonic() + seconds
    kept = []
    while time.monotonic() < end:
        kept.append(bytearray(50000))
        del kept[:-50]
        sum(range(2000))
        time.sleep(0.0005)


def short(_):
    work(0.02)


def forks():
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pid = os.fork()
        if pid == 0:
            work(0.05)
            os._exit(0)
        os.waitpid(pid, 0)


def threads():
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        started = [threading.Thread(target=work, args=(0.03,)) for _ in range(8)]
        for thread in started:
            thread.start()
        for thread in started:
            thread.join()


def pool():
    end = time.monotonic() + seconds
    with multiprocessing.get_context("fork").Pool(3) as workers:
        while time.monotonic() < end:
            workers.map(short, range(6))


def execs():
    """Another program in the same process, and one in a child below a shell."""
    left = seconds - 0.2
    if left > 0.2:
        subprocess.call(["sh", "-c", '"$0" -c "pass"; true', sys.executable])
        os.execv(sys.executable, [sys.executable, __file__, "execs", str(left / 2), str(status)])
    work()


def daemon():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for fd in range(3):
                os.close(fd)
            work(seconds + 0.4)
        os._exit(0)
    os.wait()
    work()


KINDS = {
    "work": work,
    "forks": forks,
    "threads": threads,
    "pool": pool,
    "execs": execs,
    "daemon": daemon,
    "abort": lambda: (work(), os.abort()),
    "exit": lambda: (work(), os._exit(status)),
}
if __name__ == "__main__":
    KINDS[kind]()
    sys.exit(status)
