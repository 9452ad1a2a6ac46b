# SPDX-License-Identifier: Apache-2.0
"""The origins of `scripts/hostile`: one that speaks HTTP, and one that speaks TLS by hand.

usage: hostile_origin.py SEED CORPUS FOLDER

Prints the two ports when it is ready, and serves until it is stopped. The number of an input is at the end of the path, or
in the address that was connected to: 127.X.Y.Z is number X·65536 + Y·256 + Z. At 127.200.0.0/24 it is in the hello.
"""

import asyncio
import re
import ssl
import sys

import hostile_inputs
import hostile_tls

seed, corpus, folder = int(sys.argv[1]), sys.argv[2], sys.argv[3]
inputs = hostile_inputs.Inputs(seed, hostile_inputs.corpus(corpus))
certificates = []
for name in ("leaf", "plain", "below", "rich", "root"):
    with open(f"{folder}/{name}.der", "rb") as file:
        certificates.append(file.read())
REQUEST = re.compile(rb"[A-Z]+ (?:http://[^/ ]*)?/([a-z]+)/(\d+)[^ ]* HTTP/1.1\r\n")


class Origin(asyncio.Protocol):
    """Answers the first request of a connection, and closes it more often than not."""

    def connection_made(self, transport):
        self.transport, self.received, self.answered = transport, b"", False

    def data_received(self, data):
        if self.answered:
            return
        self.received += data
        end = self.received.find(b"\r\n\r\n")
        if end < 0:
            return
        found = REQUEST.match(self.received)
        if not found:
            return self.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
        route, number = found[1].decode(), int(found[2])
        head = self.received[:end].lower()
        if route in ("control", "echo") or head.startswith(b"post"):
            # The answer to a body is its length, when all of it is there.
            length = re.search(rb"\r\ncontent-length: *(\d+)", head)
            body = self.received[end + 4 :]
            if (
                length
                and len(body) < int(length[1])
                or b"\r\ntransfer-encoding:" in head
                and not body.endswith(b"0\r\n\r\n")
            ):
                return
            text = b"%d" % number if route == "control" else body[:1000]
            return self.send(
                b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nX-Body: %d\r\n\r\n%b" % (len(text), len(body), text),
                route != "control",
            )
        rng = inputs.at(number)
        # What the client's side has drawn of it is drawn again, and then what is answered.
        rng.random()
        self.send(inputs.response(rng, route), rng.random() < 0.8)

    def send(self, answer, closes=True):
        self.transport.write(answer)
        if closes:
            self.answered = True
            self.transport.close()
        else:
            self.received = b""

    def eof_received(self):
        return False


class TLSOrigin(asyncio.Protocol):
    """Answers a hello with a hostile flight; at 127.200.0.0/24 with one in order, unless the hello is marked."""

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(f"{folder}/server.pem", f"{folder}/leaf.key")
    context.maximum_version = ssl.TLSVersion.TLSv1_2

    def connection_made(self, transport):
        self.transport, self.received, self.tls = transport, b"", None
        address = [int(part) for part in transport.get_extra_info("sockname")[0].split(".")]
        self.is_echo = address[1] == 200
        self.number = address[1] << 16 | address[2] << 8 | address[3]

    def data_received(self, data):
        if self.tls:
            return self.shake_hands(data)
        self.received += data
        if len(self.received) < 43:
            return
        if self.is_echo and self.received[11:19] != b"HOSTILE!":
            self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
            self.tls = self.context.wrap_bio(self.incoming, self.outgoing, server_side=True)
            return self.shake_hands(self.received)
        number = int.from_bytes(self.received[19:27], "big") if self.is_echo else self.number
        self.transport.write(hostile_tls.flight(inputs.at(number), inputs, certificates))
        self.transport.close()

    def shake_hands(self, data):
        self.incoming.write(data)
        try:
            self.tls.do_handshake()
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLError:
            return self.transport.close()
        self.transport.write(self.outgoing.read())


async def main():
    loop = asyncio.get_running_loop()
    plain = await loop.create_server(Origin, "127.0.0.1", 0, backlog=1024)
    secure = await loop.create_server(TLSOrigin, "0.0.0.0", 0, backlog=1024)
    print(plain.sockets[0].getsockname()[1], secure.sockets[0].getsockname()[1], flush=True)
    await asyncio.Event().wait()


asyncio.run(main())
