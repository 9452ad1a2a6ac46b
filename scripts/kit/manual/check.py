# SPDX-License-Identifier: Apache-2.0
"""Checks manual pages and completions against the help that the program prints: `check.py PROGRAM FOLDER CONFIGURATION.MD`.

Prints what is missing or malformed, and ends with 1 if there is anything."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from commands import Command, commands, output

KIT = pathlib.Path(__file__).parent
# It is in the folder in which completions are tried.
FILE = "some-file.yaml"
SHELLS = {
    "bash": (["bash", KIT / "complete.bash"], "bash/pintle"),
    "zsh": (["zsh", "-f", KIT / "complete.zsh"], "zsh/_pintle"),
    "fish": (["fish", KIT / "complete.fish"], "fish/pintle.fish"),
}


def names(page: str) -> list[str]:
    """The names in bold at the head of the entries of a page."""
    heads = re.findall(r"^\.TP(?: \d+)?\n(?:\.BR )?(.*)", page, re.M)
    plain = [re.sub(r"\\f[BIR]|\\&", "", head).replace(r"\-", "-") for head in heads]
    return [word.strip(",") for head in plain for word in re.split(r"[ =]|\[=", head)]


def options(help: str) -> list[str]:
    """The options in the help of a command."""
    return [name for line in re.findall(r"^  (-.*)", help, re.M) for name in re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*",
            re.split(r" {2,}|<", line)[0])]


def subcommands(help: str) -> list[str]:
    rows = re.search(r"^SUBCOMMANDS:\n(.*?)(?:\n\n|\Z)", help, re.M | re.S)
    return [name for name in re.findall(r"^  (\w[\w-]*)(?: .*)?$", rows[1], re.M) if name != "help"] if rows else []


def missing_from_pages(program: str, folder: pathlib.Path, command: Command) -> list[str]:
    help = output(program, "help", *command.words[1:])
    page = folder / "man1" / f"{command.page}.1"
    if not page.exists():
        return [f"{page} is missing"]
    wanted = options(help) + [f"{command.page}-{name}" for name in subcommands(help)]
    if "--help" not in wanted:
        return [f"the help of {command.page} is not read: {help}"]
    found = names(page.read_text())
    return [f"{page} lacks {name}" for name in wanted if name not in found]


def missing_keys(folder: pathlib.Path, reference: pathlib.Path) -> list[str]:
    """Keys in the tables of docs/configuration.md that pintle.yaml(5) lacks."""
    keys, inTable = set(), False
    for line in reference.read_text().split("\n"):
        if line.startswith("| key"):
            inTable = True
        elif not line.startswith("|"):
            inTable = False
        elif inTable:
            keys.update(re.findall(r"`([\w.]+)`", line.split("|")[1]))
    if len(keys) < 100:
        return [f"{reference} has {len(keys)} keys in its tables: they are not read"]
    found = {part for name in names((folder / "man5" / "pintle.yaml.5").read_text()) for part in name.split(".")}
    found |= {part.removesuffix("[]") for part in found}
    return [f"pintle.yaml(5) lacks {key}" for key in sorted(keys) if key.split(".")[-1] not in found]


def malformed(folder: pathlib.Path) -> list[str]:
    pages = sorted(folder.glob("man*/*"))
    lint = subprocess.run(["mandoc", "-Tlint", *pages], capture_output=True, text=True)
    groff = [
        subprocess.run(["groff", "-ww", "-man", "-Tutf8", "-z", page], capture_output=True, text=True).stderr
        for page in pages
    ]
    return [line for line in (lint.stdout + lint.stderr + "".join(groff)).split("\n") if line]


def subjects(program: str) -> list[str]:
    """The words that `pintle help` takes: topics of the reference, and commands."""
    listed = json.loads(output(program, "help", "topics", "--format", "json"))
    topics = [entry["term"] for section in listed["sections"] for entry in section["entries"]]
    return topics + subcommands(output(program, "help"))


def uncompleted(folder: pathlib.Path, wanted: list[str], *words: str) -> list[str]:
    """A sentence for each shell that does not complete the last of some words to what is wanted."""
    faults = []
    for shell, (call, script) in SHELLS.items():
        # fish writes settings into a home.
        with tempfile.TemporaryDirectory() as home, tempfile.TemporaryDirectory() as place:
            (pathlib.Path(place) / FILE).touch()
            result = subprocess.run(
                [*call, folder / "completions" / script, *words],
                capture_output=True, text=True, timeout=60, cwd=place, env={**os.environ, "HOME": home})
        lacking = set(wanted) - set(result.stdout.split("\n"))
        if lacking:
            faults.append(f"{shell} does not complete {' '.join(words)!r} to {sorted(lacking)} {result.stderr}".strip())
    return faults


def missing_completions(program: str, folder: pathlib.Path, command: Command) -> list[str]:
    help = output(program, "help", *command.words[1:])
    words = subjects(program) if command.words[1:] == ("help",) else subcommands(help)
    long = [one for one in options(help) if one.startswith("--")]
    return uncompleted(folder, words, *command.words, "") + uncompleted(folder, long, *command.words, "--")


def missing_values(folder: pathlib.Path) -> list[str]:
    """Files and words that are the values of options and arguments."""
    beginning = FILE[:4]
    lines = (["serve", "-c"], ["check"], ["check", "--against"], ["verify", "--chain"], ["pins", "show", "--file"])
    faults = [fault for words in lines for fault in uncompleted(folder, [FILE], "pintle", *words, beginning)]
    return faults + uncompleted(folder, ["warning"], "pintle", "serve", "--log-level", "")


def main(program: str, folder: pathlib.Path, reference: pathlib.Path) -> int:
    every = commands(program).all()
    faults = [fault for command in every for fault in missing_from_pages(program, folder, command)]
    faults += missing_keys(folder, reference) + malformed(folder)
    # A command with others below it, one with options alone, and the one whose words are topics.
    for command in every:
        if command.words[1:] in ((), ("run",), ("pins",), ("help",)):
            faults += missing_completions(program, folder, command)
    faults += missing_values(folder)
    print("".join(f"{fault}\n" for fault in faults), end="", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])))
