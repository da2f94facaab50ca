"""A program for onoff.py: the same short work again and again, each time with the CPU time it took.

usage: unit.py KIND SECONDS OUTFILE"""
import json
import re
import sys
import time


def int_loop():
    total = 0
    for i in range(15000):
        total += i * i % 7
    return total


def add(a, b):
    return a + b


def calls():
    total = 0
    for i in range(8000):
        total = add(total, i)
    return total


def deep(level=400):
    return int_loop() if level == 0 else deep(level - 1)


def objects():
    return [{"key": str(i), "values": [i, i + 1]} for i in range(1500)]


def texts():
    text = json.dumps({"rows": [{"name": "n%d" % i, "value": i} for i in range(200)]})
    return len(json.loads(text)["rows"]) + len(re.findall(r'"n(\d+)"', text))


def buffers():
    parts = [bytes(50000) for _ in range(20)]
    return len(b"".join(parts))


KINDS = {work.__name__: work for work in (int_loop, calls, deep, objects, texts, buffers)}


def main():
    sys.setrecursionlimit(10000)
    work, end_s = KINDS[sys.argv[1]], time.monotonic() + float(sys.argv[2])
    took = []
    while time.monotonic() < end_s:
        begin_ns, cpu_ns = time.monotonic_ns(), time.thread_time_ns()
        work()
        took.append((begin_ns, time.thread_time_ns() - cpu_ns))
    with open(sys.argv[3], "w") as out:
        json.dump(took, out)


if __name__ == "__main__":
    main()
