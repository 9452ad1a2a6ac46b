# SPDX-License-Identifier: Apache-2.0
"""Jobs of programs and languages: git, wget, Python, Node, Java, gRPC, WebSockets and what upgrades otherwise."""

import asyncio
import hashlib
import os
import pathlib
import socket
import ssl
import subprocess

import origin
from registry import ONE, SECURE, Wrong, equal, holds, job
from stage import answers, free_port, receive, receive_head, until

PYTHON = "/usr/bin/python3"
KIT = pathlib.Path(__file__).parent


@job(ways=ONE, needs=("wget",))
def wget_page(at):
    """wget gets a page."""
    equal(at.run("wget", "-q", "-O", "-", f"--ca-certificate={at.ca}", f"{at.base}/page/wget"), b"page wget\n")


@job(ways=ONE, needs=("wget",))
def wget_resumes(at):
    """wget -c gets the rest of a download that broke off, without being told."""
    options = ("-q", "-c", "--waitretry=0", "--tries=5", "-O", "blob", f"--ca-certificate={at.ca}")
    at.run("wget", *options, f"{at.base}/broken")
    equal((at.folder / "blob").read_bytes(), origin.BLOB)


@job(ways=ONE)
def python_urllib(at):
    """urllib gets a page and posts a form."""
    script = (
        "import sys, urllib.request as r; b = sys.argv[1]\n"
        "assert r.urlopen(b + '/page/urllib').read() == b'page urllib\\n'\n"
        "print(r.urlopen(b + '/echo', b'a=1&b=2').read().decode())"
    )
    equal(at.run(PYTHON, "-c", script, at.base), b"a=1&b=2\n")


@job(ways=ONE)
def python_http_client(at):
    """http.client sends three requests on one connection, by a tunnel that it sets itself or to the proxy."""
    script = (
        "import http.client, ssl, sys; proxy, host, port, way, ca = sys.argv[1:]\n"
        "if way == 'http': c = http.client.HTTPConnection('127.0.0.1', int(proxy)); base = f'http://{host}:{port}'\n"
        "else:\n"
        "    c = http.client.HTTPSConnection('127.0.0.1', int(proxy), context=ssl.create_default_context(cafile=ca))\n"
        "    c.set_tunnel(host, int(port)); base = ''\n"
        "for n in range(3):\n"
        "    c.request('POST', base + '/echo', iter([b'one', b'two']), encode_chunked=True,\n"
        "              headers={'Transfer-Encoding': 'chunked'})\n"
        "    print(c.getresponse().read().decode())"
    )
    got = at.run(PYTHON, "-c", script, at.server.port, at.host, at.port, at.way, at.ca)
    equal(got, b"onetwo\n" * 3)


@job(ways=ONE)
def python_multipart(at):
    """Python's email package makes a form with a name in Cyrillic letters."""
    script = (
        "import sys, urllib.request as r\n"
        "b = 'xYzZy'; body = (f'--{b}\\r\\nContent-Disposition: form-data; name=\"f\"; filename=\"ключ.txt\"\\r\\n'\n"
        "    f'Content-Type: text/plain\\r\\n\\r\\nZoë\\r\\n--{b}--\\r\\n').encode()\n"
        "q = r.Request(sys.argv[1] + '/echo', body, {'Content-Type': 'multipart/form-data; boundary=' + b})\n"
        "assert r.urlopen(q).read() == body; print('same')"
    )
    equal(at.run(PYTHON, "-c", script, at.base), b"same\n")


NODE = """
const http = require('http'), tls = require('tls'), fs = require('fs')
const [port, host, originPort, way, ca, method, path, type] = process.argv.slice(2)
const body = fs.readFileSync(0)
const headers = { Host: `${host}:${originPort}` }
if (type) headers['Content-Type'] = type
function show(request) {
    request.on('response', (r) => { const all = []; r.on('data', (d) => all.push(d))
        r.on('end', () => process.stdout.write(Buffer.concat(all))) })
    request.on('error', (e) => { console.error(e); process.exitCode = 1 })
    request.end(method === 'GET' ? undefined : body)
}
if (way === 'http') show(http.request(
    { host: '127.0.0.1', port, method, path: `http://${host}:${originPort}${path}`, headers }))
else http.request({ host: '127.0.0.1', port, method: 'CONNECT', path: `${host}:${originPort}` }).on('connect',
(r, socket) => {
    const secure = tls.connect({ socket, servername: host, ca: fs.readFileSync(ca) }, () =>
        show(http.request({ createConnection: () => secure, method, path, headers })
            .on('close', () => secure.destroy())))
}).end()
"""


