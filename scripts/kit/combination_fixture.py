# SPDX-License-Identifier: Apache-2.0
"""What the configurations of `scripts/combinations` lead to: origins, an authority, files, and the document around the keys."""

import base64
import hashlib
import http.server
import json
import os
import socket
import ssl
import struct
import subprocess
import threading
import time
import zlib

from combination_keys import NEEDS, Mark, Places
from combination_names import names_users

JSON = b'{"a": 1, "b": null}'
PLACEHOLDER = b'{"placeholder": true}'
# The users "u" and "v" with the password "p", by bcrypt at its least cost.
USERS = "".join(f"{name}:$2b$04$AwOKi9Tr2rxj3xNnPKzIq.Vu0NIg5VHqNVaJ4igavIuGTVZlIyvXu\n" for name in "uv")

# An origin of TLS and HTTP/2, whose answers are those of the plain one.
NGINX = """
daemon off; error_log {folder}/nginx.log; pid {folder}/nginx.pid; worker_processes 1; {user}
events {{ worker_connections 512; }}
http {{
    access_log off; client_body_temp_path {folder}/b; proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f;
    uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
    map $http_upgrade $link {{ default upgrade; "" close; }}
    server {{
        listen 127.0.0.1:{port} ssl http2; ssl_certificate {folder}/o.pem; ssl_certificate_key {folder}/o.key;
        location / {{
            proxy_pass http://127.0.0.1:{plain}; proxy_http_version 1.1; proxy_buffering off;
            proxy_set_header Host $http_host; proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection $link;
        }}
    }}
}}
"""


def chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


PNG = (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
       + chunk(b"IDAT", zlib.compress(b"\0\0")) + chunk(b"IEND", b""))


