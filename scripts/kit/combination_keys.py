# SPDX-License-Identifier: Apache-2.0
"""The factors of `scripts/combinations`: every key of the schema with a value of each kind that it takes."""

import json
from typing import Any, NamedTuple

# Routes of the frame that take keys of a route; a third one has none.
OWNERS = ("first", "second")

# Keys that are fixed by the frame.
LEFT = {
    "version": "has one value", "listen": "is given by --listen", "admin": "opens a second door, beside the proxy",
    "admin_hosts": "is about that door", "tracing": "needs a receiver",
    "isolate": "is about pintle run, and about connections that the kernel redirects",
    "credentials": "are for the command of pintle run", "ask": "bounds waits for an answer",
    "destinations.ask": "waits for an answer", "lists": "are files beside the rules that name them",
    "capture": "shows at the admin endpoint",
    "tests": "is read by other commands than serve", "faults": "are shown by pintle run --faults only",
    "recordings.path": "is for routes with replay", "route.replay": "answers from recordings, which the frame has none of",
    "route.respond": "stands in the place of an origin, and of all other keys of its route",
    "interception.ca": "is fixed", "trust.hosts": "is fixed", "trust.roots": "is fixed",
    "route.name": "is fixed", "route.match.hosts": "is fixed", "route.trust": "is fixed",
}


class Mark(NamedTuple):
    """A key of the document or of a route, with one value as JSON."""
    owner: str
    key: str
    value: str


class Places(NamedTuple):
    """What values name of the fixture: its folder, the pin of the origins' key, and URLs of parents and of origins."""
    folder: str
    pin: str
    parent: str
    secure_parent: str
    plain: str
    secure: str


