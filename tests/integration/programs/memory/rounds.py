"""Builds things and drops them, so often that each sample stands for as much as a round or more."""


def replaced(rounds):
    for _ in range(rounds):
        kept = [{} for _ in range(40000)]  # REPLACED
    return kept


def dropped(rounds):
    for _ in range(rounds):
        kept = [{} for _ in range(40000)]  # DROPPED
        del kept


def once(rounds):
    for i in range(rounds):
        kept = [{} for _ in range(400000 if i == rounds // 2 else 4000)]  # ONCE
    return kept


replaced(300)
dropped(300)
once(600)
