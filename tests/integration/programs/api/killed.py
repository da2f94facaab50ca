"""The collector is killed in the middle of a session; the next one works."""

import os
import signal

import heatline
from parts import burn, collectors, say, share, wait_until

heatline.start()
heatline.start()
folder = heatline.api._state.collector.folder
for pid in collectors():
    os.kill(pid, signal.SIGKILL)
wait_until(lambda: not collectors())
burn(0.1)
errors = []
for _ in range(2):
    try:
        heatline.stop()
    except RuntimeError as error:
        errors.append(str(error))
with heatline.profiling(cpu_only=True) as p:
    burn(0.3)
say(errors=errors, is_left=os.path.exists(folder), share=share(p.profile, "# BURN"))
