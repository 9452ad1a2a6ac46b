# SPDX-License-Identifier: Apache-2.0
"""Writes the documentation as static pages: `make.py PROJECT FOLDER [--library ARCHIVE]`.

ARCHIVE is the documentation of the library as docc writes it. Prints faults of the Markdown, such as dead links, and ends with 1 if
there are any."""

import argparse
import pathlib
import shutil
import sys

import library
import navigation
import text
import writing
from pages import Page, Site


def collect(root: pathlib.Path, archive: pathlib.Path | None) -> Site:
    site = Site(root)
    for path in sorted(site.files):
        isMarkdown = navigation.matches(path, navigation.MARKDOWN)
        if isMarkdown or navigation.matches(path, navigation.FILES) and not navigation.matches(path, navigation.LEFT_OUT):
            site.add(Page(path, navigation.address(path)))
    if archive:
        library.collect(site, archive)
    for page in list(site.pages.values()):
        if page.source.startswith("library:"):
            continue
        if page.source.endswith(".md"):
            text.Markdown(site, page).render((root / page.source).read_text())
        else:
            text.show_file(site, page)
    site.pages["README.md"].label = "Pintle"
    return site


def check_links(site: Site) -> None:
    for source, line, target, anchor in site.wanted:
        if anchor and anchor not in site.pages[target].anchors:
            site.faults.append(f"{source}:{line}: the link to {target}#{anchor} leads to no heading")
    for page in site.pages.values():
        if not page.title:
            site.faults.append(f"{page.source}:1: there is no heading of the first level")
    addresses: dict[str, str] = {}
    for page in site.pages.values():
        other = addresses.setdefault(page.address, page.source)
        if other != page.source:
            site.faults.append(f"{page.source}:1: its page would have the address of {other}; rename one of them")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("project", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--library", type=pathlib.Path)
    arguments = parser.parse_args()
    site = collect(arguments.project, arguments.library)
    check_links(site)
    if site.faults:
        print("\n".join(site.faults), file=sys.stderr)
        return 1
    shutil.rmtree(arguments.folder, ignore_errors=True)
    arguments.folder.mkdir(parents=True)
    writing.write(site, arguments.folder)
    print(f"{len(site.pages)} pages", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
