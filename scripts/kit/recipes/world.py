# SPDX-License-Identifier: Apache-2.0
"""Stands in for the servers of the names in the recipes, over http and https.

usage: world.py CERTIFICATES READY
"""

import json
import pathlib
import socket
import ssl
import struct
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from names import ADDRESSES, INSIDE, PUBLIC

USERS = {"17": {"id": 17, "name": "Ann"}, "18": {"id": "18", "name": "Bo"}}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, body, kind="application/json"):
        body = body if isinstance(body, bytes) else (json.dumps(body) + "\n").encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def act(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        host = (self.headers.get("Host") or "").split(":")[0]
        path = self.path.split("?")[0]
        if host == "models.example.com":
            is_known = self.headers.get("Authorization") == "Bearer token-of-ann-0123456789"
            return self.answer(200, {"answer": 42}) if is_known else self.answer(401, {"error": "no such token"})
        if host == "packages.example.com":
            return self.answer(200, b"the package\n", "application/gzip")
        if path.startswith("/users/"):
            user = USERS.get(path.rpartition("/")[2])
            return self.answer(200, user) if user else self.answer(404, {"error": "no such user"})
        self.answer(200, {"host": host, "ok": True})

    do_GET = do_POST = do_PUT = do_DELETE = act

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_):
        pass


class SecureServer(Server):
    """The handshake is done by the thread of the connection."""

    def __init__(self, address, context):
        super().__init__(address, Handler)
        self.context = context

    def finish_request(self, request, address):
        with self.context.wrap_socket(request, server_side=True) as connection:
            super().finish_request(connection, address)


def context(folder, others):
    """A context that picks the certificate by the name of the handshake."""
    contexts = {}
    for path in folder.glob("*.pem"):
        contexts[path.stem] = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        contexts[path.stem].load_cert_chain(path)

    def pick(connection, name, _):
        if name in contexts:
            connection.context = contexts[name]

    first = contexts[others]
    first.sni_callback = pick
    return first


def resolve(questions):
    """Answers questions for names (RFC 1035): an address for those that are known; the others do not exist."""
    while True:
        message, client = questions.recvfrom(512)
        labels, place = [], 12
        while length := message[place]:
            labels.append(message[place + 1 : place + 1 + length].decode("latin-1").lower())
            place += 1 + length
        kind = struct.unpack("!H", message[place + 1 : place + 3])[0]
        address = ADDRESSES.get(".".join(labels))
        record = struct.pack("!HHHIH", 0xC00C, 1, 1, 60, 4) + socket.inet_aton(address) if address and kind == 1 else b""
        flags = 0x8180 if address else 0x8183
        head = message[:2] + struct.pack("!HHHHH", flags, 1, 1 if record else 0, 0, 0)
        questions.sendto(head + message[12 : place + 5] + record, client)


def main():
    folder, ready = sys.argv[1:]
    questions = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    questions.bind((PUBLIC, 53))
    threading.Thread(target=resolve, args=[questions], daemon=True).start()
    for address, name in ((PUBLIC, "api.example.com"), (INSIDE, "wiki.corp.example")):
        for server in (Server((address, 80), Handler),
                       SecureServer((address, 443), context(pathlib.Path(folder), name))):
            threading.Thread(target=server.serve_forever, daemon=True).start()
    pathlib.Path(ready).touch()
    threading.Event().wait()


main()
