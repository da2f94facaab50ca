"""json: documents written, read and looked through."""
import json
import sys


def document(seed):
    return {
        "seed": seed,
        "items": [
            {"key": "item-%d" % i, "value": i * seed % 1009 / 7, "on": i % 3 == 0, "path": ["a", str(i), None]}
            for i in range(120)
        ],
    }


def run(rounds):
    size, total = 0, 0.0
    for seed in range(rounds):
        text = json.dumps(document(seed), indent=2 if seed % 4 == 0 else None, sort_keys=True)
        size += len(text)
        for item in json.loads(text)["items"]:
            if item["on"]:
                total += item["value"]
    return size, round(total, 6)


if __name__ == "__main__":
    scale = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    print(run(int(3_000 * scale)))
