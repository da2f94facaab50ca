"""CPU time for the programs of this folder, so that samples fall while they look around."""

import time


def burn(seconds=0.05):
    """Uses this much CPU time of the calling thread, in Python and in C."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(500))
        for _ in range(200):
            pass
