"""Sleeps, works, sleeps again; prints how long the sleeps took, which is more on a busy machine."""
import time

begin = time.monotonic()
time.sleep(2.0)  # first
slept = time.monotonic() - begin
until = time.process_time() + 0.1
while time.process_time() < until:
    pass
begin = time.monotonic()
time.sleep(1.0)  # second
print(slept + time.monotonic() - begin)
