# SPDX-License-Identifier: Apache-2.0
"""Uses the written pages in Chromium as readers do: `browse.py FOLDER`.

Every page, as a file: by axe in the light scheme on a desktop, and in the dark one on a phone, which it must fit. Then the search, the keys,
the switch of the scheme, the menu, copying, and the pages below a path of a server. Prints faults, and ends with 1 if there are any.
"""

import argparse
import concurrent.futures
import functools
import http.server
import pathlib
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

from playwright.sync_api import Page, sync_playwright  # noqa: E402

from browser import SIZES, barriers, launch, overflows  # noqa: E402

VIEWS = (("phone", "dark"), ("desktop", "light"), ("desktop", "dark"), ("phone", "light"))


def open_page(browser, size: str, scheme: str, faults: list[str], **options) -> Page:
    width, height = SIZES[size]
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce", **options)
    page = context.new_page()
    page.on("pageerror", lambda error: faults.append(f"{page.url}: {error}"))
    page.on("console", lambda message: faults.append(f"{page.url}: {message.text}") if message.type == "error" else None)
    page.on("request", lambda request: faults.append(f"{page.url}: loads {request.url}")
            if not request.url.startswith(("file:", "data:", "http://127.0.0.1:")) else None)
    return page


def look(folder: pathlib.Path, views: dict[str, int]) -> list[str]:
    """Looks at pages in as many views as each says, and by axe if these are two or more."""
    faults: list[str] = []
    with sync_playwright() as playwright:
        browser = launch(playwright)
        for number, (size, scheme) in enumerate(VIEWS):
            page = open_page(browser, size, scheme, faults)
            for address in (address for address, count in views.items() if number < count):
                page.goto((folder / address).as_uri())
                found = overflows(page) + (barriers(page) if views[address] > 1 else [])
                faults += [f"{address}, {size}, {scheme}: {fault}" for fault in found]
            page.context.close()
        browser.close()
    return faults


def views_of(folder: pathlib.Path) -> dict[str, int]:
    """The pages, each with the number of views to look at. Pages of the library's types are made by one rule from parts of one form: the
    longest of each module stands for the others, which only have to fit a phone."""
    pages = sorted(folder.rglob("*.html"))
    longest: dict[pathlib.Path, pathlib.Path] = {}
    for page in pages:
        if page.parent.parent.name == "library":
            longest[page.parent] = max(longest.get(page.parent, page), page, key=lambda one: one.stat().st_size)
    special = {"index.html": 4, "run.html": 4, "configuration.html": 4}
    views = {}
    for page in pages:
        address = str(page.relative_to(folder))
        isType = page.parent in longest and page is not longest[page.parent]
        views[address] = 1 if isType else special.get(address, 2)
    return views


