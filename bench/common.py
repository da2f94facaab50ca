"""What both benchmarks need: running a command and counting its CPU time, finding tools, tables."""
import ctypes
import os
import pickle
import signal
import statistics
import subprocess
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PEERS = os.path.join(ROOT, ".test-env", "peers")
PR_SET_CHILD_SUBREAPER = 36


class Run:
    """One command that was run: its seconds, exit status and output.

    `status` is None when the command was killed because it took too long."""

    def __init__(self, cpu_s, wall_s, status, output):
        self.cpu_s = cpu_s
        self.wall_s = wall_s
        self.status = status
        self.output = output


def become_reaper():
    """Orphans of the commands we run become our children, so that their CPU time is counted."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def measure(command, timeout_s, cwd=None, env=None):
    """Runs `command` and returns a Run with the CPU time of its whole process tree.

    Call become_reaper first.  The tree's time is the sum of what wait4 says of the
    command (itself and all children that it waited for) and of each orphan."""
    with open(os.path.join(cwd or ".", "stdout.txt"), "w+b") as out:
        start = time.monotonic()
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                                 cwd=cwd, env=env, start_new_session=True)
        status, cpu_s = _wait(child, start + timeout_s)
        wall_s = time.monotonic() - start
        cpu_s += _reap_orphans()
        out.seek(0)
        output = out.read().decode("utf-8", "replace")
    return Run(cpu_s, wall_s, status, output)


def measure_together(commands, folders, timeout_s, cpu):
    """Runs all commands at once on one CPU, each in its folder; returns their Runs.

    The kernel gives them the CPU in turns of milliseconds, so that whatever else happens on the
    machine meets all of them alike."""
    gate_read, gate_write = os.pipe()
    pipes, children = [], []
    for command, folder in zip(commands, folders):
        pipes.append(os.pipe())
        children.append(os.fork())
        if children[-1] == 0:
            os.close(gate_write)
            _measure_in_child(command, folder, timeout_s, cpu, gate_read, pipes[-1][1])
        os.close(pipes[-1][1])
    os.close(gate_read)
    os.close(gate_write)  # now they begin
    runs = []
    for result, _ in pipes:
        with os.fdopen(result, "rb") as answer:
            runs.append(pickle.loads(answer.read()))
    for child in children:
        os.waitpid(child, 0)
    return runs


def _measure_in_child(command, folder, timeout_s, cpu, gate, answer):
    """In a process of its own, which is the reaper of what the command leaves behind."""
    status = 1
    try:
        become_reaper()
        os.sched_setaffinity(0, {cpu})
        os.read(gate, 1)
        os.write(answer, pickle.dumps(measure(command, timeout_s, cwd=folder)))
        status = 0
    finally:
        os._exit(status)


def _wait(child, deadline):
    """(exit status or None, CPU seconds) of the child, killed when the deadline passes."""
    previous = signal.signal(signal.SIGALRM, lambda *_: os.killpg(child.pid, signal.SIGKILL))
    signal.setitimer(signal.ITIMER_REAL, max(0.01, deadline - time.monotonic()))
    try:
        _, status, usage = os.wait4(child.pid, 0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    child.returncode = os.waitstatus_to_exitcode(status)
    timed_out = time.monotonic() >= deadline
    return (None if timed_out else child.returncode), usage.ru_utime + usage.ru_stime


def _reap_orphans(grace_s=5.0):
    """CPU seconds of processes that the command left behind; they are killed after the grace."""
    cpu_s, deadline = 0.0, time.monotonic() + grace_s
    while True:
        try:
            pid, _, usage = os.wait4(-1, os.WNOHANG)
        except ChildProcessError:
            return cpu_s
        if pid:
            cpu_s += usage.ru_utime + usage.ru_stime
        elif time.monotonic() < deadline:
            time.sleep(0.005)
        else:
            for orphan in _children():
                os.kill(orphan, signal.SIGKILL)


def _children():
    with open("/proc/self/task/%d/children" % os.getpid()) as listing:
        return [int(pid) for pid in listing.read().split()]


def peer(name):
    """The path of a peer's executable, or None when bench/setup-peers has not installed it."""
    path = os.path.join(PEERS, "bin", name)
    return path if os.access(path, os.X_OK) else None


def peer_version(package):
    """"1.2.3", or "" when the package is not there."""
    code = "import importlib.metadata as m; print(m.version(%r))" % package
    done = subprocess.run([peer("python") or "false", "-c", code], capture_output=True, text=True)
    return done.stdout.strip()


def runs_here(path):
    """Whether the executable starts at all (a wheel may ask for a newer C library)."""
    if not path:
        return False
    done = subprocess.run([path, "--version"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return done.returncode == 0


def heatline():
    """The Heatline under test: $HEATLINE, or the one in build/."""
    return os.environ.get("HEATLINE") or os.path.join(ROOT, "build", "heatline")


def markdown_table(header, rows):
    """A Markdown table; every column but the first is right-aligned."""
    widths = [max(len(str(row[i])) for row in [header, *rows]) for i in range(len(header))]

    def line(cells):
        padded = [str(cells[0]).ljust(widths[0])]
        padded += [str(cell).rjust(width) for cell, width in zip(cells[1:], widths[1:])]
        return "| " + " | ".join(padded) + " |"

    rule = ["-" * widths[0]] + ["-" * (width - 1) + ":" for width in widths[1:]]
    return "\n".join([line(header), line(rule), *map(line, rows)])


def spread(values, digits=3):
    """"median (min–max)" of some ratios."""
    if len(values) == 1:
        return "%.*f" % (digits, values[0])
    return "%.*f (%.*f–%.*f)" % (digits, statistics.median(values), digits, min(values), digits, max(values))


def machine():
    """One line on where the figures were taken."""
    model = "?"
    with open("/proc/cpuinfo") as info:
        for text in info:
            if text.startswith("model name"):
                model = text.split(":", 1)[1].strip()
                break
    return "%s, %d CPUs, Linux %s" % (model, os.cpu_count(), os.uname().release)
