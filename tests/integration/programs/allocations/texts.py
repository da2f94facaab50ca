"""Texts of two hundred lengths on each of eight lines: many sites, of which each takes little."""

SIZES = range(40, 4040, 20)


def work(rounds):
    count = 0
    for _ in range(rounds):
        repeated = [b"x" * size for size in SIZES]  #: malloc 23.8, kept 0
        zeros = [bytes(len(text)) for text in repeated]  #: malloc 23.8, kept 0
        joined = [text + b"y" for text in zeros]  #: malloc 23.8, kept 0
        upper = [text.upper() for text in joined]  #: malloc 23.8, kept 0
        decoded = [text.decode() for text in upper]  #: malloc 23.8, kept 0
        longer = [text + "z" for text in decoded]  #: malloc 23.8, kept 0
        lower = [text.lower() for text in longer]
        encoded = [text.encode() for text in lower]  #: malloc 23.8, kept 0
        count += len(encoded)
    return count


print(work(60))
