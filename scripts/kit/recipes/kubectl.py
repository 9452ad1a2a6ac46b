#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Stands in for kubectl in a recipe: runs the commands of a pod as its users, in the network of this process.

usage: kubectl apply -f FILE | kubectl logs POD -c CONTAINER
"""

import os
import pathlib
import select
import subprocess
import sys

import yaml

STATE = pathlib.Path.home() / ".pods"


def prepare(pod, maps):
    """The folders of the pod's volumes, at the places where the containers mount them."""
    sources = {volume["name"]: maps[volume["configMap"]["name"]] for volume in pod["spec"].get("volumes", [])}
    for container in pod["spec"].get("initContainers", []) + pod["spec"]["containers"]:
        for mount in container.get("volumeMounts", []):
            place = pathlib.Path(mount["mountPath"])
            if not place.exists():
                # In memory, so that nothing is written to the machine.
                subprocess.run(["mount", "-t", "tmpfs", "tmpfs", place.parent], check=True)
                place.mkdir()
            for name, text in sources[mount["name"]].items():
                (place / name).write_text(text)


def start(pod, container):
    user = str(container.get("securityContext", {}).get("runAsUser", 0))
    home = STATE / f"home-{user}"
    home.mkdir(exist_ok=True)
    os.chown(home, int(user), int(user))
    log = open(STATE / f"{pod['metadata']['name']}-{container['name']}.log", "wb")
    return subprocess.Popen(
        ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *container["command"]],
        stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/", env=os.environ | {"HOME": str(home)})


def apply(path):
    STATE.mkdir(exist_ok=True)
    STATE.parent.chmod(0o755)
    documents = list(yaml.safe_load_all(pathlib.Path(path).read_text()))
    maps = {one["metadata"]["name"]: one["data"] for one in documents if one["kind"] == "ConfigMap"}
    for pod in (one for one in documents if one["kind"] == "Pod"):
        prepare(pod, maps)
        for container in pod["spec"].get("initContainers", []):
            if start(pod, container).wait():
                sys.exit(f"{container['name']} has failed")
        for container in pod["spec"]["containers"]:
            process = start(pod, container)
            (STATE / f"{pod['metadata']['name']}-{container['name']}.pid").write_text(str(process.pid))
    for one in documents:
        print(f"{one['kind'].lower()}/{one['metadata']['name']} created")


def logs(pod, container):
    """The log; of the program, when it has ended."""
    if container == "program":
        pid = int((STATE / f"{pod}-{container}.pid").read_text())
        try:
            select.select([os.pidfd_open(pid)], [], [])
        except ProcessLookupError:
            pass
    sys.stdout.write((STATE / f"{pod}-{container}.log").read_text())


if __name__ == "__main__":
    if sys.argv[1:3] == ["apply", "-f"]:
        apply(sys.argv[3])
    elif sys.argv[1] == "logs":
        logs(sys.argv[2], sys.argv[4])
    else:
        sys.exit("kubectl: not here")