class Reader:
    """One reader's way through the pages."""

    def __init__(self, browser, folder: pathlib.Path):
        self.browser, self.folder = browser, folder
        self.faults: list[str] = []

    def open(self, address: str = "index.html", size: str = "desktop", scheme: str = "light", base: str = "", **options) -> Page:
        page = open_page(self.browser, size, scheme, self.faults, **options)
        page.goto(f"{base}/{address}" if base else (self.folder / address).as_uri())
        return page

    def finds_words(self, base: str = ""):
        page = self.open("run.html", base=base)
        page.keyboard.press("/")
        page.keyboard.type("signed reports")
        page.locator("#Found [role=option]").first.wait_for()
        assert "in-toto" not in page.url
        assert "Signed reports" in page.locator("#Found [role=option]").first.text_content()
        assert page.locator("#Words").get_attribute("aria-activedescendant") == "Found-0"
        assert not (found := barriers(page)), found
        page.keyboard.press("ArrowDown")
        assert page.locator("#Words").get_attribute("aria-activedescendant") == "Found-1"
        page.keyboard.press("ArrowUp")
        page.keyboard.press("Enter")
        page.wait_for_url("**/signed-reports.html*")
        page.context.close()

    def finds_keys_in_the_reference(self):
        page = self.open("index.html")
        page.click("#Find")
        page.fill("#Words", "limits header_timeout")
        page.locator("#Found [role=option]", has_text="Configuration").first.wait_for()
        page.fill("#Words", "there-is-no-such-word")
        page.locator("#Count", has_text="Nothing has all of these words").wait_for()
        page.keyboard.press("Escape")
        assert not page.locator("#Search").is_visible()
        page.context.close()

    def is_used_with_keys(self):
        page = self.open("run.html")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        page.keyboard.press("Enter")
        page.wait_for_function("document.activeElement.id === 'Content'")
        # From there the first anchor of a heading, or block, of the text is next.
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.closest('main') !== null")
        page.context.close()

    def keeps_the_scheme(self):
        page = self.open("index.html")
        ground = "getComputedStyle(document.body).backgroundColor"
        light = page.evaluate(ground)
        page.click("#Scheme")
        assert page.evaluate(ground) == light, "light is not light"
        page.click("#Scheme")
        assert page.evaluate(ground) != light, "dark is as light"
        dark = page.evaluate(ground)
        page.goto((self.folder / "run.html").as_uri())
        assert page.evaluate(ground) == dark, "the choice is forgotten"
        page.click("#Scheme")
        assert page.evaluate(ground) == light
        page.context.close()

    def has_a_menu_on_a_phone(self):
        page = self.open("run.html", size="phone")
        assert not page.locator("#Navigation").is_visible()
        page.click(".menu")
        assert page.locator("#Navigation [aria-current]").is_visible()
        assert not (found := barriers(page) + overflows(page)), found
        page.keyboard.press("Escape")
        assert not page.locator("#Navigation").is_visible()
        page.click(".menu")
        page.locator("#Navigation summary", has_text="Watch").click()
        page.locator('#Navigation a[href="metrics.html"]').click()
        page.wait_for_url("**/metrics.html")
        page.context.close()

    def copies_commands_without_their_output(self, base: str):
        page = self.open("run.html", base=base, permissions=["clipboard-read", "clipboard-write"])
        block = page.locator(".code[data-language=console]", has_text="exit code").first
        block.hover()
        block.locator(".copy").click()
        page.locator("#Said", has_text="Copied").wait_for(state="attached")
        copied = page.evaluate("navigator.clipboard.readText()")
        assert copied.startswith("cat pintle.yaml\npintle run -- curl"), copied
        page.context.close()

    def is_readable_without_scripts(self):
        page = self.open("configuration.html", java_script_enabled=False)
        assert page.locator("#Navigation [aria-current]").is_visible() and not page.locator("#Find").is_visible()
        page.context.close()


def serve(folder: pathlib.Path):
    """Serves the folder above, so that the pages are below a path."""
    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *arguments):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(folder.parent)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f"http://127.0.0.1:{server.server_address[1]}/{folder.name}"


def use(folder: pathlib.Path) -> list[str]:
    server, base = serve(folder)
    with sync_playwright() as playwright:
        browser = launch(playwright)
        reader = Reader(browser, folder)
        steps = {
            "finds words": reader.finds_words,
            "finds words below a path of a server": lambda: reader.finds_words(base),
            "finds keys in the reference": reader.finds_keys_in_the_reference,
            "is used with keys": reader.is_used_with_keys,
            "keeps the scheme": reader.keeps_the_scheme,
            "has a menu on a phone": reader.has_a_menu_on_a_phone,
            "copies commands without their output": lambda: reader.copies_commands_without_their_output(base),
            "is readable without scripts": reader.is_readable_without_scripts,
        }
        for name, step in steps.items():
            try:
                step()
            except Exception as error:
                reader.faults.append(f"{name}: {type(error).__name__}: {error}")
        browser.close()
    server.shutdown()
    return reader.faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=lambda path: pathlib.Path(path).resolve())
    folder = parser.parse_args().folder
    views = views_of(folder)
    with concurrent.futures.ProcessPoolExecutor(2) as processes:
        parts = [processes.submit(look, folder, dict(list(views.items())[start::2])) for start in (0, 1)]
        faults = [fault for part in parts for fault in part.result()]
    faults += use(folder)
    print("".join(f"{fault}\n" for fault in faults), end="", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
