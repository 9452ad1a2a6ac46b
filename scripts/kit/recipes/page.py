# SPDX-License-Identifier: Apache-2.0
"""Reads the pages of docs/recipes: files, commands, and the output of commands."""

import re

# A block's file is named in the line above it: `pintle.yaml`:
NAME = re.compile(r"`([^`]+)`:$")
OWN_TERMINAL = "# in a terminal of its own"
# Written to users other than root, whose kernel does not tell them of every connection.
NOTE = "note: connections past the proxy were looked for from time to time"
# These differ from run to run, and need no ellipsis.
VOLATILE = [
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"), "TIME"),
    (re.compile(r"\b20\d\d-\d\d-\d\d\b"), "DAY"),
    (re.compile(r"\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT"), "TIME"),
    (re.compile(r"\b[0-9a-f]{5,8}-\d+\b"), "ID"),
]


class File:
    def __init__(self, name, text):
        self.name = name
        self.text = text


class Command:
    """A command, and the lines of the page that have its output."""

    def __init__(self, text, line):
        self.text = text
        self.line = line
        self.first = self.last = line + 1
        self.output = []

    @property
    def keeps_running(self):
        return self.text.rstrip().endswith(OWN_TERMINAL)


def read(text):
    """The steps of a page in their order. Lines are counted from 0."""
    lines = text.split("\n")
    steps = []
    number = 0
    above = ""
    while number < len(lines):
        if not lines[number].startswith("```"):
            above = lines[number].strip() or above
            number += 1
            continue
        kind = lines[number][3:].strip()
        first = number = number + 1
        while not lines[number].startswith("```"):
            number += 1
        if kind == "console":
            steps += commands(lines, first, number)
        elif name := NAME.search(above):
            steps.append(File(name[1], "\n".join(lines[first:number]) + "\n"))
        above = ""
        number += 1
    return steps


def commands(lines, first, end):
    found = []
    for number in range(first, end):
        line = lines[number]
        if line.startswith("$ "):
            found.append(Command(line[2:], number))
        elif line.startswith("> ") and found and not found[-1].output:
            # A command of several lines.
            found[-1].text += "\n" + line[2:]
            found[-1].first = found[-1].last = number + 1
        elif found:
            found[-1].output.append(line)
            found[-1].last = number + 1
    return found


def plain(text):
    """The text without what differs from run to run."""
    for pattern, word in VOLATILE:
        text = pattern.sub(word, text)
    return text


def agrees(told, found, whole=True):
    """True if the lines found are those told: an ellipsis stands for any text in a line, and alone for any lines."""
    pattern = ""
    for line in told:
        if line.strip() == "…":
            pattern += r"(?:[^\n]*\n)*?"
        else:
            pattern += r"[^\n]*?".join(re.escape(part) for part in plain(line.rstrip()).split("…")) + r"\n"
    text = "".join(plain(line.rstrip()) + "\n" for line in found if not line.startswith(NOTE))
    return bool((re.fullmatch if whole else re.match)(pattern, text))
