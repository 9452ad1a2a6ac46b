# SPDX-License-Identifier: Apache-2.0
"""Jobs of a proxy that keeps answers."""

import origin
from registry import equal, holds, job

CACHED = ("cached",)


def asked(path):
    return sum(1 for _, seen, _, _ in origin.seen if seen == path)


@job(ways=CACHED)
def fresh_answer_is_kept(at):
    """The second request is answered by the cache."""
    for _ in range(3):
        equal(at.curl("/fresh/kept"), b"answer 1\n")
    equal(asked("/fresh/kept"), 1)


@job(ways=CACHED)
def reload_asks_again(at):
    """A browser's reload (no-cache) asks the origin, and its answer replaces the older one."""
    equal(at.curl("/fresh/again"), b"answer 1\n")
    equal(at.curl("-H", "Cache-Control: no-cache", "/fresh/again"), b"answer 2\n")
    equal(at.curl("/fresh/again"), b"answer 2\n")


@job(ways=CACHED)
def answer_that_must_be_validated(at):
    """no-cache is validated each time, and the 304 gives the kept content."""
    for _ in range(3):
        equal(at.curl("/stale/one"), b"validated\n")
    equal(asked("/stale/one"), 3)


@job(ways=CACHED)
def private_answers_stay_private(at):
    """What is private to one user is not given to another."""
    equal(at.curl("-H", "Authorization: Ann", "/private/a"), b"Ann")
    equal(at.curl("-H", "Authorization: Bob", "/private/a"), b"Bob")
    equal(at.curl("/private/a"), b"nobody")


@job(ways=CACHED)
def languages_are_kept_apart(at):
    """Vary keeps an answer for each language."""
    for language in ("de", "fr", "de", "fr"):
        equal(at.curl("-H", f"Accept-Language: {language}", "/vary/page"), language.encode())
    equal(asked("/vary/page"), 2)


@job(ways=CACHED)
def nostore_is_not_stored(at):
    """no-store is asked for each time."""
    equal(at.curl("/nostore/a"), b"answer 1\n")
    equal(at.curl("/nostore/a"), b"answer 2\n")


@job(ways=CACHED)
def parts_of_a_kept_answer(at):
    """curl gets ranges of what is kept, and resumes from it."""
    at.curl("/blob")
    equal(at.curl("-r", "100-199", "/blob"), origin.BLOB[100:200])
    (at.folder / "blob").write_bytes(origin.BLOB[:2_000_000])
    at.curl("-C", "-", "-o", "blob", "/blob")
    equal((at.folder / "blob").read_bytes(), origin.BLOB)


@job(ways=CACHED)
def post_takes_the_kept_away(at):
    """A POST that goes well makes the kept answer of its URL count no more."""
    equal(at.curl("/fresh/posted"), b"answer 1\n")
    at.curl("-d", "x", "/fresh/posted")
    equal(at.curl("/fresh/posted"), b"answer 3\n")


@job(ways=CACHED, looks=(80,))
def early_hints_with_a_cache(at):
    """A 103 reaches the client of a route with a cache."""
    holds(b" 103" in at.curl("-i", "/early?1").split(b"\n")[0], "no 103")


@job(ways=CACHED)
def broken_answer_is_not_whole(at):
    """Half an answer is never given as a whole one."""
    at.curl("-o", "half", "/broken?1", status=None)
    holds(at.status != 0, "curl took half a file for a whole one")
    at.curl("-o", "half", "/broken?1", status=None)
    holds(at.status != 0 or (at.folder / "half").read_bytes() == origin.BLOB, "half was given as a whole")


@job(ways=CACHED)
def parallel_requests_with_a_cache(at):
    """Forty requests at a time for four pages get them."""
    at.curl("-Z", "--parallel-max", "40", "-o", "p-#1-#2", f"{at.base}/page/p[1-4]?{{a,b,c,d,e,f,g,h,i,j}}")
    for path in at.folder.glob("p-*"):
        equal(path.read_text(), f"page p{path.name.split('-')[1]}\n")


@job(ways=CACHED, looks=(65,))
def ntlm_with_a_cache(at):
    """NTLM works on a route with a cache, and its answers are not kept."""
    equal(at.curl("--ntlm", "-u", "ann:secret", "/login/NTLM"), b"hello ann\n")
    equal(at.curl("-o", "no", "-w", "%{http_code}", "/login/NTLM"), b"401")


@job(ways=("http",), looks=(99,), needs=("curl",))
def one_route_with_a_cache(at):
    """One route has a cache, another goes to https: both answer."""
    at.stage.authority()
    server = at.stage.serve(
        "version: 1\nlisten: ['127.0.0.1:0']\nadmin: off\ninterception: {hosts: ['*.localhost']}\n"
        f"trust: {{default: {{roots: [{at.stage.ca}]}}}}\nroutes:\n"
        "  - {name: kept, match: {paths: ['/fresh/*']}, cache: {policy: protocol}}\n  - {name: rest}\n"
    )
    secure = f"https://{at.host}:{at.stage.secure_port}"
    for path, wanted in (("/page/x", b"page x\n"), ("/fresh/look99", b"answer 1\n"), ("/page/y", b"page y\n")):
        proxy = f"http://127.0.0.1:{server.port}"
        got = at.run("curl", "-sS", "-x", proxy, "--cacert", at.stage.authority(), secure + path)
        equal(got, wanted)
