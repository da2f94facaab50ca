"""A module of the package, which can be run by itself too."""

import sys
import time


def work():
    end = time.process_time() + 0.05
    while time.process_time() < end:
        pass
    print("worked", __name__, sys.argv)


if __name__ == "__main__":
    work()
    sys.exit(11)
