"""Two sessions with the process as it was in between: signal, descriptors, threads, children, folders."""

import glob
import os
import signal

import heatline
from parts import Busy, burn, collectors_left, samples, say, share


def traces():
    with open("/proc/self/status") as file:
        caught = [line for line in file if line.startswith("SigCgt")]
    return {
        "fds": len(os.listdir("/proc/self/fd")),
        "caught": caught,
        "timers": open("/proc/self/timers").read() if os.path.exists("/proc/self/timers") else "",
        "collectors": collectors_left(),
        "threads": len(os.listdir("/proc/self/task")),
    }


with Busy():
    heatline.enabled()  # what only importing brings is there
    before = traces()
    shares, on = [], []
    for _ in range(2):
        heatline.start(cpu_only=True)
        on.append(heatline.enabled())
        folders = glob.glob("/dev/shm/heatline-*") + glob.glob("/tmp/heatline-*")
        burn(0.4)
        profile = heatline.stop()
        on.append(heatline.enabled())
        shares.append(share(profile, "# BURN"))
        names = [thread["name"] for thread in profile.data["heatline"]["threads"]]
    after = traces()
    signal.raise_signal(signal.SIGURG)  # what does no harm still does none
    try:
        os.wait()
        has_children = True
    except ChildProcessError:
        has_children = False
say(before=before, after=after, shares=shares, on=on, names=names, has_children=has_children,
    samples=samples(profile), is_partial=profile.data["heatline"]["is_partial"])
