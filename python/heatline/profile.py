"""``python -m heatline.profile --on|--off --pid PID``: Scalene's way to resume and suspend profiling."""

import argparse
import os
import sys

from heatline import command


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m heatline.profile", description=__doc__)
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--on", action="store_const", dest="verb", const="on", help="resume profiling")
    which.add_argument("--off", action="store_const", dest="verb", const="off", help="suspend profiling")
    parser.add_argument("--pid", type=int, required=True, help="a process that heatline run has started")
    options = parser.parse_args()
    try:
        path = command()
    except FileNotFoundError as error:
        sys.exit("heatline: %s" % error)
    os.execv(path, ["heatline", options.verb, str(options.pid)])


if __name__ == "__main__":
    main()
