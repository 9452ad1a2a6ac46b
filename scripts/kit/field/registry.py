# SPDX-License-Identifier: Apache-2.0
"""The jobs of the field suite: how one is declared, and how it says that something is not as it must be."""

import dataclasses
import typing

EVERY = ("http", "relayed", "intercepted", "intercepted-h2")
"""The ways by which an ordinary client reaches an origin."""
ONE = ("http", "relayed", "intercepted")
"""The ways for clients that speak HTTP/1.1 alone."""
SECURE = ("relayed", "intercepted")

jobs = {}


class Wrong(Exception):
    """A result that differs from the expectation."""


class Skipped(Exception):
    """A reason why a job cannot be done here."""


@dataclasses.dataclass
class Job:
    name: str
    sentence: str
    ways: tuple
    needs: tuple
    fast: bool
    looks: tuple
    guard: int
    act: typing.Callable


def job(ways=EVERY, needs=(), fast=True, looks=(), guard=30):
    """Declare a job: its name is the function's with hyphens, its sentence the first line of the doc comment.

    `needs` names commands, or modules as `python:NAME`; `looks` the findings without whose repair it fails; `guard` the
    seconds after which it counts as failed.
    """

    def declare(function):
        name = function.__name__.replace("_", "-")
        if name in jobs:
            raise ValueError(f"two jobs are called {name}")
        jobs[name] = Job(name, function.__doc__.strip(), ways, needs, fast, looks, guard, function)
        return function

    return declare


def equal(found, wanted, of="the result"):
    """Raise unless both are the same; long values are cut."""
    if found != wanted:
        raise Wrong(f"{of} is {short(found)}, not {short(wanted)}")


def holds(condition, sentence):
    if not condition:
        raise Wrong(sentence)


def short(value):
    text = repr(value)
    return text if len(text) <= 300 else f"{text[:200]}… ({len(text)} letters)"
