#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Opens Chromium's developer tools on a running Pintle, and looks at its requests there as a person would.

    devtools_test.py 'http://127.0.0.1:3129/#token=…' --proxy http://127.0.0.1:3128

Needs the package playwright, and a Chromium (`--chromium`). The proxy has to let requests to loopback pass, with a route named `files`
for them, and to deny ads.example. Sends its own traffic to an origin of its own. Prints a line for each check, and ends with 1 if one
failed.
"""

import argparse
import http.client
import json
import pathlib
import re
import sys
import time
import traceback
import urllib.parse

from playwright.sync_api import sync_playwright

from page_test import Origin, Traffic, launch

# Rows and cells are in shadow trees, which Playwright's selectors reach through.
ROW = ".network-log-grid tr.data-grid-data-grid-node"


class Checks:
    def __init__(self, arguments, browser, traffic):
        self.arguments, self.browser, self.traffic = arguments, browser, traffic
        self.base, fragment = arguments.link.split("#")
        self.token = urllib.parse.parse_qs(fragment)["token"][0]

    def ask(self, path):
        parts = urllib.parse.urlsplit(self.base)
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=30)
        connection.request("GET", path, headers={"Authorization": f"Bearer {self.token}"})
        answer = connection.getresponse()
        assert answer.status == 200, answer.status
        return json.loads(answer.read())

    def open(self):
        page = self.browser.new_page(viewport={"width": 1280, "height": 800})
        page.set_default_timeout(20_000)
        page.faults = []
        page.on("pageerror", lambda error: page.faults.append(str(error)))
        page.goto(self.ask("/json/list")[0]["devtoolsFrontendUrl"])
        page.wait_for_selector(".network-log-grid")
        return page

    def close(self, page):
        assert not page.faults, page.faults
        page.close()

    def shot(self, page, name):
        if self.arguments.shots:
            page.screenshot(path=str(self.arguments.shots / f"{name}.png"))

    def row(self, page, text):
        found = page.locator(ROW, has_text=text).first
        found.wait_for()
        return found

    # Checks

    def shows_earlier_exchanges(self):
        self.traffic.send("/earlier/one", "/earlier/missing")
        page = self.open()
        assert "200" in self.row(page, "one").inner_text()
        assert "404" in self.row(page, "missing").inner_text()
        self.shot(page, "devtools-earlier")
        self.close(page)

    def follows(self):
        page = self.open()
        begin = time.monotonic()
        self.traffic.send("/live/now")
        self.row(page, "now")
        print(f"measured: {time.monotonic() - begin:.2f} s from a request to its row")
        self.shot(page, "devtools-live")
        self.close(page)

    def shows_reasons(self):
        page = self.open()
        self.traffic.send("/detail/thing")
        self.row(page, "thing").locator("td.name-column").click()
        for name, value in [("pintle-route", "files"), ("pintle-decision", "allow"), ("content-type", "text/plain")]:
            line = page.locator("devtools-header-section-row", has_text=re.compile(rf"{name}.*{value}", re.S | re.I))
            line.first.wait_for()
        assert page.locator("text=Provisional headers are shown").count() == 0
        self.shot(page, "devtools-headers")
        page.get_by_role("tab", name="Timing").click()
        page.wait_for_selector("text=Waiting for server response")
        self.shot(page, "devtools-timing")
        page.get_by_role("tab", name="Response").click()
        page.wait_for_selector("text=content of /detail/thing")
        self.shot(page, "devtools-response")
        self.close(page)

    def shows_what_was_refused(self):
        page = self.open()
        Traffic(self.arguments.proxy, "x.ads.example").send("/banner")
        row = self.row(page, "banner")
        assert "403" in row.inner_text() or "blocked" in row.inner_text(), row.inner_text()
        row.locator("td.name-column").click()
        page.wait_for_selector("text=pintle-error")
        self.shot(page, "devtools-refused")
        self.close(page)

    def imports_the_archive(self):
        """The archive by the importer of the developer tools themselves."""
        self.traffic.send("/archive/one", "/archive/missing")
        page = self.open()
        self.row(page, "missing")
        archive = self.ask("/api/har?filter=%22/archive/%22")
        found = page.evaluate(
            """async archive => {
                const har = await import('devtools://devtools/bundled/models/har/har.js');
                const requests = har.Importer.Importer.requestsFromHARLog(new har.HARFormat.HARRoot(archive).log);
                const told = [];
                for (const request of requests) {
                    const content = await request.requestContentData();
                    told.push({
                        url: request.url(), method: request.requestMethod, status: request.statusCode,
                        address: request.remoteAddress(), duration: request.duration, size: request.transferSize,
                        type: request.mimeType, fields: request.responseHeaders.length, text: content.text,
                    });
                }
                return told;
            }""",
            archive,
        )
        assert [request["status"] for request in found] == [200, 404], found
        for request, entry in zip(found, archive["log"]["entries"]):
            assert request["url"] == entry["request"]["url"] and request["method"] == "GET", request
            assert abs(request["duration"] * 1000 - entry["time"]) < 1, (request, entry)
            assert request["address"].startswith("127.0.0.1") and request["fields"] > 1, request
            assert request["text"] == entry["response"]["content"]["text"], (request, entry)
        self.close(page)

    def bears_load(self):
        page = self.open()
        sender = self.traffic.at_rate(300, 5)
        sender.join()
        self.traffic.send("/load/last")
        self.row(page, "last")
        self.shot(page, "devtools-load")
        self.close(page)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("link", help="the link that Pintle prints")
    parser.add_argument("--proxy", required=True, help="the URL of the proxy")
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    parser.add_argument("--shots", type=pathlib.Path, help="a folder for pictures of the developer tools")
    parser.add_argument("--only", nargs="*", help="names of checks")
    arguments = parser.parse_args()
    if arguments.shots:
        arguments.shots.mkdir(parents=True, exist_ok=True)
    failed = 0
    with sync_playwright() as playwright:
        browser = launch(playwright, arguments.chromium)
        checks = Checks(arguments, browser, Traffic(arguments.proxy, Origin().address))
        for name in ["shows_earlier_exchanges", "follows", "shows_reasons", "shows_what_was_refused", "imports_the_archive", "bears_load"]:
            if arguments.only and name not in arguments.only:
                continue
            begin = time.monotonic()
            try:
                getattr(checks, name)()
                print(f"ok      {name} ({time.monotonic() - begin:.1f} s)", flush=True)
            except Exception as error:
                failed += 1
                if arguments.shots and browser.contexts:
                    browser.contexts[-1].pages[-1].screenshot(path=str(arguments.shots / f"failed-{name}.png"))
                print(f"not ok  {name}: {error}\n{traceback.format_exc(limit=-3)}", flush=True)
        browser.close()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
