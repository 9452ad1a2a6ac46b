# SPDX-License-Identifier: Apache-2.0
"""Jobs of `pintle run` and `pintle serve` where they are started in odd ways and places."""

import json
import os
import signal
import subprocess
import xml.etree.ElementTree

import origin
from registry import Skipped, equal, holds, job
from stage import free_port, until

RUN = ("run",)


def page(at, path):
    return ("curl", "-sS", f"{at.plain}{path}")


@job(ways=RUN)
def run_a_command(at):
    """A command's output, exit code and requests are its own; the summary names the host."""
    equal(at.pintle("run", "--", *page(at, "/page/run")), b"page run\n")
    holds(b"origin.localhost" in at.errors and b"1 request" in at.errors, f"the summary is {at.errors!r}")


@job(ways=RUN)
def run_keeps_exit_codes(at):
    """Exit codes and signals of the command are those of run."""
    at.pintle("run", "--", "sh", "-c", "exit 7", status=7)
    at.pintle("run", "--", "sh", "-c", "kill -9 $$", status=137)
    at.pintle("run", "--", "nosuch", status=127)
    at.pintle("run", "--", at.folder, status=126)


@job(ways=RUN)
def run_keeps_standard_input(at):
    """A pipe goes into the command and out of it."""
    equal(at.pintle("run", "--fail-on", "never", "--", "cat", input=origin.BLOB), origin.BLOB)


@job(ways=RUN)
def run_intercepts(at):
    """curl, Python and git trust the certificates of run --intercept."""
    (at.folder / "pintle.yaml").write_text(f"version: 1\ntrust: {{default: {{roots: [{at.stage.ca}]}}}}\n")
    url = f"https://{at.host}:{at.stage.secure_port}/page/in"
    python = f"import urllib.request as r; print(r.urlopen('{url}').read().decode(), end='')"
    for command in (("curl", "-sS", url), ("/usr/bin/python3", "-c", python)):
        equal(at.pintle("run", "--intercept", "*", "--", *command), b"page in\n")


@job(ways=RUN)
def run_reports(at):
    """The reports of a run are written, and can be read."""
    at.pintle(
        "run", "--report", "json=r.json", "--report", "junit=r.xml", "--report", "sarif=r.sarif", "--report",
        "markdown=r.md", "--report", "har=r.har", "--", *page(at, "/page/report"),
    )
    json.loads((at.folder / "r.json").read_text())
    xml.etree.ElementTree.parse(at.folder / "r.xml")
    equal(json.loads((at.folder / "r.sarif").read_text())["version"], "2.1.0")
    holds((at.folder / "r.md").read_text().strip(), "no markdown")
    urls = [entry["request"]["url"] for entry in json.loads((at.folder / "r.har").read_text())["log"]["entries"]]
    equal(urls, [f"{at.plain}/page/report"])


@job(ways=RUN)
def run_in_a_run(at):
    """A run within a run does its requests."""
    equal(at.pintle("run", "--fail-on", "never", "--", at.program, "run", "--", *page(at, "/page/inner")),
          b"page inner\n")


@job(ways=RUN)
def run_denies(at):
    """What the configuration denies fails the run."""
    (at.folder / "pintle.yaml").write_text("version: 1\ndestinations: {default: deny}\n")
    got = at.pintle("run", "--", *page(at, "/page/no"), status=1)
    holds(b"page no" not in got, "the page was given")


@job(ways=RUN)
def run_learns(at):
    """What run --learn writes allows the same command, and nothing else."""
    at.pintle("run", "--learn", "learnt.yaml", "--intercept", "*", "--", *page(at, "/page/learn"))
    equal(at.pintle("run", "-c", "learnt.yaml", "--", *page(at, "/page/learn")), b"page learn\n")
    other = at.pintle("run", "-c", "learnt.yaml", "--", *page(at, "/page/other"), status=1)
    holds(b"page other" not in other, "another page is allowed")


@job(ways=RUN)
def run_a_make(at):
    """Parallel jobs of a script all go through the proxy."""
    script = f"for n in 1 2 3 4 5 6 7 8; do curl -sS {at.plain}/page/$n & done; wait"
    got = at.pintle("run", "--", "sh", "-c", script)
    equal(sorted(got.splitlines()), [b"page %d" % number for number in range(1, 9)])
    holds(b"8 requests" in at.errors, f"the summary is {at.errors!r}")


