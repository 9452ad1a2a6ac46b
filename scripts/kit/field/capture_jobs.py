# SPDX-License-Identifier: Apache-2.0
"""Jobs of programs that know nothing of proxies, under `pintle run --isolate`, as an ordinary user."""

import json
import os
import shutil
import signal
import socket
import subprocess
import threading

from client_jobs import repository
from registry import Skipped, equal, holds, job
from stage import answers, free_port, until

CAPTURED = ("captured",)
MACHINE = "host.pintle.internal"
"""The name by which the command reaches servers of the machine."""
NOBODY = 65534


def user():
    """The beginning of a command that is run by an ordinary user."""
    if os.geteuid() != 0:
        return ()
    return ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--no-new-privs")


def program(at):
    """Pintle at a place that an ordinary user may enter, as that of a checkout of root's is not."""
    if os.geteuid() != 0:
        return at.program
    copy = at.stage.folder / "pintle"
    if not copy.exists():
        shutil.copy(at.program, copy)
    return copy


def captured(at, *command, rules="", options=(), status=0, captures=True, **more):
    """The output of a command that has no proxy variables; holds that it was captured."""
    at.stage.folder.chmod(0o755)
    at.folder.chmod(0o777)
    (at.folder / "pintle.yaml").write_text("version: 1\n" + rules)
    report = at.folder / "run.json"
    report.unlink(missing_ok=True)
    names = ("http_proxy", "https_proxy", "all_proxy", "no_proxy", "NODE_USE_ENV_PROXY", "JAVA_TOOL_OPTIONS")
    without = [word for name in names for word in ("-u", name, "-u", name.upper())]
    at.home = at.folder / "home"
    at.home.mkdir(exist_ok=True)
    at.home.chmod(0o777)
    environment = {
        "HOME": str(at.home), "TMPDIR": str(at.folder), "XDG_STATE_HOME": str(at.home), "XDG_DATA_HOME": str(at.home),
        "SSL_CERT_FILE": str(at.stage.ca), "CURL_CA_BUNDLE": str(at.stage.ca), "GIT_SSL_CAINFO": str(at.stage.ca),
        "NODE_EXTRA_CA_CERTS": str(at.stage.ca),
    }
    got = at.run(
        *user(), program(at), "run", "--isolate", "--fail-on", "violation,failure", "--report", f"json={report}", *options,
        "--", "env", *without, *command, status=status, environment=environment, **more,
    )
    at.report = json.loads(report.read_text())
    if captures:
        holds(at.report["summary"]["captured"] > 0, f"nothing was captured: {at.report['summary']}")
    return got


def urls(at, path):
    return f"http://{MACHINE}:{at.stage.plain_port}{path}", f"https://{MACHINE}:{at.stage.secure_port}{path}"


@job(ways=CAPTURED)
def captured_curl(at):
    """curl without proxy variables gets pages in clear and over TLS, and is named."""
    equal(captured(at, "curl", "-sS", *urls(at, "/page/c")), b"page c\npage c\n")
    # A process that has ended before it was looked for is not named.
    holds(at.report["ignored_proxy"] in (["curl"], []), at.report)
    equal(at.report["summary"]["tunnels"], 1, "the number of tunnels")


@job(ways=CAPTURED, needs=("wget",))
def captured_wget(at):
    """wget does, too."""
    equal(captured(at, "wget", "-qO-", "--ca-certificate", at.stage.ca, *urls(at, "/page/w")), b"page w\npage w\n")


@job(ways=CAPTURED, needs=("git",))
def captured_git(at):
    """git clones over https."""
    url = repository(at).replace(f"{at.base}/", urls(at, "/")[1])
    captured(at, "git", "clone", "-q", url, at.folder / "clone")
    holds((at.folder / "clone/.git").exists(), "there is no clone")


@job(ways=CAPTURED)
def captured_python(at):
    """Python's sockets and ssl connect as they are."""
    program = f"""
import socket, ssl
for port, secure in (({at.stage.plain_port}, False), ({at.stage.secure_port}, True)):
    s = socket.create_connection(("{MACHINE}", port))
    if secure: s = ssl.create_default_context(cafile="{at.stage.ca}").wrap_socket(s, server_hostname="{MACHINE}")
    s.sendall(b"GET /page/py HTTP/1.0\\r\\nHost: {MACHINE}:%d\\r\\n\\r\\n" % port)
    data = b""
    while piece := s.recv(4096): data += piece
    print(data.split(b"\\r\\n\\r\\n")[1].decode(), end="")
"""
    equal(captured(at, "/usr/bin/python3", "-c", program), b"page py\npage py\n")


@job(ways=CAPTURED, needs=("node",))
def captured_node(at):
    """Node's fetch and https."""
    plain, secure = urls(at, "/page/n")
    program = f"""(async () => {{
    process.stdout.write(await (await fetch('{plain}')).text())
    process.stdout.write(await (await fetch('{secure}')).text())
}})()"""
    equal(captured(at, "node", "-e", program), b"page n\npage n\n")


