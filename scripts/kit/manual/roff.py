# SPDX-License-Identifier: Apache-2.0
"""Text as man(7) source: escapes, paragraphs and lists."""

import datetime
import os
import re
import textwrap

# Characters that roff would read as a request, an escape, or a typographic sign in place of the ASCII one.
ESCAPES = str.maketrans({"\\": r"\e", "-": r"\-", "'": r"\(aq", "`": r"\(ga", "^": r"\(ha", "~": r"\(ti", '"': r"\(dq",
                         "…": r"\&...", "→": r"\(->", "–": r"\(en", "“": r"\(lq", "”": r"\(rq", "×": r"\(mu", "§": r"\(sc"})


def escaped(text: str) -> str:
    """The text as it has to stand in a page; never read as a request at the beginning of a line."""
    text = text.translate(ESCAPES)
    return r"\&" + text if text.startswith(".") else text


def bold(text: str) -> str:
    return rf"\fB{escaped(text)}\fR"


def italic(text: str) -> str:
    return rf"\fI{escaped(text)}\fR"


def sentences(text: str) -> list[str]:
    """Source lines of a paragraph, each at most 78 characters long."""
    lines = textwrap.wrap(escaped(" ".join(text.split())), 78, break_long_words=False, break_on_hyphens=False)
    # A line that was wrapped may begin with what roff takes for a request.
    return [r"\&" + line if line.startswith(".") else line for line in lines]


def prose(text: str) -> list[str]:
    """Source lines of a text as help prints it: paragraphs, lines that end where they end, and lists of two columns."""
    source: list[str] = []
    for number, paragraph in enumerate(re.split(r"\n{2,}", text.strip("\n"))):
        if number:
            source.append(".PP")
        inList = False
        for place, line in enumerate(paragraph.split("\n")):
            if entry := re.match(r"  (\S+)  +(\S.*)", line):
                source += [".TP 12" if not inList else ".TP", bold(entry[1]), *sentences(entry[2])]
                inList = True
            else:
                if place:
                    source.append(".PP" if inList else ".br")
                source += sentences(line)
                inList = False
    return source


def marked(text: str) -> list[str]:
    """Source lines of a paragraph in which names of code stand between backticks."""
    return sentences(text.replace("`", ""))


class Page:
    """One manual page."""

    def __init__(self, name: str, section: int, abstract: str, version: str):
        self.name, self.section = name, section
        moment = int(os.environ["SOURCE_DATE_EPOCH"])
        date = datetime.datetime.fromtimestamp(moment, datetime.timezone.utc).strftime("%Y-%m-%d")
        self.lines = [
            r".\" Written by scripts/manual: change the texts that it reads.",
            f'.TH {escaped(name.upper())} {section} {date} "pintle {version}" "Pintle"',
            # Names of options and keys are found by searching only if they are whole.
            ".nh",
            ".ad l",
            ".SH NAME",
            f"{escaped(name)} \\-",
            *sentences(abstract.rstrip(".")),
        ]

    @property
    def file(self) -> str:
        return f"{self.name}.{self.section}"

    def section_of(self, title: str, *lines: str) -> None:
        if lines:
            self.lines += [f".SH {title}", *lines]

    def text(self) -> str:
        return "\n".join(self.lines) + "\n"


def references(pages: list[tuple[str, int]]) -> list[str]:
    """Source lines that refer to other pages, for SEE ALSO."""
    return [
        f".BR {escaped(name)} ({section})" + ("," if place < len(pages) - 1 else "")
        for place, (name, section) in enumerate(pages)
    ]
