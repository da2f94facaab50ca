"""Operators: long ones, of which none has many samples, and short ones that wait for memory."""

import random
import time

random.seed(1)
table = {i * 7919: i for i in range(1000000)}
keys = random.sample(list(table), 100000)
items = list(range(20000))


def digits_of_pi(seconds):
    end = time.process_time() + seconds
    q, r, t, k, m, x = 1, 0, 1, 1, 3, 3
    while time.process_time() < end:
        if 4 * q + r - t < m * t:
            q, r, m = q * 10, 10 * (r - m * t), ((10 * (3 * q + r)) // t) - 10 * m
        else:
            m = (q * (7 * k) + 2 + (r * x)) // (t * x)  # NATIVE products
            r = (2 * q + r) * x
            q, t, x, k = q * k, t * x, x + 2, k + 1


def repeat(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        for _ in range(50):
            copy = items * 3  # NATIVE repeat
    return copy


def look_up(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        for key in keys:
            found = table[key]  # PYTHON lookup
    return found


digits_of_pi(1.2)
repeat(2)
look_up(0.8)
