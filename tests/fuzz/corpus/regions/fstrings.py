a = f"{x!r:>{w}.{p}} {{}} {d["k"]} {f'{y}'}"
b = rf"""{
z:'>3} \N{DASH} \{a}"""
c = f'{x:{y:{z}}}'
d = t"{1}" b"\"" Rb'x' u"é"
e = f"{lambda x: 1}{(lambda x: 1)}{a[1:2]}"
def g(): return f"{
# comment }
1}"
