#!/usr/bin/env python3
"""What does profiling cost?  Real programs, plain and under each profiler, in interleaved rounds.

CPU time is that of the whole process tree (user + system, children included; a profiler that
looks from outside counts too).  A ratio compares a run with the plain run of the same round; the
table gives the median over the rounds with the smallest and the largest.  See README.md here."""
import argparse
import json
import math
import os
import shutil
import statistics
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import common
import programs
import tools

MIN_TIMEOUT_S = 60
TIMEOUT_RATIO = 12


class Results:
    """Runs by (program, tool), one list entry a round; None where the run failed or never ended."""

    def __init__(self):
        self.runs = {}
        self.bases = {}  # (program, tool): the plain runs that they are compared with
        self.notes = {}  # (program, tool): why there is no figure

    def add(self, program, tool, run, timeout_s, base=None):
        """base: the plain run beside it; None: that of the same round."""
        self.runs.setdefault((program, tool), []).append(run)
        if base is not None:
            self.bases.setdefault((program, tool), []).append(base)
            self.runs.setdefault((program, "plain"), []).append(base)
        if run.status is None:
            self.notes[program, tool] = "> %d s" % timeout_s
        elif run.status != 0:
            self.notes[program, tool] = "failed (%d)" % run.status

    def ratios(self, program, tool, field):
        """Tool over plain, round by round."""
        plain = self.bases.get((program, tool)) or self.runs.get((program, "plain"), [])
        runs = self.runs.get((program, tool), [])
        return [getattr(run, field) / getattr(base, field)
                for run, base in zip(runs, plain) if run.status == 0 and base.status == 0]

    def median(self, program, tool, field):
        ratios = self.ratios(program, tool, field)
        return statistics.median(ratios) if ratios and (program, tool) not in self.notes else None


def command_of(program, tool, python, folder):
    return tools.find(tool)(python, program, os.path.join(folder, "profile"))


def measure(program, tool, python, timeout_s):
    """One run in a folder of its own, so that nothing is left behind."""
    folder = tempfile.mkdtemp(prefix="heatline-bench-")
    try:
        return common.measure(command_of(program, tool, python, folder), timeout_s, cwd=folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def measure_pair(program, tool, python, timeout_s, cpu):
    """The tool and the plain program at once on one CPU: both runs."""
    folders = [tempfile.mkdtemp(prefix="heatline-bench-") for _ in range(2)]
    try:
        commands = [command_of(program, name, python, folder) for name, folder in zip((tool, "plain"), folders)]
        return common.measure_together(commands, folders, timeout_s, cpu)
    finally:
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)


def play(chosen, names, python, rounds, results, quiet, limit_s=float("inf"), in_pairs=False):
    """The rounds.  Each starts with another tool, so that no one always runs after the same.

    None begins after the limit.  Returns how many there were."""
    cpus = sorted(os.sched_getaffinity(0))
    end = time.monotonic() + limit_s
    for number in range(rounds):
        if time.monotonic() > end:
            return number
        for program in chosen:
            turn = number % len(names)
            for tool in names[turn:] + names[:turn]:
                if (program.name, tool) in results.notes or (in_pairs and tool == "plain"):
                    continue
                timeout_s, base = timeout_for(results, program), None
                if in_pairs:
                    run, base = measure_pair(program, tool, python, timeout_s, cpus[number % len(cpus)])
                else:
                    run = measure(program, tool, python, timeout_s)
                results.add(program.name, tool, run, timeout_s, base)
                if not quiet:
                    print("round %d  %-24s %-13s cpu %6.2f s  wall %6.2f s  %s" % (
                        number + 1, program.name, tool, run.cpu_s, run.wall_s,
                        results.notes.get((program.name, tool), "")), file=sys.stderr)
                if run.status not in (0, None) and not quiet:
                    print(run.output[-2000:], file=sys.stderr)
    return rounds


def timeout_for(results, program):
    plain = results.runs.get((program.name, "plain"))
    return max(MIN_TIMEOUT_S, TIMEOUT_RATIO * plain[0].wall_s) if plain else 4 * MIN_TIMEOUT_S


