# SPDX-License-Identifier: Apache-2.0
"""Does the jobs of the field suite and says which of them went well.

usage: field.py PROGRAM [--list | --table | all | NAME…]

--table prints the table of docs/field.md.
"""

import importlib.util
import shutil
import signal
import sys
import time
import traceback

import cached_jobs  # noqa: F401
import capture_jobs  # noqa: F401
import client_jobs  # noqa: F401
import http_jobs  # noqa: F401
import login_jobs  # noqa: F401
import nginx_jobs  # noqa: F401
import run_jobs  # noqa: F401
import stream_jobs  # noqa: F401
import tunnel_jobs  # noqa: F401
from registry import Skipped, Wrong, jobs
from stage import At, Stage


class Late(Exception):
    """The end of a job's guard time."""


def late(*_):
    raise Late


def missing(job):
    for need in job.needs:
        kind, _, name = need.rpartition(":")
        there = importlib.util.find_spec(name) if kind == "python" else shutil.which(name)
        if not there:
            return f"{'the module ' if kind else ''}{name} is not there"
    return None


def do(stage, job, way):
    """The reason why the job has failed by this way, or None."""
    at = None
    signal.alarm(job.guard)
    try:
        at = At(stage, way)
        job.act(at)
        if at.server is not None and at.server.poll() is not None:
            return f"the proxy ended with {at.server.returncode}"
        return None
    except Late:
        reason = f"not done after {job.guard} s"
    except Wrong as wrong:
        reason = str(wrong)
    except Skipped:
        raise
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        reason = f"{type(error).__name__}: {error} ({place.name}, line {place.lineno})"
    finally:
        signal.alarm(0)
        if at is not None:
            at.close()
    log = at.log() if at is not None else ""
    return reason + (f"\n    log: {log}" if log else "")


def listing():
    for job in jobs.values():
        marks = ["fast"] if job.fast else []
        marks += [f"LOOK-{number}" for number in job.looks]
        print(f"{job.name} ({', '.join(job.ways)}{'; ' if marks else ''}{', '.join(marks)}): {job.sentence}")


def table():
    print("| job | ways | | |\n|---|---|---|---|")
    for job in jobs.values():
        looks = ", ".join(f"LOOK-{number}" for number in job.looks)
        marks = ", ".join(filter(None, ["fast" * job.fast, looks]))
        print(f"| `{job.name}` | {', '.join(job.ways)} | {job.sentence} | {marks} |")


def main(program, *names):
    if names == ("--list",):
        return listing()
    if names == ("--table",):
        return table()
    unknown = [name for name in names if name not in jobs and name != "all"]
    if unknown:
        print(f"field: there is no job {unknown[0]}; --list says which there are", file=sys.stderr)
        return 2
    chosen = [each for each in jobs.values() if each.name in names or "all" in names or (not names and each.fast)]
    signal.signal(signal.SIGALRM, late)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    passed = failed = skipped = 0
    stage = Stage(program)
    try:
        for job in chosen:
            reason = missing(job)
            if reason:
                skipped += 1
                print(f"skipped {job.name}: {reason}", flush=True)
                continue
            for way in job.ways:
                began = time.monotonic()
                try:
                    reason = do(stage, job, way)
                except Skipped as reason:
                    skipped += 1
                    print(f"skipped {job.name} ({way}): {reason}", flush=True)
                    continue
                if reason is None:
                    passed += 1
                    print(f"ok {job.name} ({way})", flush=True)
                else:
                    failed += 1
                    print(f"FAILED {job.name} ({way}): {reason}", flush=True)
                if (seconds := time.monotonic() - began) > 5:
                    print(f"    {job.name} ({way}) took {seconds:.0f} s", file=sys.stderr)
    finally:
        stage.close()
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
