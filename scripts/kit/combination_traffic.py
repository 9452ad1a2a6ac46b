# SPDX-License-Identifier: Apache-2.0
"""Traffic of every kind through one configuration, compared with what `explain` promises and what the log says."""

import json
import os
import re
import socket
import subprocess
from typing import NamedTuple


class Request(NamedTuple):
    method: str
    target: str
    host: str
    fields: tuple[str, ...] = ()
    body: bytes = b""

    def head(self) -> bytes:
        link = () if any(one.startswith("Connection") for one in self.fields) else ("Connection: close",)
        lines = (f"{self.method} {self.target} HTTP/1.1", f"Host: {self.host}", *link, *self.fields, "", "")
        return "\r\n".join(lines).encode()


class Promise(NamedTuple):
    route: str | None
    status: int | None
    open: bool
    """The destination is judged only by the address that is dialled."""
    trust: str | None
    rule: str | None


COOKIE = "Cookie: a=b"
CHUNKED = ("Content-Type: application/json", "Transfer-Encoding: chunked", "Expect: 100-continue")


def requests() -> list[Request]:
    found = []
    for name in ("first", "second", "third"):
        host = name + ".localhost"
        at = f"http://{host}"
        found += [Request("GET", at + "/page", host), Request("GET", at + "/page", host, ("X-Combined: 1", COOKIE)),
                  Request("HEAD", at + "/page", host), Request("GET", at + "/redirect", host), Request("GET", at + "/error", host),
                  Request("GET", at + "/image", host), Request("GET", "/page", host),
                  Request("POST", at + "/page", host, ("Content-Type: application/json", "Content-Length: 7"), b'{"a":1}'),
                  Request("POST", at + "/redirect", host, CHUNKED, b'7\r\n{"a":1}\r\n0\r\n\r\n'),
                  Request("GET", at + "/page", host, ("Connection: close, upgrade", "Upgrade: websocket"))]
        if name != "third":
            found += [Request("GET", at + "/slow", host), Request("GET", at + "/uncached", host),
                      Request("GET", at + "/uncached", host), Request("GET", at + "/page", host, ("Range: bytes=0-2",))]
    return found


def promised(program: str, folder: str, request: Request) -> Promise | str:
    """What `explain` says of a request, or its complaint."""
    # Credentials are taken from the environment alone.
    fields = [f"--header={field.replace(COOKIE, 'Cookie:env:COMBINED')}" for field in (*request.fields, f"Host: {request.host}")]
    if request.method == "CONNECT":
        fields = []
    done = subprocess.run([program, "explain", "-c", "p.yaml", *fields, request.method, request.target], cwd=folder,
                          capture_output=True, text=True, env={**os.environ, "COMBINED": "a=b"})
    if done.returncode:
        return f"explain of {request.method} {request.target} ends with {done.returncode}: {done.stdout}{done.stderr}"

    def said(pattern: str) -> str | None:
        found = re.search(pattern, done.stdout, re.MULTILINE)
        return found.group(1) if found else None

    status = said(r"^answer +(\d{3})")
    return Promise(said(r'^route +routes\[\d+\] "([^"]*)"'), int(status) if status else None,
                   " is judged " in done.stdout, said(r"^trust +([a-z]+), by"), said(r"^destination .* by (destinations\..*)$"))


def talk(port: int, request: Request, patience: float = 20) -> int | str:
    """The status of an answer, or what is wrong with it."""
    with socket.create_connection(("127.0.0.1", port), 5) as link:
        link.settimeout(patience)
        answer = b""
        try:
            link.sendall(request.head() + request.body)
            while piece := link.recv(65536):
                answer += piece
                if request.method == "CONNECT" or answer.startswith(b"HTTP/1.1 101"):
                    break
        except ConnectionResetError:
            pass
        except TimeoutError:
            return "no answer in time"
    while answer.startswith(b"HTTP/1.1 100"):
        answer = answer.partition(b"\r\n\r\n")[2]
    found = re.match(rb"HTTP/1\.1 (\d{3})", answer)
    if not found:
        return f"no answer: {answer[:100]!r}"
    return int(found.group(1))


def abandon(port: int, request: Request) -> None:
    """A client that leaves at once."""
    with socket.create_connection(("127.0.0.1", port), 5) as link:
        link.sendall(request.head())


def https(port: int, secure: int, folder: str, version: str) -> None:
    """A request in a tunnel, which the third route opens; only that the program lives is asked of it."""
    for name in ("second", "third"):
        subprocess.run(["curl", "-s", "-o", "/dev/null", "-m", "20", version, "--cacert", folder + "/ca.pem", "-x",
                        f"http://127.0.0.1:{port}", f"https://{name}.localhost:{secure}/page"], capture_output=True)


def compared(request: Request, promise: Promise, status: int | str) -> str | None:
    about = f"{request.method} {request.target}"
    if isinstance(status, str):
        return f"{about}: {status}"
    if promise.status and promise.status != status:
        return f"{about}: {status}, but explain promises {promise.status}"
    return None


def logged(log: str, promises: dict[tuple[str, str, str], list[Promise]]) -> str | None:
    """Compares the records of exchanges with what was promised for them."""
    for line in log.splitlines():
        if not line.startswith("{"):
            continue
        record = json.loads(line)
        place = record.get("host", "").split(":")[0]
        those = promises.get((record.get("method", ""), record.get("url", ""), place))
        if "decision" not in record or not those or record.get("status") in (None, 400, 408, 503):
            continue
        wrong = [difference(record, promise) for promise in those]
        if all(wrong):
            return f"{record['method']} {record['url']}: {wrong[0]}: {line}"
    return None


def difference(record: dict, promise: Promise) -> str | None:
    if record.get("route") != promise.route:
        return f"route {record.get('route')}, but explain promises {promise.route}"
    if record["decision"] == "deny" and not promise.status and not promise.open:
        return "denied, but explain promises no denial"
    if record["decision"] == "allow" and promise.status == 403:
        return "allowed, but explain promises 403"
    if record.get("trust") and promise.trust and record["trust"] != promise.trust:
        return f"trust {record['trust']}, but explain promises {promise.trust}"
    if record.get("rule") and promise.rule and not promise.open and record["rule"].split()[0] != promise.rule.split()[0]:
        return f"rule {record['rule']}, but explain promises {promise.rule}"
    return None
