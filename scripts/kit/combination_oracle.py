# SPDX-License-Identifier: Apache-2.0
"""What `explain` promises for the requests of `scripts/combinations`, and what differs from it in answers and in the log."""

import json
import re
import subprocess
from typing import NamedTuple

from combination_fixture import JSON, PLACEHOLDER, PNG
from combination_keys import Mark
from combination_names import NamedRules
from combination_traffic import COOKIE, Answer, Request, Tunnelled

# Problems that no request is promised, with their status and what explains them: a line of `explain`, or `key` and a key of the
# row. Any other problem is a fault.
RULES, TRUST = r"^(response|contract) ", r"^trust +the system's roots|^(trust +t,|way .* is judged by t,)(?s:.*)^key trust\."
GROUNDS = {
    "overloaded": (503, r"^key limits\.held_bytes"),
    "request-timeout": (408, r"^key limits\.(header|body|idle)_timeout"),
    "body-too-large": (413, r"^key limits\.(body_buffer|held_bytes)"),
    "unserializable-request": (422, r"^request .*serializes|^contract "),
    "response-status": (502, RULES), "response-content-type": (502, RULES), "response-body": (502, RULES),
    "cache-miss": (504, r"^cache .*cache-miss"),
    "certificate-invalid": (502, TRUST), "pin-mismatch": (502, TRUST), "tls-failure": (502, TRUST),
    "upstream-timeout": (504, r"^key route\.request\.timeout"),
    "connect-timeout": (504, r"^key route\.request\.(connect_)?timeout"),
    "destination-denied": (403, r"^destination .* is judged |^named networks deny the address"),
    # Without a route, or by one without an upstream, requests go to a port where nothing listens.
    "connect-failure": (502, r"^sent to +[A-Z]+ https?://[a-z]+\.localhost/"),
}
# Where many clients come at once, limits of a few refuse some.
CROWDED = r"^key limits\.(connections|tunnels)"

# Limits and passwords come before the policy, which may not have been asked.
EARLY = (407, 408, 503)
WITHOUT_NULLS = b'{"a": 1}'
STATUS = {"/redirect": 302, "/error": 500}


class Promise(NamedTuple):
    text: str
    """What `explain` says, and a line with each key of the row."""
    status: int | None
    problem: str | None
    route: str | None
    path: str | None
    trust: str | None
    rule: str | None
    denies_address: bool
    """True if a network for the client denies the address of every origin."""

    @property
    def explained(self) -> str:
        return re.split("^(?:key|named) ", self.text, maxsplit=1, flags=re.MULTILINE)[0]

    def says(self, pattern: str) -> bool:
        return re.search(pattern, self.text, re.MULTILINE) is not None

    def allows(self, problem: str | None, status: int, crowded: bool) -> bool:
        """Whether a problem is explained; one whose name the client is not shown, by any of its status."""
        if status == 503 and crowded and self.says(CROWDED):
            return True
        names = [problem] if problem else [name for name, (usual, _) in GROUNDS.items() if usual == status]
        return any(name in GROUNDS and self.says(GROUNDS[name][1]) for name in names)


def promised(
    program: str, folder: str, environment: dict[str, str], request: Request, row: list[Mark], rules: NamedRules,
) -> Promise | str:
    """What `explain` says of a request, or its complaint, or how it contradicts the names in rules."""
    client = rules.identity(request.client)
    names = [f"--{key}={name}" for key, name in zip(("user", "tag"), client) if name]
    # Credentials are taken from the environment alone.
    fields = [f"--header={field.replace(COOKIE, 'Cookie:env:COMBINED')}" for field in (*request.fields, f"Host: {request.host}")]
    done = subprocess.run(
        [program, "explain", "-c", "p.yaml", *names, *([] if request.method == "CONNECT" else fields), request.method, request.target],
        cwd=folder, capture_output=True, text=True, env={**environment, "COMBINED": "a=b"})
    # 1 says that the request is refused; without an explanation it was refused before any rule.
    if done.returncode not in (0, 1) or not done.stdout:
        return f"explain of {request} ends with {done.returncode}: {done.stdout}{done.stderr}"
    text = done.stdout + "".join(f"key {mark.key}\n" for mark in row)
    # A parent looks names up, and no address is judged here.
    denies_address = rules.deny_address(request.client) and not re.search(r"^way +by the parent ", text, re.MULTILINE)
    if denies_address:
        text += "named networks deny the address\n"

    def said(pattern: str) -> str | None:
        found = re.search(pattern, text, re.MULTILINE)
        return found.group(1) if found else None

    status = said(r"^answer +(\d{3})")
    route = said(r'^route +routes\[\d+\] "([^"]*)"')
    if contradiction := rules.fault(request, done.stdout, route):
        return f"explain of {request}: {contradiction}:\n{done.stdout}"
    return Promise(text, int(status) if status else None, said(r"^answer +\d{3} (.*)"), route,
                   said(r"^sent to +\S+ https?://[^/]*([^?\n]*)"), said(r"^trust +([a-z]+), by"),
                   said(r"^destination .* by (destinations\..*)$"), denies_address)


def compared(request: Request, promise: Promise, answer: Answer | str, crowded: bool) -> str | None:
    """How an answer differs from what was promised."""
    if isinstance(answer, str):
        return f"{request}: {answer}"
    wrong = fault(request, promise, answer, crowded)
    return f"{request}: {answer.status} {answer.problem or ''}: {wrong}\n{promise.explained}" if wrong else None


