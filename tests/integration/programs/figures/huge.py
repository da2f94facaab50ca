"""A function whose tables are too large to be sent, as generators of code make them."""

import time

NAMES = {}
exec(compile("def huge():\n" + "    a = 1\n" * 80000, __file__ + ".made", "exec"), NAMES)

end = time.process_time() + 1
while time.process_time() < end:
    NAMES["huge"]()
