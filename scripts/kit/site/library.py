# SPDX-License-Identifier: Apache-2.0
"""The documentation of the library as docc writes it (`scripts/docs`), as pages of the site: one for each article, module and type.

docc's own pages are an application that loads its data: they are blank if they are opened as files, and no search finds their text."""

import html
import json
import pathlib

from pages import Page, Section, Site
from text import block, slug

TYPES = {"struct", "class", "enum", "protocol", "actor"}
CATALOGUE = "Sources/PintleSession/PintleSession.docc"
# Classes of Pygments for kinds of words in declarations.
WORDS = {"keyword": "k", "typeIdentifier": "nc", "identifier": "nf", "attribute": "nd", "number": "m", "string": "s"}


class Node:
    """One article, module or symbol."""

    def __init__(self, data: dict):
        self.data = data
        # Without the words before it: pintlesession/session/data(for:from:).
        self.path = data["identifier"]["url"].split("/documentation/", 1)[1].lower()
        self.title = data["metadata"]["title"]
        self.role = data["metadata"].get("role")
        self.kind = data["metadata"].get("symbolKind")

    @property
    def isPage(self) -> bool:
        return self.role in ("article", "collection") or self.kind in TYPES


class Library:
    def __init__(self, site: Site, archive: pathlib.Path):
        self.site = site
        files = sorted((archive / "data" / "documentation").rglob("*.json"))
        nodes = [Node(json.loads(path.read_text())) for path in files]
        self.nodes = {node.path: node for node in nodes}
        self.places = {node.path: self.place(node) for node in nodes}

    def above(self, node: Node) -> Node | None:
        path = node.path.rpartition("/")[0]
        while path and (path not in self.nodes or not self.nodes[path].isPage):
            path = path.rpartition("/")[0]
        return self.nodes.get(path)

    def place(self, node: Node) -> tuple[str, str]:
        """The address of the page with a node, and its anchor there."""
        parts = node.path.split("/")
        if node.role == "article":
            return f"library/{parts[-1]}.html", ""
        if node.role == "collection":
            return f"library/{node.path}/index.html", ""
        if node.isPage:
            return f"library/{parts[0]}/{'.'.join(parts[1:])}.html", ""
        above = self.above(node)
        return self.place(above)[0], node.path.removeprefix(above.path + "/")

    def collect(self) -> None:
        for node in self.nodes.values():
            if node.isPage:
                kind = {"article": "article:", "collection": "module:"}.get(node.role, "")
                page = Page(f"library:{kind}{node.path}", self.places[node.path][0])
                page.isListed = bool(kind)
                Writer(self, page, node).write()
                self.site.add(page)
                name = node.data["identifier"]["url"].rpartition("/")[2]
                if node.role == "article" or node.role == "collection" and name in ("PintleSession", "Pintle", "PintleExtras"):
                    self.site.aliases[f"{CATALOGUE}/{name}.md"] = page.source


