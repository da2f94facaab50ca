"""Programs that know what they cost.

A case spends its time in phases, each a function of its own (or marked lines), and reads the
thread's CPU clock before and after every unit of work.  What it measured is the truth that a
profile of it is compared with:

    case = Case(clock="cpu")
    case.phase(heavy, 70, unit_s=0.001, python=1)
    case.phase(light, 30, unit_s=0.001, python=1)
    case.play(seconds())
    case.write()

`python`, `native` and `system` say which part of the phase that is by Heatline's definition: a
number, or (low, high) where the definition leaves a margin; left out: not judged.  `system` includes
waiting, as in a profile's n_sys_percent.

`apart` has what the phase knows of its waiting for the GIL and of garbage collection, in seconds.

Reading the clock takes some time itself, which is no phase's.  So units of nothing are mixed in, and
what they take is subtracted for each unit: it is a microsecond or two, and units are as short as 30.

A phase drops what it makes before it returns: freeing it is part of its work, and is booked to where
it happens.

clock="cpu" compares CPU time only, clock="wall" the main thread's wall time.  Only the standard
library is used, and only what Python 3.6 has.
"""
import json
import os
import sys
import time

NOTHING_AFTER_UNITS = 16
LEARN_UNITS = 9
_CPU = time.CLOCK_THREAD_CPUTIME_ID


def cpu_clock():
    """The CPU time of the calling thread, in seconds."""
    return time.clock_gettime(_CPU)


_START_WALL = time.perf_counter()
_START_CPU = time.process_time()


class OffClock:
    """How long the calling thread was off the CPU though it was not waiting for one."""

    def __init__(self):
        self.start_s = self._now()

    @staticmethod
    def _now():
        with open("/proc/thread-self/schedstat") as text:
            run_ns, ready_ns, _ = map(int, text.read().split())
        return time.perf_counter() - (run_ns + ready_ns) / 1e9

    def seconds(self):
        return self._now() - self.start_s


def keep_arenas():
    """What has to be kept so that Python's arenas are: one block in each of a few dozen.

    Python gives an arena back as soon as it is empty, and a phase that fills one and empties it
    each time works in the kernel for a good part (`re.sub` on 3.8: 16 % by getrusage, without a profiler)."""
    return [bytes(450) for _ in range(30000)][::500]


def seconds():
    """How long the case should run: $ACCURACY_SECONDS."""
    return float(os.environ.get("ACCURACY_SECONDS", "2"))


def _range(value):
    return list(value) if isinstance(value, tuple) else [value, value]


class Phase:
    """One thing the case spends its time on."""

    def __init__(self, name, weight, split):
        self.name = name
        self.weight = weight
        self.split = {kind: _range(value) for kind, value in split.items()}
        self.cpu_s = 0.0
        self.wall_s = 0.0
        self.units = 0
        self.step_s = None  # what a unit takes, divided by the weight
        self.steps_s = 0.0  # the sum of those played
        self.work = None  # runs one unit
        self.file = None  # a file name whose lines belong to this phase too
        self.apart = {}   # gil_s: waited for the GIL; gc_s: collected garbage

    def time_s(self, clock):
        return self.cpu_s if clock == "cpu" else self.wall_s


def _nothing():
    pass


class Case:
    def __init__(self, clock="cpu"):
        self.clock = clock
        self.phases = []
        self.nothing_s = []  # what units of nothing took

    def part(self, name, weight=1, **split):
        """A phase whose time the case itself adds up with add()."""
        phase = Phase(name, weight, split)
        self.phases.append(phase)
        return phase

    def phase(self, function, weight=1, unit_s=None, argument=None, **split):
        """A phase that calls function(argument).  With unit_s, the argument is a count that is
        set such that one call takes about that long."""
        phase = self.part(function.__name__, weight, **split)
        if unit_s is not None:
            argument = self._calibrate(phase, function, unit_s)
        phase.work = function if argument is None else lambda: function(argument)
        return phase

    def _calibrate(self, phase, function, unit_s):
        count = 16
        while True:
            taken = self._spend(phase, lambda: function(count))["cpu"]
            if taken > 0.003:
                return max(1, int(count * unit_s / taken))
            count *= 2

    def _spend(self, phase, work):
        """One unit of work, measured and added to the phase; by both clocks, what it took."""
        wall, cpu = time.perf_counter(), cpu_clock()
        work()
        taken = {"cpu": cpu_clock() - cpu, "wall": time.perf_counter() - wall}
        phase.cpu_s += taken["cpu"]
        phase.wall_s += taken["wall"]
        phase.units += 1
        return taken

    def _step_s(self, phase):
        """What one unit of a phase takes, by its weight; the median of some, since samples hit a few."""
        if phase.step_s is None:
            units = sorted(self._spend(phase, phase.work)[self.clock] for _ in range(LEARN_UNITS))
            phase.step_s = units[LEARN_UNITS // 2] / phase.weight
        return phase.step_s

    def play(self, total_s):
        """Units in turn, always of the phase that is furthest behind its weight.

        How far a phase is goes by what its units took at first, not by the clock: a sample makes the
        unit that it hits longer, and samples do not meet fairly what is put in order by them (shares
        were off by 1.4 points on average in nine runs; by 0.3, which is chance, without that)."""
        phases = [phase for phase in self.phases if phase.work]
        while sum(phase.time_s(self.clock) for phase in phases) < total_s:
            behind = min(phases, key=lambda phase: phase.steps_s)
            behind.steps_s += self._step_s(behind)
            self._spend(behind, behind.work)
            if behind.units % NOTHING_AFTER_UNITS == 0:
                self.nothing_s.append(self._spend(Phase("nothing", 0, {}), _nothing)["cpu"])

    def _clock_cost_s(self):
        """What of each unit is the clock's; the median, since some are interrupted."""
        return sorted(self.nothing_s)[len(self.nothing_s) // 2] if self.nothing_s else 0.0

    def write(self):
        """The truth, to the file named by $ACCURACY_TRUTH (or to stdout)."""
        clock_cost_s = self._clock_cost_s()
        result = {
            "clock": self.clock,
            "total_cpu_s": time.process_time() - _START_CPU,
            "total_wall_s": time.perf_counter() - _START_WALL,
            "parts": {phase.name: {"cpu_s": phase.cpu_s - phase.units * clock_cost_s, "wall_s": phase.wall_s, "split": phase.split,
                                   "file": phase.file, "apart": phase.apart}
                      for phase in self.phases},
        }
        path = os.environ.get("ACCURACY_TRUTH")
        if path:
            with open(path, "w") as out:
                json.dump(result, out)
        else:
            json.dump(result, sys.stdout, indent=1)
            print()
