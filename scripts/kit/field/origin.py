# SPDX-License-Identifier: Apache-2.0
"""The origin of the field suite, on http and on https; a path says what the answer is."""

import base64
import gzip
import hashlib
import http.server
import json
import os
import socketserver
import ssl
import subprocess
import threading
import time
import urllib.parse

BLOB = hashlib.shake_256(b"pintle").digest(3_000_000)
WORD = "Zoë — ключ — 鍵\n".encode()
seen = []
"""Method, path, fields and content of each request, in the order of their ends."""
objects = {}
"""What Git LFS has uploaded."""
logins = []


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    user = None
    challenged = False

    def log_message(self, *_):
        pass

    def handle(self):
        try:
            super().handle()
        except (ConnectionError, ssl.SSLError, TimeoutError):
            pass

    # ---- Reading and answering.

    def content(self):
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            whole = bytearray()
            while size := int(self.rfile.readline().split(b";")[0], 16):
                whole += self.rfile.read(size)
                self.rfile.readline()
            while self.rfile.readline().strip():
                pass
            return bytes(whole)
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def answer(self, content=b"", status=200, **fields):
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def chunk(self, piece):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        self.wfile.flush()

    def stream(self, pieces, pause=0.0, **fields):
        self.send_response(200)
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for piece in pieces:
            self.chunk(piece)
            time.sleep(pause)
        self.wfile.write(b"0\r\n\r\n")

    def raw(self, text):
        self.wfile.write(text)
        self.wfile.flush()

    def serve(self):
        path, _, query = self.path.partition("?")
        words = path.strip("/").split("/")
        given = dict(urllib.parse.parse_qsl(query))
        self.body = self.content()
        seen.append((self.command, self.path, self.headers, self.body))
        act = getattr(self, f"at_{words[0]}", None)
        if act is None:
            return self.answer(b"nothing here\n", 404)
        return act(words[1:], given)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = do_PROPFIND = do_REPORT = serve

    # ---- Pages.

    def at_page(self, words, _):
        self.answer(f"page {'/'.join(words)}\n".encode(), Content_Type="text/plain")

    def at_word(self, *_):
        self.answer(WORD, Content_Type="text/plain; charset=utf-8")

    def at_echo(self, *_):
        self.answer(self.body, Content_Type=self.headers.get("Content-Type", "application/octet-stream"))

    def at_fields(self, *_):
        pairs = [[name.lower(), value] for name, value in self.headers.items()]
        self.answer(json.dumps({"method": self.command, "path": self.path, "fields": pairs}).encode())

    def at_status(self, words, _):
        if words[0] in ("204", "304"):
            self.send_response(int(words[0]))
            return self.end_headers()
        return self.answer(b"status " + words[0].encode(), int(words[0]))

    def at_blob(self, *_):
        etag = '"blob"'
        part = self.headers.get("Range")
        if part and self.headers.get("If-Range", etag) == etag:
            first, _, last = part.removeprefix("bytes=").partition("-")
            if first == "":
                first, last = len(BLOB) - int(last), len(BLOB) - 1
            first, last = int(first), min(int(last or len(BLOB) - 1), len(BLOB) - 1)
            if first >= len(BLOB):
                return self.answer(b"", 416, Content_Range=f"bytes */{len(BLOB)}")
            return self.answer(
                BLOB[first : last + 1], 206, ETag=etag, Content_Range=f"bytes {first}-{last}/{len(BLOB)}",
                Accept_Ranges="bytes",
            )
        return self.answer(BLOB, ETag=etag, Accept_Ranges="bytes", Last_Modified="Mon, 01 Jan 2024 00:00:00 GMT")

    def at_broken(self, *_):
        """Half of the blob, and the end of the connection."""
        if self.headers.get("Range"):
            return self.at_blob()
        self.send_response(200)
        self.send_header("ETag", '"blob"')
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", str(len(BLOB)))
        self.end_headers()
        self.wfile.write(BLOB[: len(BLOB) // 2])
        self.wfile.flush()
        self.close_connection = True

    def at_untilclose(self, *_):
        self.raw(b"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nuntil the end\n")
        self.close_connection = True

    def at_chunks(self, *_):
        self.stream([BLOB[at : at + 10_000] for at in range(0, 1_000_000, 10_000)])

    def at_trailer(self, *_):
        self.raw(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n5\r\nhello\r\n0\r\nX-Sum: 7\r\n\r\n"
        )

    def at_gzip(self, *_):
        self.answer(gzip.compress(WORD, mtime=0), Content_Encoding="gzip", Content_Type="text/plain; charset=utf-8")

    def at_redirect(self, words, _):
        self.answer(b"", int(words[0]), Location="/" + "/".join(words[1:]))

    def at_cookie(self, *_):
        self.send_response(200)
        self.send_header("Set-Cookie", "a=1; Path=/")
        self.send_header("Set-Cookie", "b=2; Path=/; Expires=Wed, 01 Jan 2098 00:00:00 GMT")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def at_early(self, *_):
        self.raw(b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n")
        self.answer(b"late\n", Cache_Control="max-age=60")

    def at_nodate(self, *_):
        self.raw(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n")

    def at_blank(self, *_):
        self.raw(b"HTTP/1.1 200 OK\r\nX-A : b\r\nContent-Length : 3\r\n\r\nok\n")

    def at_latin(self, *_):
        self.raw(b'HTTP/1.1 200 OK\r\nContent-Disposition: attachment; filename="\xe9.txt"\r\nContent-Length: 0\r\n\r\n')

    def at_heads(self, words, _):
        self.send_response(200)
        for number in range(int(words[0])):
            self.send_header(f"X-Field-{number}", "v" * 1000)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def handle_expect_100(self):
        if not self.path.startswith("/refuse"):
            return super().handle_expect_100()
        self.close_connection = True
        self.answer(b"no\n", 413, Connection="close")
        return False

    # ---- Pauses.

    def at_events(self, words, given):
        pause = float(given.get("pause", 0.05))
        pieces = [b"id: %d\ndata: event %d\n\n" % (number, number) for number in range(int(words[0]))]
        self.stream(pieces, pause, Content_Type="text/event-stream", Cache_Control="no-cache")

    def at_model(self, words, given):
        """A language model's stream of tokens, after a pause for the first."""
        time.sleep(float(given.get("first", 0.2)))
        pieces = [
            b'data: {"choices":[{"delta":{"content":"%s"}}]}\n\n' % token.encode() for token in ("One", " two", " three")
        ]
        self.stream([*pieces, b"data: [DONE]\n\n"], float(given.get("pause", 0.05)), Content_Type="text/event-stream")

    def at_slow(self, words, _):
        time.sleep(float(words[0]))
        self.answer(b"at last\n")

    # ---- Logins.

    def at_basic(self, *_):
        if self.headers.get("Authorization") == "Basic " + base64.b64encode(b"ann:secret").decode():
            return self.answer(b"hello ann\n")
        return self.answer(b"", 401, WWW_Authenticate='Basic realm="field"')

    def at_digest(self, *_):
        fields = self.headers.get("Authorization", "")
        if fields.startswith("Digest "):
            values = dict(
                (name.strip(), value.strip().strip('"'))
                for name, _, value in (part.partition("=") for part in fields[7:].split(","))
            )
            md5 = lambda text: hashlib.md5(text.encode()).hexdigest()
            wanted = md5(
                f"{md5('ann:field:secret')}:{values['nonce']}:{values['nc']}:{values['cnonce']}:auth:"
                + md5(f"{self.command}:{values['uri']}")
            )
            if values["response"] == wanted:
                return self.answer(b"hello ann\n")
        return self.answer(b"", 401, WWW_Authenticate='Digest realm="field", qop="auth", nonce="n1"')

    def at_login(self, words, _):
        """A scheme that makes the connection a user's: NTLM or Negotiate, in three messages."""
        scheme = words[0]
        given = self.headers.get("Authorization", "")
        if given.startswith(scheme + " "):
            message = base64.b64decode(given.split()[1])
            if message.startswith(b"NTLMSSP\0\1") or message == b"first":
                self.challenged = True
                challenge = base64.b64encode(NTLM_CHALLENGE if scheme == "NTLM" else b"challenge").decode()
                return self.answer(b"", 401, WWW_Authenticate=f"{scheme} {challenge}")
            if not self.challenged:
                return self.answer(b"a message of another connection's handshake\n", 403)
            user = "ann" if message.startswith(b"NTLMSSP") else message.decode()
            self.user = user
            logins.append(user)
        if self.user:
            return self.answer(f"hello {self.user}\n".encode())
        return self.answer(b"", 401, WWW_Authenticate=scheme)

    # ---- Caching.

    def at_fresh(self, words, _):
        count = sum(1 for _, path, _, _ in seen if path == self.path)
        self.answer(f"answer {count}\n".encode(), Cache_Control="max-age=600", ETag='"one"')

    def at_stale(self, words, _):
        if self.headers.get("If-None-Match") == '"one"':
            self.send_response(304)
            self.send_header("ETag", '"one"')
            self.send_header("Cache-Control", "no-cache")
            return self.end_headers()
        return self.answer(b"validated\n", Cache_Control="no-cache", ETag='"one"')

    def at_private(self, words, _):
        self.answer(self.headers.get("Authorization", "nobody").encode(), Cache_Control="private, max-age=600")

    def at_vary(self, words, _):
        self.answer(
            self.headers.get("Accept-Language", "none").encode(), Cache_Control="max-age=600", Vary="Accept-Language"
        )

    def at_nostore(self, words, _):
        count = sum(1 for _, path, _, _ in seen if path == self.path)
        self.answer(f"answer {count}\n".encode(), Cache_Control="no-store")

    # ---- Upgrades.

    def switch(self, protocol, *more):
        lines = ["HTTP/1.1 101 Switching Protocols", "Connection: Upgrade", f"Upgrade: {protocol}", *more, "", ""]
        self.raw("\r\n".join(lines).encode())
        self.close_connection = True

    def at_exec(self, *_):
        """As Docker's and Kubernetes' exec: the content, a switch, and every byte comes back until the client's end."""
        protocol = self.headers.get("Upgrade")
        if not protocol:
            return self.answer(b"not upgraded\n")
        self.switch(protocol)
        self.raw(b"got %d\n" % len(self.body))
        while piece := self.rfile.read1(65536):
            self.raw(piece)

    def at_ws(self, *_):
        key = self.headers.get("Sec-WebSocket-Key", "") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        self.switch("websocket", "Sec-WebSocket-Accept: " + base64.b64encode(hashlib.sha1(key.encode()).digest()).decode())
        while True:
            head = self.rfile.read(2)
            if len(head) < 2:
                return
            length = head[1] & 127
            if length > 125:
                length = int.from_bytes(self.rfile.read(2 if length == 126 else 8), "big")
            mask = self.rfile.read(4)
            data = bytes(byte ^ mask[at % 4] for at, byte in enumerate(self.rfile.read(length)))
            code = head[0] & 15
            size = bytes([length]) if length < 126 else bytes([head[1] & 127]) + length.to_bytes(
                2 if head[1] & 127 == 126 else 8, "big"
            )
            # A ping is answered by a pong, all else by the same.
            self.raw(bytes([head[0] & 0xF0 | (10 if code == 9 else code)]) + size + data)
            if code == 8:
                return

    # ---- Git, and its large files.

    def at_git(self, words, given):
        environment = {
            "PATH": os.environ["PATH"], "GIT_PROJECT_ROOT": self.server.repositories, "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": urllib.parse.unquote(self.path.partition("?")[0].removeprefix("/git")),
            "REQUEST_METHOD": self.command, "QUERY_STRING": self.path.partition("?")[2],
            "CONTENT_TYPE": self.headers.get("Content-Type", ""), "CONTENT_LENGTH": str(len(self.body)),
            "REMOTE_USER": "ann", "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""), "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*",
        }
        done = subprocess.run(["git", "http-backend"], input=self.body, env=environment, capture_output=True)
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if line)
        status = int(fields.pop("Status", "200").split()[0])
        self.answer(content, status, **fields)

    def at_lfs(self, words, _):
        if words[-1] == "batch":
            asked = json.loads(self.body)
            base = f"{self.server.scheme}://{self.headers['Host']}/lfs/object/"
            answers = []
            for each in asked["objects"]:
                action = {} if asked["operation"] == "upload" and each["oid"] in objects else {
                    "actions": {asked["operation"]: {"href": base + each["oid"]}}
                }
                answers.append({**each, **action})
            return self.answer(
                json.dumps({"transfer": "basic", "objects": answers}).encode(),
                Content_Type="application/vnd.git-lfs+json",
            )
        if words[0] != "object":
            return self.answer(b'{"message":"no locks"}', 404, Content_Type="application/vnd.git-lfs+json")
        if self.command == "PUT":
            objects[words[1]] = self.body
            return self.answer()
        return self.answer(objects[words[1]])


NTLM_CHALLENGE = (
    b"NTLMSSP\0\2\0\0\0\0\0\0\0\x38\0\0\0\x01\x82\x08\0" + b"12345678" + b"\0" * 8 + b"\0\0\0\0\x38\0\0\0" + b"\0" * 8
)


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 128
    scheme = "http"

    def handle_error(self, *_):
        pass


class SecureServer(Server):
    scheme = "https"
    context = None

    def finish_request(self, request, address):
        # In the connection's own thread, so that a slow handshake holds up no other connection.
        request.settimeout(60)
        try:
            with self.context.wrap_socket(request, server_side=True) as secure:
                secure.settimeout(None)
                super().finish_request(secure, address)
                # An end that is told: what goes on until it is whole then.
                secure.settimeout(1)
                secure.unwrap()
        except (OSError, ssl.SSLError):
            pass


def start(certificate, key, repositories):
    """Serve on two free ports; returns that of http and that of https."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    SecureServer.context = context
    Server.repositories = repositories
    ports = []
    for kind in (Server, SecureServer):
        server = kind(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        ports.append(server.server_port)
    return ports
