"""Compares a profile with the truth that the profiled program measured of itself.

A part is a function of the case's file (all lines from its def to its end), lines marked with
`# @name`, or both together; marked lines belong to their mark only.  Lines are used, not function
records, so that a comprehension or lambda counts for the function it stands in on every version of
Python, and so that every profiler that writes Scalene's format is judged in the same way."""
import ast
import os
import re

KINDS = ("python", "native", "system")
MIN_JUDGED_SHARE = 0.03  # the split of a part with hardly any time says nothing


class Error:
    """How far off a profile is for one part, in percentage points.

    `split` is None where the truth of the part's split is not known."""

    def __init__(self, part, share, split, detail):
        self.part = part
        self.share = share
        self.split = split
        self.detail = detail  # a line of text for --verbose


def line_owners(source):
    """{line number: part} of the case's source."""
    owners = {}
    for node in ast.parse(source).body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for line in range(node.lineno, node.end_lineno + 1):
                owners[line] = node.name
    for number, text in enumerate(source.splitlines(), 1):
        mark = re.search(r"# @(\w+)$", text)
        if mark:
            owners[number] = mark.group(1)
    return owners


def _line_times(line, clock):
    """(python, native, system) of a line's record, in percent of the profile's total.

    Where CPU time is compared, waiting is left out, and so is what the thread waited for a CPU,
    which a profile that knows it (cpu_s) counts for what the thread was about to do."""
    times = [line["n_cpu_percent_python"], line["n_cpu_percent_c"], line["n_sys_percent"]]
    if clock != "cpu":
        return times
    times[2] = max(0.0, times[2] - line.get("n_wait_percent", 0.0))
    seconds = sum(line.get(key, 0.0) for key in ("python_s", "native_s", "system_s"))
    on_cpu = line["cpu_s"] / seconds if seconds > 0 and "cpu_s" in line else 1.0
    return [on_cpu * value for value in times]


def reported_times(profile, truth, path):
    """({part: [python, native, system]}, total), in percent of the profile's total."""
    with open(path) as source:
        owners = line_owners(source.read())
    files = {part["file"]: name for name, part in truth["parts"].items() if part["file"]}
    times, total = {name: [0.0, 0.0, 0.0] for name in truth["parts"]}, 0.0
    for name, record in profile["files"].items():
        is_case = os.path.basename(name) == os.path.basename(path)
        for line in record["lines"]:
            values = _line_times(line, truth["clock"])
            total += sum(values)
            owner = owners.get(line["lineno"]) if is_case else files.get(name)
            if owner in times:
                times[owner] = [a + b for a, b in zip(times[owner], values)]
    return times, total


def _reported_apart(profile, truth, path):
    """{part: {key: seconds}} of the figures that the truth has beside the split; what they are of,
    the part's time on a CPU, is cpu_s."""
    with open(path) as source:
        owners = line_owners(source.read())
    found = {name: dict.fromkeys(("gil_s", "gc_s", "work_s", "cpu_s", "samples"), 0.0) for name in truth["parts"]}
    for name, record in profile["files"].items():
        if os.path.basename(name) != os.path.basename(path):
            continue
        for line in record["lines"]:
            part = found.get(owners.get(line["lineno"]))
            if part:
                for key in ("gil_s", "gc_s", "cpu_s"):
                    part[key] += line.get(key, 0.0)
                part["work_s"] += sum(line.get(key, 0.0) for key in ("python_s", "native_s", "system_s"))
                part["samples"] += line.get("n_samples", 0)
    return found


def _apart_errors(seen, true, true_cpu_s):
    """The errors of waiting for the GIL (of the time with it) and of garbage collection (of the
    work), in points, positive where the profile has too much; those that the truth tells of."""
    errors = []
    if "gil_s" in true:
        errors.append(seen["gil_s"] / max(1e-9, seen["gil_s"] + seen["cpu_s"]) -
                      true["gil_s"] / (true["gil_s"] + true_cpu_s))
    if "gc_s" in true:
        errors.append(seen["gc_s"] / max(1e-9, seen["work_s"]) - true["gc_s"] / true_cpu_s)
    return [100 * error for error in errors]


def _chance(samples):
    """How far off so many samples can put a share of a half (95 %), in points."""
    return 100 * 1.96 * 0.5 / max(1, samples) ** 0.5


def compare(profile, truth, path):
    """A list of Error, one a part; empty when the profile has no time at all."""
    times, total = reported_times(profile, truth, path)
    if total <= 0:
        return []
    clock = "cpu_s" if truth["clock"] == "cpu" else "wall_s"
    apart = _reported_apart(profile, truth, path) if "heatline" in profile else {}
    errors = []
    for name, part in truth["parts"].items():
        true_share = part[clock] / truth["total_" + clock]
        own = sum(times[name])
        share = own / total
        split = _split_error(times[name], part["split"]) if true_share >= MIN_JUDGED_SHARE else None
        off = _apart_errors(apart[name], part["apart"], part["cpu_s"]) if apart else []
        if off:
            split = max(split or 0.0, *map(abs, off))
        fractions = " ".join("%s %3.0f" % (kind, 100 * value / own if own else 0)
                             for kind, value in zip(KINDS, times[name]))
        detail = "%-22s true %5.1f  seen %5.1f  %s  expected %s" % (
            name, 100 * true_share, 100 * share, fractions,
            ", ".join("%s %g-%g" % (kind, 100 * low, 100 * high) for kind, (low, high) in part["split"].items()))
        if off:
            detail += "  %s off by %s (chance: up to %.1f)" % (
                " and ".join(part["apart"]), " and ".join("%+.1f" % error for error in off),
                _chance(apart[name]["samples"]))
        errors.append(Error(name, 100 * abs(share - true_share), split, detail))
    return errors


def _split_error(values, expected):
    """The largest distance from an expected range, in points; None when nothing is expected."""
    own = sum(values)
    if not expected:
        return None
    if own <= 0:
        return 100.0
    worst = 0.0
    for kind, (low, high) in expected.items():
        fraction = values[KINDS.index(kind)] / own
        worst = max(worst, low - fraction, fraction - high)
    return 100 * worst