def fault(request: Request, promise: Promise, answer: Answer, crowded: bool) -> str | None:
    if promise.status:
        same = promise.status == answer.status and (request.method == "HEAD" or answer.problem == promise.problem)
        # Limits come before the policy.
        return None if same or answer.status == 503 and promise.allows("overloaded", 503, crowded) else "explain promises another answer"
    is_relayed = request.method == "CONNECT" and answer.status == 200 and not promise.says("requests inside are judged")
    if promise.denies_address and (answer.seen or is_relayed):
        return "a network denies the client the address of the origin"
    if promise.says(r"^response .*(placeholder|replaces)") and not answer.problem and not answer.seen \
            and answer.body == (b"" if request.method == "HEAD" else PLACEHOLDER):
        return None
    if answer.problem or not answer.seen and answer.status >= 400:
        return None if promise.allows(answer.problem, answer.status, crowded) else "explain says nothing of that problem"
    if request.method == "CONNECT":
        return None if answer.status == 200 else "explain promises a tunnel"
    return foreign(request, promise, answer) if answer.seen else "the answer is of no origin"


def foreign(request: Request, promise: Promise, answer: Answer) -> str | None:
    """How an origin's answer differs from the one for the request that explain says is sent."""
    end = "/" + request.target.rpartition("/")[2]
    status, path = STATUS.get(end, 200), promise.path or ""
    if status == 302 and promise.says(r"^redirects +follows"):
        return None if answer.status == 200 else "it is no answer behind a redirect"
    switches = any(field.startswith("Upgrade") for field in request.fields)
    part = any(field.startswith("Range") for field in request.fields) and promise.says("^cache ")
    if answer.status not in (status, 101 if switches else status, 206 if part else status):
        return f"the origin answers {status}"
    if answer.seen.split()[1].split("?")[0] != path:
        return f"the origin was asked for {answer.seen}"
    if request.method == "HEAD" or answer.status == 101:
        return None
    whole = PNG if end == "/image" else JSON
    known = answer.body in (whole, whole[:3] if part else whole) or promise.says("without nulls") and answer.body == WITHOUT_NULLS
    return None if known else f"its body is {answer.body!r}"


def tunnel_fault(connect: Promise, inner: Promise, request: Request, got: Tunnelled) -> str | None:
    """How a tunnel, or the answer in it, differs from what was promised for them."""
    about = f"{request} by a tunnel: {got.connect}, {got.answer}: {got.complaint}"
    if request.target.startswith("https:"):
        refused, opened = (inner.says(rf"^tunnel +a CONNECT to \S+ is {word}") for word in ("refused", "intercepted"))
        if (refused, opened) != (connect.status is not None, connect.says("requests inside are judged")):
            return f"explain says one thing of the tunnel and another of the request in it:\n{connect.explained}\n{inner.explained}"
    if got.connect != (connect.status or 200):
        # curl shows no problem of a refused tunnel.
        return None if connect.allows(None, got.connect, True) else f"{about}: explain promises another\n{connect.explained}"
    if connect.status:
        return None
    if connect.denies_address and not connect.says("requests inside are judged"):
        return f"{about}: a network denies the client the address of the origin"
    if not got.answer:
        return f"{about}: explain promises an answer"
    if "requests inside are judged" in connect.text:
        return compared(request, inner, got.answer, True)
    return None if got.answer.status == 200 and got.answer.body == JSON else f"{about}: the origin answers 200"


def logged(log: str, promises: dict[tuple, list[tuple[Promise, int | None]]]) -> str | None:
    """Compares the records of exchanges with what was promised for them, and with the statuses that clients saw."""
    for line in log.splitlines():
        if not line.startswith("{"):
            continue
        record = json.loads(line)
        place = record.get("host", "").split(":")[0]
        at, names = (record.get("method", ""), record.get("url", ""), place), (record.get("user"), record.get("tag"))
        # A client that was refused early has not shown its names.
        early = record.get("status") in EARLY
        those = [one for key, every in promises.items() if key[:3] == at and (early or key[3:] == names) for one in every]
        # The client has left where there is no status.
        if "decision" not in record or not those or "status" not in record:
            continue
        wrong = [difference(record, promise, status) for promise, status in those]
        if all(wrong):
            return f"{record['method']} {record['url']}: {', '.join(dict.fromkeys(wrong))}: {line}"
    return None


def difference(record: dict, promise: Promise | None, status: int | None) -> str | None:
    if promise is None:
        return None if record["status"] == status else f"status {record['status']} without a password"
    if status not in (None, record["status"]):
        return f"status {record['status']}, but the client got {status}"
    early = record["status"] in EARLY
    if record.get("route") != promise.route and not (early and "route" not in record):
        return f"route {record.get('route')}, but explain promises {promise.route}"
    if record["decision"] == "deny" and not early and not promise.status and not promise.says(GROUNDS["destination-denied"][1]):
        return "denied, but explain promises no denial"
    if record["decision"] == "allow" and promise.status == 403:
        return "allowed, but explain promises 403"
    if record.get("trust") and promise.trust and record["trust"] != promise.trust:
        return f"trust {record['trust']}, but explain promises {promise.trust}"
    # Each hop of a followed redirect is judged by the rules for its own URL, and the last one is logged.
    if record.get("rule") and promise.rule and not record.get("redirects") \
            and not promise.says(GROUNDS["destination-denied"][1]) \
            and record["rule"].split()[0] != promise.rule.split()[0]:
        return f"rule {record['rule']}, but explain promises {promise.rule}"
    return None
