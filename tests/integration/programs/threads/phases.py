"""First the main thread works, then it waits for one that works; 12 MB at the end."""

import sys
import threading
import time


def work(seconds):
    end = time.thread_time() + seconds
    total = 0
    while time.thread_time() < end:
        for i in range(2000):
            total += i * i  # hot
    return total


def main():
    work(0.4)
    helper = threading.Thread(target=work, args=(0.3,))
    helper.start()
    helper.join()
    time.sleep(0.2)
    return bytearray(12 << 20)  # peak


held = main()
sys.exit(len(held) != 12 << 20)