def node(at, method, path, content=b"", kind=""):
    (at.folder / "client.js").write_text(NODE)
    return at.run(
        "node", "client.js", at.server.port, at.host, at.port, at.way, at.ca, method, path, kind, input=content
    )


@job(ways=ONE, needs=("node",))
def node_page(at):
    """Node's http module gets a page, over a tunnel with TLS too."""
    equal(node(at, "GET", "/page/node"), b"page node\n")


@job(ways=ONE, needs=("node",))
def node_multipart(at):
    """A form as Node's packages write it: a file name with %22 and without a type."""
    form = b'--b0\r\nContent-Disposition: form-data; name="f"; filename="a%22b.png"\r\n\r\n\x89PNG\r\n--b0--\r\n'
    equal(node(at, "POST", "/echo", form, "multipart/form-data; boundary=b0"), form)


@job(ways=("intercepted-h2",), needs=("node",))
def node_http2(at):
    """Node's http2 module sends twenty requests at a time in a tunnel."""
    (at.folder / "client.js").write_text("""
const http = require('http'), http2 = require('http2'), tls = require('tls'), fs = require('fs')
const [port, host, originPort, ca] = process.argv.slice(2)
http.request({ host: '127.0.0.1', port, method: 'CONNECT', path: `${host}:${originPort}` }).on('connect', (r, socket) =>
{
    const options = { socket, servername: host, ca: fs.readFileSync(ca), ALPNProtocols: ['h2'] }
    const secure = tls.connect(options, async () => {
        const session = http2.connect(`https://${host}:${originPort}`, { createConnection: () => secure })
        const all = await Promise.all([...Array(20).keys()].map((n) => new Promise((done, fail) => {
            const stream = session.request({ ':method': 'POST', ':path': '/echo' }); let text = ''
            stream.on('data', (d) => (text += d)).on('end', () => done(text)).on('error', fail).end('n' + n)
        })))
        console.log(all.join(' ')); session.close(); secure.end()
    })
}).end()
""")
    got = at.run("node", "client.js", at.server.port, at.host, at.port, at.ca)
    equal(got.decode(), " ".join(f"n{number}" for number in range(20)) + "\n")


@job(ways=("http",), needs=("java",))
def java_page(at):
    """Java's HttpURLConnection and HttpClient get pages, told by system properties and in code."""
    (at.folder / "Page.java").write_text("""
import java.net.*; import java.net.http.*;
class Page { public static void main(String[] a) throws Exception {
    System.out.print(new String(new URL(a[0] + "/page/old").openStream().readAllBytes()));
    var client = HttpClient.newBuilder().proxy(ProxySelector.of(
        new InetSocketAddress("127.0.0.1", Integer.parseInt(a[1])))).build();
    System.out.print(client.send(HttpRequest.newBuilder(URI.create(a[0] + "/page/new")).build(),
        HttpResponse.BodyHandlers.ofString()).body());
} }
""")
    got = at.run(
        "java", "-XX:TieredStopAtLevel=1", "-Dhttp.proxyHost=127.0.0.1", f"-Dhttp.proxyPort={at.server.port}",
        "-Dhttp.nonProxyHosts=", "Page.java", at.base, at.server.port,
    )
    equal(got, b"page old\npage new\n")


def form_job(at, name, written, kind="image/png"):
    form = (
        f'--b0\r\nContent-Disposition: form-data; name="file"; filename="{written}"\r\nContent-Type: {kind}\r\n'
        "\r\n\x01\x02\r\n--b0--\r\n"
    ).encode()
    with at.socket() as connection:
        connection.sendall(
            f"POST {at.target('/echo')} HTTP/1.1\r\nHost: {at.host}:{at.port}\r\nConnection: close\r\n"
            f"Content-Type: multipart/form-data; boundary=b0\r\nContent-Length: {len(form)}\r\n\r\n".encode() + form
        )
        head = receive_head(connection)
        holds(b" 200 " in head.split(b"\r\n")[0], f"{name} got {head[:200]!r}")
        equal(receive(connection, len(form)), form, name)


@job(ways=ONE)
def multipart_of_go_and_java(at):
    """Forms with file names as Go (backslashes), Java (raw UTF-8) and PHP (paths) write them pass as they are."""
    form_job(at, "Go", '100\\".jpg')
    form_job(at, "Java", "Zoë ключ.png")
    form_job(at, "PHP", "C:\\\\dir\\\\a.png")


