"""A loop so many calls deep as the argument says."""
import sys


def down(depth):
    if depth:
        return down(depth - 1)
    print("ready", flush=True)
    x = 0
    while True:
        x = (x + 3) & 7


down(int(sys.argv[1]) - 2)
