"""A pre-fork server under load: two workers accept from one socket, a third process asks."""
import json
import os
import socket
import sys


def answer(number):
    rows = [{"id": i, "name": "row %d" % i, "square": i * i} for i in range(number % 50 + 150)]
    return json.dumps(rows).encode()


def serve(listener):
    """A worker: one connection at a time, one request on it; an empty one ends it."""
    while True:
        connection, _ = listener.accept()
        with connection:
            request = connection.recv(64)
            if not request:
                return
            connection.sendall(answer(int(request)))


def ask(address, requests):
    total = 0
    for number in range(requests):
        with socket.create_connection(address) as connection:
            connection.sendall(b"%d" % number)
            while True:
                part = connection.recv(65536)
                if not part:
                    break
                total += len(part)
    return total


def in_child(work, *arguments):
    pid = os.fork()
    if pid == 0:
        work(*arguments)
        os._exit(0)
    return pid


def run(requests, workers=2):
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)
    pids = [in_child(serve, listener) for _ in range(workers)]
    total = ask(listener.getsockname(), requests)
    for _ in pids:
        socket.create_connection(listener.getsockname()).close()
    return total, sum(os.waitpid(pid, 0)[1] for pid in pids)


if __name__ == "__main__":
    scale = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    print(*run(max(10, int(8_000 * scale))))
