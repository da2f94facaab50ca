"""A module with some work."""


def work():
    total = 0
    for i in range(2000):
        total += i * i  # WORK
    return total
