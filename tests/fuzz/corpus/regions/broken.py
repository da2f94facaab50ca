def f(:
  'unclosed
 for x in (
 ]}) """
while: \

class
  if
	from
import (