@job(ways=RUN, looks=(63,), needs=("cc",))
def preloaded_agent(at):
    """A preloaded library whose constructor calls setenv takes no arguments away."""
    (at.folder / "agent.c").write_text(
        "#include <stdlib.h>\n__attribute__((constructor)) static void start(void) { setenv(\"A\", \"b\", 1); }\n"
    )
    at.run("cc", "-shared", "-fPIC", "-o", "agent.so", "agent.c")
    agent = {"LD_PRELOAD": str(at.folder / "agent.so")}
    at.pintle("run", "--", "sh", "-c", "exit 7", status=7, environment=agent)
    equal(at.pintle("run", "--", *page(at, "/page/agent"), environment=agent), b"page agent\n")
    at.pintle("nonsense", status=2, environment=agent)


@job(ways=RUN, looks=(63,))
def without_arguments(at):
    """The program without arguments does not say that all is well."""
    at.pintle(status=2)


@job(ways=RUN, looks=(63,), needs=("faketime",))
def faketime_run(at):
    """faketime starts a run."""
    at.run("faketime", "-f", "+3d", at.program, "run", "--", "sh", "-c", "exit 7", status=7)
    equal(at.run("faketime", "-f", "+0", at.program, "run", "--", *page(at, "/page/time")), b"page time\n")


@job(ways=RUN, looks=(87,), needs=("unshare",))
def process_one(at):
    """As process 1 of a container, with children that outlive their parents, the exit code is the command's."""
    script = "(sh -c 'exit 0' &) ; (sh -c 'exit 0' &) ; " + " ".join(page(at, "/page/one")) + "; exit 7"
    if not can_unshare(at):
        raise Skipped("namespaces cannot be made here")
    got = at.run("unshare", "--pid", "--fork", "--mount-proc", at.program, "run", "--", "sh", "-c", script, status=7)
    equal(got, b"page one\n")


@job(ways=RUN, looks=(87,), needs=("unshare", "ps"), fast=False)
def process_one_reaps(at):
    """As process 1 a run leaves no zombies while its command runs."""
    if not can_unshare(at):
        raise Skipped("namespaces cannot be made here")
    script = (
        "(sh -c 'sleep 0.1' &); (sh -c 'sleep 0.1' &); for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do "
        "sleep 0.2; test $(ps -eo ppid,stat | grep -c '^ *1 *Z') = 0 && exit 0; done; exit 1"
    )
    at.run("unshare", "--pid", "--fork", "--mount-proc", at.program, "run", "--", "sh", "-c", script)


def can_unshare(at, *more):
    at.run("unshare", "--pid", "--fork", "--mount-proc", *more, "true", status=None)
    return at.status == 0


@job(ways=RUN, needs=("unshare",))
def read_only_root(at):
    """With everything read-only but a folder for temporary files, serve and run work."""
    script = (
        "mount --make-rprivate / && mount -o remount,ro,bind / 2>/dev/null || mount -o remount,ro / || exit 99; "
        f"touch /odd-file 2>/dev/null && exit 99; exec {at.program} run -- " + " ".join(page(at, "/page/ro"))
    )
    got = at.run("unshare", "--mount", "sh", "-c", script, status=None)
    if at.status in (1, 99) and b"pintle" not in at.errors:
        raise Skipped("the root cannot be made read-only here")
    equal((at.status, got), (0, b"page ro\n"))


@job(ways=RUN)
def home_that_is_not_there(at):
    """Without HOME and with folders that do not exist, a run works."""
    gone = {name: "/nonexistent" for name in ("HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME")}
    equal(at.pintle("run", "--", *page(at, "/page/home"), environment=gone), b"page home\n")
    bare = ("env", "-i", "PATH=" + os.environ["PATH"], at.program, "run", "--")
    equal(at.run(*bare, *page(at, "/page/env")), b"page env\n")


@job(ways=RUN)
def few_descriptors(at):
    """With forty descriptors a run does its requests, twenty at a time."""
    script = (
        f"ulimit -n 40; exec {at.program} run -- curl -sS -Z --parallel-max 20 -o /dev/null -w '%{{http_code}} ' "
        f"'{at.plain}/page/[1-40]'"
    )
    got = at.run("bash", "-c", script, status=None)
    holds(got.split().count(b"200") + got.split().count(b"503") == 40, f"got {got!r}: {at.errors[-300:]!r}")


