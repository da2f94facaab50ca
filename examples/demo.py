#!/usr/bin/env python3
"""A little news desk: reads articles, counts words, finds similar ones, signs the result.

    heatline run examples/demo.py

It takes a few seconds and needs nothing but Python.  There is something to find in it: one line
that looks harmless takes a third of the time, one function is native code through and through, and
the program waits for its "network" longer than one would think.
"""
import hashlib
import random
import re
import threading
import time

WORDS = """the of and to in profile line python native system sample thread stack frame memory heap
module function loop string number list dict tuple table query index cache queue event signal timer
clock report column graph flame tree branch leaf value key name path file folder server client
request answer header socket packet window editor reader writer parser token""".split()


def fetch_article(number):
    """Stands in for a download: mostly waiting."""
    time.sleep(0.005)
    rng = random.Random(number)
    return " ".join(rng.choices(WORDS, k=1500)) + "."


def unique_words(text):
    """Distinct words in order.  Slow: every word is looked for in a list."""
    seen = []
    for word in re.findall(r"[a-z]+", text * 2):
        variant = word + str(len(seen) % 7)
        if variant not in seen:
            seen.append(variant)
    return seen


def count_words(text, counts):
    """Plain Python: one dictionary update a word."""
    for word in text.split():
        word = word.strip(".,;").lower()
        counts[word] = counts.get(word, 0) + 1


def vector(text):
    """Letter frequencies."""
    return [text.count(letter) / len(text) for letter in "abcdefghijklmnopqrstuvwxyz"]


def distance(a, b):
    return sum((x - y) ** 2 for x, y in zip(a, b)) ** 0.5


def most_similar(vectors):
    """All pairs: quadratic, in Python."""
    best = (float("inf"), 0, 0)
    for i, a in enumerate(vectors):
        for j in range(i):
            d = distance(a, vectors[j])
            if d < best[0]:
                best = (d, i, j)
    return best


def tidy(texts):
    """Native: the regular expression engine."""
    return [re.sub(r"\b(\w)(\w*)\b", r"\2\1", text) for text in texts]


def sort_everything(texts):
    """Native: sorting."""
    words = [word for text in texts for word in text.split()]
    random.Random(1).shuffle(words)
    return sorted(words * 12)


def sign(texts, result):
    """Native, in a thread of its own: hashing lets the other threads run."""
    key = b"key"
    for text in texts:
        key = hashlib.pbkdf2_hmac("sha256", text.encode(), key, 9000)
    result.append(key.hex()[:16])


def main():
    texts = [fetch_article(number) for number in range(150)]

    signature = []
    signing = threading.Thread(target=sign, args=(texts, signature), name="signing")
    signing.start()

    counts = {}
    distinct = set()
    for text in texts:
        count_words(text, counts)
        distinct.update(unique_words(text))
    nearest = most_similar([vector(text) for text in texts])
    tidied = tidy(texts)
    ordered = sort_everything(texts)
    signing.join()

    print("%d articles, %d words, %d distinct" % (len(texts), sum(counts.values()), len(distinct)))
    print("most alike: %d and %d (%.4f)" % (nearest[1], nearest[2], nearest[0]))
    print("first %s, last %s, tidied %d characters" % (ordered[0], ordered[-1], sum(map(len, tidied))))
    print("signature %s" % signature[0])


if __name__ == "__main__":
    main()
