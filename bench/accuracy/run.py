#!/usr/bin/env python3
"""How true are the profiles?  Programs that know their own costs, under Heatline and Scalene.

Each case (see cases/ and truth.py) measures the CPU time of its own functions while it is profiled;
the profile is compared with that.  Printed are the worst error of a part's share of the time, and of
its split in Python, native and system time, in percentage points; Heatline on every Python found,
Scalene (--cpu-only) on one."""
import argparse
import collections
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(HERE)), "tests"))

import common
import compare
import memory
from support import pythons as machine_pythons

CASES = os.path.join(HERE, "cases")
RATIO_UNITS = ("0.0001", "0.001", "0.004", "0.01")
SECONDS = 30  # a case; in less, chance alone is more than the 2 points that are allowed
TIMEOUT_S = 300


class Case:
    def __init__(self, name, path, arguments=()):
        self.name = name
        self.path = path
        self.arguments = list(arguments)


def collect_cases():
    """{name: Case}; the ratio program is one case for each length of its turns."""
    cases = {}
    for path in sorted(glob.glob(os.path.join(CASES, "*.py"))):
        name = os.path.basename(path)[:-3]
        if name == "ratio":
            for unit in RATIO_UNITS:
                label = "ratio_%gms" % (1000 * float(unit))
                cases[label] = Case(label, path, [unit])
        else:
            cases[name] = Case(name, path)
    return cases


