# SPDX-License-Identifier: Apache-2.0
"""What recipes find around them: names with servers behind them, and files that their readers have."""

import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import time

import authority
from names import INSIDE, INSIDE_NAMES, LOCAL_NAMES, PUBLIC, PUBLIC_NAMES

KIT = pathlib.Path(__file__).parent


def missing(name):
    """The reason why this machine cannot run a recipe; None if it can."""
    if name == "dev-gateway" and not importlib.util.find_spec("grpc"):
        return "the module grpc is not there"
    if name == "kubernetes-sidecar" and os.geteuid() != 0:
        return "the users of a pod need root"
    return None


class Scene:
    """The surroundings of one page."""

    def __init__(self, name, program, folder, work):
        self.name = name
        self.program = program
        self.folder = folder
        self.work = work

    def set(self):
        os.symlink(self.program, self.folder / "bin/pintle")
        self.network()
        self.roots = authority.Authority("Example Root CA")
        self.company = authority.Authority("Example Corp CA")
        self.mount("ca-certificates.crt", self.roots.pem, "/etc/ssl/certs/ca-certificates.crt")
        self.start_world()
        act = getattr(self, self.name.replace("-", "_"), None)
        if act:
            act()

    def network(self):
        for words in (["link", "set", "lo", "up"], ["addr", "add", f"{PUBLIC}/32", "dev", "lo"],
                      ["addr", "add", f"{INSIDE}/32", "dev", "lo"],
                      # A way out, as machines have it, whose packets reach nothing.
                      ["link", "add", "out", "type", "veth", "peer", "name", "far"],
                      ["addr", "add", "44.1.0.2/24", "dev", "out"],
                      ["link", "set", "out", "up"], ["link", "set", "far", "up"], ["route", "add", "default", "via", "44.1.0.1"]):
            subprocess.run(["ip", *words], check=True)
        hosts = ["127.0.0.1 localhost " + " ".join(LOCAL_NAMES), "::1 localhost"]
        self.mount("hosts", "\n".join(hosts) + "\n", "/etc/hosts")
        # Other names are looked up, as programs in isolation ask Pintle for them.
        self.mount("resolv.conf", f"nameserver {PUBLIC}\n", "/etc/resolv.conf")
        self.mount("nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n", "/etc/nsswitch.conf")

    def mount(self, name, text, place):
        path = self.folder / name
        path.write_text(text)
        path.chmod(0o644)
        if os.path.exists(place):
            subprocess.run(["mount", "--bind", path, os.path.realpath(place)], check=True)

    def start(self, *command, **options):
        with open(self.folder / f"{pathlib.Path(str(command[0])).name}.log", "ab") as log:
            return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, **options)

    def start_world(self):
        """The servers of the names."""
        certificates = self.folder / "certificates"
        certificates.mkdir()
        for name in PUBLIC_NAMES:
            self.roots.certify(name, certificates / f"{name}.pem")
        for name in INSIDE_NAMES:
            self.company.certify(name, certificates / f"{name}.pem")
        self.roots.certify("api.example.com", certificates / "api.example.com.next.pem", key="api.example.com next")
        ready = self.folder / "world.ready"
        world = self.start(sys.executable, KIT / "world.py", certificates, ready)
        self.wait(ready.exists, world)

    @staticmethod
    def wait(condition, process):
        while not condition():
            if process.poll() is not None:
                raise SystemExit(f"{process.args[:2]} ended with {process.returncode}")
            time.sleep(0.01)

    def give(self, name, text, mode=0o644):
        """A file that the reader has."""
        path = self.work / name
        path.write_text(text)
        path.chmod(mode)

    # Pages with more than the names.

    def private_ca(self):
        self.give("corp-ca.pem", self.company.pem)

    def rotating_a_key(self):
        chain = (self.folder / "certificates/api.example.com.next.pem").read_text()
        self.give("next.pem", chain[: chain.index("-----BEGIN PRIVATE KEY")])

    def team_proxy(self):
        self.give("corp-ca.pem", self.company.pem)
        shutil.copy(self.folder / "certificates/pintle.corp.example.pem", self.work / "proxy.pem")

    def behind_a_corporate_proxy(self):
        """Another Pintle is the company's proxy, and wants a password."""
        folder = self.folder / "parent"
        folder.mkdir()
        users = subprocess.run(
            ["htpasswd", "-nbB", "-C", "4", "build", "secret"], check=True, capture_output=True, text=True).stdout
        (folder / "users").write_text(users)
        (folder / "pintle.yaml").write_text(
            f'version: 1\nvia: corp\nlisten: ["{INSIDE}:8080"]\nclients: {{allow: [0.0.0.0/0], '
            "basic_auth: {users: users}}\nlog: {exchanges: off}\n")
        parent = self.start(
            self.program, "serve", "-c", folder / "pintle.yaml", "--port-file", folder / "port")
        self.wait((folder / "port").exists, parent)

    def dev_gateway(self):
        for name in LOCAL_NAMES:
            self.roots.certify(name, self.folder / f"certificates/{name}.pem")
        ready = self.folder / "services.ready"
        services = self.start(
            sys.executable, KIT / "services.py", self.folder / "certificates/prices.localhost.pem", ready)
        self.wait(ready.exists, services)

    def kubernetes_sidecar(self):
        shutil.copy(KIT / "kubectl.py", self.folder / "bin/kubectl")
        (self.folder / "bin/kubectl").chmod(0o755)
        # The users of the pod read the program.
        (self.folder / "bin/pintle").unlink()
        shutil.copy(self.program, self.folder / "bin/pintle")
