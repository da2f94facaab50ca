"""Memory that is given back at once, of all sizes, in loops of several lines."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from memory_truth import MB, Truth, size_of

truth = Truth()


def sizes(count):
    for _ in range(count):
        bytes(500)  # @bytes500
        bytes(4000)  # @bytes4000
        bytearray(30000)  # @bytes30000
    truth.line("bytes500", malloc=count * size_of(bytes(500)), kept=0)
    truth.line("bytes4000", malloc=count * size_of(bytes(4000)), kept=0)
    truth.line("bytes30000", malloc=count * size_of(bytearray(30000)), kept=0)


def churn(count):
    for _ in range(count):
        bytearray(MB)  # @megabyte
    truth.line("megabyte", malloc=count * size_of(bytearray(MB)), kept=0)


def numbers(count):
    number = 1 << 70
    for _ in range(count):
        number + 1  # @numbers
    # A sum is made with room for a carry, four bytes, before it is known that there is none.
    truth.line("numbers", malloc=count * (size_of(number) + 4), kept=0)


sizes(15000)
churn(300)
numbers(1500000)
truth.write()
