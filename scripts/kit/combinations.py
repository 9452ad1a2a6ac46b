# SPDX-License-Identifier: Apache-2.0
"""Pairs of configuration keys, with traffic; `scripts/combinations` starts it: combinations.py PINTLE COUNT SEED SCHEMA."""

import atexit
import http.server
import itertools
import json
import os
import random
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

program, count, seed, schema = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), json.load(open(sys.argv[4]))
folder = tempfile.mkdtemp(prefix="pintle-combinations-")
atexit.register(shutil.rmtree, folder, True)
choose = random.Random(seed)
ROUTES = ("first", "second", "third")
# Keys that are fixed by the frame, or that this machine has no value for.
LEFT = {
    "version": "fixed", "include": "needs further files", "listen": "is given by --listen", "listen_tls": "clients speak http",
    "upstream_proxy": "needs a parent", "interception": "needs an authority of the user", "clients.basic_auth": "needs users",
    "contract": "needs a document", "trust.pins": "pins are of the throw-away key", "trust.certificates": "as pins",
    "trust.crl_files": "needs lists", "trust.client_certificate": "needs a client's certificate", "trust.hosts": "fixed",
    "trust.roots": "fixed", "trust.extra_roots": "roots are fixed", "trust.expires": "needs pins", "route.name": "fixed",
    "route.match": "fixed", "route.upstream": "fixed", "route.trust": "fixed", "route.strip_prefix": "upstreams have no prefix",
    "route.contract": "needs a document", "route.request.interface": "names of interfaces differ",
    "route.response.placeholder": "needs a file", "route.response.placeholder_after": "needs a placeholder",
    "trust.on_expiry": "needs pins", "trust.warn_before_expiry": "needs pins", "trust.match": "needs pins",
}
MADE = {
    "route.request.parameters": [{"a": "1"}], "route.request.authorization": [{"bearer": "secret"}],
    "route.request.string_encoding": ["utf-8", "iso-8859-1"], "route.response.status": [["200-299", 302, 304], 200],
    "route.response.content_types": [["text/plain"], ["application/json"]], "route.response.body": ["any", "json", "xml"],
    "route.request.uri_methods": [["GET"]], "clients.allow": [["127.0.0.0/8"]], "destinations.connect_ports": ["any", 443],
    "destinations.ports": ["any", [80, 443]], "cache.path": [folder + "/cache"], "via": ["off", "other"],
    "log.exchanges": ["off", "-"], "route.coalesce": [{}, {"max_active": 1}, {"max_active": 2, "order": "lifo"}],
    # To intercept, an authority of the user would be needed.
    "route.connect": ["tunnel", "verify", "deny"],
    "route.cache": [{"policy": p} for p in ("protocol", "ignore_local", "prefer_cache", "only_cache", "off")],
}


def values(node):
    """Values of every kind that a key's schema allows."""
    if "$ref" in node:
        name = node["$ref"].rsplit("/", 1)[1]
        return {"duration": ["1s", "2s"], "size": ["64KiB", "1MiB"], "switch": ["on", "off"], "off": ["off"], "port": [443],
                "hostPattern": ["a.localhost", "*"]}.get(name, [])
    if "enum" in node:
        return list(node["enum"])
    if "const" in node:
        return [node["const"]]
    for group in ("anyOf", "oneOf"):
        if group in node:
            return [value for one in node[group] for value in values(one)]
    kind = node.get("type")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "integer":
        return [max(2, node.get("minimum", 0)), min(64, node.get("maximum", 64))]
    if kind == "array":
        return [[value] for value in values(node["items"])]
    return {"string": ["x"], "boolean": [True, False], "object": [{"x-combined": "1"}]}.get(kind, [])


def keys(node, path=""):
    for name, child in node.get("properties", {}).items():
        place = f"{path}.{name}" if path else name
        if place in LEFT:
            print(f"left out: {place}: {LEFT[place]}")
        elif place in ("routes", "trust"):
            yield from keys(schema["$defs"][place.rstrip("s") if place == "routes" else place], place.rstrip("s") if place == "routes" else place)
        elif place in MADE:
            yield place, MADE[place]
        elif "properties" in child:
            yield from keys(child, place)
        else:
            yield place, values(child)


parameters = {}
for key, those in keys(schema):
    for owner in ROUTES if key.startswith("route.") else [""]:
        parameters[owner, key] = those
pairs = set()


def chosen():
    """A configuration: of some candidates, the one with most pairs that were not there yet."""
    def made():
        some = choose.sample(sorted(parameters), min(10, len(parameters)))
        return {key: choose.choice(parameters[key]) for key in some if parameters[key]}
    def new(one):
        marks = sorted((key, json.dumps(value)) for key, value in one.items())
        return {pair for pair in itertools.combinations(marks, 2)} - pairs
    best = max((made() for _ in range(20)), key=lambda one: len(new(one)))
    return best


class Origin(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = b'{"a": 1}'
        self.send_response(302 if self.path.startswith("/redirect") else 200)
        if self.path.startswith("/redirect"):
            self.send_header("Location", "/page")
        for name, value in (("Content-Type", "application/json"), ("Cache-Control", "max-age=60"), ("X-Origin", "yes"),
                            ("Content-Length", str(len(body)))):
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_POST = do_HEAD = do_GET

    def log_message(self, *_):
        pass


def serve(secure):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Origin)
    server.daemon_threads = True
    server.handle_error = lambda *_: None
    if secure:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder + "/o.pem", folder + "/o.key")
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


new = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
for more in (["-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=CA", "-addext", "basicConstraints=critical,CA:TRUE"],
             ["-keyout", "o.key", "-out", "o.pem", "-subj", "/CN=o", "-CA", "ca.pem", "-CAkey", "ca.key", "-addext",
              "subjectAltName=DNS:localhost,DNS:second.localhost", "-addext", "basicConstraints=critical,CA:FALSE"]):
    subprocess.run(new + more, cwd=folder, check=True, stderr=subprocess.DEVNULL)
plain, secure = serve(False), serve(True)


def document(one):
    whole = {"version": 1, "trust": {"t": {"hosts": ["second.localhost"], "roots": ["ca.pem"]}}}
    routes = {name: {"name": name, "match": {"hosts": [name + ".localhost"]}} for name in ROUTES}
    routes["first"]["upstream"] = routes["third"]["upstream"] = f"http://127.0.0.1:{plain}"
    routes["second"].update(upstream=f"https://second.localhost:{secure}", trust="t")
    for (owner, key), value in one.items():
        parts = key.split(".")
        at = routes[owner] if owner else whole
        if parts[0] == "trust":
            at = whole["trust"]["t"]
        for part in parts[1 if parts[0] in ("route", "trust") else 0:-1]:
            at = at.setdefault(part, {})
        at[parts[-1]] = value
    # JSON is YAML.
    return json.dumps({**whole, "routes": list(routes.values())}, indent=1)


def talk(port, text, abort=False):
    with socket.create_connection(("127.0.0.1", port), 5) as link:
        link.settimeout(8)
        link.sendall(text.encode())
        answer = b""
        while not abort and (piece := link.recv(65536)):
            answer += piece
    if not abort:
        head = answer.partition(b"\r\n\r\n")[0].lower()
        if b"x-origin" not in head and b"proxy-status" not in head and b" 304" not in head and b" 200" not in head:
            return f"an answer of nobody to {text.splitlines()[0]}: {answer[:200]!r}"


def requests():
    for name in ROUTES:
        host = name + ".localhost"
        for line, more in (("GET /page", ""), ("GET /page", ""), ("HEAD /page", ""), ("GET /redirect", ""),
                           ("POST /page", "Content-Type: text/plain\r\nContent-Length: 2\r\n"), ("GET /page", "Range: bytes=0-2\r\n"),
                           ("GET /page", "Upgrade: websocket\r\n")):
            method, path = line.split()
            for target in (f"http://{host}{path}", path):
                link = "close, upgrade" if "Upgrade" in more else "close"
                yield f"{method} {target} HTTP/1.1\r\nHost: {host}\r\nConnection: {link}\r\n{more}\r\n" + ("{}" if method == "POST" else "")


def tried(one):
    """None, "refused", or what went wrong."""
    with open(folder + "/p.yaml", "w") as file:
        file.write(document(one))
    environment = {**os.environ, "XDG_STATE_HOME": folder + "/state"}
    if subprocess.run([program, "check", "-c", "p.yaml"], cwd=folder, env=environment, capture_output=True).returncode not in (0,):
        return "refused"
    port_file = folder + "/port"
    if os.path.exists(port_file):
        os.remove(port_file)
    with open(folder + "/log", "wb") as log:
        process = subprocess.Popen([program, "serve", "-c", "p.yaml", "--listen", "127.0.0.1:0", "--port-file", port_file],
                                   cwd=folder, env=environment, stdout=log, stderr=log)
    wrong = None
    try:
        end = time.monotonic() + 20
        while not (os.path.exists(port_file) and os.path.getsize(port_file)):
            if process.poll() is not None or time.monotonic() > end:
                return f"it did not start: {process.returncode}"
            time.sleep(0.01)
        port = int(open(port_file).read().split()[0].rsplit(":", 1)[-1])
        try:
            for text in requests():
                wrong = wrong or talk(port, text)
            talk(port, "GET http://second.localhost/page HTTP/1.1\r\nHost: second.localhost\r\n\r\n", abort=True)
            wrong = wrong or talk(port, f"CONNECT 127.0.0.1:{plain} HTTP/1.1\r\nHost: 127.0.0.1:{plain}\r\n\r\n"
                                  "GET / HTTP/1.1\r\nHost: o\r\nConnection: close\r\n\r\n")
        except OSError as error:
            wrong = f"no answer: {error}"
        process.send_signal(signal.SIGTERM)
        try:
            if process.wait(40):
                wrong = f"it ended with {process.returncode}"
        except subprocess.TimeoutExpired:
            wrong = "it does not stop"
    finally:
        process.kill()
        process.wait()
    return "a BUG line" if b"BUG:" in open(folder + "/log", "rb").read() else wrong


passed = failed = refused = 0
print(f"seed {seed}, {len(parameters)} keys")
for _ in range(count):
    one = chosen()
    wrong = tried(one)
    if wrong == "refused":
        refused += 1
        # What is left without one key after the other is often accepted.
        while wrong == "refused" and one:
            del one[choose.choice(sorted(one))]
            wrong = tried(one)
    marks = sorted((key, json.dumps(value)) for key, value in one.items())
    pairs.update(itertools.combinations(marks, 2))
    if wrong is None:
        passed += 1
    else:
        failed += 1
        for key in list(one):
            less = {other: value for other, value in one.items() if other != key}
            if tried(less) not in (None, "refused"):
                one = less
        print(f"FAILED (seed {seed}): {wrong}\n{document(one)}", flush=True)
print(f"{refused} refused by check as a whole and run with fewer keys, {len(pairs)} pairs")
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
