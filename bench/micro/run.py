#!/usr/bin/env python3
"""What single things cost: a sample, by stack depth; a child, a fork, a thread; an allocation.

Each program runs plain and under Heatline in turns; what the profiled run takes more is divided by
how often the thing happened.  CPU time of the whole process tree, collector included."""
import argparse
import json
import os
import shutil
import subprocess
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


def hook_costs(python, rounds):
    """({what: [plain ns]}, {what: [ns more]}) of calls that the memory agent stands in front of."""
    folder, plain_ns, more_ns = tempfile.mkdtemp(prefix="heatline-micro-"), {}, {}
    program, library = os.path.join(PROGRAMS, "hooks.py"), os.path.join(folder, "hooks.so")
    try:
        subprocess.run(["gcc", "-O1", "-fno-builtin", "-shared", "-fPIC", "-o", library,
                        os.path.join(PROGRAMS, "hooks.c")], check=True)
        for _ in range(rounds):
            bare = json.loads(subprocess.check_output([python, program, library]))
            profiled_run = json.loads(subprocess.check_output([
                common.heatline(), "run", "--quiet", "-o", os.path.join(folder, "profile.json"), "--python", python,
                program, library]))
            for what in bare:
                plain_ns.setdefault(what, []).append(bare[what])
                more_ns.setdefault(what, []).append(profiled_run[what] - bare[what])
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return plain_ns, more_ns


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--hooks", action="store_true", help="only what allocations and copies gain")
    parser.add_argument("--python", default=common.peer("python") or sys.executable)
    options = parser.parse_args()
    common.become_reaper()
    rows = []
    for depth in DEPTHS if not options.hooks else ():
        costs = sample_cost(options.python, depth, options.rounds)
        rows.append(["sample at depth %d" % depth, common.spread(costs, 1) if costs else "–"])
    for program, count, name in EVENTS if not options.hooks else ():
        rows.append([name, common.spread(event_cost(options.python, program, count, options.rounds), 0)])
    if rows:
        print("## Single costs, CPU µs: median (min–max) of %d\n\n%s\n" % (options.rounds, common.machine()))
        print(common.markdown_table(["what", "µs"], rows))
    plain_ns, more_ns = hook_costs(options.python, options.rounds)
    print("\n## Memory and copies on: ns that a call gains\n")
    print(common.markdown_table(["call", "plain ns", "more"], [
        [what, common.spread(plain_ns[what], 1), common.spread(more_ns[what], 1)] for what in plain_ns]))


if __name__ == "__main__":
    sys.exit(main())
