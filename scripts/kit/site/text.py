# SPDX-License-Identifier: Apache-2.0
"""Markdown, and source text, as HTML."""

import html
import pathlib
import posixpath
import re
import struct

import pygments
import pygments.formatters
import pygments.lexers
from markdown_it import MarkdownIt
from markdown_it.token import Token

from pages import Page, Section, Site

LANGUAGES = {"yaml": "yaml", "yml": "yaml", "json": "json", "sh": "bash", "bash": "bash", "console": "console", "swift": "swift",
             "python": "python", "ini": "ini", "conf": "ini", "toml": "toml", "http": "http", "service": "ini", "socket": "ini"}
FORMATTER = pygments.formatters.HtmlFormatter(nowrap=True)
PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


def highlighted(text: str, language: str) -> str:
    name = LANGUAGES.get(language)
    if name is None:
        return html.escape(text)
    return pygments.highlight(text, pygments.lexers.get_lexer_by_name(name, stripnl=False), FORMATTER)


def block(text: str, language: str) -> str:
    """A block of code. It can have the focus, so that keys scroll it."""
    kind = f' data-language="{html.escape(language)}"' if language else ""
    return f'<div class="code"{kind}><pre tabindex="0"><code>{highlighted(text, language)}</code></pre></div>\n'


def slug(text: str, taken: dict[str, int]) -> str:
    """The anchor of a heading, by the rule of GitHub: so the same links work there."""
    plain = re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")
    count = taken.get(plain, 0)
    taken[plain] = count + 1
    return f"{plain}-{count}" if count else plain


def words(inline: Token) -> str:
    """The text of a paragraph or heading, without marks."""
    parts = []
    for child in inline.children or []:
        if child.type in ("text", "code_inline"):
            parts.append(child.content)
        elif child.type in ("softbreak", "hardbreak"):
            parts.append(" ")
        elif child.type == "image":
            parts.append(words(child) if child.children else child.content)
    return "".join(parts)


class Markdown:
    """Turns one page's Markdown into its body. Faults have the line at which they are."""

    def __init__(self, site: Site, page: Page):
        self.site, self.page = site, page
        self.taken: dict[str, int] = {}
        self.line = 0

    def render(self, text: str) -> None:
        tokens = PARSER.parse(text)
        current = Section("", "", 0)
        for index, token in enumerate(tokens):
            if token.map:
                self.line = token.map[0] + 1
            if token.type == "heading_open":
                current = self.heading(token, tokens[index + 1])
            elif token.type == "inline":
                if tokens[index - 1].type != "heading_open":
                    current.text.append(words(token))
                    if not self.page.description and tokens[index - 1].type == "paragraph_open":
                        self.page.description = words(token)
                self.inline(token)
            elif token.type == "th_open" and not tokens[index + 1].content:
                # The corner of a table heads nothing.
                token.tag = tokens[index + 2].tag = "td"
            elif token.type in ("fence", "code_block"):
                current.text.append(token.content)
            elif token.type == "html_block" and not token.content.lstrip().startswith("<!--"):
                self.fault("HTML, which is not rendered everywhere; write it as Markdown")
        self.page.body = self.html(tokens)

    def fault(self, sentence: str) -> None:
        self.site.faults.append(f"{self.page.source}:{self.line}: {sentence}")

    def heading(self, token: Token, inline: Token) -> Section:
        text = words(inline)
        section = Section(slug(text, self.taken), text, int(token.tag[1]))
        token.attrSet("id", section.anchor)
        self.page.sections.append(section)
        if section.level == 1 and not self.page.title:
            self.page.title = text
        elif section.level == 1:
            self.fault("a second heading of the first level; a page has one")
        return section

    def inline(self, inline: Token) -> None:
        opened: list[Token] = []
        for child in inline.children or []:
            if child.type == "link_open":
                self.follow(child)
                opened.append(child)
            elif child.type == "link_close":
                child.tag = opened.pop().tag
            elif child.type == "image":
                self.picture(child)
            elif child.type == "html_inline":
                self.fault(f"{child.content} is HTML, which is not rendered everywhere; write it as Markdown")

    def follow(self, token: Token) -> None:
        """Makes a link lead to a page of the site. What is only in the project becomes plain text."""
        target = str(token.attrs["href"])
        if re.match(r"(https?|mailto):", target):
            token.attrs = {"href": target, "class": "outside", "rel": "noreferrer"}
            return
        path, _, anchor = target.partition("#")
        if re.match(r"[a-z][a-z0-9+.-]*:|/", path):
            self.fault(f"the link {target} is absolute; write it relative to the page")
            return
        source = posixpath.normpath(posixpath.join(posixpath.dirname(self.page.source), path)) if path else self.page.source
        there = self.site.find(source)
        if there:
            self.site.wanted.append((self.page.source, self.line, there.source, anchor))
            token.attrs = {"href": (self.page.link(there.address) if path else "") + (f"#{anchor}" if anchor else "")}
        elif self.site.has(source):
            token.tag, token.attrs = "span", {"class": "path", "title": f"{source} of the project"}
        else:
            self.fault(f"the link {target} leads to nothing")

    def picture(self, token: Token) -> None:
        target = str(token.attrs["src"])
        source = posixpath.normpath(posixpath.join(posixpath.dirname(self.page.source), target))
        if source not in self.site.files:
            self.fault(f"the picture {target} is not there")
            return
        if not words(token).strip():
            self.fault(f"the picture {target} has no text in its place")
        address = source.removeprefix("docs/")
        self.site.copies[address] = source
        token.attrs["src"] = self.page.link(address)
        data = (self.site.root / source).read_bytes()
        if data.startswith(b"\x89PNG"):
            token.attrs["width"], token.attrs["height"] = struct.unpack(">II", data[16:24])

    def html(self, tokens: list[Token]) -> str:
        return PARSER.renderer.render(tokens, PARSER.options, {"page": self.page})


def heading_close(renderer, tokens, index, options, environment):
    level, anchor = tokens[index].tag, tokens[index - 2].attrs["id"]
    if level == "h1":
        return "</h1>\n"
    name = html.escape(words(tokens[index - 1]), quote=True)
    return f' <a class="anchor" href="#{anchor}" aria-label="Link to “{name}”">#</a></{level}>\n'


def table_open(renderer, tokens, index, options, environment):
    """A table scrolls by itself if it is wider than the page. It can have the focus, so that keys scroll it."""
    number = sum(token.type == "table_open" for token in tokens[: index + 1])
    return f'<div class="table" tabindex="0" role="region" aria-label="Table {number}"><table>\n'


RULES = {
    "fence": lambda renderer, tokens, index, options, environment: block(tokens[index].content, tokens[index].info.split(" ")[0]),
    "code_block": lambda renderer, tokens, index, options, environment: block(tokens[index].content, ""),
    "heading_close": heading_close,
    "table_open": table_open,
    "table_close": lambda *arguments: "</table></div>\n",
    # Comments say which file an example is taken from.
    "html_block": lambda *arguments: "",
}
for name, rule in RULES.items():
    PARSER.add_render_rule(name, rule)


def show_file(site: Site, page: Page) -> None:
    """A page with a file as it is."""
    text = (site.root / page.source).read_text()
    page.title = page.source
    page.label = page.source.removeprefix("conf/")
    language = pathlib.PurePosixPath(page.source).suffix.lstrip(".")
    page.description = f"{page.source}, as it is in the project."
    section = Section(slug(page.source, {}), page.source, 1, [text])
    page.sections.append(section)
    page.body = f'<h1 id="{section.anchor}"><code>{html.escape(page.source)}</code></h1>\n{block(text, language)}'
