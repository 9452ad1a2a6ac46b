# SPDX-License-Identifier: Apache-2.0
"""Manual pages of the program and of each command, from the description of its command line that the program itself gives."""

import json
import re
import subprocess

from roff import Page, bold, escaped, italic, prose, references, sentences


def output(program: str, *arguments: str) -> str:
    return subprocess.run([program, *arguments], check=True, capture_output=True, text=True).stdout


class Command:
    """One command of the program, with its way from the program's name."""

    def __init__(self, description: dict, above: tuple[str, ...] = ()):
        self.description = description
        self.words = (*above, description["commandName"])
        self.abstract = description.get("abstract") or ""
        # Hidden commands are left out, and so is the parser's own help, which every command has.
        self.commands = [
            Command(one, self.words) for one in description.get("subcommands", [])
            if one["shouldDisplay"] and one["commandName"] != "help"
        ]

    @property
    def page(self) -> str:
        return "-".join(self.words)

    def all(self) -> list["Command"]:
        return [self, *(below for command in self.commands for below in command.all())]

    def arguments(self, *kinds: str) -> list[dict]:
        return [one for one in self.description.get("arguments", []) if one["shouldDisplay"] and one["kind"] in kinds]


def described(program: str, *words: str) -> dict:
    description = json.loads(output(program, *words, "--experimental-dump-help"))
    if description["serializationVersion"] != 0:
        raise SystemExit("the description of the command line has another form than this script knows")
    return description["command"]


def commands(program: str) -> Command:
    """The program's commands. Its help stands beside them, because it takes the place of the parser's."""
    root = Command(described(program))
    root.commands.append(Command(described(program, "help"), root.words))
    return root


def usage(program: str, command: Command) -> list[str]:
    """The lines of USAGE in the help of a command, without its words."""
    text = output(program, "help", *command.words[1:])
    block = re.search(r"^USAGE: (.*?)(?:\n\n|\Z)", text, re.S | re.M)[1]
    return [line.strip().removeprefix(" ".join(command.words)).strip() for line in block.split("\n")]


def synopsis(command: Command, rests: list[str]) -> list[str]:
    """Source lines in which values stand out: <file> becomes a word in italics."""
    lines = []
    for rest in rests:
        # The words of a form are kept together by size, not by meaning: roff fills them.
        parts = [
            "".join(italic(part[1:-1]) if part.startswith("<") else escaped(part)
                    for part in re.split(r"(<[^<>]*>)", word) if part)
            for word in rest.split()
        ]
        lines += [".TP", f".B {escaped(' '.join(command.words))}", *(parts or [r"\&"])]
    return lines


def hasBareForm(argument: dict) -> bool:
    """True if an option may stand without a value, which its default then means: it is none that can be given."""
    return argument.get("defaultValue") not in (None, *argument.get("allValues", [argument.get("defaultValue")]))


def option(argument: dict) -> list[str]:
    """Source lines of an option, a flag or a positional argument."""
    value = argument.get("valueName", "")
    if argument["kind"] == "positional":
        head = italic(value)
    else:
        names = [("-" if one["kind"] == "short" else "--") + one["name"] for one in argument["names"]]
        head = ", ".join(map(bold, names))
        if argument["kind"] == "option":
            head += rf"[={italic(value)}]" if hasBareForm(argument) else f" {italic(value)}"
    lines = [".TP", head, *prose(argument.get("abstract") or "")]
    if argument.get("discussion"):
        lines += [".br", *prose(argument["discussion"])]
    notes = []
    if argument.get("allValues"):
        notes.append(f"Values: {', '.join(argument['allValues'])}.")
    if argument.get("defaultValue") and not hasBareForm(argument):
        notes.append(f"Default: {argument['defaultValue']}.")
    return lines + sentences(" ".join(notes))


def page(
    program: str, command: Command, version: str, topics: list[tuple[str, int]], parts: list[tuple[str, list[str]]],
) -> Page:
    made = Page(command.page, 1, command.abstract, version)
    made.section_of("SYNOPSIS", *synopsis(command, usage(program, command)))
    made.section_of("DESCRIPTION", *prose(command.description.get("discussion") or command.abstract))
    made.section_of("ARGUMENTS", *(line for one in command.arguments("positional") for line in option(one)))
    made.section_of(
        "COMMANDS",
        *(line for one in command.commands
          for line in (".TP", f".BR {escaped(one.page)} (1)", *sentences(one.abstract))))
    made.section_of("OPTIONS", *(line for one in command.arguments("option", "flag") for line in option(one)))
    for title, lines in parts if len(command.words) == 1 else []:
        made.section_of(title, *lines)
    above = [("-".join(command.words[:depth]), 1) for depth in range(1, len(command.words))]
    made.section_of("SEE ALSO", *references(above + [(one.page, 1) for one in command.commands] + topics))
    return made


def pages(
    program: str, version: str, topics: list[tuple[str, int]], parts: list[tuple[str, list[str]]],
) -> list[Page]:
    return [page(program, one, version, topics, parts) for one in commands(program).all()]
