# SPDX-License-Identifier: Apache-2.0
"""Writes the manual pages of a program: `manual.py PROGRAM FOLDER`."""

import pathlib
import sys

import commands
import reference


def main(program: str, folder: pathlib.Path) -> None:
    version = commands.output(program, "--version").split()[1]
    topics = reference.topics(program)
    pages = reference.pages(topics, version)
    names = [(page.name, page.section) for page in pages]
    for page in [*commands.pages(program, version, names, reference.parts(topics)), *pages]:
        place = folder / f"man{page.section}"
        place.mkdir(parents=True, exist_ok=True)
        (place / page.file).write_text(page.text())


if __name__ == "__main__":
    main(sys.argv[1], pathlib.Path(sys.argv[2]))
