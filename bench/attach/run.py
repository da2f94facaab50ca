#!/usr/bin/env python3
"""Profilers that attach to a running process, side by side in one run.

    bench/attach/run.py [--tools heatline,py-spy,...] [--seconds 3] [--rate 1000] [--python PYTHON]

What is measured, each with a fresh target:
  impossible  stacks that cannot be, on callers that alternate every microsecond and on two sides that call through
              the same sixteen frames in turns (percent of the time, the worst), at the rate and at --check-rate,
              since 0.01 percent does not show in 3000 samples
  lost        samples that the tool itself says it could not take there (percent), at the rate
  slow-down   CPU time per iteration of that target under the tool, against moments in between at which the tool
              is stopped (percent, the middle of a hundred, with its 95 percent interval); not for a tool that
              stops the target itself
  error       of the share of a function that takes 70, 20 or 10 percent (points, the largest), at --check-rate,
              against the target's own clock; behind it what chance alone makes in one of twenty such runs
  us/sample   CPU time of the profiler per sample at depth 20 and 200, start-up included
  dump        milliseconds for one dump of all stacks (the best of five)
Heatline's perf events go on while it is stopped, so the slow-down is that of its looks; by its own measure of their
price the events take a quarter of a percent more, and as much again of a thread that leaves its CPU all the time.

A second table has heatline's split of a program that is a third each Python, native and system, against the target's
own clock, with perf events and without (points, the largest of the three).

`profiling.sampling` can only look at its own Python, 3.15; the others get --python.
"""
import argparse
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from common import PEERS, ROOT  # noqa: E402

HEATLINE = os.environ.get("HEATLINE") or os.path.join(ROOT, "build", "heatline")
IN_SID = os.path.join(ROOT, "scripts", "in-sid")
SID_PYTHON = os.path.join(ROOT, ".test-env", "sid", "usr", "bin", "python3.15")


class Target:
    """A program that runs until it is ended."""

    def __init__(self, python, name, *args):
        command = [*python, os.path.join(HERE, "programs", name), *args]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8")
        assert self.process.stdout.readline() == "ready\n", f"{command} did not start"
        self.pid = self.process.pid

    def progress(self):
        """The numbers that it says about itself."""
        self.process.send_signal(signal.SIGUSR1)
        return [float(number) for number in self.process.stdout.readline().split()]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


class Result:
    """What a tool found: weights by stack of function names, how many samples, and those it lost."""

    def __init__(self, stacks, samples, lost, cpu_s):
        self.stacks, self.samples, self.lost, self.cpu_s = stacks, samples, lost, cpu_s
        self.whole = max(1, sum(stacks.values()))


