# SPDX-License-Identifier: Apache-2.0
"""Loads blocks of YAML as the program does, with stand-ins for the files and variables that they name."""

import hashlib
import json
import os
import pathlib
import re
import subprocess
import tempfile
import time

import jsonschema
import yaml

# Keys by which files of other programs are known: of Kubernetes, Prometheus, Compose, GitHub and GitLab.
FOREIGN = {"apiVersion", "spec", "scrape_configs", "groups", "services", "jobs", "stages"}
# What stands in for a file, by the key that names it.
CERTIFICATES = {"certificates", "roots", "extra_roots"}
PAIRS = {"certificate", "listen_tls"}


class Loader(yaml.SafeLoader):
    """Dates stay strings, as they do in Pintle."""


Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def strings(value, key: str = ""):
    """All strings of a document, with the nearest key above each."""
    if isinstance(value, dict):
        for name, one in value.items():
            yield from strings(one, str(name))
    elif isinstance(value, list):
        for one in value:
            yield from strings(one, key)
    elif isinstance(value, str):
        yield key, value


class Blocks:
    def __init__(self, root: pathlib.Path, program: str):
        self.root, self.program = root, os.path.abspath(program)
        schema = json.loads((root / "conf/pintle.schema.json").read_text())
        self.top = set(schema["properties"])
        self.route = set(schema["$defs"]["route"]["properties"])
        self.policy = set(schema["$defs"]["trust"]["properties"])
        self.tests = jsonschema.Draft202012Validator(json.loads((root / "conf/pintle-test.schema.json").read_text()))
        self.work = tempfile.TemporaryDirectory()
        self.made = 0
        call = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "400",
                "-subj", "/CN=Stand-in", "-keyout", f"{self.work.name}/key.pem", "-out", f"{self.work.name}/certificate.pem"]
        subprocess.run(call, check=True, capture_output=True)

    def faults(self, text: str) -> list[str]:
        try:
            documents = [one for one in yaml.load_all(text, Loader) if one is not None]
        except yaml.YAMLError as error:
            return [f"this is no YAML: {' '.join(str(error).split())}"]
        return [fault for one in documents for fault in self.document(one, text if len(documents) == 1 else yaml.safe_dump(one))]

    def document(self, value, text: str) -> list[str]:
        if isinstance(value, list) and all(isinstance(one, dict) for one in value):
            if any({"request", "chain", "requests"} & set(one) for one in value):
                return [f"these are no policy tests: {'/'.join(map(str, error.path))}: {error.message}" for error in self.tests.iter_errors(value)]
            if any(set(one) <= self.route and "match" in one for one in value):
                return self.load("version: 1\nroutes:\n" + indented(text), {"routes": value})
        if not isinstance(value, dict):
            return []
        keys = set(map(str, value))
        isForeign = bool(keys & FOREIGN) or any(isinstance(one, dict) and "script" in one for one in value.values())
        if isForeign:
            return []
        if keys <= self.top:
            return self.load(text if "version" in keys else f"version: 1\n{text}", value)
        if keys <= self.route:
            match = "" if "match" in keys else "    match: {}\n"
            return self.load(f"version: 1\nroutes:\n  - name: example\n{match}{indented(text, 4)}", value)
        if keys <= self.policy:
            return self.load(f"version: 1\ntrust:\n  example:\n{indented(text, 4)}", value)
        if keys & self.top:
            return [f"there is no key {one} in a configuration" for one in sorted(keys - self.top)]
        return []

    def load(self, text: str, value) -> list[str]:
        self.made += 1
        folder = pathlib.Path(self.work.name, str(self.made))
        folder.mkdir()
        (folder / "pintle.yaml").write_text(text)
        environment = {"PATH": os.environ["PATH"], "HOME": str(folder)}
        for key, string in strings(value):
            if string.startswith("env:"):
                environment[string[4:]] = "/run/example.sock" if key == "expose" else "a-secret-of-the-example"
            elif string.startswith("file:"):
                self.put(folder, string[5:], b"a-secret-of-the-example\n")
            elif key == "url" and string.startswith("https://"):
                self.keep(folder, string)
            elif (data := self.stand_in(key, string)) is not None:
                self.put(folder, string, data)
        result = subprocess.run([self.program, "check", "-c", "pintle.yaml"], cwd=folder, env=environment, capture_output=True, text=True)
        return [] if result.returncode == 0 else [
            f"it does not load: {line}" for line in (result.stderr or result.stdout).strip().split("\n")]

    def stand_in(self, key: str, name: str) -> bytes | None:
        if key in CERTIFICATES and re.search(r"[./]", name):
            return pathlib.Path(self.work.name, "certificate.pem").read_bytes()
        if key in PAIRS and re.search(r"[./]", name):
            return b"".join(pathlib.Path(self.work.name, one).read_bytes() for one in ("certificate.pem", "key.pem"))
        if key == "key" and "." in name:
            return pathlib.Path(self.work.name, "key.pem").read_bytes()
        if key == "schema":
            return b"{}\n"
        if key in ("contract", "file") and name.endswith((".yaml", ".json")):
            return (self.root / "conf/examples/pets.openapi.yaml").read_bytes()
        if key == "users":
            return b"user:$2b$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW\n"
        if key == "file":
            return b"host.example\n" if name.endswith(".txt") else b"a file of the example\n"
        if key == "include":
            return b"version: 1\n"
        return None

    def keep(self, folder: pathlib.Path, url: str) -> None:
        """Keeps a young copy of a list of hosts, so that none is fetched."""
        text = "host.example\n"
        head = ["Pintle list 1", f"url: {url}", f"confirmed: {time.time_ns() // 1_000_000}", f"sha256: {digest(text)}"]
        # The program believes no folder that its group may write.
        lists = folder / ".local/state/pintle/lists"
        lists.mkdir(mode=0o700, parents=True, exist_ok=True)
        place = lists / digest(url)
        place.write_text("\n".join(head) + "\n\n" + text)
        place.chmod(0o600)

    def put(self, folder: pathlib.Path, name: str, data: bytes) -> None:
        # A pattern stands for one file, and a folder has one.
        path = folder / re.sub(r"\*+", "one", name)
        if name.endswith("/"):
            path /= "one.pem"
        if folder in path.resolve().parents:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def indented(text: str, depth: int = 2) -> str:
    return "".join(" " * depth + line + "\n" if line else "\n" for line in text.split("\n"))
