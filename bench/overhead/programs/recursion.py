"""Deep recursion: down to depth 900 again and again, with work at every level."""
import sys

DEPTH = 900


def descend(depth, weight):
    if depth == 0:
        return weight
    local = weight * 3 + depth
    for _ in range(3):
        local ^= local >> 2
    return descend(depth - 1, local & 1023) + 1


def walk(tree):
    return 1 if tree is None else 1 + walk(tree[0])


def nest(depth):
    tree = None
    for _ in range(depth):
        tree = (tree,)
    return tree


if __name__ == "__main__":
    scale = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    tree = nest(DEPTH)
    total = 0
    for i in range(int(4_500 * scale)):
        total += descend(DEPTH, i) + walk(tree)
    print(total)
