# SPDX-License-Identifier: Apache-2.0
"""A page of the site, and the collection of all of them."""

import dataclasses
import posixpath

import navigation


@dataclasses.dataclass
class Section:
    """A heading and the text below it, up to the next heading."""

    anchor: str
    heading: str
    level: int
    text: list[str] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Page:
    source: str  # a path in the project, or "library:…"
    address: str  # a path in the site
    title: str = ""
    # A shorter title, for lists.
    label: str = ""
    body: str = ""
    description: str = ""
    sections: list[Section] = dataclasses.field(default_factory=list)
    # False for pages that other pages of the navigation lead to.
    isListed: bool = True

    @property
    def job(self) -> int:
        return navigation.job(self.source)[0]

    @property
    def anchors(self) -> set[str]:
        return {section.anchor for section in self.sections}

    def link(self, address: str) -> str:
        """The address of another page, or file, of the site, relative to this one."""
        return posixpath.relpath(address, posixpath.dirname(self.address) or ".")


class Site:
    def __init__(self, root):
        self.root = root
        self.files = set(navigation.tracked(root))
        self.folders = {parent for path in self.files for parent in parents(path)}
        self.pages: dict[str, Page] = {}
        # Files whose text is on a page that another file, or none, is the source of.
        self.aliases: dict[str, str] = {}
        # Files that are copied: addresses and their sources.
        self.copies: dict[str, str] = {}
        # Links between pages: the file and line of each, the file that it leads to, and the anchor there.
        self.wanted: list[tuple[str, int, str, str]] = []
        self.faults: list[str] = []

    def add(self, page: Page) -> None:
        self.pages[page.source] = page

    def ordered(self) -> list[Page]:
        return sorted(self.pages.values(), key=lambda page: (navigation.job(page.source), page.label or page.title, page.source))

    def find(self, path: str) -> Page | None:
        """The page of a file, or of a folder by its README."""
        path = self.aliases.get(path, path)
        return self.pages.get(path) or self.pages.get(posixpath.join(path, "README.md"))

    def has(self, path: str) -> bool:
        return path in self.files or path in self.folders


def parents(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[: end + 1]) for end in range(len(parts))]
