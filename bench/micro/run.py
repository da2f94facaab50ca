#!/usr/bin/env python3
"""What single things cost: a sample, by stack depth; a child, a fork, a thread.

Each program runs plain and under Heatline in turns; what the profiled run takes more is divided by
how often the thing happened.  CPU time of the whole process tree, collector included."""
import argparse
import json
import os
import shutil
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

import common

PROGRAMS = os.path.join(HERE, "programs")
DEPTHS = (1, 10, 30, 100, 900)
FAST_S = "0.0005"
EVENTS = (("children", 500, "child, not Python"), ("pythons", 60, "Python child"), ("forks", 500, "fork"),
          ("threads", 5000, "thread"))


def profiled(python, options, program, argument):
    """(Run, samples) of one profiled run."""
    folder = tempfile.mkdtemp(prefix="heatline-micro-")
    output = os.path.join(folder, "profile.json")
    try:
        run = common.measure([common.heatline(), "run", "--quiet", "--cpu-only", *options, "-o", output, "--python",
                              python, os.path.join(PROGRAMS, program + ".py"), str(argument)], 300, cwd=folder)
        with open(output) as text:
            return run, json.load(text)["heatline"]["quality"]["samples"]
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def plain(python, program, argument):
    folder = tempfile.mkdtemp(prefix="heatline-micro-")
    try:
        return common.measure([python, os.path.join(PROGRAMS, program + ".py"), str(argument)], 300, cwd=folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def sample_cost(python, depth, rounds):
    """[microseconds a sample]; default rate and a fast one, so that start-up cancels out."""
    costs = []
    for _ in range(rounds):
        slow, slow_samples = profiled(python, (), "depth", depth)
        fast, fast_samples = profiled(python, ("--cpu-sampling-rate", FAST_S), "depth", depth)
        if fast_samples > slow_samples:
            costs.append(1e6 * (fast.cpu_s - slow.cpu_s) / (fast_samples - slow_samples))
    return costs


def event_cost(python, program, count, rounds):
    """[microseconds an event]"""
    return [1e6 * (profiled(python, (), program, count)[0].cpu_s - plain(python, program, count).cpu_s) / count
            for _ in range(rounds)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--python", default=common.peer("python") or sys.executable)
    options = parser.parse_args()
    common.become_reaper()
    rows = []
    for depth in DEPTHS:
        costs = sample_cost(options.python, depth, options.rounds)
        rows.append(["sample at depth %d" % depth, common.spread(costs, 1) if costs else "–"])
    for program, count, name in EVENTS:
        rows.append([name, common.spread(event_cost(options.python, program, count, options.rounds), 0)])
    print("## Single costs, CPU µs: median (min–max) of %d\n\n%s\n" % (options.rounds, common.machine()))
    print(common.markdown_table(["what", "µs"], rows))


if __name__ == "__main__":
    sys.exit(main())
