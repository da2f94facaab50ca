"""Starts within starts, an exception in a block, stop without start, from another thread."""

import threading

import heatline
from parts import burn, cpu_seconds, samples, say, share

facts = {}
try:
    heatline.stop()
except RuntimeError as error:
    facts["refused"] = str(error)

with heatline.profiling(cpu_only=True) as outer:
    burn(0.2)
    with heatline.profiling(cpu_only=True) as inner:
        burn(0.2)
    facts["on_between"] = heatline.enabled()
    burn(0.2)
facts["on_after"] = heatline.enabled()
facts["inner"] = samples(inner.profile)
facts["outer"] = samples(outer.profile)
facts["inner_is_partial"] = inner.profile.data["heatline"]["is_partial"]

try:
    with heatline.profiling(cpu_only=True) as failed:
        burn(0.2)
        raise KeyError("mine")
except KeyError as error:
    facts["error"] = str(error)
facts["failed"] = share(failed.profile, "# BURN")
facts["on_after_error"] = heatline.enabled()


def work():
    heatline.start(cpu_only=True)
    burn(0.3)
    facts["thread_s"] = cpu_seconds(heatline.stop(), "# BURN")


thread = threading.Thread(target=work)
thread.start()
thread.join()
say(**facts)
