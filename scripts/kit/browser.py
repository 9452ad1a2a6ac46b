# SPDX-License-Identifier: Apache-2.0
"""What tests of pages in Chromium share. Needs the packages playwright and axe-playwright-python (`need_browser` of scripts/setup.sh)."""

import pathlib

import axe_playwright_python
from playwright.sync_api import Browser, Page, Playwright

AXE = (pathlib.Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()
SIZES = {"desktop": (1280, 800), "phone": (360, 740)}


def launch(playwright: Playwright, chromium: str = "/usr/bin/chromium") -> Browser:
    return playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])


def barriers(page: Page) -> list[str]:
    """What axe finds on the page as it is shown now."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations'], preload: false}).then(result => result.violations)")
    return [f"{item['id']}: {node['html'][:120]} {node['failureSummary'][:200]}" for item in found for node in item["nodes"][:3]]


def overflows(page: Page, others: str = "") -> list[str]:
    """The elements that scroll sideways: the page, and `others`, a selector."""
    return page.evaluate(
        """others => [document.documentElement, document.body, ...(others ? document.querySelectorAll(others) : [])]
            .filter(element => element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 0)
            .map(element => `${element.tagName}#${element.id} ${element.scrollWidth} > ${element.clientWidth}`)""",
        others,
    )