def made(places: Places) -> dict[str, list[Any]]:
    """Values that the schema alone does not tell, of files and names that the fixture has."""
    folder, pin = places.folder, places.pin
    return {
        "include": [folder + "/more.yaml", [folder + "/mor*.yaml"]],
        "listen_tls.certificate": [folder + "/o.pem"], "listen_tls.key": [folder + "/o.key"], "listen_tls.password": ["x"],
        "upstream_proxy": ["env", "off"], "upstream_proxy.url": [places.parent, places.secure_parent],
        "upstream_proxy.no_proxy": ["second.localhost", ["127.0.0.1"]], "clients.basic_auth.users": [folder + "/users"],
        "log.exchanges": ["off", "-"], "cache.path": [folder + "/cache"], "via": ["off", "other"],
        "clients.allow": [["127.0.0.0/8"], "127.0.0.1"], "destinations.connect_ports": ["any", "auto", 443],
        "destinations.ports": ["any", "auto", [80, 443]], "destinations.deny": [
            "second.localhost", ["a.localhost"], {"host": "*.localhost", "users": ["v", "w*"]}, [{"host": "127.0.0.0/8", "tags": "ci"}],
            [{"host": "third.localhost", "users": "u", "tags": ["*"], "reason": "no"}, {"host": "127.0.0.1/32", "users": "v"}]],
        "destinations.allow": [
            "first.localhost", ["*"], {"host": "*", "users": "u"},
            ["second.localhost", {"host": "*.localhost", "tags": ["c*"]}, {"host": "127.0.0.0/8", "users": ["v"]}]], "destinations.default": ["allow", "deny"], "tunnels.verify": ["second.localhost", ["*"]],
        "interception.hosts": ["third.localhost", ["first.localhost"]],
        "limits.header_count": [64, 500], "route.response.placeholder_after": ["5s", "5m"],
        # A loaded machine takes longer than a second for a handshake or a tunnel's end.
        **{f"limits.{name}_timeout": ["5s", "5m"] for name in ("header", "idle", "body", "tunnel_idle", "drain")},
        "route.request.timeout": ["5s", "5m"], "route.request.connect_timeout": ["5s", "5m"],
        "contract": [folder + "/api.yaml"], "contract.file": [folder + "/api.yaml"],
        "route.contract": [folder + "/api.yaml", "off"], "route.contract.file": [folder + "/api.yaml"],
        "trust.pins": [pin, [pin]], "trust.certificates": [folder + "/ca.pem"], "trust.extra_roots": [folder + "/ca.pem"],
        "trust.crl_files": [folder + "/crl.pem"], "trust.expires": ["2020-01-01", "2099-01-01T00:00:00Z"],
        "trust.client_certificate.certificate": [folder + "/o.pem"],
        "trust.client_certificate.key": [folder + "/o.key"], "trust.client_certificate.password": ["x"],
        "route.match.methods": ["GET", ["GET", "HEAD", "POST"]], "route.match.paths": ["/page", ["/**"]],
        "route.match.headers": [{"X-Combined": "1"}], "route.match.users": ["u", ["v", "w*"]], "route.match.tags": ["ci", ["c*", "x"]],
        "route.upstream": [places.plain, places.plain + "/pre", places.secure], "route.strip_prefix": ["/pre", "/page"],
        "route.request.interface": ["lo"], "route.request.forwarded": ["x_forwarded", "rfc7239", "off"],
        "route.request.forwarded.trusted_proxies": ["127.0.0.0/8"], "route.request.forwarded.fields": ["x_forwarded", "rfc7239"],
        "route.cors.origins": ["https://app.localhost"], "route.cors.headers": ["X-Combined", ["*"]], "route.cors.expose": ["X-Combined"],
        "route.cors.methods": ["GET"],
        "route.request.parameters": [{"a": "1"}], "route.request.string_encoding": ["utf-8", "iso-8859-1"],
        "route.request.uri_methods": ["GET", ["GET", "HEAD"]], "route.cache": ["off", False],
        "route.coalesce": [{}, "off", True], "route.response.status": [200, "2xx", ["200-299", 302, 304]],
        "route.response.content_types": ["application/json", ["text/plain", "image/png"]],
        "route.response.body": ["any", "json", "xml", "plist", "image", ["json", "image"]],
        "route.response.body.json.schema": [folder + "/schema.json"],
        "route.response.placeholder.file": [folder + "/placeholder.json"],
        "route.mock": [[{"when": {"paths": ["/nothing"]}, "json": {"a": 1}}], [{"when": {"headers": {"X-No": "*"}}, "status": 404}]],
        "route.faults": [[{"delay": "1ms"}], [{"throttle": "64MiB/s"}, {"limit": {"requests": 100000, "per": "1m"}}]],
    }


# A key that counts only beside others: these come with it.
NEEDS: dict[str, dict[str, Any]] = {
    "contract.requests": {"contract.file": "{folder}/api.yaml"}, "route.contract.requests": {"route.contract.file": "{folder}/api.yaml"},
    "route.response.placeholder.status": {"route.response.placeholder.file": "{folder}/placeholder.json"},
    "route.response.placeholder.failures": {"route.response.placeholder.file": "{folder}/placeholder.json"},
    "route.response.placeholder_after": {"route.response.placeholder.file": "{folder}/placeholder.json"},
    **{f"route.cors.{key}": {"route.cors.origins": "https://app.localhost"}
       for key in ("methods", "headers", "expose", "credentials", "max_age")},
    "route.request.forwarded.trusted_proxies": {"route.request.forwarded.fields": "x_forwarded"},
    "route.rewrite_upstream": {"route.upstream": "{plain}"},
    "route.coalesce.max_active": {}, "route.coalesce.order": {"route.coalesce.max_active": 2},
    "route.request.authorization.basic.username": {"route.request.authorization.basic.password": "p"},
    "route.request.authorization.basic.password": {"route.request.authorization.basic.username": "u"},
    "trust.client_certificate.key": {"trust.client_certificate.certificate": "{folder}/o.pem"},
    "trust.client_certificate.certificate": {"trust.client_certificate.key": "{folder}/o.key"},
    "trust.client_certificate.password": {"trust.client_certificate.certificate": "{folder}/o.pem",
                                          "trust.client_certificate.key": "{folder}/o.key"},
    "listen_tls.certificate": {"listen_tls.key": "{folder}/o.key"}, "listen_tls.key": {"listen_tls.certificate": "{folder}/o.pem"},
    "listen_tls.password": {"listen_tls.certificate": "{folder}/o.pem", "listen_tls.key": "{folder}/o.key"},
    "clients.basic_auth.realm": {"clients.basic_auth.users": "{folder}/users"},
    "upstream_proxy.no_proxy": {"upstream_proxy.url": "{parent}"},
    "upstream_proxy.username": {"upstream_proxy.url": "{parent}", "upstream_proxy.password": "p"},
    "upstream_proxy.password": {"upstream_proxy.url": "{parent}", "upstream_proxy.username": "u"},
}


