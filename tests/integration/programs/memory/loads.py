"""Records are loaded, then used for half as long: all of it takes a moment, and nothing leaks."""

import time


class Record:
    def __init__(self, number):
        self.number = number
        self.name = "record %d" % number
        self.fields = [number, number + 1, number + 2]


begin = time.perf_counter()
records = []
for i in range(120_000):
    records.append(Record(i))
loaded = time.perf_counter()
while time.perf_counter() < loaded + (loaded - begin) / 2:
    sum(record.number for record in records[:1000])
