"""Exceptions: raised and caught near by and through many frames, with finally and with blocks."""
import contextlib
import sys


class Refused(Exception):
    def __init__(self, value):
        super().__init__("refused %d" % value)
        self.value = value


def check(value):
    if value % 3 == 0:
        raise Refused(value)
    return value


def through(value, frames):
    if frames == 0:
        return check(value)
    try:
        return through(value, frames - 1)
    finally:
        value += 1


@contextlib.contextmanager
def counted(counts):
    try:
        yield
    except KeyError as error:
        counts[error.args[0]] = counts.get(error.args[0], 0) + 1


def run(count):
    total, counts = 0, {}
    for i in range(count):
        try:
            total += through(i, 6)
        except Refused as refused:
            total -= refused.value
        with counted(counts):
            {}[i % 5]
        try:
            int("x%d" % i)
        except ValueError:
            total += 1
    return total, sorted(counts.items())


if __name__ == "__main__":
    scale = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    print(run(int(600_000 * scale)))
