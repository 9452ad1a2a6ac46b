# SPDX-License-Identifier: Apache-2.0
"""A covering array over configuration keys, with traffic; `scripts/combinations` starts it.

usage: combinations.py PINTLE ROWS|all SEED SCHEMA [ROW]
"""

import atexit
import concurrent.futures
import itertools
import json
import math
import os
import re
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import time

import combination_array
import combination_oracle as oracle
import combination_traffic as traffic
from combination_fixture import Fixture
from combination_keys import LEFT, Mark, keys, made, marks
from combination_names import NamedRules

program, rows, seed = sys.argv[1], sys.argv[2], int(sys.argv[3])
alone = int(sys.argv[5]) if len(sys.argv) > 5 else None
# Keys in a row: with more of them a rule that denies hides what another would do.
WIDTH, BATCH, TRIPLE_ROWS, ROUNDS, CLIENTS = 40, 4, 400, 3, 6

with open(sys.argv[4]) as file:
    schema = json.load(file)
base = tempfile.mkdtemp(prefix="pintle-combinations-")
atexit.register(shutil.rmtree, base, True)
# So that the origins and the parent end with the script.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
fixture = Fixture(program, base)
atexit.register(fixture.close)
every = marks(keys(schema, made(fixture.places)))
# Tunnels, and the requests in them; the first one's is in clear text.
PLACES = {"first": f"first.localhost:{fixture.plain}", **{name: f"{name}.localhost:{port}" for name, port in fixture.secure.items()}}
EVERY = list(itertools.product(PLACES, traffic.CLIENTS))
CONNECTS = {(name, client): traffic.Request("CONNECT", PLACES[name], f"{name}.localhost", client=client) for name, client in EVERY}
INNER = {(name, client): traffic.Request("GET", f"{'https' if name in fixture.secure else 'http'}://{PLACES[name]}/page",
                                         PLACES[name], client=client) for name, client in EVERY}
# What `upstream_proxy: env` takes.
environment = {**os.environ, "http_proxy": fixture.places.parent, "https_proxy": fixture.places.parent}


