# SPDX-License-Identifier: Apache-2.0
"""Python's HTTP clients, as `scripts/clients` uses them.

usage: clients.py requests|httpx|aiohttp|urllib

The environment names the proxy, both origins, the CA and the page that is expected.
"""

import asyncio
import os
import ssl
import sys

proxy, plain, secure = os.environ["PROXY"], os.environ["PLAIN"], os.environ["SECURE"]
ca = os.environ["CA"]
# The environment says all that there is to say.
alone = "INTERCEPTED" in os.environ
with open(os.environ["PAGE"], "rb") as file:
    page = file.read()
blob = os.urandom(3 << 20)
name = sys.argv[1]
path = f"/client/{name}/page"


def expect(value, wanted, what):
    if value != wanted:
        sys.exit(f"{name}: {what} is not what was expected")


def use_requests():
    import requests

    with requests.Session() as session:
        if not alone:
            session.trust_env = False
            session.proxies = {"http": proxy, "https": proxy}
            session.verify = ca
        for origin in (plain, secure):
            for _ in range(3):
                expect(session.get(origin + path).content, page, origin)
            expect(session.post(origin + "/echo", data=blob).content, blob, "an upload")
        # A body of unknown length goes in chunks.
        pieces = (blob[start:start + 100_000] for start in range(0, len(blob), 100_000))
        expect(session.post(plain + "/echo", data=pieces).content, blob, "a chunked upload")
        expect(session.get(plain + "/nothing").status_code, 404, "a page that is not there")
    return requests.__version__


def use_httpx():
    import httpx

    told = {} if alone else {"proxy": proxy, "verify": ssl.create_default_context(cafile=ca), "trust_env": False}
    with httpx.Client(**told) as client:
        for origin in (plain, secure):
            for _ in range(3):
                expect(client.get(origin + path).content, page, origin)
            expect(client.post(origin + "/echo", content=blob).content, blob, "an upload")
        with client.stream("GET", plain + "/ticks") as response:
            lines = [line for line in response.iter_lines() if line]
        expect(lines, ["data: 0", "data: 1", "data: 2"], "a stream of events")
    return httpx.__version__


async def use_aiohttp():
    import aiohttp

    options = {} if alone else {"proxy": proxy, "ssl": ssl.create_default_context(cafile=ca)}
    async with aiohttp.ClientSession(trust_env=alone) as session:
        for origin in (plain, secure):

            async def fetch():
                async with session.get(origin + path, **options) as response:
                    return await response.read()

            for content in await asyncio.gather(*[fetch() for _ in range(20)]):
                expect(content, page, origin)
            async with session.post(origin + "/echo", data=blob, **options) as response:
                expect(await response.read(), blob, "an upload")
            async with session.ws_connect(origin + "/talk", **options) as socket:
                await socket.send_str("hello")
                expect((await socket.receive()).data, "you said hello", "a WebSocket's answer")
                await socket.send_bytes(blob)
                expect((await socket.receive()).data, blob, "a WebSocket's large message")
    return aiohttp.__version__


def use_urllib():
    import urllib.request

    handlers = [] if alone else [
        urllib.request.ProxyHandler({"http": proxy, "https": proxy}),
        urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=ca))]
    opener = urllib.request.build_opener(*handlers)
    for origin in (plain, secure):
        expect(opener.open(origin + path).read(), page, origin)
        expect(opener.open(origin + "/echo", data=blob).read(), blob, "an upload")
    return sys.version.split()[0]


uses = {
    "requests": use_requests,
    "httpx": use_httpx,
    "aiohttp": lambda: asyncio.run(use_aiohttp()),
    "urllib": use_urllib,
}
print(uses[name]())
