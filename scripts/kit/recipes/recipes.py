# SPDX-License-Identifier: Apache-2.0
"""Runs recipes, each in namespaces of its own, and says which of them went as they are told.

usage: recipes.py PROGRAM FOLDER [--list | --write] [NAME…]
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import time

import scenes

# A page that hangs is told after this many seconds.
GUARD = 120
KIT = pathlib.Path(__file__).parent


def launcher():
    """The command that gives a page mounts, processes and a network of its own."""
    words = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
    return words if os.geteuid() == 0 else [*words, "--user", "--map-root-user"]


def run(program, page, *options):
    """The reason why a page is not as it is told; empty if it is."""
    with tempfile.TemporaryDirectory(prefix="recipe-") as folder:
        command = [*launcher(), sys.executable, KIT / "inside.py", program, page, folder, *options]
        try:
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=GUARD)
        except subprocess.TimeoutExpired as late:
            return f"not done after {GUARD} s\n{(late.output or b'').decode(errors='replace')}"
        said = done.stdout.decode(errors="replace").rstrip()
        return said if done.returncode else ""


def main():
    program, folder, *arguments = sys.argv[1:]
    options = [one for one in arguments if one.startswith("--")]
    names = [one for one in arguments if not one.startswith("--")]
    pages = sorted(one for one in pathlib.Path(folder).glob("*.md") if one.stem != "README")
    if unknown := set(names) - {page.stem for page in pages}:
        sys.exit(f"recipes: there is no recipe {', '.join(sorted(unknown))}; --list has the names")
    if unknown := set(options) - {"--list", "--write"}:
        sys.exit(f"recipes: there is no option {', '.join(sorted(unknown))}")
    failed = 0
    for page in pages:
        if names and page.stem not in names:
            continue
        if "--list" in options:
            print(page.stem)
            continue
        if reason := scenes.missing(page.stem):
            print(f"{page.stem}: skipped: {reason}", flush=True)
            continue
        begun = time.monotonic()
        problem = run(program, page, *options)
        print(f"{page.stem}: {problem or 'as told'} ({time.monotonic() - begun:.1f} s)", flush=True)
        failed += bool(problem)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
