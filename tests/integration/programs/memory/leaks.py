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


start = time.perf_counter()
table = {i: str(i) for i in range(50_000)}  # TABLE
number = 0
while time.perf_counter() - start < 1.5 or number < 200:
    handle(number)
    number += 1
    time.sleep(0.001)