@job(looks=(83,), ways=("http",))
def multipart_that_is_serialized(at):
    """A route that writes forms anew reads a name as Go writes it."""
    server = at.stage.serve(
        "version: 1\nlisten: ['127.0.0.1:0']\nadmin: off\nroutes: [{name: forms, request: {serialize: multipart}}]\n"
    )
    form = b'--b0\r\nContent-Disposition: form-data; name="f"; filename="100\\".jpg"\r\n\r\nx\r\n--b0--\r\n'
    got = at.run(
        "curl", "-sS", "-x", f"http://127.0.0.1:{server.port}", "-H", "Content-Type: multipart/form-data; boundary=b0",
        "--data-binary", "@-", "-w", "|%{http_code}", f"{at.base}/echo", input=form,
    )
    holds(got.endswith(b"|200"), f"got {got[-300:]!r}")
    holds(b"100" in got and b".jpg" in got, f"the name is gone: {got!r}")


# ---- Git.


def git(at, *arguments, **options):
    environment = {
        "GIT_TERMINAL_PROMPT": "0", "GIT_LFS_SKIP_SMUDGE": "1", "GIT_AUTHOR_NAME": "Ann", "GIT_AUTHOR_EMAIL": "ann@localhost",
        "GIT_COMMITTER_NAME": "Ann", "GIT_COMMITTER_EMAIL": "ann@localhost",
    }
    return at.run("git", *arguments, environment=environment, **options)


def repository(at):
    name = f"{at.way}-{at.stage.made}.git"
    path = at.stage.folder / "git" / name
    git(at, "init", "-q", "--bare", "-b", "main", path)
    git(at, "-C", path, "config", "http.receivepack", "true")
    return f"{at.base}/git/{name}"


@job(needs=("git",))
def git_clone_and_push(at):
    """git clones, pushes three megabytes, and a second clone has them."""
    url = repository(at)
    git(at, "clone", "-q", url, "one")
    (at.folder / "one/blob").write_bytes(origin.BLOB)
    git(at, "-C", "one", "add", "blob")
    git(at, "-C", "one", "commit", "-qm", "A large file")
    git(at, "-C", "one", "push", "-q", url, "HEAD:main")
    git(at, "clone", "-q", "-b", "main", url, "two")
    equal((at.folder / "two/blob").read_bytes(), origin.BLOB)
    git(at, "clone", "-q", "--depth", "1", "-b", "main", url, "three")
    holds(git(at, "ls-remote", url).endswith(b"refs/heads/main\n"), "the branch is not listed")


@job(needs=("git", "git-lfs"))
def git_lfs(at):
    """git-lfs uploads a large file by batch and basic transfer, and downloads it again."""
    url = repository(at)
    lfs = f"lfs.url={at.base}/lfs"
    git(at, "clone", "-q", url, "one")
    git(at, "-C", "one", "lfs", "install", "--local")
    git(at, "-C", "one", "lfs", "track", "*.bin")
    content = at.way.encode() + origin.BLOB
    (at.folder / "one/a.bin").write_bytes(content)
    git(at, "-C", "one", "add", ".")
    git(at, "-C", "one", "commit", "-qm", "A large file")
    git(at, "-C", "one", "-c", lfs, "-c", "lfs.locksverify=false", "push", "-q", url, "HEAD:main")
    holds(hashlib.sha256(content).hexdigest() in origin.objects, "the object was not uploaded")
    git(at, "clone", "-q", "-b", "main", url, "two")
    git(at, "-C", "two", "lfs", "install", "--local")
    git(at, "-C", "two", "-c", lfs, "lfs", "pull")
    equal((at.folder / "two/a.bin").read_bytes(), content)


# ---- gRPC.


@job(ways=SECURE, needs=("python:grpc",), looks=(71,), guard=60)
def grpc_calls(at):
    """grpcio does its four kinds of calls, metadata, errors as trailers alone, cancel, deadline and compression."""
    got = at.run(
        PYTHON, KIT / "grpc_calls.py", at.stage.folder / "origin.pem", at.stage.folder / "origin.key", at.ca,
        environment={"grpc_proxy": at.proxy},
    )
    equal(got, b"done\n")


