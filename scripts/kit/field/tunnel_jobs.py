# SPDX-License-Identifier: Apache-2.0
"""Jobs about tunnels for what is no HTTP, and ways to the proxy and beyond it."""

import socket
import subprocess
import threading

import origin
from registry import equal, holds, job
from stage import answers, free_port, receive, receive_head, until


def server(act):
    """A port whose one connection is served by `act` on a thread of its own."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve():
        with listener:
            listener.settimeout(20)
            try:
                connection, _ = listener.accept()
                with connection:
                    connection.settimeout(20)
                    act(connection)
            except OSError:
                pass

    threading.Thread(target=serve, daemon=True).start()
    return listener.getsockname()[1]


def tunnel(at, port):
    connection = socket.create_connection(("127.0.0.1", at.server.port), 10)
    connection.sendall(f"CONNECT {at.host}:{port} HTTP/1.1\r\nHost: {at.host}:{port}\r\n\r\n".encode())
    head = receive_head(connection)
    holds(b" 200 " in head.split(b"\r\n")[0], f"CONNECT was answered {head!r}")
    return connection


def greeting(at):
    def serve(connection):
        connection.sendall(b"220 mail.localhost\r\n")
        equal(receive(connection, 6), b"HELO\r\n")
        connection.sendall(b"250 hello\r\n")

    with tunnel(at, server(serve)) as connection:
        equal(receive(connection, 20), b"220 mail.localhost\r\n")
        connection.sendall(b"HELO\r\n")
        equal(receive(connection, 11), b"250 hello\r\n")


@job(ways=("relayed",))
def server_that_speaks_first(at):
    """A mail server or ssh greets its client in a tunnel."""
    greeting(at)


@job(ways=("intercepted",))
def server_that_speaks_first_intercepted(at):
    """A mail server or ssh greets its client in a tunnel that was to be opened."""
    greeting(at)


@job(ways=("relayed",))
def half_closed_tunnel(at):
    """A client that has sent all closes its half, and still gets the answer."""
    def serve(connection):
        got = b""
        while piece := connection.recv(65536):
            got += piece
        connection.sendall(got[::-1])

    with tunnel(at, server(serve)) as connection:
        connection.sendall(origin.BLOB[:500_000])
        connection.shutdown(socket.SHUT_WR)
        equal(receive(connection, 500_000), origin.BLOB[:500_000][::-1])
        equal(connection.recv(1), b"", "what comes behind the end")


@job(ways=("relayed",))
def words_with_the_connect(at):
    """A client that does not wait for the 200 sends its first bytes with the CONNECT."""
    port = server(lambda connection: connection.sendall(receive(connection, 5)))
    with socket.create_connection(("127.0.0.1", at.server.port), 10) as connection:
        connection.sendall(f"CONNECT {at.host}:{port} HTTP/1.1\r\nHost: {at.host}:{port}\r\n\r\nhello".encode())
        holds(b" 200 " in receive_head(connection), "no 200")
        equal(receive(connection, 5), b"hello")


@job(ways=("http",))
def tunnel_for_http(at):
    """curl --proxytunnel gets a page in clear over a tunnel."""
    equal(at.curl("--proxytunnel", "/page/p"), b"page p\n")


@job(ways=("http",), needs=("microsocks",))
def socks_behind_the_proxy(at):
    """Requests go on by a SOCKS5 proxy."""
    port = free_port()
    at.stage.start(["microsocks", "-i", "127.0.0.1", "-p", str(port)], stderr=subprocess.DEVNULL)
    until(lambda: answers(port))
    proxy = at.stage.serve(
        f"version: 1\nlisten: ['127.0.0.1:0']\nadmin: off\nupstream_proxy: {{url: 'socks5://127.0.0.1:{port}'}}\n"
    )
    # By address: microsocks knows no names below localhost.
    url = f"http://127.0.0.1:{at.stage.plain_port}/page/socks"
    got = at.run("curl", "-sS", "-x", f"http://127.0.0.1:{proxy.port}", url)
    equal(got, b"page socks\n")


@job(ways=("http",))
def proxy_with_tls(at):
    """curl speaks TLS with the proxy itself."""
    folder = at.stage.folder
    proxy = at.stage.serve(
        "version: 1\nlisten: ['https://127.0.0.1:0']\nadmin: off\n"
        f"listen_tls: {{certificate: {folder}/origin.pem, key: {folder}/origin.key}}\n"
    )
    got = at.run(
        "curl", "-sS", "--proxy-cacert", at.stage.ca, "-x", f"https://127.0.0.1:{proxy.port}", f"{at.plain}/page/tls"
    )
    equal(got, b"page tls\n")
    got = at.run(
        "curl", "-sS", "--proxy-cacert", at.stage.ca, "--cacert", at.stage.ca, "-x", f"https://127.0.0.1:{proxy.port}",
        f"https://{at.host}:{at.stage.secure_port}/page/inner",
    )
    equal(got, b"page inner\n")
