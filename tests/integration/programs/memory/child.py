"""Leaks; a Python that it starts ends early, and it itself without the interpreter's end."""

import json
import os
import subprocess
import sys
import time

kept = []
begin_s = time.monotonic()
for turn in range(600):
    kept.append(bytes(10_000 + turn))  # LEAK
    if turn == 150:
        subprocess.run([sys.executable, "-c", "table = [bytes(1000) for _ in range(5000)]"])
    time.sleep(0.002)
seconds = time.monotonic() - begin_s
print(json.dumps({"bytes_per_s": sum(map(len, kept)) / seconds}), flush=True)
os._exit(0)
