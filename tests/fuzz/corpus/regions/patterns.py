import numpy as np, re; from time import sleep as nap
a = np.zeros(9); s = ""; seen: list = []
async def f(items, *rest, key: str = "k"):
    for i in range(9):
        s += x; a = np.append(a, a[i])
        if x not in seen and x in list(d.keys()): items.pop(0)
        while x in self.seen: nap(1); s = s + re.sub("a", f"{b!r:>{w}}", c)
    return [y for y in z if y in seen], sum(q, []), df.apply(g, axis=1)
