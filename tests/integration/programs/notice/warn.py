"""Warnings of all kinds, in the order and number that Python gives them."""

import sys
import warnings

from burn import burn

print("options", sys.warnoptions, [(f[0], f[2].__name__, f[4]) for f in warnings.filters])
burn()
for _ in range(3):
    warnings.warn("user", UserWarning)
    warnings.warn("deprecated", DeprecationWarning)
eval("1 is 1")
open(__file__)
burn()
warnings.simplefilter("error")
warnings.warn("fatal")
