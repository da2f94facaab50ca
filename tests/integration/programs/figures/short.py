"""Over before anything can be said about it."""

total = 0
for i in range(1000):
    total += i