@job(ways=CAPTURED, needs=("java",), guard=60)
def captured_java(at):
    """Java's HttpClient, which looks names up by itself."""
    (at.folder / "Page.java").write_text("""
import java.net.*; import java.net.http.*;
class Page { public static void main(String[] a) throws Exception {
    System.out.print(HttpClient.newHttpClient().send(HttpRequest.newBuilder(URI.create(a[0])).build(),
        HttpResponse.BodyHandlers.ofString()).body());
} }
""")
    got = captured(at, "java", "-XX:TieredStopAtLevel=1", "Page.java", urls(at, "/page/j")[0])
    equal(got, b"page j\n")


GO = """package main
import ("fmt"; "io"; "net/http"; "os")
func main() {
    for _, url := range os.Args[1:] {
        r, err := http.Get(url)
        if err != nil { fmt.Println(err); os.Exit(1) }
        b, _ := io.ReadAll(r.Body); os.Stdout.Write(b)
    }
}
"""


@job(ways=CAPTURED, needs=("go",), fast=False, guard=240)
def captured_go(at):
    """A static program of Go, with Go's own resolver."""
    (at.folder / "page.go").write_text(GO)
    at.run("go", "build", "-o", "page", "page.go", environment={"CGO_ENABLED": "0", "GO111MODULE": "off"})
    equal(captured(at, at.folder / "page", *urls(at, "/page/g")), b"page g\npage g\n")


@job(ways=CAPTURED)
def captured_name_is_denied(at):
    """A name that no rule allows does not exist, for whatever resolver, and is a finding."""
    rules = 'destinations: {default: deny, allow: ["%s"]}\n' % MACHINE
    program = """
import socket, struct
try: socket.getaddrinfo("secret.evil.example", 80); print("found")
except socket.gaierror as error: print("none")
question = b"\\x12\\x34\\x01\\0\\0\\1\\0\\0\\0\\0\\0\\0" + b"\\6secret\\4evil\\7example\\0" + b"\\0\\1\\0\\1"
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); u.settimeout(20); u.sendto(question, ("8.8.8.8", 53))
print(u.recv(512)[3] & 15)
t = socket.create_connection(("9.9.9.9", 53)); t.sendall(struct.pack(">H", len(question)) + question)
print(t.recv(512)[5] & 15)
"""
    got = captured(at, "/usr/bin/python3", "-c", program, rules=rules, status=1, captures=False)
    equal(got, b"none\n3\n3\n")
    found = {(each["name"], each["host"]) for each in at.report["findings"]}
    equal(found, {("name-denied", "secret.evil.example")}, "the findings")


@job(ways=CAPTURED)
def captured_thousand_names(at):
    """A thousand names have a thousand addresses, the same each time, in IPv4 and IPv6."""
    program = """
import socket
found = {}
for turn in range(2):
    for number in range(1000):
        for family in (socket.AF_INET, socket.AF_INET6):
            address = socket.getaddrinfo("n%d.example" % number, 80, family)[0][4][0]
            assert found.setdefault((number, family), address) == address
print(len(set(found.values())))
"""
    equal(captured(at, "/usr/bin/python3", "-c", program, captures=False), b"2000\n")


@job(ways=CAPTURED)
def captured_ipv6(at):
    """A program that speaks IPv6 only."""
    equal(captured(at, "curl", "-sS", "-6", *urls(at, "/page/6")), b"page 6\npage 6\n")


@job(ways=CAPTURED)
def captured_quic(at):
    """Datagrams are refused at once, in IPv4 and IPv6."""
    program = """
import socket
for family, address in ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1")):
    s = socket.socket(family, socket.SOCK_DGRAM); s.settimeout(20); s.connect((address, 443)); s.send(b"x")
    try: print(s.recv(10))
    except ConnectionRefusedError: print("refused")
"""
    equal(captured(at, "/usr/bin/python3", "-c", program, captures=False), b"refused\nrefused\n")


@job(ways=CAPTURED)
def captured_address(at):
    """A client of DNS over HTTPS that has the address: judged by the address, and by the name in its handshake."""
    rules = 'destinations: {deny: ["192.0.2.0/24", "dns.example"]}\n'
    address = captured(
        at, "curl", "-sS", "https://192.0.2.53/dns-query", rules=rules, status=35)
    equal(address, b"")
    equal([each["host"] for each in at.report["findings"]], ["192.0.2.53:443"], "the findings")
    captured(
        at, "curl", "-sS", "--resolve", "dns.example:443:198.51.100.1", "https://dns.example/", rules=rules, status=35)
    holds("dns.example" in at.report["findings"][0]["reason"], at.report["findings"])