class Origin(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def content(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if "chunked" in self.headers.get("Transfer-Encoding", ""):
            while size := int(self.rfile.readline().split(b";")[0], 16):
                self.rfile.read(size + 2)
            while self.rfile.readline().strip():
                pass

    def switch(self) -> None:
        self.send_response(101)
        for name, value in (("Upgrade", "websocket"), ("Connection", "Upgrade"), ("X-Origin", self.seen())):
            self.send_header(name, value)
        self.end_headers()
        self.close_connection = True

    def seen(self) -> str:
        return f"{self.command} {self.path}"

    def do_GET(self) -> None:
        if self.headers.get("Upgrade") == "websocket" and "upgrade" in self.headers.get("Connection", "").lower() and self.command == "GET":
            return self.switch()
        self.content()
        path = self.path.split("?")[0]
        while path.startswith("/pre/"):
            path = path.removeprefix("/pre")
        status, kind, body, more = 200, "application/json", JSON, {"Cache-Control": "max-age=60"}
        if path == "/redirect":
            status, more = 302, {"Location": "/page"}
        elif path == "/image":
            kind, body = "image/png", PNG
        elif path == "/error":
            status, more = 500, {}
        elif path == "/uncached":
            more = {"Cache-Control": "no-cache", "ETag": '"1"'}
            if self.headers.get("If-None-Match"):
                status, body = 304, b""
        self.send_response(status)
        if status != 304:
            more = {**more, "Content-Type": kind, "Content-Length": str(len(body))}
        for name, value in {**more, "X-Origin": self.seen()}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            for piece in (body[:4], body[4:]):
                self.wfile.write(piece)
                self.wfile.flush()
                if path == "/slow":
                    time.sleep(0.1)

    do_POST = do_HEAD = do_GET

    def log_message(self, *_: object) -> None:
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, *_: object) -> None:
        pass


def serve(context: ssl.SSLContext | None) -> int:
    server = Server(("127.0.0.1", 0), Origin)
    if context:
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as one:
        return one.getsockname()[1]


class Fixture:
    def __init__(self, program: str, folder: str) -> None:
        self.folder, self.processes = folder, []
        self.certificates()
        self.write("schema.json", '{"type": "object"}')
        self.write("placeholder.json", PLACEHOLDER.decode())
        self.write("users", USERS)
        answers = {"200": {"description": "fine", "content": {"application/json": {"schema": {"type": "object"}}}}}
        self.write("api.yaml", json.dumps({"openapi": "3.1.0", "info": {"title": "t", "version": "1"}, "paths": {
            "/page": {"get": {"responses": answers}, "post": {"responses": answers}}}}))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder + "/o.pem", folder + "/o.key")
        context.set_alpn_protocols(["http/1.1"])
        self.plain = serve(None)
        # Ports of the https origins, by route: the second one's speaks HTTP/2.
        self.secure = {"second": self.nginx(), "third": serve(context)}
        upstream = f"http://127.0.0.1:{self.plain}"
        self.write("more.yaml", json.dumps({"routes": [
            {"name": "fourth", "match": {"hosts": ["fourth.localhost"]}, "upstream": upstream}]}))
        self.places = Places(folder, self.pin, *self.parents(program), upstream, f"https://second.localhost:{self.secure['second']}")

    def certificates(self) -> None:
        new = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
        for more in (["-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=CA", "-addext", "basicConstraints=critical,CA:TRUE",
                      "-addext", "keyUsage=critical,keyCertSign,cRLSign"],
                     ["-keyout", "o.key", "-out", "o.pem", "-subj", "/CN=o", "-CA", "ca.pem", "-CAkey", "ca.key", "-addext",
                      "subjectAltName=DNS:second.localhost,DNS:third.localhost", "-addext", "basicConstraints=critical,CA:FALSE"]):
            self.openssl(*new, *more)
        self.write("index.txt", "")
        self.write("ca.cnf", "[ca]\ndefault_ca=a\n[a]\ndatabase=index.txt\ndefault_md=sha256\ndefault_crl_days=2\n")
        self.openssl("ca", "-config", "ca.cnf", "-gencrl", "-keyfile", "ca.key", "-cert", "ca.pem", "-out", "crl.pem")
        self.openssl("x509", "-in", "o.pem", "-pubkey", "-noout", "-out", "o.pub")
        self.openssl("pkey", "-pubin", "-in", "o.pub", "-outform", "DER", "-out", "o.der")
        with open(self.folder + "/o.der", "rb") as file:
            self.pin = "sha256/" + base64.b64encode(hashlib.sha256(file.read()).digest()).decode()

    def openssl(self, *arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=self.folder, check=True, stderr=subprocess.DEVNULL)

    def write(self, name: str, text: str) -> None:
        with open(f"{self.folder}/{name}", "w") as file:
            file.write(text)

    def nginx(self) -> int:
        port = free_port()
        user = "user root;" if os.geteuid() == 0 else ""
        self.write("nginx.conf", NGINX.format(folder=self.folder, port=port, plain=self.plain, user=user))
        arguments = ["nginx", "-p", self.folder, "-c", self.folder + "/nginx.conf"]
        self.start(arguments, lambda: not socket.socket().connect_ex(("127.0.0.1", port)))
        return port

    def parents(self, program: str) -> list[str]:
        """URLs of a proxy behind the proxy. It has a name of its own in Via, by which loops are found."""
        shown = {"certificate": self.folder + "/o.pem", "key": self.folder + "/o.key"}
        self.write("parent.yaml", json.dumps({"version": 1, "via": "parent", "log": {"exchanges": "off"}, "listen_tls": shown}))
        arguments = [program, "serve", "-c", "parent.yaml", "--listen", "127.0.0.1:0", "--listen", "https://127.0.0.1:0",
                     "--port-file", "parent.port"]
        self.start(arguments, lambda: os.path.exists(self.folder + "/parent.port"))
        with open(self.folder + "/parent.port") as file:
            plain, secure = file.read().split()
        return [f"http://127.0.0.1:{plain}", f"https://third.localhost:{secure}"]

    def start(self, arguments: list[str], is_ready) -> None:
        process = subprocess.Popen(arguments, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.processes.append(process)
        end = time.monotonic() + 20
        while not is_ready():
            if process.poll() is not None or time.monotonic() > end:
                raise SystemExit(f"{arguments[0]} does not start")
            time.sleep(0.01)

    def close(self) -> None:
        for process in self.processes:
            process.terminate()
            process.wait()

    def document(self, marks: list[Mark]) -> str:
        """The configuration with these keys. JSON is YAML."""
        folder, roots = self.folder, [self.folder + "/ca.pem"]
        whole: dict = {"version": 1, "log": {"format": "json"},
                       "trust": {"t": {"hosts": ["second.localhost", "third.localhost"], "roots": roots}},
                       "interception": {"ca": {"certificate": folder + "/ca.pem", "key": folder + "/ca.key"}}}
        routes: dict = {name: {"name": name, "match": {"hosts": [name + ".localhost"]}} for name in ("first", "second", "third")}
        routes["first"]["upstream"] = self.places.plain
        for name, port in self.secure.items():
            routes[name].update(upstream=f"https://{name}.localhost:{port}", trust="t")
        routes["third"]["connect"] = "intercept"

        def put(owner: str, key: str, value: object, over: bool) -> None:
            parts = key.split(".")
            at = routes[owner] if owner else whole["trust"]["t"] if parts[0] == "trust" else whole
            for part in parts[1 if parts[0] in ("route", "trust") else 0:-1]:
                at = at.setdefault(part, {})
            if over or parts[-1] not in at:
                at[parts[-1]] = value

        for mark in marks:
            put(mark.owner, mark.key, json.loads(mark.value), True)
        for mark in marks:
            for key, value in NEEDS.get(mark.key, {}).items():
                put(mark.owner, key, value.format(**self.places._asdict()) if isinstance(value, str) else value, False)
        # Without users no rule may be for one.
        if names_users([whole.get("destinations", {}), *(route["match"] for route in routes.values())]):
            whole.setdefault("clients", {}).setdefault("basic_auth", {}).setdefault("users", folder + "/users")
        return json.dumps({**whole, "routes": list(routes.values())}, indent=1)
