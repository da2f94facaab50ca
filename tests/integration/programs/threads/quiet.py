"""Sleeps, works, sleeps again."""
import time

time.sleep(2.0)  # first
until = time.process_time() + 0.1
while time.process_time() < until:
    pass
time.sleep(1.0)  # second