@job(ways=CAPTURED)
def captured_own_servers(at):
    """Servers of the command's own on any port of its loopback are its own."""
    program = """
import http.server, threading, urllib.request
ask = urllib.request.build_opener(urllib.request.ProxyHandler({}))
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self): self.send_response(204); self.end_headers()
    def log_message(self, *_): pass
for port in (80, 443, 53, 3128, 8080):
    server = http.server.HTTPServer(("0.0.0.0", port), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(ask.open("http://127.0.0.1:%d/" % port).status)
"""
    equal(captured(at, "/usr/bin/python3", "-c", program, captures=False), b"204\n" * 5)


@job(ways=CAPTURED, needs=("psql",), guard=90)
def captured_psql(at):
    """psql asks a real PostgreSQL, by a rule for every protocol; without the rule it is refused, and told of."""
    server, port = postgres(at)
    query = ("psql", "-h", MACHINE, "-p", port, "-U", "field", "-d", "postgres", "-tAc", "select 6 * 7")
    try:
        rules = f'destinations: {{default: deny, allow: ["tcp://{MACHINE}:{port}"]}}\n'
        equal(captured(at, *query, rules=rules), b"42\n")
        captured(at, *query, status=2)
        holds("tcp://" in at.report["findings"][0]["reason"], at.report["findings"])
    finally:
        server.terminate()
        server.wait()


def postgres(at):
    """A new server of PostgreSQL on a port of its own, without passwords."""
    found = sorted(os.scandir("/usr/lib/postgresql"), key=lambda each: int(each.name)) if os.path.isdir(
        "/usr/lib/postgresql") else []
    programs = f"{found[-1].path}/bin" if found else ""
    if not os.path.exists(f"{programs}/initdb"):
        raise Skipped("there is no server of PostgreSQL")
    at.stage.folder.chmod(0o755)
    at.folder.chmod(0o777)
    data, port = at.folder / "data", free_port()
    at.run(*user(), f"{programs}/initdb", "-D", data, "-U", "field", "-A", "trust", "--no-sync", environment={"HOME": "/"})
    server = at.stage.start(
        [*user(), f"{programs}/postgres", "-D", data, "-p", str(port), "-c", "listen_addresses=127.0.0.1", "-k", data],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/",
    )
    until(lambda: answers(port) or server.poll() is not None, 40)
    return server, port


@job(ways=CAPTURED, needs=("ssh",))
def captured_ssh(at):
    """ssh, which is greeted before it speaks, gets through by a rule for every protocol."""
    server = socket.create_server(("127.0.0.1", 0))
    port = server.getsockname()[1]
    heard = []

    def greet():
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            connection.sendall(b"SSH-2.0-field\r\n")
            heard.append(connection.makefile("rb").readline())
            connection.close()

    threading.Thread(target=greet, daemon=True).start()
    command = ("ssh", "-F", "none", "-o", "StrictHostKeyChecking=no", "-p", port, f"x@{MACHINE}", "true")
    captured(at, *command, rules=f'destinations: {{allow: ["tcp://{MACHINE}:{port}"]}}\n', status=255)
    holds(heard and heard[0].startswith(b"SSH-2.0-OpenSSH"), f"the server has heard {heard}")
    heard.clear()
    captured(at, *command, status=255)
    equal(heard, [], "what the server has heard without a rule")
    server.close()


@job(ways=CAPTURED)
def captured_within_captured(at):
    """A run within a run: the inner one's names and connections are those of the outer one."""
    inner = f"{program(at)} run --isolate -- curl -sS {urls(at, '/page/in')[0]}"
    got = captured(at, "sh", "-c", inner)
    equal(got, b"page in\n")


@job(ways=CAPTURED)
def captured_pintle_is_killed(at):
    """When Pintle is killed, the command ends, and cannot reach anything before."""
    at.stage.folder.chmod(0o755)
    at.folder.chmod(0o777)
    (at.folder / "pintle.yaml").write_text("version: 1\n")
    script = f"""
import signal, socket
signal.pthread_sigmask(signal.SIG_BLOCK, {{signal.SIGTERM}})
print("ready", flush=True)
signal.sigwait({{signal.SIGTERM}})
# The sockets of a process close after its threads have ended, so that one may still take a connection, and answers nothing.
try:
    with socket.create_connection(("198.51.100.1", {at.stage.plain_port}), 20) as connection:
        connection.sendall(b"GET /page HTTP/1.0\\r\\n\\r\\n")
        answer = connection.recv(100)
except OSError: answer = b""
print("answered" if answer else "refused", flush=True)
"""
    process = at.stage.start(
        [*user(), str(program(at)), "run", "--isolate", "--", "/usr/bin/python3", "-c", script], cwd=at.folder,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        env=at.stage.environment | {"HOME": "/", "XDG_STATE_HOME": str(at.folder), "XDG_CONFIG_HOME": str(at.folder)},
    )
    equal(process.stdout.readline(), b"ready\n")
    process.send_signal(signal.SIGKILL)
    equal(process.stdout.readline(), b"refused\n")
    process.wait()
