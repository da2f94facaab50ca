"""Sends itself the signal that its argument names, with Python's default handling."""

import os
import signal
import sys
import time

from burn import burn

print("start", flush=True)
burn()
try:
    os.kill(os.getpid(), getattr(signal, sys.argv[1]))
    time.sleep(0.01)
    burn()
finally:
    print("finally", flush=True)
print("survived", flush=True)
