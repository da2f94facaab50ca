"""faulthandler: dumps on request, on a user signal, after a time, and on a crash."""

import faulthandler
import os
import signal
import sys
import threading
import time

from burn import burn

EXTRA = {"c_stack": False} if sys.version_info >= (3, 14) else {}


def inner(action):
    burn(0.02)
    action()
    burn(0.02)


faulthandler.enable(**EXTRA)
print("enabled", faulthandler.is_enabled())
inner(lambda: faulthandler.dump_traceback(all_threads=False))
faulthandler.register(signal.SIGUSR2, all_threads=False, chain=False)
inner(lambda: os.kill(os.getpid(), signal.SIGUSR2))

started, done = threading.Event(), threading.Event()


def waiting():
    started.set()
    done.wait()


thread = threading.Thread(target=waiting, name="waiting")
thread.start()
started.wait()
time.sleep(0.05)
faulthandler.dump_traceback_later(0.2, repeat=False)
time.sleep(0.8)
faulthandler.cancel_dump_traceback_later()
done.set()
thread.join()
time.sleep(0.05)
sys.stdout.flush()
if len(sys.argv) > 1:
    inner({"segfault": faulthandler._sigsegv, "abort": os.abort}[sys.argv[1]])
