"""``python -m heatline …`` is the command ``heatline …``, for the Python that runs it."""

import os
import sys

from heatline import command


def main() -> None:
    try:
        path = command()
    except FileNotFoundError as error:
        sys.exit("heatline: %s; install it again with: %s -m pip install heatline" % (error, sys.executable))
    os.execve(path, ["heatline", *sys.argv[1:]], dict(os.environ, HEATLINE_PYTHON=sys.executable))


if __name__ == "__main__":
    main()
