"""What a module sees when the package is run by its name."""

import sys

from package import inner

print(__name__, __package__, __spec__.name, __file__)
print(sys.argv, sys.path[0])
inner.work()
