# SPDX-License-Identifier: Apache-2.0
"""Checks the examples in the pages of a project: `examples.py PROJECT PROGRAM`.

A block of YAML that is a configuration of Pintle, or a part of one, must load; one with policy tests must have their form; others must
be YAML. Every command line of Pintle, in blocks and in sentences, must name commands, options and values that the program has.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "manual"))

from markdown_it import MarkdownIt  # noqa: E402

import command_lines  # noqa: E402
import navigation  # noqa: E402
import yaml_blocks  # noqa: E402
from commands import commands  # noqa: E402


def check(root: pathlib.Path, program: str) -> list[str]:
    parser = MarkdownIt("commonmark").enable("table")
    blocks = yaml_blocks.Blocks(root, program)
    every = commands(program)
    faults, count = [], 0
    for path in navigation.tracked(root):
        if not navigation.matches(path, navigation.MARKDOWN) or path == "CHANGELOG.md":
            continue
        for token in parser.parse((root / path).read_text()):
            place = f"{path}:{token.map[0] + 1}" if token.map else path
            language = token.info.split(" ")[0] if token.type == "fence" else ""
            if language in ("yaml", "yml"):
                faults += [f"{place}: {fault}" for fault in blocks.faults(token.content)]
                count += 1
            elif token.type == "fence":
                found = command_lines.in_block(token.content, language)
            elif token.type == "inline":
                found = [words for child in token.children if child.type == "code_inline"
                         for words in command_lines.in_sentence(child.content)]
            else:
                continue
            if language not in ("yaml", "yml"):
                faults += [f"{place}: {fault}" for words in found if (fault := command_lines.fault(words, every))]
                count += len(found)
    print(f"{count} examples", file=sys.stderr)
    return faults


def main() -> int:
    faults = check(pathlib.Path(sys.argv[1]), sys.argv[2])
    print("".join(f"{fault}\n" for fault in faults), end="", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
