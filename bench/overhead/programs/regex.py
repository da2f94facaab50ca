"""Regular expressions: short matches over many log lines, long ones over one text."""
import re
import sys

LINE = re.compile(r"(?P<host>\d+\.\d+\.\d+\.\d+) \[(?P<when>[^\]]+)\] \"(?P<verb>[A-Z]+) (?P<path>\S+)\" (?P<code>\d{3})")
WORD = re.compile(r"\b[a-z]+(?:ing|ed|s)\b")
NUMBER = re.compile(r"\d+")


def log_lines(count):
    verbs = ("GET", "POST", "PUT")
    for i in range(count):
        yield '10.0.%d.%d [2024-01-%02d] "%s /api/items/%d?page=%d" %d' % (
            i % 250, i % 199, i % 28 + 1, verbs[i % 3], i % 5000, i % 17, 200 + i % 5)


def parse(count):
    hits = {}
    for line in log_lines(count):
        match = LINE.match(line)
        key = (match["verb"], NUMBER.sub("N", match["path"]))
        hits[key] = hits.get(key, 0) + int(match["code"])
    return sorted(hits.items())[:2]


def scan(rounds):
    text = "the cats jumped over fences while running and dogs barked at nothing " * 400
    return sum(len(WORD.findall(text)) for _ in range(rounds))


if __name__ == "__main__":
    scale = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    print(parse(int(500_000 * scale)), scan(max(1, int(180 * scale))))
