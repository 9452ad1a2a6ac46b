#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Uses the page of a running Pintle as a person would, in Chromium.

    page_test.py 'http://127.0.0.1:3129/#token=…' --proxy http://127.0.0.1:3128

Needs the packages playwright and axe-playwright-python, and a Chromium (`--chromium`). The proxy has to let requests to loopback pass
and to keep at least --rows exchanges. Sends its own traffic to an origin of its own. Prints a line for each check, and ends with 1 if
one failed.
"""

import argparse
import json
import pathlib
import socket
import socketserver
import sys
import threading
import time
import traceback
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts/kit"))

from playwright.sync_api import sync_playwright  # noqa: E402

from browser import SIZES, barriers, launch, overflows  # noqa: E402

# Strings as a hostile client or origin would send them, for every field of every answer.
HOSTILE = {
    "markup": "<img src=x onerror=\"window.hacked=1\"><script>window.hacked=1</script><style>*{display:none}</style>",
    "link": "javascript:window.hacked=1//'\"`${window.hacked=1}",
    "bidi": "\u202egnp.exe\u202c \u2066\u2067x مرحبا שלום",
    "long": "A" * 65536,
    "controls": "nul\0bell\x07esc\x1b[31m c1\x85 line\u2028 tab\t end\r\n",
    "emoji": "👨‍👩‍👧‍👦😀🏳️‍🌈" * 40,
    "surrogates": "lone \ud800 and \udfff",
    "marks": "e" + "\u0301" * 500,
}


class Origin(socketserver.ThreadingTCPServer):
    """Answers every request with its path, and by that: `/missing` with 404, `/fail` with 500, others with 200."""

    allow_reuse_address = True
    daemon_threads = True

    class RequestHandlerClass(socketserver.StreamRequestHandler):
        def handle(self):
            while line := self.rfile.readline():
                path = line.split()[1] if len(line.split()) > 1 else b"/"
                length = 0
                while (field := self.rfile.readline().strip()) != b"":
                    if field.lower().startswith(b"content-length:"):
                        length = int(field.split(b":")[1])
                self.rfile.read(length)
                status = b"404 Not Found" if b"missing" in path else b"500 Internal Server Error" if b"fail" in path else b"200 OK"
                body = b"content of " + path
                caching = b"\r\nCache-Control: max-age=3600" if path.startswith(b"/stored/") else b""
                head = caching + b"\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n" % len(body)
                self.wfile.write(b"HTTP/1.1 " + status + head + body)

    def __init__(self):
        super().__init__(("127.0.0.1", 0), self.RequestHandlerClass)
        self.address = "127.0.0.1:%d" % self.server_address[1]
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Traffic:
    """Requests through the proxy."""

    def __init__(self, proxy, origin):
        parts = urllib.parse.urlsplit(proxy)
        self.proxy, self.origin = (parts.hostname, parts.port), origin

    def send(self, *paths, method="GET"):
        """Sends requests one after the other on one connection, a few ahead of their answers."""
        with socket.create_connection(self.proxy, timeout=30) as connection:
            # A cache answers no request with content, even if it is empty.
            content = "" if method == "GET" else "Content-Length: 0\r\n"
            answers, buffer = connection.makefile("rb"), []
            for start in range(0, len(paths), 16):
                part = paths[start : start + 16]
                connection.sendall(
                    "".join(
                        f"{method} http://{self.origin}{path} HTTP/1.1\r\nHost: {self.origin}\r\nX-Check: page\r\n{content}\r\n"
                        for path in part
                    ).encode()
                )
                for _ in part:
                    length = 0
                    while (line := answers.readline()) not in (b"\r\n", b""):
                        if line.lower().startswith(b"content-length:"):
                            length = int(line.split(b":")[1])
                    answers.read(length)

    def fill(self, count, connections=4):
        """Sends very many, as fast as they are answered."""
        share = [[f"/fill/{part}/{index}" for index in range(count // connections)] for part in range(connections)]
        threads = [threading.Thread(target=self.send, args=paths) for paths in share]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def at_rate(self, rate, seconds):
        """Starts to send `rate` requests a second; returns the thread."""

        def run():
            begin, sent = time.monotonic(), 0
            while (passed := time.monotonic() - begin) < seconds:
                due = int(passed * rate) - sent
                if due > 0:
                    self.send(*(f"/rate/{sent + index}" for index in range(due)))
                    sent += due
                time.sleep(0.02)
            self.reached = sent / (time.monotonic() - begin)

        thread = threading.Thread(target=run)
        thread.start()
        return thread


class Checks:
    def __init__(self, arguments, browser, traffic):
        self.arguments, self.browser, self.traffic = arguments, browser, traffic
        self.base = arguments.link.split("#")[0]
        self.state = None
        # What earlier runs have sent is not counted.
        self.run = f"{time.time_ns() // 1_000_000:x}"
        self.measured = {}

    # Pages

    def open(self, size="desktop", scheme="light", path="", **options):
        width, height = SIZES[size]
        context = self.browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, storage_state=self.state, **options
        )
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.faults = []
        page.on("pageerror", lambda error: page.faults.append(str(error)))
        page.on("console", lambda said: page.faults.append(said.text) if said.type == "error" and "status of 4" not in said.text else None)
        page.on("dialog", lambda dialog: (page.faults.append("a script opened a dialog"), dialog.dismiss()))
        page.on("request", lambda request: None if request.url.startswith((self.base, "data:", "blob:")) else page.faults.append(request.url))
        if path is not None:
            page.goto(self.base + path)
            page.wait_for_selector("#state.active, #state.not_active, #state.delaying_start, #state.delaying_end")
        return page

    def close(self, page):
        assert not page.faults, page.faults
        page.context.close()

    def shot(self, page, name):
        if self.arguments.shots:
            page.screenshot(path=str(self.arguments.shots / f"{name}.png"))

    def axe(self, page, where):
        # Rows come and go while axe looks at them, and colours are judged by what is painted.
        told = barriers(page)
        assert not told, f"{where}: {told}"

    def fits(self, page, where):
        wide = overflows(page, "main, .page:not([hidden]), #detail-body, .top")
        assert not wide, f"{where}: {wide}"

    def until(self, page, condition, seconds=5):
        """Waits until a condition in JavaScript holds. The page's policy forbids what Playwright's own way of waiting needs."""
        end = time.monotonic() + seconds
        while not page.evaluate(condition):
            assert time.monotonic() < end, f"not within {seconds} s: {condition}"
            page.wait_for_timeout(50)

    # Checks, in the order in which they run

    def signs_in(self):
        page = self.open(path=None)
        page.goto(self.base)
        assert page.locator("#form").is_visible(), "there is no form for the link"
        self.axe(page, "signing in")
        page.goto(self.base + "#token=not-the-token")
        page.locator("#message", has_text="not valid").wait_for()
        assert "token" not in page.url, "a token stays in the address bar"
        page.fill("#link", self.arguments.link)
        page.click("button[type=submit]")
        page.wait_for_selector("#grid")
        page.context.close()
        page = self.open(path=None)
        page.goto(self.arguments.link)
        page.wait_for_selector("#grid")
        assert "token" not in page.url, "a token stays in the address bar"
        # The browser loads nothing anew if only the fragment changes.
        page.evaluate("window.isOld = true")
        page.goto(self.arguments.link)
        self.until(page, "window.isOld === undefined && document.getElementById('grid') !== null")
        assert "token" not in page.url, "a token stays in the address bar"
        page.goto(self.base + "#token=not-the-token")
        page.locator("#toast", has_text="not valid").wait_for()
        assert "token" not in page.url, "a token stays in the address bar"
        page.wait_for_selector("#grid")
        self.state = page.context.storage_state()
        self.close(page)

    def shows_what_happens(self):
        self.traffic.send("/orders?page=2", "/missing", "/fail", *(f"/items/{self.run}/{index}" for index in range(60)))
        page = self.open()
        page.locator(".rows .row", has_text=f"/items/{self.run}/59").wait_for()
        self.traffic.send("/just-now")
        page.locator(".rows .row[aria-rowindex='2']", has_text="/just-now").wait_for(timeout=5000)
        assert int(page.get_attribute("#grid", "aria-rowcount")) > 60
        self.close(page)

    def does_not_jump(self):
        page = self.open()
        page.locator(".rows .row").first.wait_for()
        page.evaluate("document.getElementById('grid').scrollTop = 320")
        page.wait_for_timeout(500)
        look = """() => { const box = document.getElementById('grid').getBoundingClientRect();
            return document.elementFromPoint(box.left + 300, box.top + 200).closest('.row').textContent }"""
        before = page.evaluate(look)
        self.traffic.send(*(f"/above/{index}" for index in range(25)))
        page.locator("#newer", has_text="25").wait_for(timeout=5000)
        assert page.evaluate(look) == before, "the list has jumped"
        page.keyboard.press("f")
        page.locator(".rows .row[aria-rowindex='2']", has_text="/above/24").wait_for(timeout=5000)
        assert page.locator("#newer").is_hidden()
        self.close(page)

    def filters(self):
        page = self.open()
        page.locator(".rows .row").first.wait_for()
        page.fill("#filter", "/missing ~c 404")
        page.locator("#fault", has_text="this regular expression has no / at its end").wait_for()
        page.fill("#filter", "~u '/missing' ~c 404")
        page.locator("#counted", has_text="match").wait_for()
        assert page.locator("#fault").text_content() == ""
        texts = page.locator(".rows .row").all_text_contents()
        assert texts and all("/missing" in text and "404" in text for text in texts), texts
        self.traffic.send("/missing/again", "/other")
        page.locator(".rows .row[aria-rowindex='2']", has_text="/missing/again").wait_for(timeout=5000)
        # Header fields and regular expressions are asked of the server, the events too.
        page.fill("#filter", f"~hq 'x-check: page' ~u /ite(ms)\\/{self.run}\\/[12]$/")
        self.until(page, "document.querySelectorAll('.rows .row').length === 2")
        self.traffic.send(f"/items/{self.run}/1", f"/items/{self.run}/3")
        self.until(page, "document.querySelectorAll('.rows .row').length === 3")
        begin = time.monotonic()
        page.fill("#filter", "~u /^(.+)+$(?<=x)/")
        page.wait_for_timeout(400)
        page.evaluate("1")
        assert time.monotonic() - begin < 3, "a bad regular expression holds up the page"
        page.fill("#filter", "~c 200 ~rout api")
        page.locator("#fault", has_text="there is no ~rout; did you mean ~route?, at character 8").wait_for()
        assert page.locator("#fault mark").text_content() == "~"
        assert page.get_attribute("#filter", "aria-invalid") == "true"
        self.axe(page, "a faulty filter")
        page.fill("#filter", "")
        page.locator(".rows .row[aria-rowindex='2']", has_text=f"/items/{self.run}/3").wait_for()
        self.close(page)

    def comes_back(self):
        page = self.open(path=None)
        broken = []

        def once(route):
            route.continue_() if broken else (broken.append(route), route.abort())

        page.route("**/api/events*", once)
        page.goto(self.base)
        page.wait_for_selector("#state.connecting")
        page.locator(".rows .row").first.wait_for()
        self.traffic.send(*(f"/meanwhile/{self.run}/{index}" for index in range(3)))
        page.wait_for_selector("#state:not(.connecting)")
        page.locator(".rows .row[aria-rowindex='2']", has_text=f"/meanwhile/{self.run}/2").wait_for()
        page.faults.clear()  # Chromium tells of the request that was broken.
        self.close(page)

    def asks(self):
        asking = Traffic(self.arguments.proxy, self.traffic.origin.replace("127.0.0.1", "localhost"))

        def hold(path):
            thread = threading.Thread(target=asking.send, args=(f"{path}?token=secret",))
            thread.start()
            return thread

        for size in SIZES:
            page = self.open(size, "dark" if size == "phone" else "light")
            assert page.locator("#questions").is_hidden()
            held = hold("/first")
            page.locator("#questions li", has_text=f"{asking.origin}/first").wait_for()
            assert "secret" not in page.locator("#questions").text_content()
            assert "waits for an answer" in page.locator("#toast[role=status]").text_content()
            self.fits(page, f"a question, {size}")
            self.axe(page, f"a question, {size}")
            self.shot(page, f"question-{size}")
            # Another page shows it, too, also one that is opened later.
            other = self.open()
            other.locator("#questions li").wait_for()
            page.locator("#questions button", has_text="Deny once").focus()
            second = hold("/second")
            page.locator("#questions .waiting", has_text="2 requests wait").wait_for()
            assert page.evaluate("document.activeElement.textContent") == "Deny once", "the focus is lost"
            page.locator("#questions button", has_text="Allow once").click()
            for seen in (page, other):
                seen.wait_for_selector("#questions", state="hidden")
            for thread in (held, second):
                thread.join(10)
                assert not thread.is_alive(), "a request still waits"
            page.locator(".rows .row", has_text="/second").first.wait_for()
            self.close(other)
            self.close(page)

    def has_keys(self):
        page = self.open()
        page.locator(".rows .row").first.wait_for()
        selected = lambda index: page.wait_for_selector(f".rows .row[aria-selected=true][aria-rowindex='{index}']")
        page.keyboard.press("j")
        page.keyboard.press("j")
        selected(3)
        page.keyboard.press("k")
        selected(2)
        page.keyboard.press("Enter")
        page.wait_for_selector("#detail-body .facts")
        assert "#x=" in page.url
        page.keyboard.press("Escape")
        page.wait_for_selector("#detail", state="hidden")
        assert page.evaluate("document.activeElement.id") == "grid"
        page.keyboard.press("End")
        selected(page.get_attribute("#grid", "aria-rowcount"))
        active = page.get_attribute("#grid", "aria-activedescendant")
        assert page.locator(f"#{active}").get_attribute("aria-selected") == "true"
        page.keyboard.press("/")
        assert page.evaluate("document.activeElement.id") == "filter"
        page.keyboard.type("j/k")
        assert page.input_value("#filter") == "j/k", "a key is taken from the field"
        page.keyboard.press("Escape")
        assert page.input_value("#filter") == ""
        page.focus("#grid")
        for pressed in ("true", "false", "true"):
            page.keyboard.press("f")
            page.wait_for_selector(f"#follow[aria-pressed={pressed}]")
        page.keyboard.press("?")
        page.wait_for_selector("dialog[open]")
        self.axe(page, "the keys")
        page.keyboard.press("Escape")
        page.wait_for_selector("dialog", state="hidden")
        reached = set()
        page.evaluate("document.activeElement.blur()")
        for _ in range(40):
            page.keyboard.press("Tab")
            reached.add(page.evaluate("document.activeElement.id || document.activeElement.dataset.page"))
        missing = {"filter", "follow", "har", "grid", "reload", "help", "sign-out", "routes", "trust", "preview"} - reached
        assert not missing, f"Tab does not reach {missing}"
        self.close(page)

    def shows_one(self):
        for size in SIZES:
            page = self.open(size, "dark")
            page.fill("#filter", "~u orders?page")
            page.locator("#counted", has_text="match").wait_for()
            page.locator(".rows .row", has_text="orders").first.click()
            page.wait_for_selector("#detail-body .path li")
            assert page.locator(".waterfall svg").count() > 0, "there are no times"
            assert page.locator("#detail-body table").count() > 0, "there are no fields"
            self.fits(page, size)
            self.axe(page, f"one exchange, {size}")
            if size == "desktop":
                self.shot(page, "detail")
                page.context.grant_permissions(["clipboard-read", "clipboard-write"])
                for button, expected in (("curl", "curl --globoff --proxy"), ("test", "- name: "), ("allow rule", "destinations: {allow: ["), ("deny rule", "deny: [")):
                    page.get_by_role("button", name=f"Copy {'as ' if 'rule' not in button else ''}{button}").click()
                    page.wait_for_timeout(100)
                    assert expected in page.evaluate("navigator.clipboard.readText()"), button
                page.get_by_role("button", name="Explain now").click()
                page.wait_for_selector("#explained .path li")
                address = page.url
                again = self.open(path="#" + address.split("#")[1])
                again.wait_for_selector("#detail-body .path li")
                self.close(again)
            page.click("#detail-close")
            page.wait_for_selector("#detail", state="hidden")
            self.close(page)

    def has_pages(self):
        for size in SIZES:
            for scheme in ("light", "dark"):
                page = self.open(size, scheme)
                page.locator(".rows .row").first.wait_for()
                self.fits(page, f"the list, {size}")
                self.axe(page, f"the list, {size}, {scheme}")
                self.shot(page, "phone" if size == "phone" and scheme == "light" else scheme if size == "desktop" else "phone-dark")
                for name in ("running", "routes", "trust", "hosts", "unused", "preview"):
                    page.click(f"nav a[data-page={name}]")
                    page.locator(f"#{name} h2").first.wait_for()
                    page.wait_for_timeout(100)
                    self.fits(page, f"{name}, {size}")
                    self.axe(page, f"{name}, {size}, {scheme}")
                    if size == "desktop" and scheme == "light":
                        self.shot(page, name)
                self.close(page)

    def reloads(self):
        page = self.open()
        page.wait_for_selector("#counters .revision")
        page.click("#reload")
        page.locator("#dialog-title", has_text="The configuration is").wait_for()
        self.axe(page, "a reload")
        page.locator("dialog button").click()
        # Somebody else may load a configuration between a look and a click.
        page.route("**/api/reload", lambda route: route.continue_(headers={**route.request.headers, "if-match": '"another"'}))
        page.click("#reload")
        page.locator("#dialog-title", has_text="is not loaded").wait_for()
        self.close(page)

    def purges(self):
        self.traffic.send("/stored/one", "/stored/two", "/stored/three")
        page = self.open()
        page.click("nav a[data-page=routes]")
        # With the keyboard alone.
        page.locator("#routes button.purge").focus()
        page.keyboard.press("Enter")
        page.locator("#dialog-title", has_text="Purge the cache").wait_for()
        assert page.evaluate("document.activeElement.id") == "purge-prefix", "the field has not the focus"
        self.axe(page, "a purge")
        page.keyboard.type(f"http://{self.traffic.origin}/stored/t")
        page.locator("dialog button", has_text="Remove these responses").wait_for()
        page.keyboard.press("Enter")
        page.locator("#dialog-body", has_text="2 stored responses were removed").wait_for()
        page.keyboard.press("Escape")
        # Nothing is removed without the confirmation.
        page.click("#routes button.purge")
        page.keyboard.press("Escape")
        page.wait_for_selector("dialog", state="hidden")
        page.click("#routes button.purge")
        page.locator("dialog button", has_text="Remove all stored responses").click()
        page.locator("#dialog-body", has_text="1 stored response was removed").wait_for()
        self.close(page)

    def previews(self):
        page = self.open()
        page.click("nav a[data-page=preview]")
        page.set_input_files("#preview-file", {"name": "next.yaml", "mimeType": "application/yaml", "buffer": self.arguments.configuration})
        page.wait_for_selector("#preview-results .tiles")
        if page.locator("#preview-results details").count():
            page.locator("#preview-results summary").first.click()
        self.axe(page, "a preview")
        self.shot(page, "preview")
        page.set_input_files("#preview-file", {"name": "bad.yaml", "mimeType": "application/yaml", "buffer": b"routes: {"})
        page.wait_for_selector("#preview-results .fault")
        # Dropped on another page, too.
        page.click("nav a[data-page=routes]")
        page.evaluate(
            """text => { const data = new DataTransfer(); data.items.add(new File([text], 'dropped.yaml'));
                for (const kind of ['dragenter', 'dragover', 'drop']) document.body.dispatchEvent(new DragEvent(kind, {dataTransfer: data, bubbles: true, cancelable: true})) }""",
            self.arguments.configuration.decode(),
        )
        page.locator("#preview-results", has_text="dropped.yaml").wait_for()
        self.close(page)

    def bears_hostile_strings(self):
        for size in SIZES:
            for scheme in ("light", "dark"):
                for name, text in HOSTILE.items():
                    # Colours change no layout.
                    if scheme == "dark" and name not in ("markup", "bidi"):
                        continue
                    page = self.open(size, scheme, path=None)
                    page.route("**/api/**", lambda route: self.answer_hostile(route, text))
                    page.goto(self.base)
                    page.wait_for_selector(".rows .row")
                    where = f"{name}, {size}, {scheme}"
                    page.wait_for_timeout(150)
                    self.fits(page, where)
                    heights = page.evaluate("[...new Set([...document.querySelectorAll('.rows .row')].map(row => row.getBoundingClientRect().height))]")
                    assert len(heights) == 1, f"{where}: rows of several heights {heights}"
                    page.locator(".rows .row").first.click()
                    page.wait_for_selector("#detail-body .path li")
                    self.fits(page, f"{where}, detail")
                    if size == "phone" and scheme == "light" or name in ("markup", "bidi"):
                        self.axe(page, where)
                    page.get_by_role("button", name="Explain now").click()
                    page.wait_for_selector("#explained .path li")
                    page.click("#detail-close")
                    for other in ("running", "routes", "trust", "hosts", "unused", "preview"):
                        page.evaluate("name => { location.hash = name }", other)
                        if other == "preview":
                            page.set_input_files("#preview-file", {"name": "x.yaml", "mimeType": "application/yaml", "buffer": b"version: 1"})
                            page.locator("#preview-results summary").first.click()
                        page.wait_for_timeout(60)
                        self.fits(page, f"{where}, {other}")
                    page.fill("#filter", "") if page.locator("#filter").is_visible() else None
                    page.click("#reload")
                    page.wait_for_selector("dialog[open]")
                    self.fits(page, f"{where}, dialog")
                    assert page.evaluate("window.hacked") is None, f"{where}: a script ran"
                    assert page.locator("main img, main script, main style, main iframe").count() == 0, f"{where}: there is markup"
                    shown = page.evaluate("document.body.innerText")
                    bad = sorted({hex(ord(c)) for c in shown if ord(c) < 32 and c not in "\n\t" or c in "\u202e\u2066\u2067\u2028\x85"})
                    assert not bad, f"{where}: unseen characters {bad}"
                    self.close(page)

    def answer_hostile(self, route, text):
        path = urllib.parse.urlsplit(route.request.url).path
        if path == "/api/events":
            return route.continue_()
        record = {key: text for key in "client user tag process method url host address route rule trust pin assurance tls http cache error mode".split()}
        record.update(form=[text], chain=[text], violations=[text], status=200, bytes_out=9**15, bytes_in=1, duration_ms=10**12, source="origin")
        records = [{**record, "id": f"{index}", "time": text, "decision": text if index % 2 else "would-deny"} for index in range(6 if len(text) > 9999 else 60)]
        place, why = {"file": text, "line": 1}, [{"topic": text, "text": text, "place": {"file": text, "line": 1}, "loses": loses} for loses in (True, False)]
        fields = [[text, text], ["X", text]]
        side = {"decision": text, "rule": text, "route": text, "trust": text}
        answers = {
            "/api/activity": {"state": text, "status": text, "version": text, "revision": text, "counters": {}, "connections": 1},
            "/api/exchanges": {"exchanges": records, "more": False},
            "/api/routes": {"routes": [{"name": text, "place": place, "match": text, "upstream": text, "trust": text, "counters": {}, "violations": {text: 1}, "used": False}], "rules": [{"name": text, "place": place, "count": 0, "used": False}]},
            "/api/trust": {"policies": [{"name": text, "hosts": [text], "pinning": text, "pins": [{"pin": text, "seen": False}, {"pin": text, "seen": True, "position": text}], "forecast": text, "uses": [{"host": text, "verdict": text, "error": text, "at": text, "not_after": text}]}]},
            "/api/hosts": {"hosts": [{"host": text, "exchanges": 1, "failed": 1, "bytes_in": 0, "bytes_out": 1}]},
            "/api/running": {"exchanges": [records[0]]},
            "/api/explain": {"why": why, "sent": {"method": text, "url": text, "fields": fields}},
            "/api/preview": {"exchanges": 1, "same": 0, "denied": 1, "rows": [{"id": text, "method": text, "url": text, "kinds": [text], "before": side, "after": side}]},
            "/api/reload": {"revision": text, "lines": [text]},
            "/api/questions": {"questions": [{"id": text, "host": text, "rule": text, "method": text, "url": text, "process": text, "pid": 1, "waiting": 2}]},
        }
        answer = answers.get(path) or {
            "record": records[0], "request": {"fields": fields, "body": {"text": text}}, "response": {"fields": fields, "body": {"text": text, "truncated": True}},
            "websocket": True, "why": why, "sent": {"method": text, "url": text, "fields": [[text, text + "x"]]},
            "certificates": [{"subject": text, "issuer": text, "pin": text, "not_after": text, "days_left": 1, "matched": True, "position": text}],
            "trust": {"name": text, "outcome": text, "error": text, "forecast": text}, "violations": [{"kind": text, "message": text}],
        }
        route.fulfill(status=200, content_type="application/json", body=json.dumps(answer))

    def forgets_who_signs_out(self):
        page = self.open()
        page.route("**/api/**", lambda route: route.fulfill(status=401, content_type="application/problem+json", body='{"title":"not signed in"}'))
        page.click("nav a[data-page=routes]")
        page.locator("#signed-out", has_text="pintle status").wait_for()
        # The link of a process that was started later is pasted into the same tab.
        page.unroute_all()
        page.goto(self.arguments.link)
        page.wait_for_selector("#state:not(.signed-out):not(.connecting)")
        page.wait_for_selector("#grid")
        assert "token" not in page.url, "a token stays in the address bar"
        page.context.close()

    def bears_load(self):
        rows, rate, seconds = self.arguments.rows, self.arguments.rate, self.arguments.seconds
        self.traffic.fill(rows)
        page = self.open()
        self.until(page, f"Number(document.getElementById('grid').getAttribute('aria-rowcount')) > {int(rows * 0.95)}", 60)
        self.until(page, "!document.getElementById('counted').textContent.endsWith('…')", 60)
        cdp = page.context.new_cdp_session(page)
        cdp.send("Performance.enable")

        def memory():
            cdp.send("HeapProfiler.collectGarbage")
            metrics = {item["name"]: item["value"] for item in cdp.send("Performance.getMetrics")["metrics"]}
            return metrics["JSHeapUsedSize"], metrics["Nodes"]

        before, _ = memory()
        page.evaluate(
            """() => { window.frames_ = []; let last = performance.now();
                const tick = now => { window.frames_.push(now - last); last = now; requestAnimationFrame(tick) }; requestAnimationFrame(tick) }"""
        )

        def frames(name, act):
            page.evaluate("window.frames_.length = 0")
            begin = time.monotonic()
            act()
            passed = time.monotonic() - begin
            times = sorted(page.evaluate("window.frames_"))
            self.measured[name] = {"frames a second": round(len(times) / passed, 1), "95 % within ms": round(times[int(len(times) * 0.95)], 1), "longest ms": round(times[-1], 1)}
            return len(times) / passed

        def scroll(until):
            box = page.locator("#grid").bounding_box()
            while time.monotonic() < until:
                for distance in (-60000, 40000):
                    cdp.send("Input.synthesizeScrollGesture", {"x": box["x"] + 200, "y": box["y"] + 300, "yDistance": distance, "speed": 12000, "preventFling": True})

        sender = self.traffic.at_rate(rate, seconds)
        following = frames("at the top", lambda: page.wait_for_timeout(seconds * 1000 / 3))
        scrolling = frames("while scrolling", lambda: scroll(time.monotonic() + seconds / 3))
        sender.join()
        self.measured["rate"] = round(self.traffic.reached, 1)
        page.keyboard.press("f")
        page.wait_for_timeout(1000)
        after, nodes = memory()
        self.measured["memory"] = {"before MiB": round(before / 2**20, 1), "after MiB": round(after / 2**20, 1), "nodes": nodes, "rows": int(page.get_attribute("#grid", "aria-rowcount")) - 1}
        # A filter over all of them is taken in slices, and does not hold up the page.
        longest = page.evaluate(
            """() => new Promise(done => { const field = document.getElementById('filter'); field.value = '~u "/rate/" | ~slow 1d'; window.frames_.length = 0;
                field.dispatchEvent(new Event('input', {bubbles: true})); setTimeout(() => done(Math.max(...window.frames_)), 1500) })"""
        )
        self.measured["filter, longest frame ms"] = round(longest, 1)
        assert scrolling >= 30 and following >= 30, self.measured
        assert after < before * 1.15 + 2**20, self.measured
        assert longest < 150, self.measured
        self.close(page)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("link", help="the link that Pintle prints")
    parser.add_argument("--proxy", required=True, help="the URL of the proxy")
    parser.add_argument("--configuration", type=lambda path: pathlib.Path(path).read_bytes(), default=b"version: 1\ndestinations: {deny: [127.0.0.1]}\n", help="a file for the preview")
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    parser.add_argument("--shots", type=pathlib.Path, help="a folder for pictures of the page")
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--rate", type=int, default=500)
    parser.add_argument("--seconds", type=float, default=15)
    parser.add_argument("--only", nargs="*", help="names of checks")
    arguments = parser.parse_args()
    if arguments.shots:
        arguments.shots.mkdir(parents=True, exist_ok=True)
    passed, failed = 0, 0
    with sync_playwright() as playwright:
        browser = launch(playwright, arguments.chromium)
        checks = Checks(arguments, browser, Traffic(arguments.proxy, Origin().address))
        names = ["signs_in", "shows_what_happens", "does_not_jump", "filters", "comes_back", "asks", "has_keys", "shows_one", "has_pages", "reloads", "purges", "previews", "bears_hostile_strings", "forgets_who_signs_out", "bears_load"]
        for name in names:
            if arguments.only and name not in arguments.only and name != "signs_in":
                continue
            begin = time.monotonic()
            try:
                getattr(checks, name)()
                passed += 1
                print(f"ok      {name} ({time.monotonic() - begin:.1f} s)", flush=True)
            except Exception as error:
                failed += 1
                print(f"not ok  {name}: {error}\n{traceback.format_exc(limit=-3)}", flush=True)
        browser.close()
    for name, value in checks.measured.items():
        print(f"measured {name}: {value}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
