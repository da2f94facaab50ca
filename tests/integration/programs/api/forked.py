"""fork while a session goes on: the child is part of it, and may have one of its own."""

import os

import heatline
from parts import burn, collectors_left, samples, say, share


def in_child(work):
    """What the child says, as a number of per cent."""
    pid = os.fork()
    if pid == 0:
        status = 99
        try:
            status = work()
        finally:
            os._exit(status)
    return os.WEXITSTATUS(os.waitpid(pid, 0)[1])


def stop_of_another():
    burn(0.3)
    try:
        heatline.stop()
    except RuntimeError:
        return 7
    return 8


def own_session():
    heatline.start(cpu_only=True)
    burn(0.3)
    profile = heatline.stop()
    pids = [process["pid"] for process in profile.data["heatline"]["processes"]]
    return 50 if pids == [os.getpid()] and share(profile, "# BURN") > 0.5 else 1


heatline.start(cpu_only=True)
refused = in_child(stop_of_another)
own = in_child(own_session)
on = heatline.enabled()
profile = heatline.stop()
say(refused=refused, own=own, on=on, share=share(profile, "# BURN"), samples=samples(profile),
    processes=len(profile.data["heatline"]["processes"]), collectors=collectors_left())
