# SPDX-License-Identifier: Apache-2.0
"""Manual pages from the pages of the reference that the program prints: pintle.yaml(5), the topics in section 7, and the sections
of pintle(1) about exit codes, the environment and files."""

import json

from commands import output
from roff import Page, bold, escaped, italic, marked, references

# Topics that are sections of pintle(1) instead of pages.
SECTIONS = {"EXIT STATUS": "exit-codes", "ENVIRONMENT": "environment", "FILES": "files", "SIGNALS": "signals"}
# It is pintle.yaml(5), and has the introduction of every other page.
CONFIGURATION = "configuration"


def topics(program: str) -> list[dict]:
    """The pages of the reference, but the list of them."""
    listed = json.loads(output(program, "help", "topics", "--format", "json"))
    names = [entry["term"] for section in listed["sections"] for entry in section["entries"]]
    return [json.loads(output(program, "help", name, "--format", "json")) for name in names]


def entry(one: dict) -> list[str]:
    """Source lines of an entry: its name, its properties and its text."""
    facts = dict(one["facts"])
    kind = facts.pop("type", "")
    lines = [".TP", bold(one["term"]) + (f" {italic(kind)}" if kind else ""), *marked(one["text"])]
    if told := " ".join(f"{name[0].upper()}{name[1:]}: {value.rstrip('.')}." for name, value in facts.items()):
        lines += [*([".br"] if one["text"] else []), *marked(told)]
    return lines


def sections(topic: dict) -> list[str]:
    """Source lines of all entries, each group with a heading if there are several."""
    lines = []
    for section in topic["sections"]:
        if section.get("title"):
            lines.append(f".SS {escaped(section['title'].replace('`', ''))}")
        lines += marked(section["text"])
        for one in section["entries"]:
            lines += entry(one)
    return lines


def introduction(topic: dict) -> list[str]:
    lines: list[str] = []
    for text in topic["introduction"]:
        lines += [*([".PP"] if lines else []), *marked(text)]
    return lines


def parts(pages: list[dict]) -> list[tuple[str, list[str]]]:
    """The sections of pintle(1) that are topics of the reference, with their titles."""
    by_name = {topic["topic"]: topic for topic in pages}
    return [(title, [*introduction(by_name[name]), *sections(by_name[name])]) for title, name in SECTIONS.items()]


def configuration(topic: dict, version: str) -> Page:
    page = Page("pintle.yaml", 5, "the configuration of pintle", version)
    page.section_of("SYNOPSIS", f".B pintle serve {escaped('-c')}", italic("pintle.yaml"))
    page.section_of("DESCRIPTION", *introduction(topic))
    page.section_of("KEYS", *sections(topic))
    page.section_of("SEE ALSO", *references([("pintle", 1), ("pintle-check", 1), ("pintle-explain", 1)]))
    return page


def page(topic: dict, version: str) -> Page:
    made = Page(f"pintle-{topic['topic']}", 7, f"{topic['title'][0].lower()}{topic['title'][1:]} of pintle", version)
    made.section_of("DESCRIPTION", *introduction(topic))
    made.section_of("ENTRIES", *sections(topic))
    made.section_of("SEE ALSO", *references([("pintle", 1), ("pintle-help", 1)]))
    return made


def pages(topics: list[dict], version: str) -> list[Page]:
    return [
        configuration(topic, version) if topic["topic"] == CONFIGURATION else page(topic, version)
        for topic in topics if topic["topic"] not in SECTIONS.values()
    ]
