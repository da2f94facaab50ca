"""Nobody traces the program; its own tracers and monitors see exactly what they always see."""

import cProfile
import pstats
import sys
import threading

from burn import burn

print("trace", sys.gettrace(), sys.getprofile())
if sys.version_info >= (3, 10):
    print("threads", threading.gettrace(), threading.getprofile())
if sys.version_info >= (3, 12):
    print("tools", [sys.monitoring.get_tool(number) for number in range(6)])
    print(
        "events",
        [
            sys.monitoring.get_events(number)
            for number in range(6)
            if sys.monitoring.get_tool(number)
        ],
    )
if sys.version_info >= (3, 7):
    print("coroutine origin", sys.get_coroutine_origin_tracking_depth(), sys.get_asyncgen_hooks())


def small(n):
    total = 0
    for i in range(n):
        total += i
    return total


counts = {}


def count(frame, event, arg):
    if frame.f_code is small.__code__:
        counts[event] = counts.get(event, 0) + 1
    return count


for install in (sys.settrace, sys.setprofile):
    counts.clear()
    install(count)
    for _ in range(300):
        small(30)
    install(None)
    print(install.__name__, sorted(counts.items()))

if sys.version_info >= (3, 12):
    monitoring = sys.monitoring
    counts.clear()
    monitoring.use_tool_id(monitoring.PROFILER_ID, "counter")
    for name in ("LINE", "PY_START", "PY_RETURN"):

        def callback(*args, name=name):
            counts[name] = counts.get(name, 0) + 1

        monitoring.register_callback(
            monitoring.PROFILER_ID, getattr(monitoring.events, name), callback
        )
    monitoring.set_local_events(
        monitoring.PROFILER_ID,
        small.__code__,
        monitoring.events.LINE | monitoring.events.PY_START | monitoring.events.PY_RETURN,
    )
    for _ in range(300):
        small(30)
    monitoring.free_tool_id(monitoring.PROFILER_ID)
    print("monitoring", sorted(counts.items()))

profile = cProfile.Profile()
profile.enable()
for _ in range(300):
    small(30)
profile.disable()
print(
    "cProfile",
    [value[:2] for key, value in pstats.Stats(profile).stats.items() if key[2] == "small"],
)
burn()
