"""A process pool: two workers, jobs of Python work and pickled results of some size."""
import sys
from concurrent.futures import ProcessPoolExecutor


def job(seed):
    table = {}
    for i in range(40_000):
        key = (i * seed) % 4_099
        table[key] = table.get(key, 0) + i
    return sorted(table.items())


def run(jobs):
    with ProcessPoolExecutor(max_workers=2) as pool:
        return sum(len(items) for items in pool.map(job, range(1, jobs + 1)))


if __name__ == "__main__":
    scale = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    print(run(max(4, int(350 * scale))))