@job(ways=RUN)
def little_memory(at):
    """With 64 MB of data segment the proxy gives three megabytes to ten clients."""
    script = (
        f"ulimit -d 65536; exec {at.program} run -- curl -sS -Z --parallel-max 10 -o /dev/null "
        f"-w '%{{size_download}} ' '{at.plain}/blob?[1-10]'"
    )
    got = at.run("bash", "-c", script)
    equal(got.split(), [b"3000000"] * 10)


@job(ways=RUN, looks=(64,))
def closed_standard_streams(at):
    """Started without standard input, output and error, serve serves, and these numbers are of /dev/null."""
    port = at.folder / "port"
    (at.folder / "pintle.yaml").write_text("version: 1\nlisten: ['127.0.0.1:0']\nadmin: off\n")
    process = at.stage.start(
        ["sh", "-c", f"exec {at.program} serve -c {at.folder}/pintle.yaml --port-file {port} <&- >&- 2>&-"],
        env=at.stage.environment,
    )
    until(lambda: port.exists() and port.read_text().strip() or process.poll() is not None)
    equal(process.poll(), None, "the exit code")
    for number in (0, 1, 2):
        equal(os.readlink(f"/proc/{process.pid}/fd/{number}"), "/dev/null", f"descriptor {number}")
    proxy = f"http://127.0.0.1:{port.read_text().split()[0]}"
    equal(at.run("curl", "-sS", "-x", proxy, f"{at.plain}/page/closed"), b"page closed\n")


@job(ways=RUN, looks=(64,))
def run_with_closed_streams(at):
    """run without standard input and error gives its command's output."""
    script = f"exec {at.program} run -- curl -sS {at.plain}/page/half <&- 2>&-"
    equal(at.run("sh", "-c", script), b"page half\n")


@job(ways=RUN)
def odd_paths(at):
    """Folders with blanks, quotes, letters of many scripts and a leading dash."""
    for name in ("a b", "it's", 'quo"te', "ключ 鍵", "-dash", "per%20cent", "new\nline", "colon:x"):
        folder = at.folder / name
        folder.mkdir()
        (folder / "pintle.yaml").write_text("version: 1\n")
        command = folder / "cmd"
        command.write_text("#!/bin/sh\necho did\n")
        command.chmod(0o755)
        got = at.pintle("run", "-c", folder / "pintle.yaml", "--report", f"json={folder}/r.json", "--", command)
        equal(got, b"did\n", name)
        holds((folder / "r.json").exists(), f"no report in {name}")


@job(ways=RUN, looks=(86,), fast=False)
def paths_that_are_no_utf8(at):
    """Commands, configurations and reports may have names in Latin-1."""
    folder = os.fsencode(at.folder) + b"/d\xe9p"
    os.mkdir(folder)
    with open(folder + b"/pintle.yaml", "w") as file:
        file.write("version: 1\n")
    with open(folder + b"/cmd", "w") as file:
        file.write("#!/bin/sh\necho did\n")
    os.chmod(folder + b"/cmd", 0o755)
    equal(at.pintle("run", "--", folder + b"/cmd"), b"did\n")
    report = b"junit=" + folder + b"/r.xml"
    equal(at.pintle("run", "-c", folder + b"/pintle.yaml", "--report", report, "--", "echo", "did"), b"did\n")
    holds(os.path.exists(folder + b"/r.xml"), "no report")


@job(ways=RUN)
def arguments_as_given(at):
    """Arguments of the command arrive byte for byte, also those that look like options of run."""
    given = ["--", "--help", "-c", "", "a b", "*", "$HOME", "é", "\n", "--report=x"]
    got = at.pintle("run", "--", "printf", "%s|", *given)
    equal(got, "".join(f"{each}|" for each in given).encode())
    equal(at.pintle("run", "--", "printf", "%s", b"\xe9\xff"), b"\xe9\xff")


