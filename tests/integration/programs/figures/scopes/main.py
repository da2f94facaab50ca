"""Calls a module beside it, a package below it, a folder beside its own, and the library."""

import json
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "elsewhere"))

import beside
import outside
from library import below

data = [{"key": [str(i), i * 0.5]} for i in range(300)]


def standard():
    json.dumps(data, indent=1)  # STANDARD


for work in (beside.work, below.work, outside.work, standard):
    end = time.process_time() + 0.2
    while time.process_time() < end:
        work()  # CALL