@job(ways=("intercepted-h2",), needs=("nghttp", "nghttpd"))
def nghttpd_origin(at):
    """A client of HTTP/2 gets two hundred answers of nghttpd, which counts resets."""
    port = free_port()
    (at.folder / "page").write_text("page of nghttpd\n")
    at.stage.start(["nghttpd", "-a", "127.0.0.1", "-d", at.folder, str(port), at.stage.folder / "origin.key",
                    at.stage.folder / "origin.pem"], stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    until(lambda: answers(port))
    got = at.curl("-Z", "--parallel-max", "20", "-w", "%{http_code}\n", "-o", os.devnull,
                  f"https://{at.host}:{port}/page?[1-200]")
    equal(got, b"200\n" * 200)


# ---- Upgrades.


def upgrade(at, method, path, protocol, content=None):
    """Send a request that upgrades; then bytes go both ways, and half-closing works in clear."""
    length = "" if content is None else f"Content-Length: {len(content)}\r\n"
    with at.socket() as connection:
        connection.sendall(
            f"{method} {at.target(path)} HTTP/1.1\r\nHost: {at.host}:{at.port}\r\nConnection: Upgrade\r\n"
            f"Upgrade: {protocol}\r\n{length}\r\n".encode() + (content or b"")
        )
        head = receive_head(connection)
        holds(b" 101 " in head.split(b"\r\n")[0], f"no 101: {head!r}")
        holds(f"upgrade: {protocol}".lower().encode() in head.lower(), f"no Upgrade in {head!r}")
        said = b"got %d\n" % len(content or b"")
        equal(receive(connection, len(said)), said)
        for piece in (b"a", b"hello\n", origin.BLOB[:200_000]):
            connection.sendall(piece)
            equal(receive(connection, len(piece)), piece)
        if not at.secure:
            connection.sendall(b"last")
            connection.shutdown(1)
            equal(receive(connection, 4), b"last")
            equal(connection.recv(1), b"", "what comes behind the end")


@job(looks=(79,), ways=ONE)
def docker_exec(at):
    """docker exec: POST with content and Upgrade: tcp."""
    upgrade(at, "POST", "/exec/x/start", "tcp", b'{"Detach":false,"Tty":false}\n')


@job(looks=(79,), ways=ONE)
def docker_attach(at):
    """docker attach: POST without content and Upgrade: tcp."""
    upgrade(at, "POST", "/exec/attach?stream=1&stdin=1", "tcp", b"")


@job(looks=(79,), ways=ONE)
def kubectl_exec(at):
    """kubectl exec: POST without content and Upgrade: SPDY/3.1."""
    upgrade(at, "POST", "/exec/pods?command=sh&stdin=true", "SPDY/3.1", b"")


@job(ways=ONE)
def upgrade_by_get(at):
    """A GET upgrades to a protocol of the user's own."""
    upgrade(at, "GET", "/exec/own", "my-protocol")


@job(ways=ONE, needs=("python:websockets",))
def websockets(at):
    """Python's websockets sends text, bytes, a ping and a close."""
    import websockets

    async def act():
        # The library takes a tunnel, and does TLS itself.
        connection = tunnel(at)
        connection.setblocking(False)
        context = ssl.create_default_context(cafile=str(at.ca)) if at.secure else None
        url = at.base.replace("http", "ws") + "/ws"
        options = {"ssl": context, "server_hostname": at.host} if at.secure else {}
        async with websockets.connect(url, sock=connection, **options) as talk:
            await talk.send("Zoë")
            equal(await talk.recv(), "Zoë")
            for size in (1, 125, 126, 65535, 65536):
                await talk.send(origin.BLOB[:size])
                equal(await talk.recv(), origin.BLOB[:size])
            await (await talk.ping())

    asyncio.run(act())


def tunnel(at):
    connection = socket.create_connection(("127.0.0.1", at.server.port), 20)
    place = f"{at.host}:{at.port}"
    connection.sendall(f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n\r\n".encode())
    head = receive_head(connection)
    if b" 200 " not in head.split(b"\r\n")[0]:
        raise Wrong(f"CONNECT was answered {head[:200]!r}")
    return connection


@job(ways=ONE)
def websocket_by_hand(at):
    """A handshake in absolute form or in the tunnel, and frames both ways."""
    with at.socket() as connection:
        connection.sendall(
            f"GET {at.target('/ws')} HTTP/1.1\r\nHost: {at.host}:{at.port}\r\nConnection: keep-alive, Upgrade\r\n"
            "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode()
        )
        head = receive_head(connection)
        holds(b" 101 " in head and b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" in head, f"got {head!r}")
        for size in (0, 5, 125):
            connection.sendall(bytes([0x82, 0x80 | size]) + b"\0\0\0\0" + b"z" * size)
            equal(receive(connection, 2 + size), bytes([0x82, size]) + b"z" * size)
        connection.sendall(b"\x88\x82\0\0\0\0\x03\xe8")
        equal(receive(connection, 4), b"\x88\x02\x03\xe8")