def checked(folder: str, row: list[Mark]) -> str | None:
    """What `check` refuses of a row."""
    with open(folder + "/p.yaml", "w") as file:
        file.write(fixture.document(row))
    done = subprocess.run([program, "check", "-c", "p.yaml"], cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode not in (0, 3):
        return f"check ends with {done.returncode}"
    return done.stdout + done.stderr if done.returncode else None


def blamed(complaint: str, row: list[Mark]) -> Mark:
    """A mark that the complaint names, else the last one."""
    def place(mark: Mark) -> str:
        return {"first": "routes[0]", "second": "routes[1]"}.get(mark.owner, "") + re.sub(
            "^route", "", re.sub("^trust", "trust.t", mark.key))
    for line in complaint.splitlines():
        if found := re.match(r"p\.yaml:\d+:\d+: ([^ ]+): ", line):
            if not line.split(": ")[1].startswith(("note", "warning")):
                for mark in row:
                    if (found.group(1) + ".").startswith(place(mark) + ".") or found.group(1).startswith(place(mark) + "["):
                        return mark
                for mark in row:
                    if place(mark).startswith(found.group(1) + "."):
                        return mark
    return row[-1]


def accepted(row: list[Mark]) -> list[Mark]:
    """What is left of a row when each key that is refused is taken out."""
    row = list(row)
    with tempfile.TemporaryDirectory(dir=base) as folder:
        while row and (complaint := checked(folder, row)):
            row.remove(blamed(complaint, row))
    return row


class Trial:
    """One configuration, which `check` accepts, in the release program."""

    def __init__(self, folder: str, row: list[Mark]) -> None:
        self.folder, self.row = folder, row
        self.keys = {mark.key for mark in row}
        document = fixture.document(row)
        self.rules = NamedRules(document)
        # By method, target, host and names, as records have them: what was promised, and the status that a client saw.
        self.seen: dict[tuple, list] = {}
        with open(folder + "/p.yaml", "w") as file:
            file.write(document)

    def has(self, key: str) -> bool:
        return any(one.startswith(key) for one in self.keys)

    def run(self) -> str | None:
        """Starts the program, sends all traffic, and stops it; what went wrong."""
        listen = ["--listen", "127.0.0.1:0"] + (["--listen", "https://127.0.0.1:0"] if self.has("listen_tls") else [])
        with open(self.folder + "/log", "w+") as log:
            process = subprocess.Popen([program, "serve", "-c", "p.yaml", *listen, "--port-file", "port"], cwd=self.folder,
                                       env={**environment, "XDG_STATE_HOME": self.folder + "/state"}, stdout=log, stderr=log)
            try:
                wrong = self.spoken(process)
                process.send_signal(signal.SIGTERM)
                try:
                    if process.wait(40):
                        wrong = f"it ended with {process.returncode}"
                except subprocess.TimeoutExpired:
                    wrong = "it does not stop"
            finally:
                process.kill()
                process.wait()
            log.seek(0)
            text = log.read()
        if "BUG:" in text or "Fatal error" in text:
            wrong = "a line of a bug: " + text[-500:]
        if '"message":"stopped"' in text and '"clean":true' not in text:
            wrong = wrong or "it did not drain: " + text[-300:]
        return wrong or oracle.logged(text, self.seen)

    def opened(self, process: subprocess.Popen) -> list[traffic.Door] | str:
        end = time.monotonic() + 20
        while not (os.path.exists(self.folder + "/port") and os.path.getsize(self.folder + "/port")):
            if process.poll() is not None or time.monotonic() > end:
                return f"it did not start: {process.returncode}"
            time.sleep(0.01)
        context = ssl.create_default_context(cafile=base + "/ca.pem")
        with open(self.folder + "/port") as file:
            plain, *secure = [int(line) for line in file]
        return [traffic.Door(plain), *(traffic.Door(port, context) for port in secure)]

    def promise(self, those: list[traffic.Request], pool: concurrent.futures.Executor) -> str | None:
        """Asks `explain` about requests; its complaint."""
        those = list(dict.fromkeys(those))
        told = list(pool.map(lambda one: oracle.promised(program, self.folder, environment, one, self.row, self.rules), those))
        self.promises = dict(zip(those, told))
        return next((one for one in told if isinstance(one, str)), None)

    def spoken(self, process: subprocess.Popen) -> str | None:
        self.doors = self.opened(process)
        if isinstance(self.doors, str):
            return self.doors
        plain = traffic.requests("include" in self.keys)
        with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
            complaint = self.promise([*plain, *CONNECTS.values(), *INNER.values()], pool)
            try:
                return complaint or self.in_turn(plain) or self.at_once(plain, pool)
            except OSError as error:
                return f"no connection: {error!r}"

    def in_turn(self, plain: list[traffic.Request]) -> str | None:
        """Sends requests one after the other; the first fault."""
        found = (self.asked(one, door) for door, those in zip(self.doors, (plain, plain[:10])) for one in those)
        return next(filter(None, itertools.chain(found, (self.stranger(one) for one in plain[:1]))), None)

    def at_once(self, plain: list[traffic.Request], pool: concurrent.futures.Executor) -> str | None:
        """Sends tunnels and requests at the same time, and one request whose client leaves; the first fault."""
        traffic.abandon(self.doors[0], plain[0])
        tunnels = pool.map(self.tunnelled, *zip(*((*place, version) for place in INNER for version in ("--http1.1", "--http2"))))
        crowd = pool.map(lambda one: self.asked(one, crowded=True), [*CONNECTS.values(), *traffic.at_once(plain)])
        return next(filter(None, [*self.streamed(traffic.multiplexed(plain)), *tunnels, *crowd]), None)

    def streamed(self, those: list[traffic.Request]) -> list[str | None]:
        """Sends requests by HTTP/2, if there is a listener with TLS."""
        found = []
        for door in self.doors[1:]:
            for request, answer in zip(those, traffic.streams(door, base, those, self.rules.has_users)):
                self.note(request, self.promises[request], None if isinstance(answer, str) else answer.status)
                found.append(oracle.compared(request, self.promises[request], answer, True))
        return found

    def asked(self, request: traffic.Request, door: traffic.Door | None = None, crowded: bool = False) -> str | None:
        """Sends a request; how its answer differs from what was promised."""
        # The connection before may not be closed yet, and be one too many for a small limit.
        for patience in (0,) if crowded else (0.1, 0.2, 0):
            answer = traffic.talk(door or self.doors[0], request, self.more(request))
            self.note(request, self.promises[request], None if isinstance(answer, str) else answer.status)
            if isinstance(answer, str) or answer.status != 503:
                break
            time.sleep(patience)
        return oracle.compared(request, self.promises[request], answer, crowded)

    def more(self, request: traffic.Request) -> tuple[str, ...]:
        """The field that names the client of a request."""
        return request.client.field(self.rules.has_users)

    def tunnelled(self, name: str, client: traffic.Client, version: str) -> str | None:
        connect, inner = CONNECTS[name, client], INNER[name, client]
        if name in fixture.secure:
            got = traffic.tunnelled(self.doors[0], base, inner.target, client.login(self.rules.has_users), version)
        else:
            got = traffic.in_clear(self.doors[0], connect, inner, self.more(connect))
        self.note(connect, self.promises[connect], got.connect)
        return oracle.tunnel_fault(self.promises[connect], self.promises[inner], inner, got)

    def stranger(self, request: traffic.Request) -> str | None:
        """A client without a password where there must be one."""
        if not self.rules.has_users:
            return None
        answer = traffic.talk(self.doors[0], request)
        self.note(request._replace(client=traffic.Client(None)), None, 407)
        return None if isinstance(answer, traffic.Answer) and answer.problem == "proxy-auth-required" else f"without a password: {answer}"

    def note(self, request: traffic.Request, promise: oracle.Promise | None, status: int | None) -> None:
        """Keeps what the log must say of a request."""
        names = self.rules.identity(request.client)
        self.seen.setdefault((request.method, request.target, request.host, *names), []).append((promise, status))


def tried(row: list[Mark]) -> str | None:
    with tempfile.TemporaryDirectory(dir=base) as folder:
        return Trial(folder, row).run()


def fails(row: list[Mark]) -> bool:
    with tempfile.TemporaryDirectory(dir=base) as folder:
        if checked(folder, row):
            return False
    return tried(row) is not None


def shrunk(row: list[Mark]) -> list[Mark]:
    """As few keys as still fail: halves are left out first, then ever smaller parts."""
    size = len(row) // 2
    while size:
        at = 0
        while at < len(row):
            less = row[:at] + row[at + size:]
            if fails(less):
                row = less
            else:
                at += size
        size //= 2
    return row


class Run:
    def __init__(self) -> None:
        self.number = self.failed = 0
        self.start = time.monotonic()
        # Faults that were shown with few keys.
        self.known: set[str] = set()

    def row(self, numbered: tuple[int, list[Mark]]) -> tuple[list[Mark], str | None]:
        ran = accepted(numbered[1])
        return ran, tried(ran) if alone in (None, numbered[0]) else None

    def batch(self, pool: concurrent.futures.Executor, those: list[list[Mark]]) -> list[list[Mark]]:
        if alone is not None and self.number > alone:
            print(f"row {alone}: {'failed' if self.failed else 'passed'}")
            sys.exit(1 if self.failed else 0)
        numbered = list(enumerate(those, self.number))
        self.number += len(those)
        found = []
        for (number, _), (ran, wrong) in zip(numbered, pool.map(self.row, numbered)):
            found.append(ran)
            if wrong:
                self.failed += 1
                self.show(number, ran, wrong)
        if self.number // 100 > (self.number - len(those)) // 100:
            print(f"{self.number} configurations after {time.monotonic() - self.start:.0f} s", flush=True)
        return found

    def show(self, number: int, row: list[Mark], wrong: str) -> None:
        """Prints a failure, and its keys unless one like it was shown before: to find them takes many runs."""
        print(f"FAILED after {time.monotonic() - self.start:.0f} s: {wrong}\nagain: scripts/combinations {rows} {seed} {number}",
              flush=True)
        kind = re.sub(r"\d+", "", wrong.partition("\n")[0])
        if kind not in self.known:
            self.known.add(kind)
            for mark in shrunk(row):
                print(f"  {mark.owner} {mark.key}: {mark.value}", flush=True)


def covering(run: Run, array: combination_array.Pairs, pool: concurrent.futures.Executor, bound: float) -> None:
    """Runs rows until every pair was run or refused, or `bound` rows were made."""
    for _ in range(ROUNDS):
        array.retry()
        while run.number < bound and array.left():
            those = []
            while len(those) < BATCH and (row := array.row()):
                those.append(row)
                # The next rows of the batch look for other pairs.
                array.plan(row)
            for row, ran in zip(those, run.batch(pool, those)):
                array.close(row, ran)
        if array.left():
            break
    if run.number >= bound:
        return
    made_rows, triples = combination_array.triples(every, seed, WIDTH, TRIPLE_ROWS)
    print(f"{len(made_rows)} more configurations with {triples} triples", flush=True)
    for at in range(0, len(made_rows), BATCH):
        for row, ran in zip(made_rows[at:], run.batch(pool, made_rows[at:at + BATCH])):
            array.close(row, ran)


def main() -> int:
    array = combination_array.Pairs(every, seed, WIDTH)
    run = Run()
    print(f"seed {seed}, {len(every)} values, {array.total} pairs")
    for key, reason in LEFT.items():
        print(f"left out: {key} {reason}")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        covering(run, array, pool, math.inf if rows == "all" else int(rows))
    print(f"{run.number} configurations; of {array.total} pairs {len(array.ran)} ran, {array.conflicts()} were only ever refused, "
          f"{array.left()} are left")
    print(f"{run.number - run.failed} passed, {run.failed} failed")
    return 1 if run.failed else 0


sys.exit(main())
