# SPDX-License-Identifier: Apache-2.0
"""Mixed traffic through a running Pintle, every answer checked; `scripts/soak` starts it.

usage: soak.py PINTLE MINUTES FOLDER

Fails when an answer was wrong, when a request failed that had no reason to, when descriptors are left, when a turn of a
loop took more than 10 ms of a processor, or when the memory of the last third is not within 5 % of that of the middle
third.
"""

import asyncio
import collections
import os
import random
import signal
import socket
import struct
import sys
import time

from soak_origin import page

program, minutes, folder = sys.argv[1], float(sys.argv[2]), sys.argv[3]
here = os.path.dirname(os.path.abspath(__file__))
end = time.monotonic() + 60 * minutes
done = collections.Counter()
wrong = []
names = (f"n{number:x}." for number in iter(lambda: random.getrandbits(48), None))


class Wrong(Exception):
    """An answer that is not what was asked for."""


class Refused(Exception):
    """A problem of Pintle's own: where an origin was killed it is the right answer."""


class Exchange:
    """A client's connection to the proxy, which reads answers as strictly as can be."""

    def __init__(self, reader, writer):
        self.reader, self.writer = reader, writer

    @classmethod
    async def open(cls):
        return cls(*await asyncio.open_connection("127.0.0.1", port))

    async def head(self):
        lines = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")[:-2]
        fields = collections.defaultdict(list)
        for line in lines[1:]:
            name, _, value = line.partition(":")
            fields[name.lower()].append(value.strip())
        return int(lines[0].split(" ")[1]), fields

    async def body(self, fields):
        if "transfer-encoding" in fields:
            body = bytearray()
            while size := int(await self.reader.readuntil(b"\r\n"), 16):
                body += await self.reader.readexactly(size)
                if await self.reader.readexactly(2) != b"\r\n":
                    raise Wrong("a chunk does not end where it should")
            if await self.reader.readuntil(b"\r\n") != b"\r\n":
                raise Wrong("trailers that nobody sent")
            return bytes(body)
        return await self.reader.readexactly(int(fields["content-length"][0]))

    async def ask(self, origin, method, path, body=b"", chunked=False, pause=0, fields="", wanted=200):
        """Sends a request and returns the body of the answer, whose status is the wanted one; anything else raises."""
        head = f"{method} http://127.0.0.1:{origin}{path} HTTP/1.1\r\nHost: 127.0.0.1:{origin}\r\n{fields}"
        if chunked:
            head += "Transfer-Encoding: chunked\r\n\r\n"
            pieces = [body[start:start + 5000] for start in range(0, len(body), 5000)]
            body = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"
        elif method == "POST":
            head += f"Content-Length: {len(body)}\r\n\r\n"
        else:
            head += "\r\n"
        for start in range(0, len(head), 16) if pause else ():
            self.writer.write(head[start:start + 16].encode())
            await self.writer.drain()
            await asyncio.sleep(pause)
        if not pause:
            self.writer.write(head.encode())
        self.writer.write(body)
        await self.writer.drain()
        status, fields = await self.head()
        answer = await self.body(fields)
        if status != wanted:
            raise Refused(f"{status}: {answer[:300].decode('latin-1')}")
        if fields["x-name"] != [path.rsplit("/", 1)[1]]:
            raise Wrong(f"{path} got the answer of {fields['x-name']}")
        return answer

    async def get(self, origin, size, **options):
        name = next(names)
        if await self.ask(origin, "GET", f"/page/{size}/{name}", **options) != page(size, name):
            raise Wrong(f"the body of /page/{size}/{name}")

    def reset(self):
        """Breaks the connection off, as a client does that dies."""
        self.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()

    def close(self):
        self.writer.close()


# ---- Kinds of traffic. Each is one round; `repeat` goes on with it until the time is over.

async def keep_alive():
    exchange = await Exchange.open()
    try:
        for _ in range(random.randrange(1, 200)):
            await exchange.get(steady, random.choice([0, 1, 100, 1000, 30_000, 200_001]))
            await asyncio.sleep(random.random() * 0.02)
    finally:
        exchange.close()


