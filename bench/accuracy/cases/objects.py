"""Attributes, slots, properties and methods: Python, not native."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from truth import Case, seconds



class Point:
    scale = 3

    def __init__(self):
        self.x = 1
        self.y = 2

    @property  # @through_property
    def sum(self):  # @through_property
        return self.x + self.y  # @through_property

    def move(self, by):  # @through_method
        self.x = (self.x + by) & 255  # @through_method


class Slotted:
    __slots__ = ("x", "y")

    def __init__(self):
        self.x = 1
        self.y = 2


POINT = Point()
SLOTTED = Slotted()


def attributes(count):
    point = POINT
    for _ in range(count):
        point.y = point.x + point.scale


def slots(count):
    slotted = SLOTTED
    for _ in range(count):
        slotted.y = slotted.x + 3


def through_property(count):
    point, total = POINT, 0
    for _ in range(count):
        total += point.sum


def through_method(count):
    point = POINT
    for _ in range(count):
        point.move(3)


case = Case()
for function in (attributes, slots, through_property, through_method):
    case.phase(function, unit_s=0.001, python=(0.97, 1))
case.play(seconds())
case.write()
