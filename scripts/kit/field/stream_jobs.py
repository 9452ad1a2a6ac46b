# SPDX-License-Identifier: Apache-2.0
"""Jobs about streams with pauses: of the origin, and of the client."""

import os
import subprocess
import time

import origin
from registry import ONE, equal, holds, job
from stage import receive, receive_head


@job()
def event_stream(at):
    """Events arrive one by one, before the stream ends."""
    version = "--http2" if at.way == "intercepted-h2" else "--http1.1"
    process = at.stage.start(
        ["curl", "-sSN", version, f"{at.base}/events/3?pause=0.4"], stdout=subprocess.PIPE, env=at.variables
    )
    got = b""
    while b"event 0\n\n" not in got:
        piece = os.read(process.stdout.fileno(), 4096)
        holds(piece, "the stream ended early")
        got += piece
    holds(b"event 2" not in got, "the events were held back until the end")
    rest = process.stdout.read()
    equal((got + rest).count(b"data: event"), 3)


@job()
def language_model_stream(at):
    """A completion's tokens come after a pause for the first, with pauses."""
    got = at.curl("-N", "-d", '{"stream":true}', "/model?first=1&pause=0.2")
    equal(got.count(b"data: {"), 3)
    holds(got.endswith(b"data: [DONE]\n\n"), "the end is missing")


@job(looks=(74,), fast=False, guard=200)
def silent_event_stream(at):
    """An event stream is silent for 75 seconds."""
    equal(at.curl("-N", "/events/2?pause=75").count(b"data: event"), 2)


@job(looks=(74,), fast=False, guard=200)
def late_first_token(at):
    """A language model thinks for 75 seconds before its first token."""
    holds(at.curl("-N", "-d", "{}", "/model?first=75").endswith(b"data: [DONE]\n\n"), "the end is missing")


@job(looks=(74,), fast=False, guard=300, ways=ONE)
def paused_client(at):
    """A client takes a megabyte, rests for 135 seconds, and takes the rest."""
    with at.socket() as connection:
        connection.settimeout(250)
        connection.sendall(f"GET {at.target('/blob')} HTTP/1.1\r\nHost: {at.host}:{at.port}\r\n\r\n".encode())
        receive_head(connection)
        got = receive(connection, 1_000_000)
        time.sleep(135)
        equal(got + receive(connection, 2_000_000), origin.BLOB)


@job(looks=(74,), fast=False, guard=200)
def paused_upload(at):
    """An upload is silent for 75 seconds in its middle."""
    version = "--http2" if at.way == "intercepted-h2" else "--http1.1"
    script = f"(echo one; sleep 75; echo two) | curl -sS {version} -T - {at.base}/echo"
    equal(at.run("sh", "-c", script), b"one\ntwo\n")
