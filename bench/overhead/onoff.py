#!/usr/bin/env python3
"""What does sampling cost, once it runs?  Profiling is turned on and off within one run.

Where a machine is shared, two runs of the same program differ by more than a profiler costs.  Here
one process does the same short work again and again and notes the CPU time of each, while `heatline
on` and `heatline off` take turns several times a second; a turn is compared with the two beside it.
What is not in the figure: start-up, the collector (a process of its own), and what the memory hooks
cost while they pass everything over."""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import common
import unit

HEATLINE = common.heatline()
UNIT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "unit.py")
TURN_S = 0.25
# The perf clock comes back after some ticks; a turn begins when it has.
SETTLE_NS = 30_000_000


def profiled_pid(front, deadline):
    """The program below `heatline run`, once it is being profiled."""
    while time.monotonic() < deadline:
        shown = subprocess.run([HEATLINE, "status", "--json"], capture_output=True, text=True)
        if shown.returncode == 0 and shown.stdout.strip():
            for run in json.loads(shown.stdout):
                if run["heatline_pid"] == front.pid and run["pid"]:
                    return run["pid"]
        time.sleep(0.05)
    raise SystemExit("onoff: the program did not come up")


def take_turns(front, pid):
    """(begin, end, is_on) of each turn until the program ends."""
    turns, is_on = [], True
    while front.poll() is None:
        begin_ns = time.monotonic_ns() + SETTLE_NS
        time.sleep(TURN_S)
        turns.append((begin_ns, time.monotonic_ns(), is_on))
        is_on = not is_on
        if subprocess.run([HEATLINE, "on" if is_on else "off", str(pid)], capture_output=True).returncode:
            break
    front.wait()
    return turns[:-1]


def ratios(took, turns):
    """On over off, each turn against the mean of its neighbours."""
    means = []
    for begin_ns, end_ns, is_on in turns:
        within = [cpu_ns for at_ns, cpu_ns in took if begin_ns <= at_ns < end_ns]
        means.append((is_on, statistics.mean(within) if len(within) >= 5 else None))
    for (_, before), (is_on, here), (_, after) in zip(means, means[1:], means[2:]):
        if None not in (before, here, after):
            beside = (before + after) / 2
            yield here / beside if is_on else beside / here


def trimmed(values):
    """Mean without the tenth at either end, and its standard error."""
    values = sorted(values)
    cut = len(values) // 10
    kept = values[cut:len(values) - cut]
    return statistics.mean(kept), statistics.stdev(kept) / len(kept) ** 0.5


def measure(kind, options, python, seconds):
    with tempfile.TemporaryDirectory(prefix="heatline-bench-") as folder:
        out = os.path.join(folder, "took.json")
        command = [HEATLINE, "run", "--quiet", "-o", os.path.join(folder, "profile.json"), *options,
                   python, UNIT, kind, str(seconds), out]
        front = subprocess.Popen(command, stdin=subprocess.DEVNULL)
        turns = take_turns(front, profiled_pid(front, time.monotonic() + 20))
        with open(out) as file:
            return trimmed(ratios(json.load(file), turns))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", default=",".join(unit.KINDS))
    parser.add_argument("--seconds", type=float, default=30, help="for each figure")
    parser.add_argument("--python", default=sys.executable)
    given = parser.parse_args()
    rows = []
    for kind in given.kinds.split(","):
        cells = [kind]
        for options in (["--cpu-only"], []):
            mean, error = measure(kind, options, given.python, given.seconds)
            cells.append("%.3f ± %.3f" % (mean, 2 * error))
        rows.append(cells)
    print(common.markdown_table(["work", "time only", "everything"], rows))


if __name__ == "__main__":
    main()
