"""Three lines leak; a cache, churn and a table built at the start do not."""

import time

registry = []
sessions = {}
cache = {}


class Session:
    def __init__(self, number):
        self.text = ("user %d" % number) * 1000  # OBJECT


def handle(number):
    body = ("x" * 20_000).upper()  # TEMPORARY
    registry.append(body + str(number))  # BODY
    sessions[number] = Session(number)
    cache[number % 20] = bytearray(100_000)  # CACHE
    return [str(i) for i in range(500)]  # CHURN


table = {i: str(i) for i in range(50_000)}  # TABLE
start = last = time.perf_counter()
number, longest = 0, 0
# Where the machine was busy elsewhere for a while it takes longer: that while is no quarter of it.
while last - start < max(1.5, 8 * longest) or number < 200:
    handle(number)
    number += 1
    time.sleep(0.001)
    now = time.perf_counter()
    longest, last = max(longest, now - last), now
