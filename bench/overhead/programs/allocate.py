"""Allocation: lists, dicts, tuples and strings, made and dropped."""
import sys


def build_records(count):
    return [{"id": i, "name": "user-%d" % i, "tags": [i, i + 1, i + 2], "pos": (i, -i)} for i in range(count)]


def group(records):
    groups = {}
    for record in records:
        groups.setdefault(record["id"] % 97, []).append(record["name"].upper())
    return {key: ",".join(names) for key, names in groups.items()}


def churn(rounds, count):
    size = 0
    for _ in range(rounds):
        groups = group(build_records(count))
        size += sum(map(len, groups.values()))
        parts = []
        for text in groups.values():
            parts += [word[::-1] + word[:3] for word in text.split(",")]
        size += len(set(parts))
    return size


if __name__ == "__main__":
    scale = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    print(churn(max(1, int(40 * scale)), 40_000))