def collapsed(path, name_of):
    """Reads "frame;frame;frame count" lines."""
    stacks = {}
    with open(path, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if line.startswith("#") or " " not in line.strip():
                continue
            frames, count = line.rstrip().rsplit(" ", 1)
            if not re.fullmatch(r"-?\d+", count):
                continue
            names = tuple(name for name in map(name_of, frames.split(";")) if name)
            stacks[names] = stacks.get(names, 0) + max(int(count), 0)
    return stacks


class Tool:
    name = ""
    max_rate = 1000000  # asked for more it falls behind without end
    stops_target = False

    def __init__(self, python):
        self.python = python  # what runs the target

    def is_here(self):
        return True

    def record(self, pid, seconds, rate, out):
        """The command that profiles the process into `out`."""
        raise NotImplementedError

    def read(self, out, log):
        """(weights by stack, samples, lost samples)."""
        raise NotImplementedError

    def dump(self, pid):
        """The command that prints all stacks now; None: it has none."""
        return None

    def run(self, pid, seconds, rate, folder):
        out = os.path.join(folder, "out")
        with open(os.path.join(folder, "log"), "w+", encoding="utf-8", errors="replace") as log:
            child = subprocess.Popen(self.record(pid, seconds, rate, out), stdin=subprocess.DEVNULL, stdout=log,
                                     stderr=subprocess.STDOUT)
            timer = threading.Timer(5 * seconds + 20, child.kill)  # one that hangs is left out
            timer.start()
            _, status, usage = os.wait4(child.pid, 0)
            timer.cancel()
            child.returncode = os.waitstatus_to_exitcode(status)
            log.seek(0)
            text = log.read()
        if not os.path.exists(out):
            raise RuntimeError(f"{self.name} wrote nothing: {text[-300:]}")
        return Result(*self.read(out, text), usage.ru_utime + usage.ru_stime)


class Heatline(Tool):
    name = "heatline"

    def record(self, pid, seconds, rate, out):
        return [HEATLINE, "attach", "-q", "-d", str(seconds), "-r", str(rate), "-o", out, str(pid)]

    def read(self, out, log):
        with open(out, encoding="utf-8") as file:
            profile = json.load(file)["heatline"]
        tree, stacks = profile["stacks"], {}
        for at, node in enumerate(tree["nodes"]):
            weight, names = sum(node[4:8]), []  # microseconds
            while at:
                names.append(tree["strings"][tree["functions"][tree["nodes"][at][1]][0]])
                at = tree["nodes"][at][0]
            if weight:
                key = tuple(reversed(names))
                stacks[key] = stacks.get(key, 0) + weight
        quality = profile["quality"]
        samples = quality["samples"] + quality["wait_samples"]
        return stacks, samples, sum(reason["count"] for reason in quality["lost"])

    def dump(self, pid):
        return [HEATLINE, "dump", str(pid)]


class Heatline315(Heatline):
    name = "heatline, 3.15"


class PySpy(Tool):
    name = "py-spy"
    max_rate = 2000
    stops_target = True
    options = ()
    path = os.path.join(PEERS, "bin", "py-spy")

    def is_here(self):
        return os.path.exists(self.path)

    def record(self, pid, seconds, rate, out):
        return [self.path, "record", *self.options, "-f", "raw", "-d", str(max(1, round(seconds))), "-r", str(rate), "-o",
                out, "-p", str(pid)]

    def read(self, out, log):
        errors = re.search(r"Samples: \d+ Errors: (\d+)", log)
        stacks = collapsed(out, lambda frame: frame.split(" (")[0])
        return stacks, sum(stacks.values()), int(errors.group(1)) if errors else 0

    def dump(self, pid):
        return [self.path, "dump", "-p", str(pid)]


class PySpyNonblocking(PySpy):
    name = "py-spy --nonblocking"
    stops_target = False
    options = ("--nonblocking",)

    def dump(self, pid):
        return None


class Austin(Tool):
    name = "austin"
    path = os.path.join(PEERS, "bin", "austin")

    def is_here(self):
        return os.path.exists(self.path)

    def record(self, pid, seconds, rate, out):
        interval_us = max(1, round(1e6 / rate))
        return [self.path, "-i", str(interval_us), "-x", str(max(1, round(seconds))), "-o", out, "-p", str(pid)]

    def read(self, out, log):
        def name_of(frame):
            return frame.split(":")[1] if frame.count(":") >= 2 else None

        stacks, lost = {}, 0
        with open(out, encoding="utf-8", errors="replace") as lines:
            for line in lines:  # one line a sample
                if not line.startswith("P"):
                    continue
                names = tuple(filter(None, map(name_of, line.rsplit(" ", 1)[0].split(";"))))
                if ":INVALID:" in line:
                    lost += 1
                else:
                    stacks[names] = stacks.get(names, 0) + 1
        return stacks, sum(stacks.values()), lost

    def dump(self, pid):
        return [self.path, "-w", str(pid)]


def beside(pid):
    """It finds the target's Python only in the same tree, under the same path."""
    return ["nsenter", "-t", str(pid), "-m", "-r", "-w", "/usr/bin/python3.15", "-m", "profiling.sampling"]


class Sampling(Tool):
    name = "profiling.sampling, 3.15"

    def is_here(self):
        return os.path.exists(SID_PYTHON)

    def record(self, pid, seconds, rate, out):
        return [*beside(pid), "attach", "--collapsed", "-r", str(rate), "-d", str(max(1, round(seconds))), "-o", out,
                str(pid)]

    def read(self, out, log):
        missed = re.search(r"[Ee]rror rate: ([\d.]+)%", log)
        stacks = collapsed(out, lambda frame: frame.split(":")[-2] if frame.count(":") >= 2 else None)
        total = sum(stacks.values())
        share = float(missed.group(1)) / 100 if missed else 0
        return stacks, total, round(total * share / (1 - share)) if share < 1 else total

    def dump(self, pid):
        return [*beside(pid), "dump", str(pid)]


TOOLS = {"heatline": Heatline, "py-spy": PySpy, "py-spy-nonblocking": PySpyNonblocking, "austin": Austin,
         "heatline-3.15": Heatline315, "profiling.sampling": Sampling}

POSSIBLE = [("<module>", *side, "hot_" + letter, "leaf_" + letter)
            for letter in "ab" for side in ((), ("side_" + letter,))]


def is_possible(stack):
    names = tuple(name for name in stack if name not in ("report", "down"))
    return any(names == whole[:len(names)] for whole in POSSIBLE)


def measure_alternate(tool, options, folder):
    """(impossible, lost)"""
    results = []
    for program in ("alternate.py", "alternate_deep.py"):
        with Target(tool.python, program) as target:
            time.sleep(0.3)
            results += [tool.run(target.pid, options.seconds, rate, folder)
                        for rate in (options.rate, min(options.check_rate, tool.max_rate))]
    wrong = max(100 * sum(part for stack, part in result.stacks.items() if not is_possible(stack)) / result.whole
                for result in results)
    tries = max(1, results[0].samples + results[0].lost)
    return f"{wrong:.3f}", f"{100 * results[0].lost / tries:.2f}"


def cost_of(target, seconds):
    """CPU time per iteration of the target."""
    start = target.progress()
    time.sleep(seconds)
    end = target.progress()
    return (end[1] - start[1]) / max(1, end[0] - start[0])


def measure_slow(tool, options, folder):
    """By turns with and without the tool, in one run: what else the machine does is the same for both."""
    if tool.stops_target:
        return ""
    seconds = 3 * options.seconds
    with Target(tool.python, "alternate.py") as target:
        time.sleep(0.3)
        with open(os.devnull, "w", encoding="utf-8") as null:
            child = subprocess.Popen(tool.record(target.pid, seconds + 2, options.rate, os.path.join(folder, "out")),
                                     stdin=subprocess.DEVNULL, stdout=null, stderr=null)
        time.sleep(1)
        ratios, end = [], time.monotonic() + seconds
        try:
            while time.monotonic() < end and child.poll() is None:
                costs = []
                for number in (signal.SIGCONT, signal.SIGSTOP):
                    child.send_signal(number)
                    time.sleep(0.003)
                    costs.append(cost_of(target, 0.03))
                ratios.append(100 * (costs[0] / costs[1] - 1))
        finally:
            child.kill()
            child.wait()
    ratios.sort()
    quarter = len(ratios) // 4
    # The middle of so many lies so far from the truth, by chance.
    spread = 0.93 * (ratios[-1 - quarter] - ratios[quarter]) / len(ratios) ** 0.5
    return f"{statistics.median(ratios):+.1f} ±{2 * spread:.1f}"


def measure_ratio(tool, options, folder):
    names = ("seventy", "twenty", "ten")
    with Target(tool.python, "ratio.py") as target:
        start = target.progress()
        result = tool.run(target.pid, options.seconds, min(options.check_rate, tool.max_rate), folder)
        taken = [after - before for before, after in zip(start, target.progress())]
    error = 0.0
    seen = {name: sum(part for stack, part in result.stacks.items() if name in stack) for name in names}
    for name, true in zip(names, taken):
        error = max(error, abs(100 * seen[name] / max(1, sum(seen.values())) - 100 * true / sum(taken)))
    return f"{error:.1f} ±{200 * (0.21 / max(1, result.samples)) ** 0.5:.1f}"


def measure_kinds(python, options, *words):
    """Heatline's Python, native and system time against the target's own clock: (largest error, how)."""
    keys = ("n_cpu_percent_python", "n_cpu_percent_c", "n_sys_percent")
    with tempfile.TemporaryDirectory(prefix="bench-attach-") as folder, Target(python, "kinds.py") as target:
        out = os.path.join(folder, "out")
        start = target.progress()
        subprocess.run([HEATLINE, "attach", "-q", "-d", str(options.seconds), "-r", str(options.rate), "-o", out, *words,
                        str(target.pid)], check=True)
        taken = [after - before for before, after in zip(start, target.progress())]
        with open(out, encoding="utf-8") as file:
            profile = json.load(file)
    lines = [line for file in profile["files"].values() for line in file["lines"]]
    seen = [sum(line[key] for line in lines) for key in keys]
    errors = [abs(100 * one / max(1, sum(seen)) - 100 * true / sum(taken)) for one, true in zip(seen, taken)]
    return f"{max(errors):.1f}", profile["heatline"]["quality"]["clock"]


def print_kinds(options):
    print("\n| split of time | error, points | made of |\n|---|---|---|")
    for name, words in (("with perf events", ()), ("without", ("--no-perf",))):
        print("| " + " | ".join([name, *measure_kinds([options.python], options, *words)]) + " |", flush=True)


def measure_cost(tool, options, folder):
    cells = []
    for depth in ("20", "200"):
        with Target(tool.python, "deep.py", depth) as target:
            result = tool.run(target.pid, options.seconds, min(options.fast_rate, tool.max_rate), folder)
        cells.append(f"{1e6 * result.cpu_s / max(1, result.samples):.1f}")
    return " / ".join(cells)


def measure_dump(tool):
    with Target(tool.python, "deep.py", "20") as target:
        if tool.dump(target.pid) is None:
            return ""
        best = min(time_dump(tool.dump(target.pid)) for _ in range(5))
    return f"{1000 * best:.0f}"


def time_dump(command):
    start = time.monotonic()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return time.monotonic() - start


def measure(tool, options):
    cells = []
    for step in (measure_alternate, measure_slow, measure_ratio, measure_cost):
        folder = tempfile.mkdtemp(prefix="bench-attach-")
        try:
            found = step(tool, options, folder)
        except (OSError, RuntimeError, ValueError, AssertionError) as problem:
            print(f"{tool.name}: {step.__name__}: {problem}", file=sys.stderr)
            found = ("-", "-") if step is measure_alternate else "-"
        finally:
            shutil.rmtree(folder)
        cells += found if isinstance(found, tuple) else (found,)
    return [*cells, measure_dump(tool)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", default=",".join(TOOLS))
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--rate", type=int, default=1000)
    parser.add_argument("--check-rate", type=int, default=10000, help="for what needs many samples")
    parser.add_argument("--fast-rate", type=int, default=200000, help="for the cost per sample: all that it can")
    parser.add_argument("--python", default=os.path.join(PEERS, "bin", "python"))
    options = parser.parse_args()
    print(f"{options.rate} samples a second, {options.seconds:g} s each; errors at {options.check_rate}, us/sample at "
          f"{options.fast_rate} a second\n")
    head = ["tool", "impossible %", "lost %", "slow-down %", "error, points", "us/sample at depth 20 / 200", "dump, ms"]
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head), flush=True)
    for name in options.tools.split(","):
        is_sid = name in ("heatline-3.15", "profiling.sampling")
        tool = TOOLS[name]([IN_SID, "python3.15"] if is_sid else [options.python])
        if not tool.is_here() or (is_sid and not os.path.exists(SID_PYTHON)):
            print(f"{tool.name} is not here; left out", file=sys.stderr)
            continue
        print("| " + " | ".join([tool.name, *measure(tool, options)]) + " |", flush=True)
    if "heatline" in options.tools.split(","):
        print_kinds(options)


if __name__ == "__main__":
    main()
