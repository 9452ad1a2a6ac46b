# SPDX-License-Identifier: Apache-2.0
"""Hostile inputs against a running Pintle; `scripts/hostile` starts it.

usage: hostile.py PINTLE COUNT SEED FIRST FOLDER CORPUS

Every input is made of SEED and its number, FIRST to FIRST + COUNT - 1, so one that did harm can be had again alone. Fails
when the process ends, a request in order between them gets a wrong answer, a turn of a loop takes over 10 ms of processor
time, memory goes over its budget, or descriptors are left. What was under way then is saved in FOLDER/findings. Inputs
among which a turn was slow are sent once more, one at a time, to tell which it was.
"""

import asyncio
import collections
import json
import os
import random
import subprocess
import sys
import time

import hostile_inputs
import hostile_tls

program, count, seed, first, folder, corpus = sys.argv[1], *map(int, sys.argv[2:5]), sys.argv[5], sys.argv[6]
here = os.path.dirname(os.path.abspath(__file__))
# Connections to origins that a loop keeps.
KEPT = 4
MEMORY_LIMIT = 768 << 20
AT_ONCE = 128
CONTROL_EVERY = 100
# So many stretches of inputs with a slow turn are gone through again, one input at a time.
REPEATED = 6
# What takes longer is broken off: of a pipeline of requests, each may have to wait for an origin that is silent.
PATIENCE = 5
inputs = hostile_inputs.Inputs(seed, hostile_inputs.corpus(corpus))
findings, under_way, outcomes = [], {}, collections.defaultdict(collections.Counter)
slowest = collections.Counter()
stretches, culprits = [], []

PATIENT = {"timeout": "1s", "connect_timeout": "1s"}
SCHEMA = {
    "type": "object",
    "properties": {
        "a": {
            "type": "array",
            "items": {"type": ["number", "string"], "multipleOf": 0.5, "maxLength": 100},
            "uniqueItems": True,
        },
        "b": {"enum": [1, "x", None, {"c": 3}]},
    },
    "patternProperties": {"^c(a|b)*$": {"minimum": -9.5}},
    "additionalProperties": {"anyOf": [{"type": "string", "format": "date-time"}, {"$ref": "#"}, True]},
    "maxProperties": 5000,
}
API = {
    "openapi": "3.1.0",
    "info": {"title": "t", "version": "1"},
    "paths": {
        "/contract/{id}": {
            method: {
                "parameters": [
                    {"name": "id", "in": "path", "required": True, "schema": {"type": "integer", "maximum": 10**12}},
                    {"name": "limit", "in": "query", "schema": {"type": "number", "multipleOf": 0.1}},
                ],
                "requestBody": {
                    "content": {"application/json": {"schema": SCHEMA}, "application/x-www-form-urlencoded": {}}
                },
                "responses": {"200": {"description": "d", "content": {"application/json": {"schema": SCHEMA}}}},
            }
            for method in ("get", "post", "head")
        }
    },
}


