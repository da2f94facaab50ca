import os, sys
from a import (b,
  c as d,)
class A(B):
    """doc
    for x in y:
    """
    @staticmethod
    async def f(self, x='''a''', *y):
        for i in range(3):
            while True:
                if x: break
                else: import z; continue
        else:
            pass
        return [i for i in x
                if i] + \
            [2]

x = lambda: 0
if x:
	for y in z:
	    pass
        
else: pass
