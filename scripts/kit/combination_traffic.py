# SPDX-License-Identifier: Apache-2.0
"""The requests of `scripts/combinations`, and what answers them."""

import base64
import http.client
import io
import json
import os
import socket
import ssl
import subprocess
import tempfile
from typing import NamedTuple

COOKIE = "Cookie: a=b"
CHUNKED = ("Content-Type: application/json", "Transfer-Encoding: chunked", "Expect: 100-continue")


class Client(NamedTuple):
    """The names of a client."""
    user: str | None
    tag: str | None = None

    def login(self, has_users: bool) -> str | None:
        """The name and the password for a proxy; without users the name is a tag, and there may be none."""
        if has_users:
            return f"{self.user}{'+' + self.tag if self.tag else ''}:p"
        return f"{self.tag}:" if self.tag else None

    def field(self, has_users: bool) -> tuple[str, ...]:
        login = self.login(has_users)
        return ("Proxy-Authorization: Basic " + base64.b64encode(login.encode()).decode(),) if login else ()


# Both have a password, and the first one a tag.
CLIENTS = (Client("u", "ci"), Client("v"))


class Request(NamedTuple):
    method: str
    target: str
    host: str
    fields: tuple[str, ...] = ()
    body: bytes = b""
    client: Client = CLIENTS[0]

    def head(self, more: tuple[str, ...] = ()) -> bytes:
        link = () if any(one.startswith("Connection") for one in self.fields) else ("Connection: close",)
        lines = (f"{self.method} {self.target} HTTP/1.1", f"Host: {self.host}", *link, *self.fields, *more, "", "")
        return "\r\n".join(lines).encode()

    def __str__(self) -> str:
        return " ".join((self.method, self.target, *self.fields, "of", *filter(None, self.client)))


class Answer(NamedTuple):
    status: int
    problem: str | None
    """The name of a problem that a proxy has made."""
    seen: str | None
    """The request line that the origin had, if this is its answer."""
    body: bytes


class Door(NamedTuple):
    """Where a proxy listens; a context where it speaks TLS."""
    port: int
    context: ssl.SSLContext | None = None

    def open(self) -> socket.socket:
        link = socket.create_connection(("127.0.0.1", self.port), 5)
        link.settimeout(20)
        return self.context.wrap_socket(link, server_hostname="second.localhost") if self.context else link


def requests(fourth: bool) -> list[Request]:
    """Every kind of request on every route, with and without what routes match, add and change."""
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
            found += [Request("GET", at + "/slow", host), Request("GET", at + "/uncached", host), Request("GET", at + "/pre/page", host),
                      Request("GET", at + "/uncached", host), Request("GET", at + "/page", host, ("Range: bytes=0-2",))]
    # The same for the other client: a response that one has got may be denied to the other.
    found += [one._replace(client=CLIENTS[1]) for one in found if one.target.endswith(("/page", "/uncached")) and one.method == "GET"
              and not one.fields]
    if fourth:
        found.append(Request("GET", "http://fourth.localhost/page", "fourth.localhost"))
    return found


def at_once(all_of_them: list[Request]) -> list[Request]:
    """Requests that are sent at the same time: equal ones, and others for the same URLs."""
    chosen = [one for one in all_of_them if one.host.startswith(("first", "second"))
              and one.target.endswith(("localhost/page", "/slow", "/uncached"))]
    return [one for one in chosen for _ in range(2)]


def multiplexed(all_of_them: list[Request]) -> list[Request]:
    """Requests that HTTP/2 can say."""
    return [one for one in all_of_them if not any(field.startswith(("Connection", "Transfer")) for field in one.fields)
            and not one.target.startswith("/")]


def talk(door: Door, request: Request, more: tuple[str, ...] = ()) -> Answer | str:
    """The answer, or what is wrong with it."""
    try:
        with door.open() as link:
            answer = sent(link, request, more)
    except TimeoutError:
        return "no answer in time"
    return read(request.method, answer)


def sent(link: socket.socket, request: Request, more: tuple[str, ...]) -> bytes:
    answer = b""
    try:
        link.sendall(request.head(more) + request.body)
        while piece := link.recv(65536):
            answer += piece
            if b"\r\n\r\n" in answer and answer.startswith((b"HTTP/1.1 101", b"HTTP/1.1 200" if request.method == "CONNECT" else b"-")):
                break
    # A refusal may come before all is sent.
    except (ConnectionResetError, BrokenPipeError, ssl.SSLEOFError):
        pass
    return answer