def kept_page():
    """One of a few hundred pages that many ask for, some of them too long for the memory of the cache."""
    number = int(random.paretovariate(1)) % 300
    return f"kept{number}", [1, 1000, 20_001, 300_000, 1_500_000, 2_000_001][number % 6]


async def kept():
    exchange = await Exchange.open()
    try:
        for _ in range(random.randrange(1, 40)):
            name, size = kept_page()
            if random.random() < 0.2 and size > 1:
                first = random.randrange(size)
                last = random.randrange(first, size)
                part = await exchange.ask(
                    steady, "GET", f"/kept/{size}/{name}", fields=f"Range: bytes={first}-{last}\r\n", wanted=206)
                if part != page(size, name)[first:last + 1]:
                    raise Wrong(f"bytes {first} to {last} of /kept/{size}/{name}")
            elif await exchange.ask(steady, "GET", f"/kept/{size}/{name}") != page(size, name):
                raise Wrong(f"the body of /kept/{size}/{name}")
            # Another method than a safe one removes what is kept.
            if random.random() < 0.05:
                await exchange.ask(steady, "POST", f"/kept/{size}/{name}", body=b"x")
            await asyncio.sleep(random.random() * 0.05)
    finally:
        exchange.close()


async def kept_slowly():
    """Many who want the same page, some of whom read slowly and some of whom leave."""
    name, size = f"together{random.randrange(20)}", 1_800_000
    exchanges = [await Exchange.open() for _ in range(8)]
    try:
        for exchange in exchanges:
            exchange.writer.write(
                f"GET http://127.0.0.1:{steady}/kept/{size}/{name} HTTP/1.1\r\nHost: a\r\n\r\n".encode())

        async def read(exchange, pause, leaves):
            status, fields = await exchange.head()
            if status != 200:
                raise Refused(f"{status}")
            body = bytearray()
            while len(body) < size:
                body += await exchange.reader.readexactly(min(50_000, size - len(body)))
                if leaves and len(body) > size // 3:
                    return exchange.reset()
                await asyncio.sleep(pause)
            if bytes(body) != page(size, name):
                raise Wrong(f"the body of /kept/{size}/{name}, read by many")

        await asyncio.gather(
            *(read(exchange, 0.1 if number < 2 else 0, number == 7) for number, exchange in enumerate(exchanges)))
    finally:
        for exchange in exchanges:
            exchange.close()


async def uploads():
    exchange = await Exchange.open()
    try:
        for _ in range(10):
            body = os.urandom(random.randrange(1, 300_000))
            answer = await exchange.ask(
                steady, "POST", f"/echo/{next(names)}", body=body, chunked=random.random() < 0.5)
            if answer != body:
                raise Wrong("an echo that is another")
            await asyncio.sleep(random.random() * 0.2)
    finally:
        exchange.close()


async def converse(exchange):
    for _ in range(random.randrange(1, 20)):
        said = os.urandom(random.randrange(1, 50_000))
        exchange.writer.write(said)
        if await exchange.reader.readexactly(len(said)) != said:
            raise Wrong("other bytes came back")
        await asyncio.sleep(random.random() * 0.2)
    exchange.reset() if random.random() < 0.2 else exchange.close()


async def tunnels():
    exchange = await Exchange.open()
    try:
        exchange.writer.write(b"CONNECT 127.0.0.1:%d HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" % steady)
        status, _ = await exchange.head()
        if status != 200:
            raise Refused(f"CONNECT: {status}")
        exchange.writer.write(b"\x00")
        await exchange.reader.readexactly(1)
        await converse(exchange)
    finally:
        exchange.close()


async def upgrades():
    exchange = await Exchange.open()
    try:
        exchange.writer.write(
            b"GET http://127.0.0.1:%d/talk HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n"
            % (steady, steady))
        status, fields = await exchange.head()
        if status != 101 or fields["upgrade"] != ["echo"]:
            raise Refused(f"an upgrade was answered with {status}")
        await converse(exchange)
    finally:
        exchange.close()


