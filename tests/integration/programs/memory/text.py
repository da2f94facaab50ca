"""A text that grows bit by bit, many times in place, and a table that stays beside what comes and goes."""

import sys

piece = "x" * 60


def grow(count):
    text = ""
    for _ in range(count):
        text += piece  # GROWN
    return text


def work(rounds):
    for _ in range(rounds):
        [str(i) for i in range(5000)]  # BRIEF


text = grow(300000)
table = [bytes(1000) for _ in range(40000)]  # TABLE
work(1500)
print(sys.getsizeof(text), sum(map(sys.getsizeof, table)) + sys.getsizeof(table))