def configuration(tls_port, extra):
    """Every serializer and every rule, each on a route of its own."""

    def route(name, **rules):
        return {"name": name, "match": {"paths": [f"/{name}/**"]}, **rules}

    def body(rule, **more):
        return {"response": {"status": ["200-299"], "body": rule, "max_body": "4MiB", **more}, "request": {**PATIENT}}

    def serialized(kind, **more):
        return {
            "request": {"serialize": kind, "parameters": {"source": "pintle", "tags": ["a", "b"]}, **PATIENT, **more}
        }

    routes = [
        route("tojson", **serialized("json", json={"sorted_keys": True, "pretty": True})),
        route("toform", **serialized("http")),
        route("toquery", **serialized("http", uri_methods=["GET", "HEAD", "DELETE", "POST"])),
        route("toplist", **serialized("plist")),
        route("tobinary", **serialized("plist", plist={"format": "binary"})),
        route("tomultipart", **serialized("multipart", string_encoding="iso-8859-1")),
        route("throttle", request={"throttle": {"packet": "64KiB", "delay": "1ms"}, **PATIENT}),
        route("contract", contract={"file": "api.json", "requests": True}, request={**PATIENT}),
        route("json", **body("json")),
        route("schema", **body({"json": {"schema": "schema.json"}})),
        route("xml", **body("xml")),
        route("plist", **body("plist")),
        route("image", **body({"image": {"max_pixels": 1 << 20}})),
        route("compound", **body(["json", "xml", "plist", "image"], structured_suffixes=True)),
        route("report", **body("json", on_violation="report")),
        route("nulls", **body("json", remove_nulls=True)),
        route(
            "placeholder",
            **body("image", on_violation="placeholder", placeholder={"file": "missing.json", "status": 200}),
        ),
        route(
            "any",
            request={
                "headers": {
                    "remove": ["Cookie", "X-1"],
                    "default": {"Accept": "a/b"},
                    "set": {"X-Set": "1"},
                    "add": {"X-Add": "2"},
                },
                **PATIENT,
            },
            response={"headers": {"remove": ["Set-Cookie", "Server"], "set": {"X-Out": "1"}}},
        ),
    ]
    tunnels = [
        {"name": "verified", "match": {"hosts": [f"127.0.0.0/8:{tls_port}"]}, "connect": "verify"},
        {"name": "rest", "request": PATIENT},
    ]
    # Nobody is impatient with requests in order, on however busy a machine.
    routes.append(route("control", request={"timeout": "60s"}))
    return {
        "version": 1,
        "listen": ["127.0.0.1:0", "https://127.0.0.1:0"],
        "listen_tls": {"certificate": "server.pem", "key": "leaf.key"},
        "engine": {"threads": 2, "idle_timeout": "1s", "idle_connections": KEPT},
        "log": {"format": "json", "exchanges": "exchanges.log"},
        "limits": {
            "body_buffer": "4MiB",
            "header_timeout": "1s",
            "idle_timeout": "1s",
            "body_timeout": "1s",
            "tunnel_idle_timeout": "2s",
        },
        "destinations": {"deny": ["*.denied.test", "169.254.0.0/16"]},
        "tunnels": {"verify_ttl": "60s"},
        "trust": {"default": {"roots": ["root.pem"], "allow_common_name": True}},
        "routes": routes + tunnels,
        **extra,
    }


