"""Prints how many blocks Python counts more than before, after many that came and went."""

import sys


class Small:
    __slots__ = ("a", "b")


def churn(count):
    for i in range(count):
        rows = [Small(), Small(), (i, Small())]
        rows.append(str(i) * 3)  #: kept 0
        text = bytearray(b"some text")
        text.extend(b"x" * (i % 300))  #: kept 0


churn(100)
before = sys.getallocatedblocks()
churn(50000)
print(sys.getallocatedblocks() - before)
