# SPDX-License-Identifier: Apache-2.0
"""The pages of the site: which files they are made of, how they are called there, and for which job they are read."""

import fnmatch
import functools
import pathlib
import posixpath
import subprocess

# A job, and its pages as patterns. A page belongs to the first job that names it, and to the last one if none does.
JOBS = (
    ("Start", "README.md", "docs/first-minutes.md", "docs/README.md", "docs/capabilities.md"),
    ("Install", "docs/install.md", "docs/service.md", "docs/building.md", "CHANGELOG.md"),
    ("Guard a build", "docs/jobs/guard-a-build.md", "docs/run.md", "docs/ci.md", "docs/signed-reports.md"),
    ("Pin a server", "docs/jobs/pin-a-server.md", "docs/pins.md", "docs/trust.md"),
    ("Run a gateway", "docs/jobs/gateway.md", "docs/cache.md", "docs/cache-store.md", "docs/schema.md", "docs/http2.md"),
    ("Test offline", "docs/jobs/test-offline.md", "docs/recordings.md", "docs/simulation.md", "docs/testing-policies.md",
     "docs/against.md"),
    ("Watch", "docs/jobs/watch.md", "docs/admin.md", "docs/filters.md", "docs/metrics.md", "docs/tracing.md", "docs/devtools.md"),
    ("Audit", "docs/jobs/audit.md", "docs/audit.md"),
    ("Sandbox a program", "docs/jobs/sandbox.md", "docs/interception.md"),
    ("Recipes", "docs/recipes/README.md", "docs/recipes/*.md"),
    ("Reference", "docs/reference/README.md", "docs/configuration.md", "docs/reference/*.md", "docs/http.md", "docs/timeouts.md",
     "docs/clients.md", "docs/fetch.md", "conf/*"),
    ("Library", "docs/library.md", "library:article:*", "Examples/Programs/README.md", "docs/afnetworking*.md",
     "library:module:*", "library:*"),
    ("Inside", "docs/architecture.md", "docs/internals/*.md", "docs/performance.md", "docs/field.md", "CONTRIBUTING.md"),
    ("More", "*"),
)

# Markdown that becomes a page, and files that are shown as they are.
MARKDOWN = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs/*.md", "Examples/Programs/README.md")
FILES = ("conf/*.yaml", "conf/*.json", "conf/systemd/*")
LEFT_OUT = ("conf/examples/tests/chains/*", "conf/grafana/*")


def tracked(root: pathlib.Path) -> list[str]:
    """The files of the project, without what is ignored; outside of a repository, all but those of hidden folders."""
    listing = subprocess.run(
        ["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"], capture_output=True, text=True)
    if listing.returncode == 0:
        return sorted(path for path in listing.stdout.split("\0") if path and (root / path).exists())
    paths = (path.relative_to(root) for path in root.rglob("*") if path.is_file())
    return sorted(str(path) for path in paths if not any(part.startswith(".") for part in path.parts))


def matches(path: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatch.fnmatchcase(path, pattern) for pattern in patterns)


def address(source: str) -> str:
    """The place of a file's page below the folder of the site."""
    if not source.endswith(".md"):
        return source.replace("conf/", "files/", 1) + ".html"
    path = source.removeprefix("docs/").lower()
    # The index of the site is README.md.
    if path == "readme.md" and source.startswith("docs/"):
        return "pages.html"
    if path == "examples/programs/readme.md":
        return "library/programs.html"
    folder, name = posixpath.split(path)
    return posixpath.join(folder, "index.html" if name == "readme.md" else name.removesuffix(".md") + ".html")


@functools.cache
def job(source: str) -> tuple[int, int]:
    """The places of a page's job, and of the page's pattern in it."""
    for place, (_, *patterns) in enumerate(JOBS):
        for order, pattern in enumerate(patterns):
            if fnmatch.fnmatchcase(source, pattern):
                return place, order
    raise ValueError(source)


def weight(source: str) -> float:
    """How much a page counts in the search. History and the inside of the program are seldom what is looked for."""
    if source == "CHANGELOG.md":
        return 0.3
    return {"Inside": 0.5, "Reference": 1.5}.get(JOBS[job(source)[0]][0], 1)
