# SPDX-License-Identifier: Apache-2.0
"""A gRPC server, and a client that calls it through the proxy of the environment.

usage: grpc_calls.py CERTIFICATE KEY AUTHORITIES
"""

import pathlib
import sys
import threading
from concurrent import futures

import grpc

HOST = "origin.localhost"


class Service(grpc.GenericRpcHandler):
    """Messages are bytes, so that no compiler of protocols is needed."""

    def service(self, details):
        kinds = {
            "/f.F/Unary": grpc.unary_unary_rpc_method_handler(self.unary),
            "/f.F/Down": grpc.unary_stream_rpc_method_handler(self.down),
            "/f.F/Up": grpc.stream_unary_rpc_method_handler(self.up),
            "/f.F/Both": grpc.stream_stream_rpc_method_handler(self.both),
            "/f.F/Fails": grpc.unary_unary_rpc_method_handler(self.fails),
            "/f.F/Waits": grpc.unary_unary_rpc_method_handler(self.waits),
        }
        return kinds.get(details.method)

    def unary(self, message, context):
        metadata = dict(context.invocation_metadata())
        context.send_initial_metadata((("x-first", metadata.get("x-sent", "none")),))
        context.set_trailing_metadata((("x-last", "Z"), ("x-bytes-bin", b"\0\xff")))
        return message

    def down(self, message, context):
        for number in range(5):
            yield b"%s %d" % (message, number)

    def up(self, messages, context):
        return b"+".join(messages)

    def both(self, messages, context):
        for message in messages:
            yield message.upper()

    def fails(self, message, context):
        context.abort(grpc.StatusCode.NOT_FOUND, "no such thing: Zoë")

    def waits(self, message, context):
        ended = threading.Event()
        context.add_callback(ended.set)
        ended.wait(20)
        return b""


def check(found, wanted):
    if found != wanted:
        sys.exit(f"{found!r} is not {wanted!r}")


def code_of(act):
    try:
        act()
    except grpc.RpcError as error:
        return error.code(), error.details()
    return None


certificate, key, authorities = (pathlib.Path(path).read_bytes() for path in sys.argv[1:])
server = grpc.server(futures.ThreadPoolExecutor(8), handlers=[Service()])
port = server.add_secure_port("127.0.0.1:0", grpc.ssl_server_credentials([(key, certificate)]))
server.start()
with grpc.secure_channel(f"{HOST}:{port}", grpc.ssl_channel_credentials(authorities)) as channel:
    unary = channel.unary_unary("/f.F/Unary")
    answer, call = unary.with_call(b"hello", metadata=(("x-sent", "there"),), timeout=20)
    check(answer, b"hello")
    check(dict(call.initial_metadata())["x-first"], "there")
    check(dict(call.trailing_metadata())["x-last"], "Z")
    check(dict(call.trailing_metadata())["x-bytes-bin"], b"\0\xff")
    check(unary(b"x" * 1_000_000, timeout=20), b"x" * 1_000_000)
    check(unary(b"x" * 10_000, compression=grpc.Compression.Gzip, timeout=20), b"x" * 10_000)
    check(list(channel.unary_stream("/f.F/Down")(b"n", timeout=20)), [b"n %d" % number for number in range(5)])
    check(channel.stream_unary("/f.F/Up")(iter([b"a", b"b", b"c"]), timeout=20), b"a+b+c")
    check(list(channel.stream_stream("/f.F/Both")(iter([b"a", b"b"]), timeout=20)), [b"A", b"B"])
    fails = channel.unary_unary("/f.F/Fails")
    check(code_of(lambda: fails(b"", timeout=20)), (grpc.StatusCode.NOT_FOUND, "no such thing: Zoë"))
    unknown = channel.unary_unary("/f.F/Nothing")
    check(code_of(lambda: unknown(b"", timeout=20))[0], grpc.StatusCode.UNIMPLEMENTED)
    waits = channel.unary_unary("/f.F/Waits")
    check(code_of(lambda: waits(b"", timeout=0.5))[0], grpc.StatusCode.DEADLINE_EXCEEDED)
    call = waits.future(b"", timeout=20)
    call.cancel()
    check(call.cancelled(), True)
    check(unary(b"after all", timeout=20), b"after all")
server.stop(0)
print("done")
