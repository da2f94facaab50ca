"""How true are the memory figures?  `run.py --memory`.

The cases in memory/ know what their lines allocate, keep, hold at most and copy (memory_truth.py).  Where memray's
exact count of a line's allocations can be compared, the truth is checked against it first: a case
that does not know itself is told apart from a profiler that errs.  Errors are in percent of the
truth; lines below 5 MB are not judged."""
import collections
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import common

CASES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "memory")
MB = 1 << 20
LEAST_MB = 5      # lines below are not judged
LARGE_MB = 50     # lines above are held to more
SECONDS = 5       # for which the case that leaks goes on
TIMEOUT_S = 180
KINDS = ("malloc", "kept", "peak", "copy")
MEMRAY_AGREES = 0.01  # of a line's bytes, or 0.1 MB: objects that the line makes besides
MEMRAY_BLIND = ("native",)  # functions that ctypes finds are not the ones memray has replaced


def collect_cases():
    """{name: path}"""
    return {os.path.basename(path)[:-3]: path for path in sorted(glob.glob(os.path.join(CASES, "*.py")))}


def marked_lines(path):
    """{name: line number}"""
    with open(path) as source:
        marks = ((number, re.search(r"# @(\w+)$", text)) for number, text in enumerate(source, 1))
        return {mark.group(1): number for number, mark in marks if mark}


# --- tools: from a case to {line: {"malloc": bytes, …}} and the lines that it says leak ---


Seen = collections.namedtuple("Seen", "lines leaks")


def _scalene_format(output, path):
    """What Heatline and Scalene write; Scalene gives the copies as a rate only."""
    with open(output) as text:
        profile = json.load(text)
    lines, leaks = collections.defaultdict(dict), set()
    for name, record in profile["files"].items():
        if os.path.basename(name) != os.path.basename(path):
            continue
        for line in record["lines"]:
            copied = line.get("n_copy_mb", line["n_copy_mb_s"] * profile["elapsed_time_sec"])
            lines[line["lineno"]] = {"malloc": line["n_malloc_mb"] * MB, "peak": line["n_peak_mb"] * MB,
                                     "copy": copied * MB}
            if "n_kept_mb" in line:
                lines[line["lineno"]]["kept"] = line["n_kept_mb"] * MB
        leaks.update(int(number) for number in record["leaks"])
    return Seen(lines, leaks)


def _memray_format(output, path):
    """Every allocation is in memray's file; it sums them up by line."""
    stats = output + ".stats"
    subprocess.run([common.peer("memray"), "stats", "--json", "-f", "-n", "2000", "-o", stats, output],
                   stdout=subprocess.DEVNULL, check=True)
    with open(stats) as text:
        top = json.load(text)["top_allocations_by_size"]
    lines = collections.defaultdict(lambda: {"malloc": 0})
    for entry in top:
        place = entry["location"].rsplit(":", 2)  # function, file, line; or "<unknown>"
        if len(place) == 3 and os.path.basename(place[1]) == os.path.basename(path):
            lines[int(place[2])]["malloc"] += entry["size"]
    return Seen(lines, set())


class Tool:
    def __init__(self, name, python, command, read):
        self.name = name
        self.python = python
        self.command = command  # from (path, output) to a list
        self.read = read        # from (output, path) to Seen

    def __str__(self):
        return "%s %d.%d" % (self.name, *self.python.version)


def heatline_on(python, options):
    def command(path, output):
        return python.command([common.heatline(), "run", "--quiet", *options, "-o", output,
                               "--python", python.executable, path])
    return Tool("heatline", python, command, _scalene_format)


def scalene_on(python):
    return Tool("scalene", python, lambda path, output: [common.peer("scalene"), "run", "-o", output, path],
                _scalene_format)


def memray_on(python):
    return Tool("memray", python, lambda path, output: [
        common.peer("memray"), "run", "-q", "-f", "--trace-python-allocators", "-o", output, path], _memray_format)


# --- runs ---