class Bytes:
    """What http.client takes for a socket."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def makefile(self, _: str) -> io.BytesIO:
        return io.BytesIO(self.data)


def read(method: str, data: bytes) -> Answer | str:
    response = http.client.HTTPResponse(Bytes(data), method=method)
    try:
        response.begin()
        body = b"" if method == "CONNECT" and response.status == 200 else response.read()
    except (http.client.HTTPException, ValueError) as error:
        return f"no answer: {error!r} of {data[:200]!r}"
    return answered(response.status, response.headers, body)


def answered(status: int, fields, body: bytes) -> Answer:
    problem = None
    if fields.get("Content-Type") == "application/problem+json" and body:
        problem = json.loads(body)["type"].rpartition(":")[2]
    return Answer(status, problem, fields.get("X-Origin"), body)


def abandon(door: Door, request: Request) -> None:
    """A client that leaves at once."""
    with door.open() as link:
        link.sendall(request.head())


def streams(door: Door, folder: str, those: list[Request], has_users: bool) -> list[Answer | str]:
    """The answers to requests that come at the same time by HTTP/2, over one connection for all clients."""
    sent_as = []
    for request in those:
        more = request.client.field(has_users)
        fields = dict(field.lower().split(": ", 1) if field not in more else field.split(": ", 1) for field in (*request.fields, *more))
        path = "/" + request.target.split("/", 3)[3]
        sent_as.append([{":method": request.method, ":scheme": "http", ":authority": request.host, ":path": path, **fields},
                        request.body.decode()])
    done = subprocess.run(["node", os.path.dirname(__file__) + "/combination_streams.js", str(door.port), folder + "/ca.pem",
                           json.dumps(sent_as)], capture_output=True, text=True)
    if done.returncode:
        return [f"node ends with {done.returncode}: {done.stderr[-500:]}"] * len(those)
    return [one if isinstance(one, str) else streamed(*one) for one in json.loads(done.stdout)]


def streamed(headers: dict, body: str) -> Answer:
    fields = http.client.HTTPMessage()
    for name, value in headers.items():
        if not name.startswith(":"):
            fields[name] = str(value)
    return answered(headers[":status"], fields, base64.b64decode(body))


class Tunnelled(NamedTuple):
    """What curl got for a request by a tunnel."""
    connect: int
    answer: Answer | None
    complaint: str


def in_clear(door: Door, connect: Request, request: Request, more: tuple[str, ...]) -> Tunnelled:
    """A request in clear text in a tunnel."""
    with door.open() as link:
        opened = read("CONNECT", sent(link, connect, more))
        if isinstance(opened, str) or opened.status != 200:
            return Tunnelled(0 if isinstance(opened, str) else opened.status, None, str(opened))
        inner = request._replace(target="/" + request.target.rpartition("/")[2])
        answer = read(inner.method, sent(link, inner, ()))
        return Tunnelled(200, None, answer) if isinstance(answer, str) else Tunnelled(200, answer, "")


def tunnelled(door: Door, folder: str, url: str, login: str | None, version: str) -> Tunnelled:
    with tempfile.TemporaryDirectory(dir=folder) as place:
        done = subprocess.run(["curl", "-sS", "-o", "body", "-D", "head", "-w", "%{http_connect} %{http_code}", "-m", "20", version,
                               "--suppress-connect-headers", "--cacert", folder + "/ca.pem", "-x", f"http://127.0.0.1:{door.port}",
                               *(("--proxy-user", login) if login else ()), url], cwd=place, capture_output=True, text=True)
        connect, status = (int(word) for word in done.stdout.split())
        if not status:
            return Tunnelled(connect, None, done.stderr.strip())
        with open(place + "/head", "rb") as file:
            fields = http.client.parse_headers(io.BytesIO(file.read().partition(b"\r\n")[2]))
        with open(place + "/body", "rb") if os.path.exists(place + "/body") else io.BytesIO() as file:
            return Tunnelled(connect, answered(status, fields, file.read()), "")
