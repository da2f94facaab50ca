"""Function calls: Fibonacci by recursion, and calls with keywords and defaults."""
import sys


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def clamp(value, *, low=0, high=255):
    return low if value < low else high if value > high else value


def mix(a, b, weight=0.5):
    return clamp(int(a * weight + b * (1 - weight)), high=200)


def blend(count):
    total = 0
    for i in range(count):
        total += mix(i & 1023, 512, weight=0.25)
    return total


if __name__ == "__main__":
    scale = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    for _ in range(max(1, int(8 * scale))):
        result = fib(27)
    print(result, blend(int(4_000_000 * scale)))
