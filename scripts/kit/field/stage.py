# SPDX-License-Identifier: Apache-2.0
"""What the jobs play on: certificates, origins, one proxy for each way, and the clients' options for it."""

import os
import pathlib
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import time

import origin
from registry import Wrong

HOST = "origin.localhost"
PLAIN = "version: 1\nlisten: ['127.0.0.1:0']\nadmin: off\nlog: {format: json, exchanges: exchanges.log}\n"
INTERCEPTING = PLAIN + "interception: {hosts: ['*.localhost']}\ntrust: {default: {roots: [%s]}}\n"
CONFIGURATIONS = {
    "http": PLAIN,
    "intercepted": INTERCEPTING,
    "cached": PLAIN + "routes: [{name: all, cache: {policy: protocol}}]\ncache: {disk: off}\n",
}


class Stage:
    def __init__(self, program):
        self.program = program
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="pintle-field-"))
        self.processes = []
        self.proxies = {}
        self.made = 0
        # Clients and proxies see no settings of this machine's user.
        self.environment = {
            "PATH": os.environ["PATH"], "HOME": str(self.folder), "LANG": "C.UTF-8", "TMPDIR": str(self.folder),
            "XDG_DATA_HOME": str(self.folder / "data"), "XDG_STATE_HOME": str(self.folder / "state"),
            "XDG_CONFIG_HOME": str(self.folder / "config"),
        }
        self.ca = self.folder / "ca.pem"
        self.certify()
        repositories = self.folder / "git"
        repositories.mkdir()
        self.plain_port, self.secure_port = origin.start(
            self.folder / "origin.pem", self.folder / "origin.key", str(repositories)
        )
        self.nginx_ports = None

    def certify(self):
        authority = ["-CA", self.ca, "-CAkey", self.folder / "ca.key"]
        self.certificate("ca", "/CN=Field CA", "basicConstraints=critical,CA:TRUE", "keyUsage=critical,keyCertSign")
        names = f"subjectAltName=DNS:{HOST},DNS:localhost,DNS:nginx.localhost,DNS:host.pintle.internal,IP:127.0.0.1"
        self.certificate("origin", f"/CN={HOST}", names, "extendedKeyUsage=serverAuth", signed=authority)

    def certificate(self, name, subject, *extensions, signed=()):
        command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
        command += ["-days", "2", "-subj", subject, "-keyout", self.folder / f"{name}.key"]
        command += ["-out", self.folder / f"{name}.pem", *signed]
        for extension in extensions:
            command += ["-addext", extension]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL, env=self.environment)

    def place(self, name="job"):
        """A new folder."""
        self.made += 1
        folder = self.folder / f"{name}-{self.made}"
        folder.mkdir()
        return folder

    def start(self, command, **options):
        process = subprocess.Popen(command, start_new_session=True, **options)
        self.processes.append(process)
        return process

    def serve(self, configuration, name="pintle", prefix=(), environment=None, **options):
        """Start a proxy; returns it with its port and the file of its log."""
        folder = self.place(name)
        (folder / "pintle.yaml").write_text(configuration)
        log = folder / "pintle.log"
        port_file = folder / "port"
        command = [*prefix, self.program, "serve", "-c", folder / "pintle.yaml", "--port-file", port_file]
        with open(log, "wb") as output:
            process = self.start(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=output,
                env=self.environment | (environment or {}), **options,
            )
        until(lambda: port_file.exists() and port_file.read_text().strip() or process.poll() is not None)
        if process.poll() is not None:
            raise Wrong(f"pintle serve ended with {process.returncode}: {tail(log)}")
        process.port = int(port_file.read_text().split()[0])
        process.log = log
        process.folder = folder
        return process

    def proxy(self, way):
        kind = {"relayed": "http", "intercepted-h2": "intercepted", "run": "http"}.get(way, way)
        known = self.proxies.get(kind)
        if known is None or known.poll() is not None:
            text = CONFIGURATIONS[kind]
            if kind == "intercepted":
                self.authority()
                text %= self.ca
            known = self.proxies[kind] = self.serve(text, kind)
        return known

    def authority(self):
        """The certificate of the authority that intercepts."""
        path = self.folder / "data/pintle/ca/ca.pem"
        if not path.exists():
            subprocess.run([self.program, "ca", "init"], check=True, env=self.environment, capture_output=True)
        return path

    def nginx(self):
        """Ports of an nginx that ends each connection after five requests: http, and https with HTTP/2."""
        if self.nginx_ports is None:
            folder = self.nginx_folder = self.place("nginx")
            (folder / "page").write_text("page of nginx\n")
            (folder / "blob").write_bytes(origin.BLOB)
            folder.chmod(0o755)
            self.folder.chmod(0o755)
            ports = [free_port(), free_port()]
            (folder / "nginx.conf").write_text(f"""
daemon off; user root; worker_processes 2; error_log {folder}/error.log; pid {folder}/nginx.pid;
events {{ worker_connections 512; }}
http {{
    access_log {folder}/access.log; keepalive_requests 5; client_max_body_size 0;
    client_body_temp_path {folder}/b; proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f;
    uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
    ssl_certificate {self.folder}/origin.pem; ssl_certificate_key {self.folder}/origin.key;
    server {{
        listen 127.0.0.1:{ports[0]}; listen 127.0.0.1:{ports[1]} ssl http2;
        root {folder};
        location /origin/ {{
            proxy_http_version 1.1; proxy_buffering off;
            proxy_pass http://127.0.0.1:{self.plain_port}/;
        }}
    }}
}}
""")
            process = self.nginx_process = self.start(
                ["nginx", "-p", folder, "-c", folder / "nginx.conf"], stderr=subprocess.DEVNULL
            )
            until(lambda: all(answers(port) for port in ports) or process.poll() is not None)
            if process.poll() is not None:
                raise Wrong(f"nginx ended: {tail(folder / 'error.log')}")
            self.nginx_ports = ports
        return self.nginx_ports

    def end(self, process):
        if process.poll() is None:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
        if process in self.processes:
            self.processes.remove(process)

    def close(self):
        for process in list(self.processes):
            self.end(process)
        shutil.rmtree(self.folder, ignore_errors=True)


