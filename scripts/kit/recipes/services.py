# SPDX-License-Identifier: Apache-2.0
"""Five services of a developer: three over http, a WebSocket, and gRPC over https.

usage: services.py CERTIFICATE READY
"""

import asyncio
import json
import pathlib
import sys
import threading
from concurrent import futures
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import grpc
import websockets

PORTS = {"web": 9001, "users": 9002, "orders": 9003}


def handler(service):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            body = (json.dumps({"service": service, "path": self.path}) + "\n").encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    return Handler


class Prices(grpc.GenericRpcHandler):
    """Messages are bytes, so that no compiler of protocols is needed."""

    def service(self, details):
        if details.method != "/prices.Prices/Get":
            return None
        return grpc.unary_unary_rpc_method_handler(lambda message, _: b"price of " + message + b": 3.50")


async def chat(ready):
    async def echo(connection):
        async for message in connection:
            await connection.send(f"you said: {message}")

    async with websockets.serve(echo, "127.0.0.1", 9004):
        pathlib.Path(ready).touch()
        await asyncio.Event().wait()


def main():
    certificate, ready = sys.argv[1:]
    pem = pathlib.Path(certificate).read_bytes()
    server = grpc.server(futures.ThreadPoolExecutor(4), handlers=[Prices()])
    server.add_secure_port("127.0.0.1:9005", grpc.ssl_server_credentials([(pem, pem)]))
    server.start()
    for service, port in PORTS.items():
        http = ThreadingHTTPServer(("127.0.0.1", port), handler(service))
        threading.Thread(target=http.serve_forever, daemon=True).start()
    asyncio.run(chat(ready))


main()