def values(node: dict[str, Any]) -> list[Any]:
    """A value of every kind that a key's schema allows."""
    if "$ref" in node:
        name = node["$ref"].rsplit("/", 1)[1]
        return {"duration": ["1s", "5m"], "size": ["64KiB", 1048576], "switch": ["on", False], "off": ["off"], "port": [443],
                "hostPattern": ["a.localhost", "*"]}.get(name, [])
    if "enum" in node:
        return list(node["enum"])
    if "const" in node:
        return [node["const"]]
    for group in ("anyOf", "oneOf"):
        if group in node:
            return [value for one in node[group] for value in values(one)]
    kinds = node.get("type", [])
    found: list[Any] = []
    for kind in [kinds] if isinstance(kinds, str) else kinds:
        if kind == "integer":
            found += [max(2, node.get("minimum", 0)), min(500, node.get("maximum", 500))]
        elif kind == "array":
            found += [[value] for value in values(node.get("items", {}))]
        elif kind == "string":
            found += ["off"] if "off|" in node.get("pattern", "") else ["x"]
        elif kind == "boolean":
            found += [False]
        elif kind == "object" and "properties" not in node:
            found += [{"x-combined": "1"}]
    return found


def inner(node: dict[str, Any]) -> dict[str, Any]:
    """The keys below a key, in whatever alternative of its schema they stand."""
    found = dict(node.get("properties", {}))
    for group in ("anyOf", "oneOf"):
        for one in node.get(group, []):
            found.update(one.get("properties", {}))
    return found


def keys(schema: dict[str, Any], special: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Every key with its values; ends the script where a key is neither covered nor left out by name."""
    found: dict[str, list[Any]] = {}
    used: set[str] = set()

    def visit(properties: dict[str, Any], path: str) -> None:
        for name, child in properties.items():
            place = f"{path}.{name}" if path else name
            if place in LEFT:
                used.add(place)
                continue
            if place in ("routes", "trust"):
                top = place.removesuffix("s") if place == "routes" else place
                visit(schema["$defs"][top]["properties"], top)
                continue
            below = inner(child)
            visit(below, place)
            here = special.get(place, values(child))
            used.add(place)
            if here:
                found[place] = here
            elif not below:
                raise SystemExit(f"{place} is new: give it a value in made(), or a reason in LEFT")

    visit(schema["properties"], "")
    for name in (*LEFT, *special, *NEEDS):
        if name not in used:
            raise SystemExit(f"{name} is no key of the schema")
    return found


def marks(found: dict[str, list[Any]]) -> list[Mark]:
    made_marks = []
    for key, those in found.items():
        for owner in OWNERS if key.startswith("route.") else ("",):
            made_marks += [Mark(owner, key, json.dumps(value)) for value in those]
    return list(dict.fromkeys(made_marks))


def together(one: Mark, other: Mark) -> bool:
    """False for two values of one key, and for a key beside one that stands within it."""
    if one.owner != other.owner:
        return True
    return not (one.key + ".").startswith(other.key + ".") and not (other.key + ".").startswith(one.key + ".")
