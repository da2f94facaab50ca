"""Waiting for the clock, a socket, a pipe, a lock and a child, between turns of work."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from truth import Case, seconds

import socket
import subprocess
import threading
import time

TURN_S = 0.05


def sleeping():
    time.sleep(TURN_S)


def receiving():
    ours.send(b"?")
    ours.recv(1)


def reading():
    os.write(ask, b"?")
    os.read(answer, 1)


def locking():
    baton.release()
    lock.acquire()


def child():
    subprocess.check_call(["sleep", str(TURN_S)])


def in_python(count):
    total = 0
    for i in range(count):
        total += i * i % 7
    return total


def answer_socket():
    while theirs.recv(1):
        time.sleep(TURN_S)
        theirs.send(b"!")


def answer_pipe():
    while os.read(asked, 1):
        time.sleep(TURN_S)
        os.write(answered, b"!")


def answer_lock():
    while True:
        baton.acquire()
        time.sleep(TURN_S)
        lock.release()


ours, theirs = socket.socketpair()
asked, ask = os.pipe()
answer, answered = os.pipe()
lock, baton = threading.Lock(), threading.Lock()
lock.acquire()
baton.acquire()
for answering in (answer_socket, answer_pipe, answer_lock):
    threading.Thread(target=answering, daemon=True).start()

case = Case(clock="wall")
case.phase(sleeping, 3, system=(0.98, 1))
case.phase(receiving, 1, system=(0.98, 1))
case.phase(reading, 1, system=(0.98, 1))
case.phase(locking, 1, system=(0.98, 1))
case.phase(child, 1, system=(0.8, 1))
case.phase(in_python, 3, unit_s=0.02, python=(0.85, 1))
case.play(max(3, seconds()))
case.write()
