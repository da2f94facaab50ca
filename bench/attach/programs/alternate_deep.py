"""Two sides that call through the same sixteen frames, in turns of some ten microseconds: a stack that begins on
one side and ends on the other is impossible, though all that lies between looks the same."""


def leaf_a(x):
    return x + 1


def leaf_b(x):
    return x - 1


def hot_a(x):
    return leaf_a(x)


def hot_b(x):
    return leaf_b(x)


def down(depth):
    if depth:
        down(depth - 1)
    else:
        hot(0), hot(0), hot(0), hot(0)


def side_a():
    global hot
    hot = hot_a
    down(15)


def side_b():
    global hot
    hot = hot_b
    down(15)


print("ready", flush=True)
while True:
    side_a()
    side_b()
