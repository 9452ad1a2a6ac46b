# SPDX-License-Identifier: Apache-2.0
"""Jobs with an nginx that ends each connection after five requests."""

import collections
import os
import signal
import threading

import origin
from registry import equal, holds, job

PLAIN = ("http", "relayed")
OPENED = ("intercepted", "intercepted-h2")
"""The ways by which the proxy itself speaks HTTP/2 with nginx."""


@job()
def nginx_gives_a_file(at):
    """nginx's sendfile and the proxy give three megabytes."""
    equal(at.curl(at.nginx("/blob")), origin.BLOB)


@job(ways=PLAIN)
def nginx_ends_connections(at):
    """Eight clients at a time send 200 requests."""
    statuses(at, 200, at.nginx("/page"))


@job(ways=OPENED, looks=(69,), fast=False)
def nginx_ends_connections_of_http2(at):
    """Eight clients at a time send 200 requests."""
    statuses(at, 200, at.nginx("/page"))


@job(ways=PLAIN)
def nginx_takes_posts(at):
    """A hundred POSTs with content arrive, none twice."""
    posts(at, "-d", "x=1")


@job(ways=OPENED, looks=(69,), fast=False)
def nginx_takes_posts_of_http2(at):
    """A hundred POSTs without content arrive, none twice."""
    posts(at, "-X", "POST")


@job(ways=OPENED, looks=(69,), fast=False)
def nginx_takes_content_of_http2(at):
    """A hundred POSTs with content arrive, none twice."""
    posts(at, "-d", "x=1")


@job(ways=("http", "intercepted", "intercepted-h2"), looks=(69,), fast=False, guard=900)
def nginx_reloads(at):
    """20,000 GETs and POSTs, these with content and without, get their answers through ten reloads, none done twice."""
    at.nginx("/page")
    log = at.stage.nginx_folder / "access.log"
    before = len(log.read_text().splitlines())
    reloads = []

    def reload():
        """Reload after each 1,800 requests."""
        while len(reloads) < 10:
            if len(log.read_text().splitlines()) - before > 1_800 * (len(reloads) + 1):
                at.stage.nginx_process.send_signal(signal.SIGHUP)
                reloads.append(True)
            elif done.wait(0.1):
                return

    done = threading.Event()
    reloader = threading.Thread(target=reload)
    reloader.start()
    try:
        statuses(at, 8_000, at.nginx("/page"))
        statuses(at, 6_000, at.nginx("/origin/echo"), "-X", "POST")
        statuses(at, 6_000, at.nginx("/origin/echo/content"), "-d", "x=1")
    finally:
        done.set()
        reloader.join()
    equal(len(reloads), 10, "the number of reloads")
    seen = collections.Counter(line.split('"')[1] for line in log.read_text().splitlines()[before:])
    twice = [request for request, count in seen.items() if count > 1]
    holds(not twice, f"done twice: {twice[:3]}")
    equal(len(seen), 20_000, "the number of requests that nginx has seen")


def statuses(at, count, url, *options):
    version = "--http2" if at.way == "intercepted-h2" else "--http1.1"
    output = at.run(
        "curl", "-sS", version, "-Z", "--parallel-max", "8", "-w", "%{http_code}\n", "-o", os.devnull, *options,
        f"{url}?[1-{count}]",
    )
    equal(collections.Counter(output.split()), {b"200": count}, "the count of each status")


def posts(at, *options):
    before = len(origin.seen)
    statuses(at, 100, at.nginx("/origin/echo"), *options)
    equal(len(origin.seen) - before, 100, "the number of requests that the origin has seen")
