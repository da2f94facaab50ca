"""fork while a session goes on: the child is part of it, and may have one of its own."""

import os
import sys

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


def leaves_the_block():
    try:
        with heatline.profiling(cpu_only=True) as block:
            pid = os.fork()
            if pid == 0:
                sys.exit(5)
            status = os.WEXITSTATUS(os.waitpid(pid, 0)[1])
    except SystemExit as end:
        os._exit(end.code if block.profile is None else 6)
    except BaseException:
        os._exit(7)
    return status if block.profile is not None else 8


left = leaves_the_block()
heatline.start(cpu_only=True)
refused = in_child(stop_of_another)
own = in_child(own_session)
on = heatline.enabled()
profile = heatline.stop()
say(left=left, refused=refused, own=own, on=on, share=share(profile, "# BURN"), samples=samples(profile),
    processes=len(profile.data["heatline"]["processes"]), collectors=collectors_left())
