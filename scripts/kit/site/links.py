# SPDX-License-Identifier: Apache-2.0
"""Checks that every link, picture, style and script of the written pages is there: `links.py FOLDER`."""

import html.parser
import pathlib
import posixpath
import sys
import urllib.parse


class References(html.parser.HTMLParser):
    """The anchors of a page, and what it refers to, with the lines."""

    def __init__(self, text: str):
        super().__init__()
        self.anchors: set[str] = set()
        self.doubled: list[tuple[int, str]] = []
        self.targets: list[tuple[int, str, str]] = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        line = self.getpos()[0]
        for name, value in attributes:
            if name == "id":
                if value in self.anchors:
                    self.doubled.append((line, value))
                self.anchors.add(value)
            elif name in ("href", "src") and value is not None:
                self.targets.append((line, tag, value))


def check(folder: pathlib.Path) -> list[str]:
    pages = {str(path.relative_to(folder)): References(path.read_text()) for path in sorted(folder.rglob("*.html"))}
    files = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    faults, reached = [], {"index.html"}
    for address, page in pages.items():
        faults += [f"{address}:{line}: a second element has the id {value}" for line, value in page.doubled]
        for line, tag, target in page.targets:
            parts = urllib.parse.urlsplit(target)
            if parts.scheme == "data":
                continue
            if parts.scheme or target.startswith("//"):
                # Links may lead elsewhere. Nothing is loaded from elsewhere.
                if tag != "a":
                    faults.append(f"{address}:{line}: <{tag}> loads {target} from elsewhere")
                continue
            path = posixpath.normpath(posixpath.join(posixpath.dirname(address), urllib.parse.unquote(parts.path))) if parts.path else address
            if path not in files:
                faults.append(f"{address}:{line}: {target} is not there")
            elif parts.fragment and urllib.parse.unquote(parts.fragment) not in pages[path].anchors:
                faults.append(f"{address}:{line}: {target} has no such anchor")
            if path != address:
                reached.add(path)
    return faults + [f"{address}:1: no page links to this one" for address in pages if address not in reached]


def main() -> int:
    faults = check(pathlib.Path(sys.argv[1]))
    print("".join(f"{fault}\n" for fault in faults), end="", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
