# SPDX-License-Identifier: Apache-2.0
"""The origin of `scripts/soak`: what a request asks for says what the answer must be.

usage: soak_origin.py PORT

Serves until it is stopped, and prints its port when it is ready; 0 takes a free one.

    GET /page/SIZE/NAME   SIZE bytes that are made of NAME, with a length or in chunks
    GET /kept/SIZE/NAME   the same, fresh for a moment; with If-None-Match 304, with one range 206
    POST /echo/NAME       the body
    GET /talk             with an Upgrade: every byte comes back
    anything else         that is no HTTP: every byte comes back
"""

import asyncio
import sys


def page(size, name):
    """What a page of this size and name consists of; the other side makes the same."""
    return (name.encode() * (size // len(name) + 1))[:size]


async def read_body(reader, fields):
    if fields.get("transfer-encoding") == "chunked":
        body = bytearray()
        while size := int(await reader.readuntil(b"\r\n"), 16):
            body += await reader.readexactly(size)
            await reader.readexactly(2)
        while await reader.readuntil(b"\r\n") != b"\r\n":
            pass
        return bytes(body)
    return await reader.readexactly(int(fields.get("content-length", 0)))


async def echo(reader, writer):
    while piece := await reader.read(65536):
        writer.write(piece)
        await writer.drain()


async def answer(method, target, fields, reader, writer):
    if fields.get("upgrade"):
        writer.write(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
        await echo(reader, writer)
        raise EOFError
    name = target.rsplit("/", 1)[1]
    status, more = "200 OK", ""
    if method == "POST":
        body = await read_body(reader, fields)
    else:
        _, kind, size, _ = target.split("/")
        body = page(int(size), name)
        if kind == "kept":
            # Two in three are fresh; the others are asked about each time.
            more = f"Cache-Control: max-age={sum(name.encode()) % 3}\r\nETag: \"{name}\"\r\n"
            if fields.get("if-none-match") == f'"{name}"':
                writer.write(f"HTTP/1.1 304 Not Modified\r\nX-Name: {name}\r\n{more}\r\n".encode())
                await writer.drain()
                return
            if "range" in fields:
                first, last = (int(end) for end in fields["range"].removeprefix("bytes=").split("-"))
                status = "206 Partial Content"
                more += f"Content-Range: bytes {first}-{last}/{len(body)}\r\n"
                body = body[first:last + 1]
    head = f"HTTP/1.1 {status}\r\nX-Name: {name}\r\n{more}"
    if len(body) % 2:
        writer.write(head.encode() + b"Transfer-Encoding: chunked\r\n\r\n")
        for start in range(0, len(body), 8000):
            piece = body[start:start + 8000]
            writer.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            await writer.drain()
        writer.write(b"0\r\n\r\n")
    else:
        writer.write(head.encode() + b"Content-Length: %d\r\n\r\n" % len(body) + body)
    await writer.drain()


async def serve(reader, writer):
    try:
        first = await reader.readexactly(1)
        if first == b"\x00":
            writer.write(first)
            await echo(reader, writer)
            return
        while True:
            head = (first + await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            method, target, _ = head[0].split(" ")
            fields = {}
            for line in head[1:-2]:
                name, _, value = line.partition(":")
                fields[name.lower()] = value.strip()
            await answer(method, target, fields, reader, writer)
            first = b""
    except (EOFError, OSError, asyncio.IncompleteReadError):
        pass
    finally:
        writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]), backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
