"""One line keeps a twentieth of what it makes, another nothing of it."""

import json
import sys

TEXT = json.dumps({"rows": [{"a": i, "b": [i, i + 1]} for i in range(3000)], "few": list(range(1000, 1500))})
results = []


def keep():
    results.append(json.loads(TEXT)["few"])  # KEEPS


def look():
    return len(json.loads(TEXT)["few"])  # LOOKS


for _ in range(1500):
    keep()
    look()
print(sum(sys.getsizeof(few) + sum(map(sys.getsizeof, few)) for few in results))
