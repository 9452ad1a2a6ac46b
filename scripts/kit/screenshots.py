# SPDX-License-Identifier: Apache-2.0
"""Takes the pictures of the documentation: `screenshots.py PROGRAM FOLDER`.

Names of hosts are made up: routes send them to one origin on loopback, in clear and with TLS, which answers by the path."""

import base64
import hashlib
import html
import http.client
import http.server
import os
import pathlib
import re
import ssl
import subprocess
import sys
import threading
import time

from playwright.sync_api import sync_playwright

from browser import launch

CONFIGURATION = """\
version: 1
listen: ["127.0.0.1:0"]
admin: "127.0.0.1:0"
log: {{exchanges: off, format: json}}
capture: {{bodies: 64KiB}}
destinations: {{default: allow, deny: ["*.ads.example", "telemetry.example"]}}
cache: {{memory: 16MiB}}
trust:
  payments:
    hosts: ["localhost:{tls}"]
    pinning: public_key
    pins: ["{pin}", "sha256/RUI5Z245UyJarf942qtj0lGm5+SU/hO3wCDVFQbh0Is="]
    extra_roots: ["ca.pem"]
routes:
  - name: charge
    match: {{hosts: ["api.pay.example"], paths: ["/v1/**"]}}
    upstream: "https://localhost:{tls}/"
    response: {{status: [2xx, 404], content_types: [application/json], body: json}}
  - name: packages
    match: {{hosts: ["packages.example"]}}
    upstream: "http://127.0.0.1:{clear}/"
    cache: {{policy: protocol}}
  - name: users
    match: {{hosts: ["api.shop.example"], paths: ["/users/**"]}}
    upstream: "http://127.0.0.1:{clear}/"
    response: {{on_violation: report, content_types: [application/json], body: json}}
  - name: shop
    match: {{hosts: ["*.shop.example"]}}
    upstream: "http://127.0.0.1:{clear}/"
"""

# Method, URL, and pauses of the origin by path.
REQUESTS = [
    ("GET", "http://packages.example/simple/flask/"), ("GET", "http://packages.example/simple/jinja2/"),
    ("GET", "http://packages.example/files/flask-3.1.tar.gz"), ("POST", "http://api.pay.example/v1/charges"),
    ("GET", "http://api.pay.example/v1/charges/ch_1042"), ("POST", "http://telemetry.example/collect"),
    ("GET", "http://api.shop.example/users/17"), ("GET", "http://api.shop.example/users/18"),
    ("GET", "http://api.shop.example/users/broken"), ("GET", "http://www.shop.example/"),
    ("GET", "http://www.shop.example/assets/app.js"), ("GET", "http://www.shop.example/assets/missing.css"),
    ("GET", "http://pixel.ads.example/p.gif?id=7"), ("GET", "http://packages.example/simple/flask/"),
    ("GET", "http://packages.example/files/flask-3.1.tar.gz"), ("POST", "http://api.pay.example/v1/charges"),
    ("GET", "http://api.pay.example/v1/login"), ("PUT", "http://api.shop.example/orders/7"),
    ("GET", "http://api.shop.example/orders?state=open"), ("GET", "http://api.pay.example/v1/charges/ch_1043"),
]


class Origin(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        path = self.path.split("?")[0]
        status, kind, body = 200, "application/json", b'{"id":"ch_1042","state":"paid","amount":1999,"currency":"EUR"}'
        if path.startswith(("/simple/", "/assets/")) or path == "/":
            kind, body = ("text/javascript" if path.endswith(".js") else "text/html"), b"<!doctype html><title>Shop</title>" * 90
        if path.startswith("/files/"):
            kind, body = "application/gzip", bytes(420_000)
        if path.endswith("missing.css"):
            status, body = 404, b"not found"
        if path.endswith("broken"):
            body = b'{"id":18,'
        if path.endswith("login"):
            kind, body = "text/html", b"<h1>Sign in</h1>"
        time.sleep({"/orders": 0.18, "/": 0.06}.get(path, 0.012 + len(path) % 7 / 100))
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if path.startswith(("/simple/", "/files/")):
            self.send_header("Cache-Control", "max-age=600")
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PUT = answer

    def log_message(self, *arguments):
        pass


def serve(context: ssl.SSLContext | None = None) -> int:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Origin)
    if context:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