def numpy_folder(version):
    """A folder with numpy for this Python version, installed when missing; None: there is none."""
    folder = os.path.join(common.ROOT, ".test-env", "numpy", "%d.%d" % version)
    if not os.path.isdir(folder):
        subprocess.run([common.peer("python") or sys.executable, "-m", "pip", "install", "--quiet", "--target",
                        folder, "--python-version", "%d.%d" % version, "--only-binary=:all:", "numpy"],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return folder if os.path.isdir(os.path.join(folder, "numpy")) else None


class Tool:
    """A profiler on one Python: makes the command that profiles a case into a file."""

    def __init__(self, name, python, command):
        self.name = name
        self.python = python
        self.command = command  # from (path, arguments, output) to a list

    def __str__(self):
        return "%s %d.%d" % (self.name, *self.python.version)


def heatline_on(python, options):
    def command(path, arguments, output):
        return python.command([common.heatline(), "run", "--quiet", "--cpu-only", *options, "-o", output,
                               "--python", python.executable, path, *arguments])
    return Tool("heatline", python, command)


def peers_python():
    version = subprocess.check_output([common.peer("python"), "-c", "import sys; print(list(sys.version_info[:2]))"])
    return machine_pythons.Python(tuple(json.loads(version)), common.peer("python"))


def scalene():
    python = peers_python()

    def command(path, arguments, output):
        return [common.peer("scalene"), "run", "--cpu-only", "-o", output, path, "---", *arguments]
    return Tool("scalene", python, command)


def profile_case(case, tool, seconds, keep):
    """(errors, reason): what compare says, or why there is nothing to compare."""
    folder = tempfile.mkdtemp(prefix="heatline-accuracy-")
    output, truth = os.path.join(folder, "profile.json"), os.path.join(folder, "truth.json")
    env = dict(os.environ, ACCURACY_TRUTH=truth, ACCURACY_SECONDS=str(seconds))
    if case.name == "arrays":
        env["PYTHONPATH"] = numpy_folder(tool.python.version) or ""
        if not env["PYTHONPATH"]:
            return [], "no numpy for this Python"
    try:
        try:
            done = subprocess.run(tool.command(case.path, case.arguments, output), cwd=folder, env=env,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            return [], "did not end in %d s" % TIMEOUT_S
        if not os.path.exists(truth):
            return [], "failed (%d): %s" % (done.returncode, done.stdout.decode()[-300:].strip())
        with open(truth) as text:
            known = json.load(text)
        try:
            with open(output) as text:
                profile = json.load(text)
            errors = compare.compare(profile, known, case.path)
        except (OSError, ValueError, KeyError) as error:
            return [], "no profile: %r" % error
        if keep:
            shutil.copytree(folder, os.path.join(keep, "%s-%s" % (case.name, str(tool).replace(" ", "-"))),
                            dirs_exist_ok=True)
        return errors, None if errors else "the profile is empty"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


Worst = collections.namedtuple("Worst", "value where")


class Score:
    """The worst share and split error of some runs, and where they were."""

    def __init__(self):
        self.share = self.split = None
        self.failures = []

    def add(self, errors, reason, where):
        if reason:
            self.failures.append((where, reason))
        for error in errors:
            self.share = _worse(self.share, error.share, "%s %s" % (where, error.part))
            self.split = _worse(self.split, error.split, "%s %s" % (where, error.part))


def _worse(worst, value, where):
    if value is None or (worst is not None and worst.value >= value):
        return worst
    return Worst(value, where)


def _cell(worst):
    return "–" if worst is None else "%.1f" % worst.value


def _where(worst):
    return "" if worst is None else worst.where


def print_cases(cases, by_case, names):
    rows = []
    for case in cases:
        row = [case.name]
        for name in names:
            score = by_case[case.name, name]
            row += [_cell(score.share), _cell(score.split), _where(score.split or score.share)]
        rows.append(row)
    row = ["**worst**"]
    for name in names:
        scores = [by_case[case.name, name] for case in cases]
        worst = [max((getattr(s, field).value for s in scores if getattr(s, field)), default=None)
                 for field in ("share", "split")]
        row += ["–" if value is None else "**%.1f**" % value for value in worst] + [""]
    rows.append(row)
    header = ["case"]
    for name in names:
        header += ["%s share" % name, "split", "worst at"]
    print(common.markdown_table(header, rows))


def print_tools(tools, by_tool):
    rows = [[str(tool), _cell(by_tool[tool].share), _where(by_tool[tool].share), _cell(by_tool[tool].split),
             _where(by_tool[tool].split)] for tool in tools]
    print(common.markdown_table(["tool", "worst share", "at", "worst split", "at"], rows))


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pythons", default="", help="comma-separated versions (3.8,3.13); default: all found")
    parser.add_argument("--cases", default="", help="comma-separated names; default: all")
    parser.add_argument("--tools", default="heatline,scalene", help="heatline, scalene or both")
    parser.add_argument("--seconds", type=float, help="how long a case runs: %g, or %g for memory" % (
        SECONDS, memory.SECONDS))
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--option", action="append", default=[], help="an option for heatline run")
    parser.add_argument("--keep", metavar="FOLDER", help="keep profiles and truths there")
    parser.add_argument("--verbose", action="store_true", help="every part of every case")
    parser.add_argument("--memory", action="store_true", help="memory only; else time, then memory")
    parser.add_argument("--time", action="store_true", help="time only")
    return parser, parser.parse_args()


def choose_tools(parser, options):
    wanted = [version for version in options.pythons.split(",") if version]
    tools = []
    if "heatline" in options.tools:
        if not os.access(common.heatline(), os.X_OK):
            parser.error("no Heatline at %s; build it first" % common.heatline())
        tools = [heatline_on(python, options.option) for python in machine_pythons.all_pythons()
                 if not wanted or "%d.%d" % python.version in wanted]
    if "scalene" in options.tools:
        if common.peer("scalene"):
            tools.append(scalene())
        else:
            print("Scalene is not installed; bench/setup-peers does that", file=sys.stderr)
    return tools or parser.error("no Python and no tool to run")


def judge_memory(options, names, known, tools):
    python = peers_python() if common.peer("python") else None
    of_memory = []
    for tool in tools:
        of_memory.append(memory.scalene_on(python) if tool.name == "scalene" else
                         memory.heatline_on(tool.python, options.option))
    memray = memory.memray_on(python) if python and common.peer("memray") else None
    memory.main(options, {name: known[name] for name in names}, of_memory, memray,
                memory.environment_of(options.seconds or memory.SECONDS, numpy_folder))


def judge_time(options, cases, tools):
    seconds = options.seconds or SECONDS
    by_case, by_tool = collections.defaultdict(Score), collections.defaultdict(Score)
    for _ in range(options.rounds):
        for case in cases:
            for tool in tools:
                errors, reason = profile_case(case, tool, seconds, options.keep)
                by_case[case.name, tool.name].add(errors, reason, "%d.%d" % tool.python.version)
                by_tool[tool].add(errors, reason, case.name)
                if options.verbose:
                    print("%s, %s%s" % (case.name, tool, ": " + reason if reason else ""), file=sys.stderr)
                    for error in errors:
                        print("    " + error.detail, file=sys.stderr)

    print("## Accuracy: worst error in percentage points, %g s a case, %d round%s\n\n%s\n" % (
        seconds, options.rounds, "s" if options.rounds > 1 else "", common.machine()))
    print_cases(cases, by_case, list(dict.fromkeys(tool.name for tool in tools)))
    print()
    print_tools(tools, by_tool)
    for tool in tools:
        for where, reason in by_tool[tool].failures:
            print("\n%s, %s: %s" % (tool, where, reason))


def main():
    parser, options = parse_arguments()
    of_time, of_memory = collect_cases(), memory.collect_cases()
    wanted = [name for name in options.cases.split(",") if name]
    for name in wanted:
        if name not in of_time and name not in of_memory:
            parser.error("no case is called %r; there are: %s; of memory: %s" % (
                name, ", ".join(of_time), ", ".join(of_memory)))
    tools = choose_tools(parser, options)
    time_names = [name for name in wanted or of_time if name in of_time]
    memory_names = [name for name in wanted or of_memory if name in of_memory]
    if time_names and not options.memory:
        judge_time(options, [of_time[name] for name in time_names], tools)
    if memory_names and not options.time:
        judge_memory(options, memory_names, of_memory, tools)


if __name__ == "__main__":
    sys.exit(main())
