"""A server that keeps something of each request, and has nothing to do in the end."""

import os
import socket
import time

REQUESTS = 300

listener = socket.create_server(("127.0.0.1", 0))
if os.fork() == 0:
    address = listener.getsockname()
    listener.close()
    for number in range(REQUESTS):
        with socket.create_connection(address) as connection:
            connection.sendall(b"%d" % number)
            connection.recv(64)
        time.sleep(0.005)
    time.sleep(3)  # it has half of the time to itself
    with socket.create_connection(address) as connection:
        connection.sendall(b"end")
    os._exit(0)


def build(count):
    table = []
    for number in range(count):
        row = [str(number + i) for i in range(1500)]  # TABLE
        table.append(row)
    return table


def answer(request):
    rows = [str(i) + request for i in range(1500)]  # LEAK
    kept.append(rows)
    return " ".join(rows)  # TEMPORARY


table, kept = build(200), []
while True:
    connection, _ = listener.accept()
    with connection:
        asked = connection.recv(64).decode()
        if asked == "end":
            break
        connection.sendall(b"%d" % len(answer(asked)))
os.wait()