def run_case(path, tool, environment):
    """(truth, Seen, reason): the reason is None when all went well."""
    folder = tempfile.mkdtemp(prefix="heatline-accuracy-")
    output, truth = os.path.join(folder, "profile.json"), os.path.join(folder, "truth.json")
    try:
        done = subprocess.run(tool.command(path, output), cwd=folder, env=dict(environment, ACCURACY_TRUTH=truth),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=TIMEOUT_S)
        if not os.path.exists(truth):
            return None, None, "failed (%d): %s" % (done.returncode, done.stdout.decode()[-300:].strip())
        with open(truth) as text:
            return json.load(text), tool.read(output, path), None
    except subprocess.TimeoutExpired:
        return None, None, "did not end in %d s" % TIMEOUT_S
    except (OSError, ValueError, KeyError, subprocess.CalledProcessError) as error:
        return None, None, "no profile: %r" % error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class Error:
    """How far off one figure of one line is, in percent of the truth."""

    def __init__(self, case, name, kind, truth, seen):
        self.case, self.name, self.kind = case, name, kind
        self.truth_mb, self.seen_mb = truth / MB, seen / MB
        self.percent = 100 * (seen - truth) / truth


def compare(case, truth, seen, numbers):
    """(errors, what should be nothing and is something, leaks missed, lines accused wrongly)"""
    errors, remains, kinds = [], [], set()
    for name, line in truth.items():
        figures = seen.lines.get(numbers[name], {})
        for kind in KINDS:
            wanted, has = line[kind], figures.get(kind, 0)
            if wanted is None or (kind == "kept" and "kept" not in figures and figures):
                continue
            if wanted >= LEAST_MB * MB:
                errors.append(Error(case, name, kind, wanted, has))
            elif wanted == 0 and has > 0.5 * MB:
                remains.append("%s %s: %s %.1f MB, should be 0" % (case, name, kind, has / MB))
            kinds.add(kind)
    leaking = {numbers[name] for name, line in truth.items() if line["leaks"]}
    missed, accused = leaking - seen.leaks, seen.leaks - leaking
    remains += ["%s line %d leaks and was not found" % (case, number) for number in sorted(missed)]
    remains += ["%s line %d is accused wrongly" % (case, number) for number in sorted(accused)]
    return errors, remains, missed, accused


class Score:
    def __init__(self):
        self.errors, self.remains, self.failures = [], [], []
        self.missed = self.accused = self.leaks = 0

    def add(self, other, where):
        errors, remains, missed, accused = other
        self.errors += errors
        self.remains += ["%s, %s" % (where, text) for text in remains]
        self.missed += len(missed)
        self.accused += len(accused)

    def worst(self, kinds, least_mb, most_mb=float("inf")):
        chosen = [error for error in self.errors if error.kind in kinds and least_mb <= error.truth_mb < most_mb]
        return max(chosen, key=lambda error: abs(error.percent), default=None)


def check_truth(cases, memray, environment_of):
    """Sentences about lines whose truth and memray's exact count differ; and {(case, name): bytes}."""
    sentences, exact = [], {}
    for case, path in cases.items():
        if case in MEMRAY_BLIND:
            continue
        truth, seen, reason = run_case(path, memray, environment_of(case, memray.python))
        if reason:
            sentences.append("memray, %s: %s" % (case, reason))
            continue
        for name, number in marked_lines(path).items():
            wanted, has = truth.get(name, {}).get("malloc"), seen.lines[number]["malloc"]
            exact[case, name] = has
            if wanted and abs(has - wanted) > max(MEMRAY_AGREES * wanted, 0.1 * MB):
                sentences.append("%s %s: truth %.2f MB, memray %.2f MB" % (case, name, wanted / MB, has / MB))
    return sentences, exact


# --- tables ---


def _signed(error):
    return "–" if error is None else "%+.1f" % error.percent


