"""A loop twenty calls deep."""


def down(depth):
    if depth:
        return down(depth - 1)
    print("ready", flush=True)
    x = 0
    while True:
        x = (x + 3) & 7


down(18)
