"""A line that leaks little, beside lines that allocate gigabytes and give them back."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from memory_truth import Truth, size_of

truth, kept = Truth(), []


def churn(count):
    for i in range(count):
        bytes(2000)  # @churn
        bytes(100)  # @churn_small
        bytearray(40000)  # @churn_large
        if i % 20 == 0:
            kept.append(bytes(600))  # @hidden
        if i % 4 == 0:
            bytes(1000)  # @some


count = 200000
churn(count)
truth.line("churn", malloc=count * size_of(bytes(2000)), kept=0)
truth.line("churn_small", malloc=count * size_of(bytes(100)), kept=0)
truth.line("churn_large", malloc=count * size_of(bytearray(40000)), kept=0)
truth.line("some", malloc=count // 4 * size_of(bytes(1000)), kept=0)
truth.line("hidden", kept=count // 20 * size_of(bytes(600)), leaks=True)
truth.write()