class Writer:
    """Writes one page."""

    def __init__(self, library: Library, page: Page, node: Node):
        self.library, self.page, self.node = library, page, node
        self.taken: dict[str, int] = {}

    def write(self) -> None:
        node, page = self.node, self.page
        page.title = node.title
        page.label = f"Module {node.title}" if node.role == "collection" else node.title
        abstract = self.plain(node.data.get("abstract", []))
        page.description = abstract
        first = Section(slug(node.title, self.taken), node.title, 1, [abstract])
        page.sections.append(first)
        kind = node.data["metadata"].get("roleHeading", "")
        title = html.escape(node.title)
        parts = [f'<h1 id="{first.anchor}">{f"<code>{title}</code>" if node.kind in TYPES else title}</h1>']
        if node.role != "article":
            above = self.library.above(node)
            inside = f" of {self.reference(above.data['identifier']['url'], above.data)}" if above else ""
            parts.append(f'<p class="kind">{html.escape(kind)}{inside}</p>')
        if abstract:
            parts.append(f"<p>{self.inline(node.data['abstract'], node.data)}</p>")
        parts.append(self.content(node, 2))
        parts.append(self.relations(node))
        parts += [self.topic(topic, node) for topic in self.topics(node)]
        page.body = "\n".join(part for part in parts if part)

    def topics(self, node: Node):
        """Groups of what a page lists; implementations of protocols are a page of their own for docc."""
        for topic in node.data.get("topicSections", []):
            for identifier in topic["identifiers"]:
                listed = self.library.nodes.get(path_of(identifier))
                if listed and listed.role == "collectionGroup":
                    yield from ({**one, "title": listed.title} for one in listed.data.get("topicSections", []))
            yield topic

    def topic(self, topic: dict, node: Node) -> str:
        nodes = [self.library.nodes.get(path_of(identifier)) for identifier in topic["identifiers"]]
        nodes = [one for one in nodes if one and one.role != "collectionGroup"]
        if not nodes:
            return ""
        section = self.section(topic["title"], 2)
        parts = [heading(section)]
        links = [one for one in nodes if one.isPage]
        if links:
            parts.append('<ul class="topics">')
            parts += [f"<li>{self.reference(one.data['identifier']['url'], one.data)}: "
                      f"{self.inline(one.data.get('abstract', []), one.data)}</li>" for one in links]
            parts.append("</ul>")
        parts += [self.member(one) for one in nodes if not one.isPage]
        return "\n".join(parts)

    def member(self, node: Node) -> str:
        section = Section(self.library.places[node.path][1], node.title, 3, [self.plain(node.data.get("abstract", []))])
        self.page.sections.append(section)
        parts = [heading(section, isCode=True)]
        if node.data.get("abstract"):
            parts.append(f"<p>{self.inline(node.data['abstract'], node.data)}</p>")
        parts.append(self.content(node, 4))
        return "\n".join(part for part in parts if part)

    def section(self, title: str, level: int) -> Section:
        section = Section(slug(title, self.taken), title, level)
        self.page.sections.append(section)
        return section

    def relations(self, node: Node) -> str:
        items = []
        for one in node.data.get("relationshipsSections", []):
            names = [node.data["references"].get(identifier, {}).get("title") for identifier in one["identifiers"]]
            links = [self.reference(identifier, node.data) if path_of(identifier) in self.library.places else f"<code>{html.escape(name)}</code>"
                     for identifier, name in zip(one["identifiers"], names) if name]
            if links:
                items.append(f"{html.escape(one['title'].capitalize())} {', '.join(links)}.")
        return f'<p class="kind">{" ".join(items)}</p>' if items else ""

    # Content

    def content(self, node: Node, level: int) -> str:
        """The declaration, the parameters and the text of a node; its headings begin at `level`."""
        parts = []
        for section in node.data.get("primaryContentSections", []):
            if section["kind"] == "declarations":
                parts += [self.declaration(one["tokens"], node.data) for one in section["declarations"]]
            elif section["kind"] == "parameters":
                items = "".join(f"<dt><code>{html.escape(one['name'])}</code></dt>\n<dd>{self.blocks(one['content'], node.data)}</dd>\n"
                                for one in section["parameters"])
                parts.append(f"<dl>\n{items}</dl>")
            elif section["kind"] == "content":
                # docc puts a heading above each text.
                blocks = section["content"]
                if blocks and blocks[0]["type"] == "heading" and blocks[0]["text"] in ("Overview", "Discussion"):
                    blocks = blocks[1:]
                least = min((one["level"] for one in blocks if one["type"] == "heading"), default=level)
                parts.append(self.blocks(blocks, node.data, level - least))
        return "\n".join(part for part in parts if part)

    def declaration(self, tokens: list[dict], data: dict) -> str:
        parts = []
        for token in tokens:
            text = html.escape(token["text"])
            place = self.library.places.get(path_of(token.get("identifier", "")))
            name = WORDS.get(token["kind"])
            if place:
                text = f'<a href="{self.link(place)}">{text}</a>'
            parts.append(f'<span class="{name}">{text}</span>' if name else text)
        return f'<div class="declaration"><div class="code"><pre tabindex="0"><code>{"".join(parts)}</code></pre></div></div>'

    def blocks(self, blocks: list[dict], data: dict, shift: int = 0) -> str:
        return "\n".join(self.block(one, data, shift) for one in blocks)

    def block(self, one: dict, data: dict, shift: int) -> str:
        kind = one["type"]
        if kind == "heading":
            return heading(self.section(one["text"], min(one["level"] + shift, 6)))
        if kind == "codeListing":
            text = "\n".join(one["code"]) + "\n"
            self.page.sections[-1].text.append(text)
            return block(text, one.get("syntax") or "")
        if kind == "paragraph":
            self.page.sections[-1].text.append(self.plain(one["inlineContent"], data))
            return f"<p>{self.inline(one['inlineContent'], data)}</p>"
        if kind == "aside":
            return f"<blockquote><p><strong>{html.escape(one['name'])}</strong></p>\n{self.blocks(one['content'], data)}</blockquote>"
        if kind in ("unorderedList", "orderedList"):
            tag = "ul" if kind == "unorderedList" else "ol"
            items = "".join(f"<li>{self.blocks(item['content'], data)}</li>\n" for item in one["items"])
            return f"<{tag}>\n{items}</{tag}>"
        if kind == "table":
            return self.table(one, data)
        raise ValueError(f"{self.node.path}: there is no way yet to show a block of docc with the type {kind}")

    def table(self, one: dict, data: dict) -> str:
        self.taken["table"] = self.taken.get("table", 0) + 1
        rows = []
        for number, row in enumerate(one["rows"]):
            tag = "th" if number == 0 and one.get("header") in ("row", "both") else "td"
            cells = [self.cell(cell, data) for cell in row]
            # The corner of a table heads nothing.
            tags = [tag if text else "td" for text in cells]
            rows.append("<tr>" + "".join(f"<{tag}>{text}</{tag}>" for tag, text in zip(tags, cells)) + "</tr>\n")
        return (f'<div class="table" tabindex="0" role="region" aria-label="Table {self.taken["table"]}"><table>\n{"".join(rows)}</table></div>')

    def cell(self, blocks: list[dict], data: dict) -> str:
        text = self.blocks(blocks, data)
        return text.removeprefix("<p>").removesuffix("</p>") if len(blocks) == 1 else text

    def inline(self, parts: list[dict], data: dict) -> str:
        return "".join(self.piece(one, data) for one in parts)

    def piece(self, one: dict, data: dict) -> str:
        kind = one["type"]
        if kind == "text":
            return html.escape(one["text"], quote=False)
        if kind == "codeVoice":
            return f"<code>{html.escape(one['code'], quote=False)}</code>"
        if kind in ("strong", "emphasis"):
            tag = "strong" if kind == "strong" else "em"
            return f"<{tag}>{self.inline(one['inlineContent'], data)}</{tag}>"
        if kind == "reference":
            return self.reference(one["identifier"], data, one.get("overridingTitle"))
        if kind == "link":
            return f'<a class="outside" rel="noreferrer" href="{html.escape(one["destination"])}">{html.escape(one["title"])}</a>'
        raise ValueError(f"{self.node.path}: there is no way yet to show words of docc with the type {kind}")

    def reference(self, identifier: str, data: dict, title: str | None = None) -> str:
        known = data["references"].get(identifier, {})
        if known.get("type") == "link":
            return f'<a class="outside" rel="noreferrer" href="{html.escape(known["url"])}">{html.escape(title or known["title"])}</a>'
        node = self.library.nodes.get(path_of(identifier))
        if node is None:
            return f"<code>{html.escape(title or known.get('title', identifier))}</code>"
        name = html.escape(title or node.title, quote=False)
        shown = f"<code>{name}</code>" if node.role in ("symbol", "collectionGroup") else name
        return f'<a href="{self.link(self.library.places[node.path])}">{shown}</a>'

    def link(self, place: tuple[str, str]) -> str:
        address, anchor = place
        return html.escape(self.page.link(address) + (f"#{anchor}" if anchor else ""))

    def plain(self, parts: list[dict], data: dict | None = None) -> str:
        references = (data or self.node.data)["references"]
        words = []
        for one in parts:
            if one["type"] == "reference":
                words.append(one.get("overridingTitle") or references.get(one["identifier"], {}).get("title", ""))
            elif "inlineContent" in one:
                words.append(self.plain(one["inlineContent"], data))
            else:
                words.append(one.get("text") or one.get("code") or one.get("title") or "")
        return "".join(words)


def path_of(identifier: str) -> str:
    return identifier.partition("/documentation/")[2].partition("#")[0].lower()


def heading(section: Section, isCode: bool = False) -> str:
    name = html.escape(section.heading)
    shown = f"<code>{name}</code>" if isCode else name
    tag = f"h{section.level}"
    return (f'<{tag} id="{section.anchor}">{shown} <a class="anchor" href="#{section.anchor}" aria-label="Link to “{name}”">#</a></{tag}>')


def collect(site: Site, archive: pathlib.Path) -> None:
    Library(site, archive).collect()
