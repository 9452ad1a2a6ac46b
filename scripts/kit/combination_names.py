# SPDX-License-Identifier: Apache-2.0
"""What rules for named clients mean (`users` and `tags` of routes and destinations), read from a document apart from the program."""

import ipaddress
import json
import re
from typing import Any

from combination_traffic import Client, Request

LOOPBACK = ipaddress.ip_address("127.0.0.1")


def listed(value: Any) -> list:
    """A list of one may be written without brackets."""
    return [] if value is None else value if isinstance(value, list) else [value]


def names_users(value: Any) -> bool:
    """True if a rule is for users, who must prove themselves."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return isinstance(value, dict) and "users" in value or any(map(names_users, inner))


def has_name(names: Any, name: str | None) -> bool:
    """True if a list of names has one; a star is any text."""
    return name is not None and any(
        re.fullmatch(".*".join(map(re.escape, one.split("*"))), name, re.DOTALL) for one in listed(names))


def holds(rule: dict[str, Any], client: Client) -> bool:
    """True if a rule is for a client: without names for all, with users and tags for those that have one of each."""
    return all(key not in rule or has_name(rule[key], name) for key, name in (("users", client.user), ("tags", client.tag)))


def network(pattern: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    return ipaddress.ip_network(pattern) if "/" in pattern else None


def covers(pattern: str, host: str) -> bool:
    """True if a host pattern without a port is for a host."""
    if found := network(pattern):
        return re.fullmatch(r"[\d.]+", host) is not None and ipaddress.ip_address(host) in found
    return pattern == "*" or pattern == host or pattern.startswith("*.") and host.endswith(pattern[1:])


class NamedRules:
    """The rules of a document, as far as they depend on the names of clients."""

    def __init__(self, document: str) -> None:
        whole = json.loads(document)
        destinations = whole.get("destinations", {})
        self.has_users = "basic_auth" in whole.get("clients", {})
        self.routes = {route["name"]: route for route in whole["routes"]}
        self.lists = {key: [one if isinstance(one, dict) else {"host": one} for one in listed(destinations.get(key))]
                      for key in ("deny", "allow")}
        self.is_reported = destinations.get("enforcement", whole.get("enforcement")) == "report"
        # Those about addresses refuse, unless all rules are only reported.
        self.addresses_are_reported = "enforcement" not in destinations and self.is_reported

    def identity(self, client: Client) -> Client:
        """The names that the program knows: without users there is a tag alone."""
        return client if self.has_users else Client(None, client.tag)

    def deny_address(self, client: Client) -> bool:
        """True if a network that holds for a client denies the origins' address."""
        client = self.identity(client)
        return not self.addresses_are_reported and any(
            holds(rule, client) and (found := network(rule["host"])) is not None and LOOPBACK in found for rule in self.lists["deny"])

    def fault(self, request: Request, told: str, route: str | None) -> str | None:
        """How an explanation contradicts the names in the rules."""
        client = self.identity(request.client)
        if route in self.routes and not holds(self.routes[route]["match"], client):
            return f"the route {route} is for other clients than {client}"
        for name in re.findall(r'^passed over +routes\[\d+\] "([^"]*)": .* is none of its (?:users|tags) ', told, re.MULTILINE):
            if name in self.routes and holds(self.routes[name]["match"], client):
                return f"the route {name} is for {client}"
        for key, number in re.findall(r"^destination .* by destinations\.(deny|allow)\[(\d+)\]", told, re.MULTILINE):
            if not holds(self.lists[key][int(number)], client):
                return f"destinations.{key}[{number}] is for other clients than {client}"
        host = re.search(r"^destination +(\S+):\d+ is (allowed|asked about)", told, re.MULTILINE)
        if host and not self.is_reported:
            for number, rule in enumerate(self.lists["deny"]):
                if holds(rule, client) and covers(rule["host"], host.group(1)):
                    return f"destinations.deny[{number}] holds for {client}"
        return None