def certify(folder: pathlib.Path) -> tuple[ssl.SSLContext, str]:
    """A context with a certificate for localhost under an authority of its own, and the pin of its key."""
    def openssl(*words: str) -> bytes:
        return subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True).stdout

    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    openssl("req", "-x509", *key, "-days", "30", "-subj", "/CN=Example Root", "-addext", "keyUsage=critical,keyCertSign", "-keyout", "ca.key",
            "-out", "ca.pem")
    openssl("req", *key, "-subj", "/CN=localhost", "-keyout", "leaf.key", "-out", "leaf.csr")
    (folder / "leaf.cnf").write_text("subjectAltName=DNS:localhost\nextendedKeyUsage=serverAuth\n")
    openssl("x509", "-req", "-in", "leaf.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "20", "-out", "leaf.pem",
            "-extfile", "leaf.cnf")
    (folder / "chain.pem").write_text((folder / "leaf.pem").read_text() + (folder / "ca.pem").read_text())
    spki = openssl("pkey", "-in", "leaf.key", "-pubout", "-outform", "DER")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "chain.pem", folder / "leaf.key")
    return context, "sha256/" + base64.b64encode(hashlib.sha256(spki).digest()).decode()


def send(port: int, method: str, url: str) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port)
    body = b'{"amount": 1999, "currency": "EUR"}' if method != "GET" else None
    connection.request(method, url, body, {"Content-Type": "application/json"} if body else {})
    connection.getresponse().read()
    connection.close()


def terminal(browser, text: str, path: pathlib.Path) -> None:
    """Draws text as a terminal does."""
    page = browser.new_context(viewport={"width": 940, "height": 200}, device_scale_factor=1.5).new_page()
    page.set_content(
        '<body style="margin:0;background:#14171a"><pre style="display:inline-block;margin:0;padding:16px 20px;color:#e3e7ea;'
        f'font:14px/1.5 \'DejaVu Sans Mono\',monospace">{html.escape(text.rstrip())}</pre>')
    page.locator("pre").screenshot(path=str(path))
    page.context.close()


def main(program: str, folder: pathlib.Path) -> None:
    context, pin = certify(folder)
    clear, tls = serve(), serve(context)
    (folder / "pintle.yaml").write_text(CONFIGURATION.format(clear=clear, tls=tls, pin=pin))
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "XDG_STATE_HOME": str(folder), "XDG_DATA_HOME": str(folder)}

    def pintle(*words: str) -> str:
        result = subprocess.run([program, *words], cwd=folder, env=environment, capture_output=True, text=True)
        return result.stdout + result.stderr

    with open(folder / "log", "w") as log:
        proxy = subprocess.Popen([program, "serve", "-c", "pintle.yaml", "--port-file", "port"], cwd=folder, env=environment, stderr=log)
    try:
        while '"message":"ready"' not in (folder / "log").read_text():
            if proxy.poll() is not None:
                raise SystemExit((folder / "log").read_text())
            time.sleep(0.05)
        port = int((folder / "port").read_text().split()[0])
        for method, url in REQUESTS:
            send(port, method, url)
        link = re.search(r"^admin: (.*)$", pintle("status"), re.M)[1]
        with sync_playwright() as playwright:
            browser = launch(playwright)
            for scheme, name in (("light", "page"), ("dark", "page-dark")):
                page = browser.new_context(viewport={"width": 1280, "height": 720}, color_scheme=scheme).new_page()
                page.goto(link)
                page.locator(".rows .row").nth(10).wait_for()
                if name == "page-dark":
                    page.locator(".rows .row", has_text="/users/broken").click()
                    page.locator("#detail-body").wait_for()
                    page.wait_for_timeout(300)
                page.screenshot(path=str(folder / f"{name}.png"))
                page.context.close()
            top = "$ pintle top --once\n" + pintle("top", "--once")
            terminal(browser, top, folder / "top.png")
            (folder / "build.sh").write_text("".join(
                f"curl -s -o /dev/null -X {method} '{url}'\n" for method, url in REQUESTS[:8] + REQUESTS[12:13]))
            terminal(browser, "$ pintle run -- sh build.sh\n" + pintle("run", "--", "sh", "build.sh"), folder / "run.png")
            browser.close()
    finally:
        proxy.terminate()
        proxy.wait()


if __name__ == "__main__":
    main(sys.argv[1], pathlib.Path(sys.argv[2]))
