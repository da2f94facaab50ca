"""A session beside which somebody uses heatline's other commands."""

import os
import subprocess

import heatline
from parts import burn, say


def ask(*words):
    done = subprocess.run(["heatline", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
    return [done.returncode, done.stdout, done.stderr]


pid = str(os.getpid())
heatline.start(cpu_only=True)
burn(0.1)
facts = {"status": ask("status"), "write": ask("write", pid), "off": ask("off", pid), "is_on": [heatline.enabled()]}
ask("on", pid)
facts["is_on"].append(heatline.enabled())
heatline.stop()
say(**facts)
