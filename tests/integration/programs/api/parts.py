"""Work whose lines are known, for programs that use heatline.start and stop."""

import json
import os
import threading
import time


def burn(seconds):
    end = time.thread_time() + seconds
    count = 0
    while time.thread_time() < end:
        for i in range(2000): count += i * i % 7  # BURN
    return count


def share(profile, mark, file="parts.py"):
    """What the lines with this comment took of the profile's total."""
    total = profile.data["heatline"]["time"]["total_s"]
    found = [line.seconds for line in profile.lines if line.file.endswith(file) and mark in line.text]
    return sum(found) / total if total else 0.0


def cpu_seconds(profile, mark, file="parts.py"):
    """What the lines with this comment took on a CPU."""
    lines = [line for line in profile.lines if line.file.endswith(file) and mark in line.text]
    return sum(line.python_s + line.native_s + line.system_s for line in lines)


def samples(profile):
    return profile.data["heatline"]["quality"]["samples"]


def collectors():
    """The processes of heatline that belong to this one."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/cmdline" % pid, "rb") as file:
                words = file.read().split(b"\0")
        except OSError:
            continue
        if b"session" in words and str(os.getpid()).encode() in words:
            found.append(int(pid))
    return found


def collectors_left():
    """Those that do not end by themselves: they do so a moment after the profile has come."""
    end = time.monotonic() + 20
    while collectors() and time.monotonic() < end:
        time.sleep(0.01)
    return collectors()


def wait_until(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise SystemExit("it did not come to pass")
        time.sleep(0.01)


class Busy:
    """A thread that works until it is told to end."""

    def __enter__(self):
        self.is_ending = False
        self.thread = threading.Thread(target=self.work, name="busy")
        self.thread.start()
        return self

    def work(self):
        while not self.is_ending:
            sum(range(5000))  # BUSY

    def __exit__(self, *error):
        self.is_ending = True
        self.thread.join()


def say(**facts):
    print(json.dumps(facts))
