"""Works, then answers another process: prints whether it had a perf clock, and for how much CPU time
it kept it while it left its CPU all the time."""
import os
import time


def has_perf_clock():
    with open("/proc/self/maps") as maps:
        return "perf_event" in maps.read()


def work(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def echo(read_fd, write_fd):
    while os.read(read_fd, 1):
        os.write(write_fd, b"x")


def main():
    ask, asked = os.pipe()
    answer, answered = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(asked)
        echo(ask, answered)
        os._exit(0)
    # So long that its period is no longer the first one.
    work(0.6)
    had = has_perf_clock()
    begin = time.process_time()
    while has_perf_clock() and time.process_time() - begin < 5:
        for _ in range(100):
            os.write(asked, b"x")
            os.read(answer, 1)
    print(had, time.process_time() - begin)
    os.close(asked)
    os.waitpid(child, 0)


main()
