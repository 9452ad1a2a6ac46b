# SPDX-License-Identifier: Apache-2.0
"""Jobs with many clients that log in by schemes which make a connection a user's (NTLM, Negotiate)."""

import base64
import random
import threading

from registry import holds, job

CLIENTS = 40
REQUESTS = 50_000
USERS = ("ann", "bob")


@job(ways=("http", "intercepted"), looks=(65,), fast=False, guard=900)
def many_ntlm_logins(at):
    """Forty clients send 50,000 requests as two users by NTLM, and none is served as another."""
    log_in(at, "NTLM")


@job(ways=("http", "intercepted"), looks=(65,), fast=False, guard=900)
def many_negotiate_logins(at):
    """Forty clients send 50,000 requests as two users by Negotiate, and none is served as another."""
    log_in(at, "Negotiate")


def log_in(at, scheme):
    wrong = []
    threads = [threading.Thread(target=visit, args=(at, scheme, seed, wrong)) for seed in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    holds(not wrong, f"{len(wrong)} clients went wrong, the first: {wrong[:1]}")


def visit(at, scheme, seed, wrong):
    """One client's share of the requests, over connections of which each is a stranger's, a user's, or left in a handshake."""
    chance = random.Random(seed)
    left = REQUESTS // CLIENTS
    try:
        while left > 0 and not wrong:
            with at.socket() as connection:
                left -= converse(Talk(at, scheme, connection), chance)
    except Exception as error:
        wrong.append(f"client {seed}: {type(error).__name__}: {error}")


def converse(talk, chance):
    """Requests on one connection; returns their number."""
    talk.expect(None, 401, b"")
    for _ in range(chance.randrange(4)):
        user = chance.choice(USERS)
        talk.expect("first", 401, b"")
        if chance.random() < 0.1:
            break
        wanted = f"hello {user}\n".encode()
        talk.expect(user, 200, wanted)
        for _ in range(chance.randrange(12)):
            talk.expect(None, 200, wanted)
    return talk.count


class Talk:
    def __init__(self, at, scheme, connection):
        self.connection = connection
        self.scheme = scheme
        self.line = f"GET {at.target(f'/login/{scheme}')} HTTP/1.1\r\nHost: {at.host}:{at.port}\r\n"
        self.count = 0

    def expect(self, message, status, content):
        field = f"Authorization: {self.scheme} {base64.b64encode(message.encode()).decode()}\r\n" if message else ""
        self.connection.sendall(f"{self.line}{field}\r\n".encode())
        self.count += 1
        received = b""
        while b"\r\n\r\n" not in received:
            received += self.piece()
        head, _, body = received.partition(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length:")[1].split()[0])
        while len(body) < length:
            body += self.piece()
        if (int(head.split()[1]), body) != (status, content):
            raise ValueError(f"request {self.count} ({message}) got {head.split()[1]!r} {body!r}, not {status} {content!r}")

    def piece(self):
        piece = self.connection.recv(65536)
        if not piece:
            raise ValueError(f"the connection ended in answer {self.count}")
        return piece
