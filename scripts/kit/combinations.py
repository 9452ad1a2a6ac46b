# SPDX-License-Identifier: Apache-2.0
"""A covering array over configuration keys, with traffic; `scripts/combinations` starts it.

usage: combinations.py PINTLE ROWS|all SEED SCHEMA [ROW]
"""

import atexit
import concurrent.futures
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import combination_array
import combination_traffic as traffic
from combination_fixture import Fixture
from combination_keys import LEFT, Mark, keys, made, marks

program, rows, seed = sys.argv[1], sys.argv[2], int(sys.argv[3])
alone = int(sys.argv[5]) if len(sys.argv) > 5 else None
# Keys in a row: with more of them a rule that denies hides what another would do.
WIDTH, BATCH, TRIPLE_ROWS, ROUNDS = 40, 4, 400, 3

with open(sys.argv[4]) as file:
    schema = json.load(file)
base = tempfile.mkdtemp(prefix="pintle-combinations-")
atexit.register(shutil.rmtree, base, True)
fixture = Fixture(base)
every = marks(keys(schema, made(base, fixture.pin)))


def checked(folder: str, row: list[Mark]) -> str | None:
    """What `check` refuses of a row."""
    with open(folder + "/p.yaml", "w") as file:
        file.write(fixture.document(row))
    done = subprocess.run([program, "check", "-c", "p.yaml"], cwd=folder, capture_output=True, text=True)
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


def accepted(folder: str, row: list[Mark]) -> list[Mark]:
    """What is left of a row when each key that is refused is taken out."""
    row = list(row)
    while row and (complaint := checked(folder, row)):
        row.remove(blamed(complaint, row))
    return row


def tried(row: list[Mark]) -> str | None:
    """Starts the program with a row that `check` accepts; what went wrong."""
    with tempfile.TemporaryDirectory(dir=base) as folder:
        if checked(folder, row):
            return None
        log = open(folder + "/log", "w+")
        process = subprocess.Popen([program, "serve", "-c", "p.yaml", "--listen", "127.0.0.1:0", "--port-file", "port"],
                                   cwd=folder, env={**os.environ, "XDG_STATE_HOME": folder + "/state"}, stdout=log, stderr=log)
        promises: dict = {}
        try:
            wrong = spoken(folder, process, promises)
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
        return wrong or traffic.logged(text, promises)


def spoken(folder: str, process: subprocess.Popen, promises: dict) -> str | None:
    end = time.monotonic() + 20
    while not (os.path.exists(folder + "/port") and os.path.getsize(folder + "/port")):
        if process.poll() is not None or time.monotonic() > end:
            return f"it did not start: {process.returncode}"
        time.sleep(0.01)
    with open(folder + "/port") as file:
        port = int(file.read().split()[0].rsplit(":", 1)[-1])
    connects = [traffic.Request("CONNECT", f"{name}.localhost:{fixture.secure}", f"{name}.localhost")
                for name in ("second", "third")]
    requests = [*traffic.requests(), *connects]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        told = list(pool.map(lambda one: traffic.promised(program, folder, one), dict.fromkeys(requests)))
    told_of = dict(zip(dict.fromkeys(requests), told))
    wrong = None
    try:
        for request in requests:
            promise = told_of[request]
            if isinstance(promise, str):
                return promise
            promises.setdefault((request.method, request.target, request.host), []).append(promise)
            wrong = wrong or traffic.compared(request, promise, traffic.talk(port, request))
        traffic.abandon(port, requests[0])
        for version in ("--http1.1", "--http2"):
            traffic.https(port, fixture.secure, base, version)
    except OSError as error:
        wrong = wrong or f"no connection: {error}"
    return wrong


def shrunk(row: list[Mark]) -> list[Mark]:
    """As few keys as still fail: halves are left out first, then ever smaller parts."""
    size = len(row) // 2
    while size:
        at = 0
        while at < len(row):
            less = row[:at] + row[at + size:]
            if tried(less):
                row = less
            else:
                at += size
        size //= 2
    return row


class Run:
    def __init__(self) -> None:
        self.number = self.failed = 0

    def row(self, numbered: tuple[int, list[Mark]]) -> tuple[list[Mark], str | None]:
        with tempfile.TemporaryDirectory(dir=base) as folder:
            ran = accepted(folder, numbered[1])
        return ran, tried(ran) if alone in (None, numbered[0]) else None

    def batch(self, pool: concurrent.futures.Executor, those: list[list[Mark]]) -> list[list[Mark]]:
        numbered = list(enumerate(those, self.number))
        self.number += len(those)
        found = []
        for (number, _), (ran, wrong) in zip(numbered, pool.map(self.row, numbered)):
            found.append(ran)
            if wrong:
                self.failed += 1
                print(f"FAILED: {wrong}\nagain: scripts/combinations {rows} {seed} {number}", flush=True)
                for mark in shrunk(ran):
                    print(f"  {mark.owner} {mark.key}: {mark.value}", flush=True)
        return found


def main() -> int:
    array = combination_array.Pairs(every, seed, WIDTH)
    bound = None if rows == "all" else int(rows)
    run = Run()
    print(f"seed {seed}, {len(every)} values, {array.total} pairs")
    for key, reason in LEFT.items():
        print(f"left out: {key} {reason}")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for _ in range(ROUNDS):
            array.retry()
            while (bound is None or run.number < bound) and array.left():
                those = []
                while len(those) < BATCH and (row := array.row()):
                    those.append(row)
                    # The next rows of the batch look for other pairs.
                    array.plan(row)
                for row, ran in zip(those, run.batch(pool, those)):
                    array.close(row, ran)
            if array.left():
                break
        if bound is None:
            made_rows = combination_array.triples(every, seed, WIDTH, TRIPLE_ROWS)
            for at in range(0, len(made_rows), BATCH):
                for row, ran in zip(made_rows[at:], run.batch(pool, made_rows[at:at + BATCH])):
                    array.close(row, ran)
    print(f"{run.number} configurations; of {array.total} pairs {len(array.ran)} ran, {array.conflicts()} were only ever refused, "
          f"{array.left()} are left")
    print(f"{run.number - run.failed} passed, {run.failed} failed")
    return 1 if run.failed else 0


sys.exit(main())
