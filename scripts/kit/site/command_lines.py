# SPDX-License-Identifier: Apache-2.0
"""Finds command lines of Pintle in shell text, and says which of their words the program does not know."""

import re
import shlex

from commands import Command, hasBareForm

PREFIXES = {"sudo", "exec", "time", "nohup", "env", "!", "then", "do", "else", "if", "while", "until", "{", "("}
# A word that stands for others: an ellipsis, a choice, something optional.
PLACEHOLDER = re.compile(r"…|^\[|\]$|\||^[A-Z]+$")


def shell_lines(text: str) -> list[str]:
    """The commands of a script, one each: without here-documents, and with the lines that continue one."""
    lines, ending, held = [], None, ""
    for line in text.split("\n"):
        if ending is not None:
            ending = None if line.strip() == ending else ending
            continue
        line = held + line
        held = ""
        if line.endswith("\\"):
            held = line[:-1] + " "
            continue
        try:
            shlex.split(line)
        except ValueError:
            held = line + "\n"
            continue
        if match := re.search(r"<<-?\s*['\"]?(\w+)['\"]?", line):
            ending = match[1]
        lines.append(line)
    return lines + ([held] if held.strip() else [])


def simple_commands(line: str) -> list[list[str]]:
    """The words of each command of a line, also of those whose output others take."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=";|&()<>\n")
    lexer.commenters = ""
    lexer.whitespace = " \t"
    commands: list[list[str]] = [[]]
    try:
        for word in lexer:
            if word.startswith("#"):
                break
            if set(word) <= set(";|&()\n"):
                commands.append([])
            else:
                commands[-1].append(word)
    except ValueError:
        # A quotation that does not end is text of another language.
        return []
    inner = [inside for words in commands for word in words for inside in re.findall(r"\$\(([^()]*)\)", word)]
    return [words for words in commands if words] + [words for inside in inner for words in simple_commands(inside)]


def of_pintle(words: list[str]) -> list[str] | None:
    """The words from the program's name on, if the command runs Pintle."""
    while words and (words[0] in PREFIXES or words[0] == "$" or re.match(r"[A-Za-z_]\w*=", words[0])):
        words = words[1:]
    # The name alone is that of the package, or of a pipe's other end.
    if len(words) > 1 and words[0].split("/")[-1] == "pintle":
        return words
    return None


def in_block(text: str, language: str) -> list[list[str]]:
    if language == "console" or language == "" and re.search(r"^\$ ", text, re.M):
        lines, goesOn = [], False
        for line in text.split("\n"):
            if line.startswith("$ "):
                lines.append(line[2:])
            elif goesOn:
                lines.append(line.removeprefix("> "))
            elif lines and line.startswith("> "):
                lines[-1] += "\n" + line[2:]
            goesOn = (goesOn or line.startswith(("$ ", "> "))) and line.endswith("\\")
        text = "\n".join(lines)
    elif language == "":
        # A synopsis. Other blocks without a language are output.
        lines = [line for line in text.split("\n") if re.match(r"pintle [a-z]", line)]
        return [found for line in lines for found in in_sentence(line)]
    elif language not in ("sh", "bash"):
        return []
    found = [of_pintle(words) for line in shell_lines(text) for words in simple_commands(line)]
    return [words for words in found if words]


def in_sentence(code: str) -> list[list[str]]:
    """A command in a sentence, or a synopsis: the names in it, since the rest may be anything."""
    if not re.match(r"pintle [a-z]", code):
        return []
    words = code.split()
    names = []
    for word in words[1:]:
        if not re.fullmatch(r"[a-z][a-z-]*", word):
            break
        names.append(word)
    before = re.split(r" --(?: |$)", code)[0]
    # A value may have hyphens, too: an option begins a word, or stands in brackets.
    options = re.findall(r"(?:^|[\s\[|])(--?[a-z][\w-]*)", before)
    return [["pintle", *names, *options]]


def fault(words: list[str], program: Command) -> str | None:
    """The first word that the program does not know; None if it knows all."""
    command, rest = program, list(words[1:])
    line = " ".join(words)
    # Options of a command hold below it, too.
    arguments = program.arguments("option", "flag")
    while rest and command.commands and not rest[0].startswith("-"):
        below = {one.words[-1]: one for one in command.commands}
        if rest[0] not in below:
            if rest[0] == "help" or command.arguments("positional") or PLACEHOLDER.search(rest[0]):
                break
            return f"{line}: {' '.join(command.words)} has no command {rest[0]}"
        command = below[rest.pop(0)]
        arguments = arguments + command.arguments("option", "flag")
    options = {("--" if len(name["name"]) > 1 and name["kind"] != "short" else "-") + name["name"]: one
               for one in arguments for name in one["names"]}
    if program.words[-1] == "pintle" and command is program:
        options["--generate-completion-script"] = {"kind": "option"}
    while rest:
        word = rest.pop(0)
        if word == "--":
            return None
        if not re.match(r"--?[A-Za-z]", word):
            # What follows the name of a command that is run is its own.
            if command.words[-1] == "run" and not PLACEHOLDER.search(word):
                return None
            continue
        name, isAssigned, value = word.partition("=")
        option = options.get(name)
        if option is None:
            return f"{line}: {' '.join(command.words)} has no option {name}"
        if option["kind"] != "option":
            continue
        if not isAssigned:
            if hasBareForm(option) or not rest or rest[0].startswith("--"):
                continue
            value = rest.pop(0)
        allowed = option.get("allValues")
        if allowed and value not in allowed and not PLACEHOLDER.search(value) and "$" not in value:
            return f"{line}: {name} takes {', '.join(allowed)}, and not {value}"
    return None
