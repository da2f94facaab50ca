"""Pure integer arithmetic in one loop: nothing but the interpreter."""
import sys


def collatz_steps(limit):
    longest, total = 0, 0
    for start in range(1, limit):
        n, steps = start, 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        total += steps
        if steps > longest:
            longest = steps
    return longest, total


if __name__ == "__main__":
    scale = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    print(collatz_steps(int(260_000 * scale)))
