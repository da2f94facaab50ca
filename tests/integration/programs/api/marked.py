"""Marks; without heatline they do nothing."""

import heatline
from parts import burn, say

heatline.mark("before")
heatline.start(cpu_only=True)
heatline.mark("epoch 1")
burn(0.1)
heatline.mark("epoch 2 \u00fc" + "x" * 300)
heatline.mark(7)  # type: ignore[arg-type]  # no program fails for being measured
burn(0.1)
profile = heatline.stop()
heatline.mark("after")
say(marks=profile.data["heatline"]["marks"], on=heatline.enabled(),
    suspended=profile.data["heatline"]["suspended_s"])
