"""Threads: a pool whose jobs hash (GIL released) and do Python work (GIL held)."""
import hashlib
import sys
from concurrent.futures import ThreadPoolExecutor

BLOCK = bytes(range(256)) * 4096


def job(seed):
    digest = hashlib.sha256(BLOCK)
    total = 0
    for i in range(20_000):
        total += (i * seed) % 7
    digest.update(total.to_bytes(8, "little"))
    return digest.hexdigest()


def run(jobs):
    with ThreadPoolExecutor(max_workers=4) as pool:
        return list(pool.map(job, range(jobs)))[-1][:16]


if __name__ == "__main__":
    scale = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    print(run(max(4, int(1_100 * scale))))