def same_output(results, chosen, tool):
    """Programs of ours that printed something else than in the plain run."""
    wrong = []
    for program in chosen:
        plain, runs = results.runs.get((program.name, "plain")), results.runs.get((program.name, tool), [])
        if program.is_ours and plain and any(run.output != plain[0].output for run in runs):
            wrong.append(program.name)
    return wrong


def worst(results, tool, medians):
    """The cell below a tool's column: its largest ratio, or that there is something worse."""
    notes = [note for (_, name), note in results.notes.items() if name == tool]
    if any(note.startswith(">") for note in notes):
        return "**does not end**"
    if notes:
        return "**fails**"
    return "**%.3f**" % max(medians) if medians else "–"


def pooled(results, chosen, tool, field):
    """"1.012 ±0.004": the geometric mean over programs and rounds, with its standard error."""
    logs = [[math.log(ratio) for ratio in results.ratios(program.name, tool, field)] for program in chosen
            if (program.name, tool) not in results.notes]
    logs = [rounds for rounds in logs if len(rounds) > 1]
    if not logs:
        return "–"
    mean = statistics.mean(statistics.mean(rounds) for rounds in logs)
    error = math.sqrt(sum(statistics.variance(rounds) / len(rounds) for rounds in logs)) / len(logs)
    return "**%.3f** ±%.3f" % (math.exp(mean), math.exp(mean) * error)


def print_ratios(results, chosen, names, field, title):
    others = [name for name in names if name != "plain"]
    plain_s = {p.name: statistics.median(getattr(run, field) for run in results.runs[p.name, "plain"])
               for p in chosen}
    rows = []
    for program in chosen:
        row = [program.name, "%.2f" % plain_s[program.name]]
        for tool in others:
            ratios = results.ratios(program.name, tool, field)
            row.append(results.notes.get((program.name, tool)) or (common.spread(ratios) if ratios else "–"))
        rows.append(row)
    medians = {tool: [m for p in chosen if (m := results.median(p.name, tool, field)) is not None]
               for tool in others}
    rows.append(["**median**", ""] + ["**%.3f**" % statistics.median(medians[t]) if medians[t] else "–"
                                      for t in others])
    rows.append(["**worst**", ""] + [worst(results, tool, medians[tool]) for tool in others])
    rows.append(["**mean**", ""] + [pooled(results, chosen, tool, field) for tool in others])
    print("\n### %s\n" % title)
    print(common.markdown_table(["program", "plain s", *others], rows))


def print_fastest(results, chosen, names):
    """The fastest run of all rounds over the fastest plain one.  Other work on the machine only
    ever adds time, so with enough rounds this is the steadier figure where it is not quiet."""
    others = [name for name in names if name != "plain"]
    ratios = {tool: [] for tool in others}
    rows = []
    for program in chosen:
        fastest = {tool: min((run.cpu_s for run in results.runs.get((program.name, tool), [])
                              if run.status == 0), default=None) for tool in names}
        row = [program.name]
        for tool in others:
            if not fastest[tool] or not fastest["plain"] or (program.name, tool) in results.notes:
                row.append(results.notes.get((program.name, tool), "–"))
                continue
            ratios[tool].append(fastest[tool] / fastest["plain"])
            row.append("%.3f" % ratios[tool][-1])
        rows.append(row)
    rows.append(["**median**"] + ["**%.3f**" % statistics.median(ratios[tool]) if ratios[tool] else "–"
                                  for tool in others])
    rows.append(["**worst**"] + [worst(results, tool, ratios[tool]) for tool in others])
    print("\n### CPU time, fastest run over fastest plain run\n")
    print(common.markdown_table(["program", *others], rows))


