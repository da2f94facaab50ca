"""Children of multiprocessing that wait long enough to be met, one of them with a name of its own."""

import multiprocessing
import time


def rest(seconds):
    time.sleep(seconds)  # REST


def main():
    spawn, server = (multiprocessing.get_context(method) for method in ("spawn", "forkserver"))
    children = [
        multiprocessing.get_context("fork").Process(target=rest, args=(2.0,), name="the forked one"),
        spawn.Process(target=rest, args=(2.0,)),
        server.Process(target=rest, args=(2.0,)),
    ]
    for child in children:
        child.start()
    for child in children:
        child.join()


if __name__ == "__main__":
    main()
