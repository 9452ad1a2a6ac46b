# SPDX-License-Identifier: Apache-2.0
"""Writes the pages, with what they share: the navigation, the index of the search, styles and scripts."""

import html
import json
import pathlib
import re
import shutil
import string

import navigation
from pages import Page, Site

KIT = pathlib.Path(__file__).parent
ASSETS = ("site.css", "scheme.js", "search.js", "site.js")


def version(site: Site) -> str:
    return re.search(r"^## \[([^\]]+)\]", (site.root / "CHANGELOG.md").read_text(), re.M)[1]


def list_item(page: Page, other: Page) -> str:
    state = ' aria-current="page"' if other is page else ""
    return f'<li><a href="{page.link(other.address)}"{state}>{html.escape(other.label or other.title)}</a></li>\n'


def list_pages(page: Page, pages: list[Page]) -> str:
    """The pages of each job, as lists of which that of the page is open."""
    parts = []
    for place, (name, *_) in enumerate(navigation.JOBS):
        listed = [one for one in pages if one.job == place and (one.isListed or one is page)]
        if not listed:
            continue
        items = "".join(list_item(page, one) for one in listed)
        parts.append(f'<details{" open" if place == page.job else ""}><summary>{name}</summary>\n<ul>\n{items}</ul></details>\n')
    return "".join(parts)


def list_sections(page: Page) -> str:
    sections = [one for one in page.sections if one.level in (2, 3)]
    if len(sections) < 2:
        return ""
    items = "".join(
        f'<li class="level-{one.level}"><a href="#{one.anchor}">{html.escape(one.heading)}</a></li>\n' for one in sections)
    return f'<nav class="contents" aria-label="On this page"><p>On this page</p><ul>\n{items}</ul></nav>\n'


def search_index(pages: list[Page]) -> str:
    """A script, since pages that were opened as files may not load data."""
    data = {
        "pages": [[one.address, one.label or one.title, navigation.JOBS[one.job][0], navigation.weight(one.source)] for one in pages],
        "sections": [
            [place, section.anchor, section.heading, re.sub(r"\s+", " ", " ".join(section.text)).strip()]
            for place, one in enumerate(pages) for section in one.sections
        ],
    }
    return f"window.pintleIndex = {json.dumps(data, ensure_ascii=False, separators=(',', ':'))};\n"


def write(site: Site, folder: pathlib.Path) -> None:
    template = string.Template((KIT / "page.html").read_text())
    pages = site.ordered()
    number = version(site)
    for page in pages:
        home = page.link("index.html")
        values = {
            "title": "Pintle" if page.address == "index.html" else html.escape(f"{page.title} · Pintle"),
            "description": html.escape(page.description[:200], quote=True),
            "root": home.removesuffix("index.html"),
            "home": home,
            "job": navigation.JOBS[page.job][0],
            "navigation": list_pages(page, pages),
            "contents": list_sections(page),
            "body": page.body,
            "version": number,
            "source": "" if page.source.startswith("library:") else f" This page is <code>{html.escape(page.source)}</code>.",
        }
        place = folder / page.address
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(template.substitute(values))
    assets = folder / "assets"
    assets.mkdir()
    for name in ASSETS:
        shutil.copyfile(KIT / name, assets / name)
    (assets / "index.js").write_text(search_index(pages))
    for address, source in site.copies.items():
        (folder / address).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(site.root / source, folder / address)