def print_startup(names, python, count):
    """What an empty script takes more than plain, in ms."""
    results = Results()
    play([programs.empty()], names, python, count, results, quiet=True)
    rows = []
    for tool in names:
        runs, plain = results.runs["empty", tool], results.runs["empty", "plain"]
        if tool == "plain":
            added = [("%.0f" % (1e3 * statistics.median(getattr(run, field) for run in runs)))
                     for field in ("wall_s", "cpu_s")]
            rows.append(["plain (whole)", *added])
        elif ("empty", tool) in results.notes:
            rows.append([tool, results.notes["empty", tool], ""])
        else:
            rows.append([tool] + [common.spread([1e3 * (getattr(run, field) - getattr(base, field))
                                                 for run, base in zip(runs, plain)], 0)
                                  for field in ("wall_s", "cpu_s")])
    print("\n### Start-up added, an empty script, %d runs\n" % count)
    print(common.markdown_table(["tool", "wall ms", "CPU ms"], rows))
    return results


def as_json(results):
    return [{"program": program, "tool": tool, "note": results.notes.get((program, tool)),
             "runs": [{"cpu_s": run.cpu_s, "wall_s": run.wall_s, "status": run.status} for run in runs]}
            for (program, tool), runs in results.runs.items()]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--limit", type=float, default=float("inf"), help="no round begins after this many seconds")
    parser.add_argument("--programs", default="", help="comma-separated names; default: all")
    parser.add_argument("--tools", default="", help="comma-separated names; heatline@0.001 sets its interval")
    parser.add_argument("--startup-runs", type=int, default=20, help="0: no start-up table")
    parser.add_argument("--python", default=common.peer("python") or sys.executable)
    parser.add_argument("--pairs", action="store_true",
                        help="each tool beside the plain program, at the same time on one CPU: far less noise")
    parser.add_argument("--scale", type=float, default=1.0, help="how much work each program does")
    parser.add_argument("--json", metavar="OUT", help="write every run's figures to this file")
    parser.add_argument("--quick", action="store_true", help="a smoke test: one round, little work, 3 start-ups")
    options = parser.parse_args()
    if options.quick:
        options.rounds, options.scale, options.startup_runs = 1, 0.05, min(3, options.startup_runs)
    return parser, options


def choose(parser, wanted, known, what):
    """The known names that were asked for; all when none was."""
    names = [name for name in wanted.split(",") if name]
    for name in names:
        if name not in known and not name.startswith("heatline@"):
            parser.error("no %s is called %r; there are: %s" % (what, name, ", ".join(known)))
    return names or list(known)


def main():
    parser, options = parse_arguments()
    common.become_reaper()
    found, missing = tools.available()
    names = choose(parser, options.tools, found, "tool")
    names = ["plain"] + [name for name in names if name != "plain"]
    known = programs.collect(options.scale)
    chosen = [known[name] for name in choose(parser, options.programs, known, "program")]
    if not os.access(common.heatline(), os.X_OK) and any(name.startswith("heatline") for name in names):
        parser.error("no Heatline at %s; build it first" % common.heatline())

    results = Results()
    rounds = play(chosen, names, options.python, options.rounds, results, quiet=False, limit_s=options.limit,
                  in_pairs=options.pairs)
    print("## Overhead, %d round%s%s" % (rounds, "s" if rounds > 1 else "", ", in pairs" if options.pairs else ""))
    print("\n%s; %s" % (common.machine(), tools.versions(names) or "no peers"))
    for sentence in missing:
        print("\n" + sentence)
    print_ratios(results, chosen, names, "cpu_s", "CPU time, ratio to plain: median (min–max)")
    if not options.pairs:
        print_fastest(results, chosen, names)
        print_ratios(results, chosen, names, "wall_s", "Wall time, ratio to plain: median (min–max)")
    for tool in names:
        wrong = same_output(results, chosen, tool)
        if tool.startswith("heatline") and wrong:
            print("\n**%s changed the output of: %s**" % (tool, ", ".join(wrong)))
    startup = print_startup(names, options.python, options.startup_runs) if options.startup_runs else None
    if options.json:
        with open(options.json, "w") as out:
            json.dump(as_json(results) + (as_json(startup) if startup else []), out, indent=1)
    failed = [key for key in results.notes if key[1].startswith("heatline") or key[1] == "plain"]
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