class At:
    """One job's view of the stage, by one way."""

    def __init__(self, stage, way):
        self.stage = stage
        self.way = way
        self.program = stage.program
        self.secure = way in ("relayed", "intercepted", "intercepted-h2")
        self.scheme = "https" if self.secure else "http"
        self.port = stage.secure_port if self.secure else stage.plain_port
        self.host = HOST
        self.base = f"{self.scheme}://{HOST}:{self.port}"
        self.plain = f"http://{HOST}:{stage.plain_port}"
        self.before = list(stage.processes)
        self.folder = stage.place(way)
        self.server = None if way in ("run", "captured") else stage.proxy(way)
        self.said = len(self.server.log.read_text(errors="replace")) if self.server else 0
        self.proxy = None if self.server is None else f"http://127.0.0.1:{self.server.port}"
        self.ca = stage.authority() if way.startswith("intercepted") else stage.ca

    def log(self):
        """What the proxy has said since the job began."""
        if not self.server:
            return ""
        lines = self.server.log.read_text(errors="replace")[self.said :].splitlines()
        return "\n         ".join(line[:300] for line in lines[-5:])

    def close(self):
        kept = [*self.stage.proxies.values()]
        for process in [each for each in self.stage.processes if each not in self.before]:
            if process not in kept and not (process.args[0] == "nginx" and self.stage.nginx_ports):
                self.stage.end(process)

    def nginx(self, path):
        return f"{self.scheme}://nginx.localhost:{self.stage.nginx()[1 if self.secure else 0]}{path}"

    @property
    def variables(self):
        """The environment that leads a client to the proxy, and has it believe the certificates of this way."""
        names = ("SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "GIT_SSL_CAINFO")
        found = dict(self.stage.environment)
        found.update({name: str(self.ca) for name in names})
        found.update({name: self.proxy for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY")})
        return found

    def run(self, *command, status=0, environment=None, **options):
        """Run a client; returns its output. `status` is the exit code that it must have, or None for any."""
        options.setdefault("cwd", self.folder)
        if "input" not in options:
            options.setdefault("stdin", subprocess.DEVNULL)
        base = self.variables if self.proxy else self.stage.environment
        process = subprocess.Popen(
            [str(each) if not isinstance(each, bytes) else each for each in command],
            stdin=subprocess.PIPE if "input" in options else options.pop("stdin"),
            stdout=options.pop("stdout", subprocess.PIPE), stderr=options.pop("stderr", subprocess.PIPE),
            env=base | (environment or {}), start_new_session=True,
            **{name: value for name, value in options.items() if name != "input"},
        )
        self.stage.processes.append(process)
        try:
            output, errors = process.communicate(options.get("input"))
        finally:
            self.stage.end(process)
        if status is not None and process.returncode != status:
            said = (errors or output or b"").decode(errors="replace").strip()[-600:]
            raise Wrong(f"{command[0]} ended with {process.returncode}, not {status}: {said}")
        self.errors = errors
        self.status = process.returncode
        return output

    def curl(self, *arguments, status=0):
        """The output of curl; a first argument that begins with a slash is a path of the origin."""
        version = "--http2" if self.way == "intercepted-h2" else "--http1.1"
        arguments = [
            f"{self.base}{each}" if str(each).startswith("/") and not exists(each) else each for each in arguments
        ]
        return self.run("curl", "-sS", "--suppress-connect-headers", version, *arguments, status=status)

    def pintle(self, *arguments, **options):
        """Output of `pintle` with these arguments."""
        return self.run(self.program, *arguments, **options)

    def socket(self, host=None, port=None):
        """A connection to the origin: over the tunnel with TLS, or to the proxy for requests in absolute form."""
        connection = socket.create_connection(("127.0.0.1", self.server.port), 20)
        if not self.secure:
            return connection
        place = f"{host or HOST}:{port or self.port}"
        connection.sendall(f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n\r\n".encode())
        head = receive_head(connection)
        if b" 200 " not in head.split(b"\r\n")[0]:
            raise Wrong(f"CONNECT was answered {head[:200]!r}")
        context = ssl.create_default_context(cafile=str(self.ca))
        return context.wrap_socket(connection, server_hostname=host or HOST)

    def target(self, path):
        """The request target of a path for `socket`."""
        return path if self.secure else self.base + path


def exists(path):
    return isinstance(path, pathlib.Path) or os.path.exists(str(path))


def receive_head(connection):
    """Octets up to the blank line that ends a head, and none behind it."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        byte = connection.recv(1)
        if not byte:
            raise Wrong(f"the connection ended within a head: {head[:200]!r}")
        head += byte
    return head


def receive(connection, count):
    found = b""
    while len(found) < count:
        piece = connection.recv(count - len(found))
        if not piece:
            raise Wrong(f"the connection ended after {len(found)} of {count} bytes")
        found += piece
    return found


def until(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise Wrong("it was not ready in time")
        time.sleep(0.02)


def answers(port):
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
        return True
    except OSError:
        return False


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def tail(path, lines=8):
    try:
        return "\n".join(pathlib.Path(path).read_text(errors="replace").splitlines()[-lines:])
    except OSError:
        return ""
