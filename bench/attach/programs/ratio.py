"""Three functions that take 70, 20 and 10 percent of the time by construction."""
from itertools import repeat


def burn(count):
    total = 0
    for _ in repeat(None, count):
        total = (total + 3) & 7
    return total


def seventy():
    burn(7000)


def twenty():
    burn(2000)


def ten():
    burn(1000)


print("ready", flush=True)
while True:
    seventy()
    twenty()
    ten()
