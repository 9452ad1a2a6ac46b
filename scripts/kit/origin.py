# SPDX-License-Identifier: Apache-2.0
"""The origin of `scripts/clients`: files, an echo, WebSockets and git's smart protocol, over http and https.

usage: origin.py FOLDER CERTIFICATE KEY PORT-FILE

Writes both ports to PORT-FILE when it is ready, and serves until it is stopped.
"""

import asyncio
import os
import ssl
import sys

from aiohttp import WSMsgType, web

folder, certificate, key, port_file = sys.argv[1:]


async def echo(request):
    body = await request.read()
    return web.Response(body=body, content_type="application/octet-stream")


async def talk(request):
    socket = web.WebSocketResponse()
    await socket.prepare(request)
    async for message in socket:
        if message.type == WSMsgType.TEXT:
            await socket.send_str("you said " + message.data)
        elif message.type == WSMsgType.BINARY:
            await socket.send_bytes(message.data)
    return socket


async def report(request):
    """Keeps what a page in a browser has to say, for the script to find it."""
    with open(os.path.join(folder, "report.new"), "wb") as file:
        file.write(await request.read())
    os.rename(os.path.join(folder, "report.new"), os.path.join(folder, "report"))
    return web.Response()


async def ticks(request):
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    for number in range(3):
        await response.write(f"data: {number}\n\n".encode())
    await response.write_eof()
    return response


async def git(request):
    """git http-backend as a CGI program (RFC 3875)."""
    environment = dict(
        os.environ,
        GIT_PROJECT_ROOT=os.path.join(folder, "git"),
        GIT_HTTP_EXPORT_ALL="1",
        PATH_INFO="/" + request.match_info["path"],
        QUERY_STRING=request.query_string,
        REQUEST_METHOD=request.method,
        CONTENT_TYPE=request.headers.get("Content-Type", ""),
        REMOTE_USER="somebody",
    )
    for name in ("Content-Encoding", "Git-Protocol"):
        if name in request.headers:
            environment["HTTP_" + name.upper().replace("-", "_")] = request.headers[name]
    body = await request.read()
    environment["CONTENT_LENGTH"] = str(len(body))
    program = await asyncio.create_subprocess_exec(
        "git", "http-backend", env=environment,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE)
    output, _ = await program.communicate(body)
    head, _, rest = output.partition(b"\r\n\r\n")
    fields = [line.decode().split(": ", 1) for line in head.split(b"\r\n")]
    status = next((int(value.split()[0]) for name, value in fields if name == "Status"), 200)
    return web.Response(status=status, headers=[field for field in fields if field[0] != "Status"], body=rest)


async def main():
    # aiohttp undoes a Content-Encoding, and git's program would do it again.
    app = web.Application(client_max_size=64 << 20)
    app.router.add_route("*", "/echo", echo)
    app.router.add_get("/talk", talk)
    app.router.add_post("/report", report)
    app.router.add_get("/ticks", ticks)
    app.router.add_route("*", "/git/{path:.*}", git)
    app.router.add_static("/", os.path.join(folder, "files"), show_index=False)
    runner = web.AppRunner(app, access_log=None, auto_decompress=False)
    await runner.setup()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    ports = []
    for security in (None, context):
        site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=security)
        await site.start()
        ports.append(site._server.sockets[0].getsockname()[1])
    with open(port_file + ".new", "w") as file:
        file.write("".join(f"{port}\n" for port in ports))
    os.rename(port_file + ".new", port_file)
    await asyncio.Event().wait()


asyncio.run(main())