@job(ways=RUN)
def terminated_run(at):
    """SIGTERM to a run reaches its command."""
    process = at.stage.start(
        [at.program, "run", "--", "sh", "-c",
         "trap 'echo ended; exit 3' TERM; echo there; while :; do sleep 0.1; done"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=at.stage.environment,
    )
    equal(process.stdout.readline(), b"there\n")
    process.send_signal(signal.SIGTERM)
    equal(process.stdout.read(), b"ended\n")
    equal(process.wait(), 3, "the exit code")


@job(ways=RUN)
def terminated_serve(at):
    """SIGTERM lets what is under way end, and then serve ends with 0."""
    server = at.stage.serve("version: 1\nlisten: ['127.0.0.1:0']\nadmin: off\n")
    client = at.stage.start(
        ["curl", "-sSN", "-x", f"http://127.0.0.1:{server.port}", f"{at.plain}/events/4?pause=0.3"],
        stdout=subprocess.PIPE, env=at.stage.environment,
    )
    first = os.read(client.stdout.fileno(), 15)
    server.send_signal(signal.SIGTERM)
    equal((first + client.stdout.read()).count(b"data: event"), 4)
    equal(server.wait(), 0, "the exit code")


@job(ways=RUN)
def reload_under_traffic(at):
    """SIGHUP eight times while requests go through loses none of them."""
    server = at.stage.serve("version: 1\nlisten: ['127.0.0.1:0']\nadmin: off\n")
    client = at.stage.start(
        ["curl", "-sS", "-x", f"http://127.0.0.1:{server.port}", "-w", "%{http_code} ", "-o", "/dev/null",
         f"{at.plain}/page/[1-300]"],
        stdout=subprocess.PIPE, env=at.stage.environment,
    )
    got = b""
    for _ in range(8):
        got += os.read(client.stdout.fileno(), 40)
        server.send_signal(signal.SIGHUP)
    got += client.stdout.read()
    equal(got.split().count(b"200"), 300)


@job(ways=RUN)
def unix_socket(at):
    """curl speaks to a proxy on a Unix socket."""
    (at.folder / "pintle.yaml").write_text("version: 1\nlisten: ['unix:proxy.sock', '127.0.0.1:0']\nadmin: off\n")
    at.stage.start(
        [at.program, "serve", "-c", at.folder / "pintle.yaml", "--port-file", at.folder / "port"], cwd=at.folder,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=at.stage.environment,
    )
    until(lambda: (at.folder / "port").exists() and (at.folder / "port").read_text().strip())
    got = at.run("curl", "-sS", "--unix-socket", "proxy.sock", "-H", f"Host: {at.host}:{at.stage.plain_port}",
                 "--request-target", f"{at.plain}/page/unix", "http://proxy/")
    equal(got, b"page unix\n")


@job(ways=RUN)
def proxy_behind_a_proxy(at):
    """Requests and tunnels go by a second proxy."""
    parent = at.stage.serve("version: 1\nlisten: ['127.0.0.1:0']\nadmin: off\nvia: parent\n")
    child = at.stage.serve(
        f"version: 1\nlisten: ['127.0.0.1:0']\nadmin: off\nupstream_proxy: {{url: 'http://127.0.0.1:{parent.port}'}}\n"
    )
    proxy = f"http://127.0.0.1:{child.port}"
    got = json.loads(at.run("curl", "-sS", "-x", proxy, f"{at.plain}/fields"))
    via = [value for name, value in got["fields"] if name == "via"]
    holds(len(via) in (1, 2) and "parent" in via[-1], f"Via is {via}")
    secure = f"https://{at.host}:{at.stage.secure_port}/page/by"
    equal(at.run("curl", "-sS", "-x", proxy, "--cacert", at.stage.ca, secure), b"page by\n")


@job(ways=RUN)
def environment_for_a_shell(at):
    """eval of pintle env leads curl to the proxy."""
    port = free_port()
    text = f"version: 1\nlisten: ['127.0.0.1:{port}']\nadmin: off\n"
    server = at.stage.serve(text)
    script = f'eval "$({at.program} env -c {server.folder}/pintle.yaml)"; curl -sS {at.plain}/fields'
    holds(b'"via"' in at.run("sh", "-c", script), "the request went past the proxy")


@job(ways=RUN)
def fetch_a_page(at):
    """pintle fetch gets a page, and a file."""
    equal(at.pintle("fetch", f"{at.plain}/page/fetch"), b"page fetch\n")


@job(ways=RUN)
def full_disk(at):
    """Output into a full device fails and does not hang."""
    with open("/dev/full", "wb") as full:
        at.pintle("fetch", f"{at.plain}/page/full", stdout=full, status=None)
    holds(at.status not in (0, None), f"the exit code is {at.status}")


@job(ways=RUN)
def closed_pipe(at):
    """A reader that goes away ends a run and kills nothing else."""
    got = at.run("sh", "-c", f"{at.program} run --fail-on never -- curl -sS {at.plain}/blob 2>/dev/null | head -c 10")
    equal(got, origin.BLOB[:10])