class Program:
    """A Pintle with a configuration of its own, and what the system says of its process."""

    def __init__(self, name, settings):
        path = os.path.join(folder, f"{name}.yaml")
        settings["log"]["exchanges"] = f"{name}.exchanges"
        with open(path, "w") as file:
            json.dump(settings, file)
        self.name, self.log_path, self.read, self.has_ended = name, os.path.join(folder, f"{name}.log"), 0, False
        environment = {**os.environ, "PINTLE_TURN_LIMIT": "10ms", "HOME": folder, "XDG_STATE_HOME": folder}
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(
                [program, "serve", "--config", path, "--port-file", f"{path}.ports"],
                stdout=log,
                stderr=log,
                cwd=folder,
                env=environment,
            )
        while not os.path.exists(f"{path}.ports"):
            if self.process.poll() is not None:
                with open(self.log_path) as log:
                    sys.exit(f"{name} did not start: {log.read()}")
            time.sleep(0.05)
        with open(f"{path}.ports") as file:
            self.ports = [int(line) for line in file]
        self.descriptors = self.descriptor_count()

    def lines(self):
        """The whole lines of the log since the last look."""
        with open(self.log_path, "rb") as file:
            file.seek(self.read)
            text = file.read()
        whole = text[: text.rfind(b"\n") + 1]
        self.read += len(whole)
        found = []
        for line in whole.splitlines():
            try:
                found.append(json.loads(line))
            except ValueError:
                found.append({"message": line.decode("utf-8", "replace")})
        return found

    def slow_turns(self):
        """The turns that the program has called too long since the last look."""
        return [
            (line.get("doing", "?"), float(line.get("processor_ms", 0)))
            for line in self.lines()
            if line.get("message") == "loop.slow_turn"
        ]

    def sockets(self):
        """What is open, by kind: a state of TCP and the port of the other end, or the kind of a file."""
        states = {}
        with open(f"/proc/{self.process.pid}/net/tcp") as file:
            for line in list(file)[1:]:
                words = line.split()
                states[f"socket:[{words[9]}]"] = (
                    f"TCP {int(words[1][9:], 16)} to {int(words[2][9:], 16)} in state {words[3]}"
                )
        kinds = collections.Counter()
        for name in os.listdir(f"/proc/{self.process.pid}/fd"):
            try:
                target = os.readlink(f"/proc/{self.process.pid}/fd/{name}")
            except OSError:
                continue
            kinds[states.get(target, target.split("[")[0])] += 1
        return kinds

    def status(self, key):
        """A size of the process; 0 where it is about to end, and has no memory any more."""
        with open(f"/proc/{self.process.pid}/status") as file:
            return next((int(line.split()[1]) * 1024 for line in file if line.startswith(key + ":")), 0)

    def descriptor_count(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def judge(self):
        """Takes note of what has gone wrong since the last look."""
        if self.process.poll() is not None:
            if not self.has_ended:
                found(f"{self.name}: the process has ended with {self.process.returncode}; see {self.log_path}")
            self.has_ended = True
            return
        for doing, longest in self.slow_turns():
            # A machine that is lent out in shares counts what others take as the thread's time: `repeat` tells which is which.
            slowest[doing] = max(slowest[doing], longest)
        peak = self.status("VmHWM")
        if peak > MEMORY_LIMIT:
            found(f"{self.name}: {peak >> 20} MiB of memory")


def found(sentence):
    findings.append(sentence)
    if len(findings) > 50:
        return
    place = os.path.join(folder, "findings", f"{len(findings):03}")
    os.makedirs(place)
    with open(os.path.join(place, "what"), "w") as file:
        file.write(f"{sentence}\nseed {seed}, under way: {sorted(under_way)}\n")
    for number, (kind, data) in under_way.items():
        with open(os.path.join(place, f"{number}-{kind}"), "wb") as file:
            file.write(data)
    print(
        f"hostile: {sentence} (inputs {min(under_way, default=0)} to {max(under_way, default=0)})",
        file=sys.stderr,
        flush=True,
    )


class Client(asyncio.Protocol):
    """Sends bytes, and waits for the end of what comes back."""

    def __init__(self, pieces, ends):
        self.pieces, self.ends, self.answer = pieces, ends, b""
        self.done = asyncio.get_running_loop().create_future()

    def connection_made(self, transport):
        self.transport = transport
        self.transport.write(self.pieces[0])
        if len(self.pieces) == 1 and self.ends:
            self.finish()

    def data_received(self, data):
        is_first = not self.answer
        self.answer = (self.answer + data)[:4096]
        if is_first and len(self.pieces) > 1:
            # What belongs into a tunnel, once it is open.
            if self.answer.startswith(b"HTTP/1.1 200"):
                self.transport.write(self.pieces[1])
                self.finish()
            else:
                self.transport.close()

    def finish(self):
        try:
            self.transport.write_eof()
        except OSError:
            # The connection is broken already, which shows in a moment.
            pass

    def connection_lost(self, error):
        self.transport = None
        if not self.done.done():
            self.done.set_result(self.answer)


async def send(port, pieces, ends=True, patience=PATIENCE):
    loop = asyncio.get_running_loop()
    transport, client = await loop.create_connection(lambda: Client(pieces, ends), "127.0.0.1", port)
    try:
        return await asyncio.wait_for(client.done, patience)
    finally:
        # One that is lost already has no loop any more.
        if client.transport:
            transport.abort()


def outcome(answer):
    if answer.startswith(b"HTTP/1.1 "):
        return answer[9:12].decode("latin-1")
    return "closed" if not answer else "bytes"


def address(number):
    """127.X.Y.Z that the TLS origin takes for the number; the echo's network is left to the echo."""
    number = number % (180 << 16)
    return b"127.%d.%d.%d" % (number >> 16, number >> 8 & 255, number & 255)


def caching(configuration):
    """The same, where answers are kept and equal requests become one."""
    for rules in configuration["routes"]:
        rules.update(cache={"policy": "protocol"}, coalesce={"max_active": 64})
    return {**configuration, "cache": {"memory": "4MiB", "disk": "8MiB", "path": "cache"}}


class Run:
    def __init__(self, programs, origin, tls_origin):
        self.programs, self.origin, self.tls_origin = programs, origin, tls_origin
        self.next, self.end = first, first + count

    def make(self, number):
        """The kind of an input, its bytes, and where they go."""
        rng = inputs.at(number)
        kind = rng.random()
        main, other, guarded, caching = self.programs
        target = {0: other, 5: guarded, 3: caching, 8: caching}.get(number % 10, main)
        if target is guarded:
            return "guarded", [inputs.guarded(rng, self.origin, number)], target.ports[0]
        if kind < 0.36:
            return "request", [inputs.request(rng, self.origin, number)], target.ports[0]
        if kind < 0.62:
            return "body", [inputs.bodied(rng, self.origin, number)], target.ports[0]
        if kind < 0.84:
            return "response", [inputs.plain(rng, self.origin, number)], target.ports[0]
        echo = b"127.200.0.%d:%d" % (1 + number % 8, self.tls_origin)
        connect = b"CONNECT %b HTTP/1.1\r\nHost: a\r\n\r\n"
        if kind < 0.90:
            hello = hostile_tls.hostile_hello(rng, inputs, b"localhost")
            if rng.random() < 0.3:
                return "hello", [hello], main.ports[1]
            return "hello", [connect % (b"localhost:%d" % self.origin), hello], main.ports[0]
        if kind < 0.95:
            # The tunnel is verified, and then its server sends something else.
            marked = hostile_tls.record(hostile_tls.hello(rng, None, b"HOSTILE!" + number.to_bytes(8, "big")))
            return "flight", [connect % echo, marked], main.ports[0]
        number = b"%b:%d" % (address(number), self.tls_origin)
        if kind < 0.98:
            return "chain", [connect % number, b"x"], main.ports[0]
        return "chain", [b"GET https://%b/ HTTP/1.1\r\nHost: a\r\n\r\n" % number], main.ports[0]

    async def work(self):
        while self.next < self.end and not self.is_over:
            number = self.next
            self.next += 1
            kind, pieces, port = self.make(number)
            under_way[number] = kind, b"".join(pieces)
            try:
                outcomes[kind][outcome(await send(port, pieces))] += 1
            except TimeoutError:
                outcomes[kind]["no end"] += 1
            except OSError:
                outcomes[kind]["broken"] += 1
                # Saved while what may have ended the process is still under way.
                if any(program.process.poll() is not None and not program.has_ended for program in self.programs):
                    await self.control(number)
            finally:
                del under_way[number]
            if number % CONTROL_EVERY == 0:
                await self.control(number)

    @property
    def is_over(self):
        """Whether there is nothing to be learned from more inputs."""
        return len(findings) >= 200 or any(program.process.poll() is not None for program in self.programs)

    async def control(self, number):
        slow = sum(slowest.values())
        for program in self.programs:
            program.judge()
        if sum(slowest.values()) > slow:
            stretches.append(range(max(first, number - CONTROL_EVERY - AT_ONCE), self.next))
        if self.is_over:
            return
        main = self.programs[0]
        request = b"GET http://127.0.0.1:%d/control/%d HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n" % (
            self.origin,
            number,
        )
        try:
            # A machine without a processor to spare may not send it within the proxy's idle_timeout, and is hung up on.
            for _ in range(3):
                answer = await send(main.ports[0], [request], ends=False, patience=60)
                if answer:
                    break
        except (TimeoutError, OSError) as error:
            return found(f"{main.name}: a request in order failed: {error!r}")
        if not answer.startswith(b"HTTP/1.1 200") or not answer.endswith(b"\r\n\r\n%d" % number):
            found(f"{main.name}: a request in order got {answer[:200]!r}")

    async def run(self):
        await asyncio.gather(*(self.work() for _ in range(AT_ONCE)))
        for number in sorted({number for stretch in stretches[:REPEATED] for number in stretch}):
            await self.repeat(number)

    async def repeat(self, number):
        """Sends an input alone, three times, to see whether a turn is slow because of it each time."""
        if any(program.process.poll() is not None for program in self.programs):
            return
        kind, pieces, port = self.make(number)
        least = float("inf")
        for _ in range(3):
            for program in self.programs:
                program.slow_turns()
            try:
                await send(port, pieces)
            except (TimeoutError, OSError):
                pass
            # The line is written behind the turn, and the answer may come before it.
            await asyncio.sleep(0.005)
            turns = [longest for program in self.programs for _, longest in program.slow_turns()]
            if not turns:
                return
            least = min(least, max(turns))
        culprits.append((least, number, kind, pieces[0][:90]))
        found(f"a turn of {least:.0f} ms by input {number}, each of three times")


def settle(program):
    """Waits for the descriptors of what was under way to be closed."""
    for _ in range(150):
        if program.process.poll() is not None or program.descriptor_count() <= program.descriptors + 2 * KEPT:
            return
        time.sleep(0.1)
    found(
        f"{program.name}: {program.descriptor_count()} descriptors are open, {program.descriptors} were at first: "
        f"{program.sockets().most_common(12)}"
    )


def main():
    hostile_tls.mint(folder)
    for name, content in (
        ("schema.json", json.dumps(SCHEMA)),
        ("api.json", json.dumps(API)),
        ("missing.json", "{}"),
        ("users", f"someone:{hostile_inputs.HASH}\n"),
    ):
        with open(os.path.join(folder, name), "w") as file:
            file.write(content)
    os.makedirs(os.path.join(folder, "findings"), exist_ok=True)
    origin = subprocess.Popen(
        [sys.executable, os.path.join(here, "hostile_origin.py"), str(seed), corpus, folder], stdout=subprocess.PIPE
    )
    programs = []
    try:
        port, tls_port = map(int, origin.stdout.readline().split())
        programs.append(Program("enforcing", configuration(tls_port, {})))
        programs.append(
            Program(
                "reporting",
                configuration(
                    tls_port,
                    {
                        "enforcement": "report",
                        "destinations": {
                            "default": "deny",
                            "allow": ["127.0.0.0/8", "localhost"],
                            "connect_ports": [443, tls_port],
                        },
                    },
                ),
            )
        )
        programs.append(
            Program("guarded", configuration(tls_port, {"clients": {"basic_auth": {"realm": "r", "users": "users"}}}))
        )
        programs.append(Program("caching", caching(configuration(tls_port, {}))))
        began = time.monotonic()
        asyncio.run(Run(programs, port, tls_port).run())
        seconds = time.monotonic() - began
        for program in programs:
            settle(program)
            program.judge()
        report(programs, seconds)
    finally:
        for process in [program.process for program in programs] + [origin]:
            process.terminate()
            process.wait()
    sys.exit(1 if findings else 0)


def report(programs, seconds):
    print(f"{count} inputs with seed {seed} in {seconds:.0f} s, {count / max(seconds, 0.001):.0f} a second")
    for kind, found in sorted(outcomes.items()):
        print(
            f"  {kind:<9} {sum(found.values()):>7}  "
            + ", ".join(f"{name} {number}" for name, number in found.most_common(9))
        )
    for program in programs:
        if program.process.poll() is None:
            print(
                f"  {program.name}: {program.status('VmHWM') >> 20} MiB at most, {program.status('VmRSS') >> 20} MiB now, "
                f"{program.descriptor_count()} descriptors"
            )
    for doing, longest in slowest.most_common():
        print(f"  turns of up to {longest:.0f} ms, once, with others under way: {doing}")
    for longest, number, kind, start in sorted(culprits, reverse=True)[:40]:
        print(f"  input {number} alone, {kind}: {longest:.0f} ms: {start!r}")
    if findings:
        print(f"{len(findings)} findings; what was under way is in {folder}/findings")
        print(f"to send one input again: scripts/hostile 1 {seed} NUMBER")


random.seed(seed)
main()
