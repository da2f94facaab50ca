"""One short text at a time, 200 MB in all."""


def texts(count):
    length = 0
    for i in range(count):
        length += len(str(i))  # TEXT
    return length


texts(4_000_000)
