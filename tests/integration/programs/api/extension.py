"""An extension that is loaded while a session goes on: what it allocates is seen."""

import heatline
from parts import say

with heatline.profiling() as p:
    import numpy

    zeros = numpy.zeros(4 << 20)  # ZEROS
    other = zeros.copy()  # OTHER
lines = {line.text: line for line in p.profile.lines if line.file == __file__}
zeros_line, other_line = [line for text, line in sorted(lines.items()) if "# ZEROS" in text or "# OTHER" in text][::-1]
say(zeros=zeros_line.peak_mb, other=other_line.peak_mb, copied=other_line.copied_mb)
