"""A server that forks its workers before they serve, and its own clients: prints its pids, ends by itself."""

import os
import signal
import socket
import sys

WORKERS, REQUESTS = 4, 100


def crunch(count):
    total = 0
    for i in range(count):
        total += i * i % 7  # WORK
    return total


def serve(listener):
    while True:
        connection, _ = listener.accept()
        count = int(connection.recv(100))
        connection.sendall(str(crunch(count)).encode())
        connection.close()


def ask(address):
    with socket.create_connection(address) as connection:
        connection.sendall(b"120000")
        return connection.recv(100)


listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen(64)
pids = []
for _ in range(WORKERS):
    pid = os.fork()
    if pid == 0:
        serve(listener)
    pids.append(pid)
print(*pids, flush=True)
answers = {ask(listener.getsockname()) for _ in range(REQUESTS)}
for pid in pids:
    os.kill(pid, signal.SIGTERM)
ends = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids]
sys.exit(0 if len(answers) == 1 and ends == [-signal.SIGTERM] * WORKERS else 1)
