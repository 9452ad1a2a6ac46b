"""An origin with TLS that repeats what it gets in many ways, and writes down everything.

    origin.py CERTIFICATE KEY FILE

With - for a certificate it has no TLS. Prints its port. A line of FILE is one request: its head and its body, in Base64.
"""

import base64
import gzip
import hashlib
import html
import http.server
import json
import ssl
import sys
import threading
import zlib

lock = threading.Lock()
kept = []


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def body(self):
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            whole = b""
            while True:
                size = int(self.rfile.readline().split(b";")[0], 16)
                if size == 0:
                    while self.rfile.readline().strip():
                        pass
                    return whole
                whole += self.rfile.read(size)
                self.rfile.readline()
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def frame(self, opcode, payload, ends=True):
        size = bytes([len(payload)]) if len(payload) < 126 else b"\x7e" + len(payload).to_bytes(2, "big")
        self.wfile.write(bytes([opcode | (0x80 if ends else 0)]) + size + payload)
        self.wfile.flush()

    def fragments(self, payload, size, between=None):
        pieces = [payload[i : i + size] for i in range(0, len(payload), size)]
        for index, piece in enumerate(pieces):
            self.frame(0 if index else 1, piece, index == len(pieces) - 1)
            if between:
                self.frame(9, between)

    def messages(self, heard):
        """Repeats what was heard over a WebSocket, whole and in fragments, with pings between them."""
        proof = hashlib.sha1((self.headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode())
        self.send_response(101)
        self.send_header("Upgrade", "websocket")
        self.send_header("Connection", "Upgrade")
        self.send_header("Sec-WebSocket-Accept", base64.b64encode(proof.digest()).decode())
        compresses = "deflate" in self.headers.get("Sec-WebSocket-Extensions", "")
        if compresses:
            self.send_header("Sec-WebSocket-Extensions", "permessage-deflate")
        self.end_headers()
        if compresses:
            packer = zlib.compressobj(wbits=-15)
            self.frame(0x41, (packer.compress(heard) + packer.flush(zlib.Z_SYNC_FLUSH))[:-4])
        token = (self.headers.get("X-Key") or "").encode()
        self.frame(1, heard)
        for size in 1, 7, 33:
            self.fragments(heard, size)
            self.fragments(heard, size, b"ping " + token)
        self.frame(2, base64.b64encode(heard))
        self.frame(8, b"\x03\xe8bye " + token)
        self.close_connection = True

    def answer(self):
        body = self.body()
        heard = self.requestline.encode() + b"\n" + str(self.headers).encode() + body
        with lock, open(sys.argv[3], "ab") as log:
            log.write(base64.b64encode(heard) + b"\n")
        path = self.path.split("?")[0]
        kind = path.rsplit("/", 1)[-1]
        fields, status, reply, pieces = {}, 200, heard, None
        if kind == "socket":
            return self.messages(heard)
        if kind == "switch":
            self.send_response(101)
            self.send_header("Upgrade", "tcp")
            self.send_header("Connection", "Upgrade")
            self.end_headers()
            self.wfile.write(heard)
            self.close_connection = True
            return
        if kind == "gzip":
            reply, fields = gzip.compress(heard), {"Content-Encoding": "gzip", "ETag": '"a"'}
        elif kind == "deflate":
            reply, fields = zlib.compress(heard), {"Content-Encoding": "deflate"}
        elif kind == "twice":
            reply, fields = gzip.compress(zlib.compress(heard)), {"Content-Encoding": "deflate, gzip"}
        elif kind == "unknown":
            reply, fields = bytes(b ^ 1 for b in heard), {"Content-Encoding": "xor"}
        elif kind == "bomb":
            reply, fields = gzip.compress(heard + bytes(16 << 20)), {"Content-Encoding": "gzip"}
        elif kind == "cut-gzip":
            reply, fields = gzip.compress(heard)[:-4], {"Content-Encoding": "gzip"}
        elif kind == "hex":
            reply = heard.hex().encode()
        elif kind == "base64":
            reply = base64.b64encode(heard)
        elif kind == "base64url":
            reply = base64.urlsafe_b64encode(b"x" + heard)
        elif kind == "shifted":
            reply = base64.b64encode(b"xy" + heard)
        elif kind == "json":
            reply = json.dumps({"heard": heard.decode()}).encode()
        elif kind == "html":
            reply = html.escape(heard.decode()).encode()
        elif kind == "upper":
            reply = heard.upper()
        elif kind == "lower":
            reply = heard.lower()
        elif kind == "bytes":
            pieces = [heard[i : i + 1] for i in range(len(heard))]
        elif kind == "sevens":
            pieces = [heard[i : i + 7] for i in range(0, len(heard), 7)]
        elif kind == "range":
            wanted = self.headers.get("Range", "")
            if wanted.startswith("bytes="):
                first, last = wanted[6:].split("-")
                status, reply = 206, heard[int(first) : int(last) + 1]
                fields = {"Content-Range": "bytes %s-%s/%d" % (first, last, len(heard))}
        elif kind == "field":
            fields = {"X-Heard": (self.headers.get("Authorization") or self.headers.get("X-Key") or ""), "Set-Cookie": "k=" + (self.headers.get("X-Key") or "")}
        elif kind == "reason":
            self.send_response(200, self.headers.get("X-Key"))
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        elif kind == "redirect":
            status, fields, reply = 302, {"Location": "/repos/echo?key=" + (self.headers.get("X-Key") or "")}, b""
        elif kind == "away":
            status, reply = 302, b""
            fields = {"Location": "https://127.0.0.1:%d/repos/echo?key=%s" % (self.server.server_port, self.headers.get("X-Key") or "")}
        elif kind == "error":
            status = 500
        elif kind == "keep":
            with lock:
                kept.append(heard)
            reply = b"kept"
        elif kind == "kept":
            with lock:
                reply = b"\n".join(kept)
        elif kind == "trailer":
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.send_header("Trailer", "X-Heard")
            self.end_headers()
            self.wfile.write(b"2\r\nok\r\n0\r\nX-Heard: " + (self.headers.get("X-Key") or "").encode() + b"\r\n\r\n")
            return
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name, value)
        if pieces is not None:
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for piece in pieces:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                self.wfile.flush()
            self.wfile.write(b"0\r\n\r\n")
            return
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(reply)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = do_TRACE = do_PURGE = answer


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
if sys.argv[1] != "-":
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[1], sys.argv[2])
    server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_port, flush=True)
server.serve_forever()
