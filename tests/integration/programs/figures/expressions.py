"""Generator expressions that a function further up in the file runs: one inside the function
that wrote it, one after that has returned."""

import time


def total(numbers):
    result = 0
    for number in numbers:
        result += number
    return result


def passed_on():
    return total(sum(range(200)) for _ in range(2000))


def returned():
    return (sum(range(200)) for _ in range(2000))


end = time.process_time() + 1
while time.process_time() < end:
    passed_on()
    total(returned())
    total(sum(range(200)) for _ in range(2000))
