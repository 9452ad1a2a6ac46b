# SPDX-License-Identifier: Apache-2.0
"""Holds connections to a proxy: `scripts/bench-connections` starts it.

usage: idle.py PORT COUNT idle|slow

idle: each sends a request, reads its answer and is silent. slow: each sends a byte of a head that never ends, every second.
Prints `ready` when all of them are there, and goes on until its input ends.
"""

import asyncio
import sys

port, count, kind = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
request = b"GET /small HTTP/1.1\r\nHost: gateway\r\n\r\n"


async def open_idle():
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request)
    answer = await reader.readuntil(b"\r\n\r\n")
    if b" 200 " not in answer:
        sys.exit(answer.decode("latin-1"))
    length = next(int(line.split(b":")[1]) for line in answer.split(b"\r\n") if line.lower().startswith(b"content-length"))
    await reader.readexactly(length)
    return writer


async def open_slow():
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET /small HTTP/1.1\r\n")
    return writer


async def drip(writers):
    """A byte from each, spread over a second."""
    while True:
        for index, writer in enumerate(writers):
            writer.write(b"x")
            if index % 20 == 19:
                await asyncio.sleep(20 / len(writers))


async def main():
    opener = open_idle if kind == "idle" else open_slow
    writers = []
    while len(writers) < count:
        writers += await asyncio.gather(*[opener() for _ in range(min(200, count - len(writers)))])
    work = asyncio.ensure_future(drip(writers)) if kind == "slow" else None
    print("ready", flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    if work:
        work.cancel()


asyncio.run(main())