async def slow_writers():
    exchange = await Exchange.open()
    try:
        await exchange.get(steady, 1000, pause=0.3)
    finally:
        exchange.close()


async def slow_readers():
    exchange = await Exchange.open()
    sock = exchange.writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    name, size = next(names), 600_000
    try:
        exchange.writer.write(
            f"GET http://127.0.0.1:{steady}/page/{size}/{name} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
        _, fields = await exchange.head()
        body = bytearray()
        while len(body) < size:
            body += await exchange.reader.readexactly(min(20_000, size - len(body)))
            await asyncio.sleep(0.1)
        if bytes(body) != page(size, name):
            raise Wrong("a body that was read slowly")
    finally:
        exchange.close()


async def aborted_uploads():
    exchange = await Exchange.open()
    exchange.writer.write(
        b"POST http://127.0.0.1:%d/echo/aborted HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n" % steady)
    exchange.writer.write(bytes(random.randrange(1, 400_000)))
    await asyncio.sleep(random.random() * 0.1)
    exchange.reset()
    await asyncio.sleep(0.1)


async def aborted_downloads():
    exchange = await Exchange.open()
    exchange.writer.write(b"GET http://127.0.0.1:%d/page/900000/gone HTTP/1.1\r\nHost: a\r\n\r\n" % steady)
    await exchange.reader.read(random.randrange(1, 100_000))
    exchange.reset()
    await asyncio.sleep(0.1)


async def malformed():
    exchange = await Exchange.open()
    try:
        exchange.writer.write(random.choice([
            b"GET /\r\n\r\n", b"GET http://a/ HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", b"\x16\x03\x01\x02\x00\x01" + bytes(60),
            b"POST http://a/ HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\nabc",
        ]))
        status, fields = await exchange.head()
        if status != 400 or b"bad-request" not in await exchange.body(fields):
            raise Wrong(f"a malformed request was answered with {status}")
        if await exchange.reader.read(1):
            raise Wrong("something came behind a refusal")
    finally:
        exchange.close()
    await asyncio.sleep(0.2)


async def doomed():
    """Requests to an origin that is killed now and then: a problem or a broken answer is right, a wrong one is not."""
    exchange = await Exchange.open()
    try:
        for _ in range(20):
            await exchange.get(mortal, random.choice([10, 100_000, 400_001]))
            await asyncio.sleep(random.random() * 0.05)
    except (Refused, OSError, asyncio.IncompleteReadError):
        done["answers of killed origins"] += 1
        await asyncio.sleep(0.1)
    finally:
        exchange.close()


async def repeat(kind):
    while time.monotonic() < end and len(wrong) < 20:
        try:
            await asyncio.wait_for(kind(), 60)
            done[kind.__name__] += 1
        except Exception as error:
            wrong.append(f"{kind.__name__}: {type(error).__name__}: {error}")
            await asyncio.sleep(1)


# ---- What happens to the proxy and the origins meanwhile.

async def reload_often():
    number = 0
    while time.monotonic() < end:
        await asyncio.sleep(5)
        number += 1
        write_configuration(number)
        proxy.send_signal(signal.SIGHUP)
        done["reloads"] += 1


async def kill_often():
    global mortal_origin
    while time.monotonic() < end:
        await asyncio.sleep(3 + random.random() * 4)
        mortal_origin.kill()
        await mortal_origin.wait()
        await asyncio.sleep(random.random())
        mortal_origin, _ = await start_origin(mortal)
        done["killed origins"] += 1


async def watch():
    while time.monotonic() < end:
        await asyncio.sleep(1)
        memory.append(resident())


def resident():
    with open(f"/proc/{proxy.pid}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))


def descriptors():
    return len(os.listdir(f"/proc/{proxy.pid}/fd"))


def write_configuration(number):
    path = os.path.join(folder, "pintle.yaml")
    with open(path + ".new", "w") as file:
        file.write(f"""version: 1
listen: ["127.0.0.1:0"]
log: {{format: json, exchanges: off, level: warning}}
cache: {{memory: 8MiB, disk: 40MiB, path: "{folder}/cache"}}
routes:
  - name: kept
    match: {{hosts: ["127.0.0.1"], paths: ["/kept/**"]}}
    cache: {{policy: protocol}}
    coalesce: {{}}
  - name: generation
    match: {{hosts: ["127.0.0.1"]}}
    connect: tunnel
    response: {{headers: {{set: {{X-Generation: "{number}"}}}}}}
""")
    os.rename(path + ".new", path)


async def start_origin(wanted):
    while True:
        origin = await asyncio.create_subprocess_exec(
            sys.executable, os.path.join(here, "soak_origin.py"), str(wanted), stdout=asyncio.subprocess.PIPE)
        line = await origin.stdout.readline()
        if line:
            return origin, int(line)
        # Somebody's connection had taken the port for a moment.
        await origin.wait()


async def until(condition, what):
    for _ in range(600):
        if condition():
            return
        await asyncio.sleep(0.1)
    wrong.append(what())


async def main():
    global proxy, port, steady, mortal, mortal_origin, memory
    write_configuration(0)
    steady_origin, steady = await start_origin(0)
    mortal_origin, mortal = await start_origin(0)
    port_file = os.path.join(folder, "port")
    log = os.path.join(folder, "pintle.log")
    with open(log, "wb") as file:
        proxy = await asyncio.create_subprocess_exec(
            program, "serve", "-c", os.path.join(folder, "pintle.yaml"), "--port-file", port_file, stderr=file,
            env=dict(os.environ, PINTLE_TURN_LIMIT="10ms"))
    memory = []
    try:
        while not os.path.exists(port_file):
            await asyncio.sleep(0.05)
        with open(port_file) as file:
            port = int(file.readline())
        # A first request on every loop, so that what stays open for good is open.
        for _ in range(50):
            exchange = await Exchange.open()
            await exchange.get(steady, 10)
            exchange.close()
        proxy.send_signal(signal.SIGHUP)
        await asyncio.sleep(2)
        before = descriptors()
        kinds = {
            keep_alive: 16, uploads: 4, tunnels: 8, upgrades: 8, slow_writers: 16, slow_readers: 4, aborted_uploads: 2,
            aborted_downloads: 2, malformed: 1, doomed: 4, kept: 8, kept_slowly: 2,
        }
        work = [repeat(kind) for kind, count in kinds.items() for _ in range(count)]
        await asyncio.gather(*work, reload_often(), kill_often(), watch())
        # Connections to origins are kept by the configuration that made them, and go with it.
        proxy.send_signal(signal.SIGHUP)
        await until(lambda: descriptors() <= before, lambda: f"{descriptors()} descriptors are open; {before} were")
        proxy.send_signal(signal.SIGTERM)
        if await proxy.wait() != 0:
            wrong.append(f"the proxy ended with {proxy.returncode}")
    finally:
        for process in (proxy, steady_origin, mortal_origin):
            if process.returncode is None:
                process.kill()
                await process.wait()
    with open(log) as file:
        for line in file:
            print(line, end="", file=sys.stderr)
            if '"message":"loop.slow_turn"' in line:
                wrong.append(f"a turn of a loop took too long: {line.strip()}")
    third = len(memory) // 3
    middle, last = sum(memory[third:2 * third]) / third, sum(memory[-third:]) / third
    for kind, count in sorted(done.items()):
        print(f"{kind:26} {count:9}")
    print(f"resident: {middle / 1024:.1f} MiB in the middle third, {last / 1024:.1f} in the last one, "
          f"{max(memory) / 1024:.1f} at most; {before} descriptors before and after")
    # A short run says nothing about growth.
    if minutes >= 5 and abs(last - middle) > middle * 0.05:
        wrong.append("the memory of the last third is not within 5 % of that of the middle third")
    for line in wrong:
        print(f"WRONG: {line}")
    sys.exit(1 if wrong else 0)


asyncio.run(main())
