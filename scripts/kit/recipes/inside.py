# SPDX-License-Identifier: Apache-2.0
"""Runs one recipe within its namespaces, whose names lead to stand-ins on loopback.

usage: inside.py PROGRAM PAGE FOLDER [--write]
"""

import os
import pathlib
import subprocess
import sys
import threading

import page
import scenes
import workflow


class Terminal:
    """A process whose output is read as it comes."""

    def __init__(self, command, folder, environment, **options):
        self.process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
        self.text = b""
        self.ended = False
        self.changed = threading.Condition()
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        while chunk := os.read(self.process.stdout.fileno(), 65536):
            with self.changed:
                self.text += chunk
                self.changed.notify_all()
        with self.changed:
            self.ended = True
            self.changed.notify_all()

    def until(self, condition):
        """Waits for the output to satisfy the condition, or to end."""
        with self.changed:
            self.changed.wait_for(lambda: condition(self.text) or self.ended)
            return self.text


class Session:
    """The shell in which the commands of a page are run one after another."""

    def __init__(self, folder, environment):
        self.folder = folder
        self.environment = environment
        self.count = 0
        self.others = []
        self.shell = Terminal(["bash", "--norc"], folder, environment, stdin=subprocess.PIPE)

    def run(self, text):
        """The output of a command, and the shell's exit code after it."""
        self.count += 1
        script = pathlib.Path(self.environment["HOME"]) / f".command-{self.count}"
        script.write_text(text + "\n")
        mark = f"\x1e{self.count}:"
        self.shell.text = b""
        self.shell.process.stdin.write(f". {script} </dev/null; printf '{mark}%d;' $?\n".encode())
        self.shell.process.stdin.flush()
        said = self.shell.until(lambda found: mark.encode() in found and found.endswith(b";"))
        output, _, status = said.decode(errors="replace").rpartition(mark)
        found = output.removesuffix("\n").split("\n") if output else []
        return found, status.rstrip(";")

    def start(self, command):
        """Starts a command in a terminal of its own; returns its output when it is that of the page, or has ended."""
        other = Terminal(["bash", "--norc", "-c", "exec " + command.text], self.folder, self.environment,
                         stdin=subprocess.DEVNULL)
        self.others.append(other)
        any_number = "…" in [line.strip() for line in command.output]

        def is_enough(text):
            found = lines(text)
            return page.agrees(command.output, found, whole=False) or (
                not any_number and len(found) >= len(command.output))

        return lines(other.until(is_enough))


def lines(text):
    return text.decode(errors="replace").split("\n")[:-1]


def fault(path, command, found):
    told = "\n".join(f"    {line}" for line in command.output)
    was = "\n".join(f"    {line}" for line in found)
    return f"{path.name}:{command.line + 1}: $ {command.text}\n  told:\n{told}\n  found:\n{was}"


def main():
    program, path, folder = sys.argv[1], pathlib.Path(sys.argv[2]).resolve(), pathlib.Path(sys.argv[3])
    writes = "--write" in sys.argv[4:]
    work, home = folder / "work", folder / "home"
    for each in (work, home, folder / "bin"):
        each.mkdir()
    folder.chmod(0o755)
    scene = scenes.Scene(path.stem, program, folder, work)
    scene.set()
    environment = {
        "PATH": f"{folder}/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": str(home), "LANG": "C.UTF-8",
        "USER": "ann", "TZ": "UTC", "TERM": "dumb", "PINTLE_CONF": str(path.parents[2] / "conf"),
    }
    session = Session(work, environment)
    text = path.read_text()
    written = text.split("\n")
    moved = 0
    for step in page.read(text):
        if isinstance(step, page.File):
            target = work / step.name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(step.text)
            for name, script in workflow.scripts(step.name, step.text):
                found, status = session.run(f"({script})")
                if status != "0":
                    sys.exit(f"{path.name}: {step.name}: {name} ended with {status}:\n" + "\n".join(found))
            continue
        if step.keeps_running:
            found = session.start(step)
            good = page.agrees(step.output, found, whole=False)
        else:
            found, _ = session.run(step.text)
            good = page.agrees(step.output, found)
        if not good and not writes:
            sys.exit(fault(path, step, found))
        if not good:
            written[step.first + moved : step.last + moved] = found
            moved += len(found) - (step.last - step.first)
    if writes:
        path.write_text("\n".join(written))


if __name__ == "__main__":
    main()
