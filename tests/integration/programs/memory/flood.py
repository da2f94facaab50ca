"""Allocates so much in so little time that a small window's samples find no room, at places that
are not come back to, and gives back as much at once."""

for _ in range(2):
    places = [eval("lambda: [str(i) * 4 for i in range(20000)]") for _ in range(20)]
    kept = [place() for place in places]
    del kept