def print_lines(cases, scores, names, exact):
    """One row a figure: the truth, and the worst error of each tool over its versions and rounds."""
    rows = []
    for case in cases:
        keys = dict.fromkeys((error.name, error.kind) for name in names
                             for error in scores[case, name].errors)
        for line, kind in keys:
            found = {name: [error for error in scores[case, name].errors if (error.name, error.kind) == (line, kind)]
                     for name in names}
            truth_mb = next(errors[0].truth_mb for errors in found.values() if errors)
            memray = exact.get((case, line)) if kind == "malloc" else None
            row = ["%s %s" % (case, line), kind, "%.1f" % truth_mb, "%.1f" % (memray / MB) if memray else "–"]
            row += [_signed(max(found[name], key=lambda error: abs(error.percent), default=None)) for name in names]
            rows.append(row)
    print(common.markdown_table(["line", "what", "true MB", "memray MB", *["%s %%" % name for name in names]], rows))


def print_summary(scores, names):
    rows = []
    for name in names:
        whole = Score()
        for (_, tool), score in scores.items():
            if tool == name:
                whole.errors += score.errors
                whole.missed += score.missed
                whole.accused += score.accused
                whole.leaks += score.leaks
        rows.append([name, _signed(whole.worst(("malloc", "kept"), LARGE_MB)),
                     _signed(whole.worst(("malloc", "kept"), LEAST_MB, LARGE_MB)),
                     _signed(whole.worst(("peak",), LEAST_MB)),
                     _signed(whole.worst(("copy",), LEAST_MB)),
                     "%d of %d" % (whole.leaks - whole.missed, whole.leaks), str(whole.accused)])
    print(common.markdown_table(["tool", "worst over %d MB, %%" % LARGE_MB, "over %d MB" % LEAST_MB, "peaks", "copies",
                                 "leaks found", "accused wrongly"], rows))


def environment_of(seconds, numpy_folder):
    """A function from (case, python) to its environment, or None when the case cannot run there."""
    def make(case, python):
        environment = dict(os.environ, ACCURACY_SECONDS=str(seconds), PYTHONWARNINGS="ignore")
        if case == "arrays":
            folder = numpy_folder(python.version)
            if not folder:
                return None
            environment["PYTHONPATH"] = folder
        return environment
    return make


def main(options, cases, tools, memray, make_environment):
    """Runs and prints; cases: {name: path}, memray: a Tool or None."""
    sentences, exact = check_truth(cases, memray, make_environment) if memray else ([], {})
    scores = collections.defaultdict(Score)
    for _ in range(options.rounds):
        for case, path in cases.items():
            numbers = marked_lines(path)
            for tool in tools:
                environment = make_environment(case, tool.python)
                truth, seen, reason = run_case(path, tool, environment) if environment else (None, None, "no numpy")
                score = scores[case, tool.name]
                if reason:
                    score.failures.append("%s, %s: %s" % (tool, case, reason))
                    continue
                judged = compare(case, truth, seen, numbers)
                score.add(judged, str(tool))
                score.leaks += sum(line["leaks"] for line in truth.values())
                if options.verbose:
                    print_verbose(tool, judged[0])
    names = list(dict.fromkeys(tool.name for tool in tools))
    print("## Memory: error in percent of the truth, the worst of %d round%s and all Pythons\n\n%s\n" % (
        options.rounds, "s" if options.rounds > 1 else "", common.machine()))
    print_lines(cases, scores, names, exact)
    print()
    print_summary(scores, names)
    if memray:
        print("\nThe truth agrees with memray's exact counts%s" % (" but for:" if sentences else "."))
    for sentence in sentences:
        print("- " + sentence)
    for score in scores.values():
        for sentence in score.remains + score.failures:
            print("\n" + sentence)


def print_verbose(tool, errors):
    for error in errors:
        print("%s, %s %s %s: true %.2f MB, seen %.2f MB, %+.1f %%" % (
            tool, error.case, error.name, error.kind, error.truth_mb, error.seen_mb, error.percent), file=sys.stderr)
