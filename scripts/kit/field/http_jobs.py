# SPDX-License-Identifier: Apache-2.0
"""Jobs about HTTP itself: what curl and bare sockets send and get."""

import gzip
import json

import origin
from registry import ONE, SECURE, equal, holds, job
from stage import free_port, receive, receive_head


@job()
def page(at):
    """curl gets a page."""
    equal(at.curl("/page/one"), b"page one\n")


@job()
def word_in_many_scripts(at):
    """A page in UTF-8 arrives as it is."""
    equal(at.curl("/word"), origin.WORD)


@job()
def large_download(at):
    """curl gets three megabytes."""
    equal(at.curl("/blob"), origin.BLOB)


@job()
def large_upload(at):
    """curl posts three megabytes and gets them back."""
    equal(at.run(
        "curl", "-sS", "--http2" if at.way == "intercepted-h2" else "--http1.1", "--data-binary", "@-",
        f"{at.base}/echo", input=origin.BLOB), origin.BLOB)


@job()
def upload_in_chunks(at):
    """curl puts a pipe, whose size it does not know."""
    version = "--http2" if at.way == "intercepted-h2" else "--http1.1"
    equal(at.run("curl", "-sS", version, "-T", "-", f"{at.base}/echo", input=origin.BLOB), origin.BLOB)


@job()
def download_in_chunks(at):
    """A megabyte comes in a hundred chunks."""
    equal(at.curl("/chunks"), origin.BLOB[:1_000_000])


@job()
def until_the_end(at):
    """An HTTP/1.0 answer ends with its connection."""
    equal(at.curl("/untilclose"), b"until the end\n")


@job()
def head_of_a_page(at):
    """HEAD gets the length and no content."""
    lines = at.curl("-I", "/blob").decode().lower()
    holds("content-length: 3000000" in lines, f"no length in {lines}")


@job()
def no_content(at):
    """A 204 ends with its head."""
    equal(at.curl("-w", "%{http_code}", "/status/204"), b"204")


@job()
def errors_pass(at):
    """Errors of the origin reach the client with their content."""
    for status in ("400", "404", "418", "500", "503"):
        equal(at.curl("-w", "|%{http_code}", f"/status/{status}"), f"status {status}|{status}".encode())


@job()
def resumed_download(at):
    """curl -C - goes on with a file of which it has a part."""
    (at.folder / "blob").write_bytes(origin.BLOB[:1_000_001])
    at.curl("-C", "-", "-o", "blob", "/blob")
    equal((at.folder / "blob").read_bytes(), origin.BLOB)


@job()
def broken_download(at):
    """A download that breaks off fails in the client, too, and is resumed."""
    at.curl("-o", "blob", "/broken", status=None)
    holds(at.status != 0, "curl took half a file for a whole one")
    at.curl("-C", "-", "-o", "blob", "/broken")
    equal((at.folder / "blob").read_bytes(), origin.BLOB)


@job()
def ranges(at):
    """First, middle and last bytes, and none that is not there."""
    equal(at.curl("-r", "0-9", "/blob"), origin.BLOB[:10])
    equal(at.curl("-r", "1000-1999", "/blob"), origin.BLOB[1000:2000])
    equal(at.curl("-r", "-5", "/blob"), origin.BLOB[-5:])
    equal(at.curl("-w", "%{http_code}", "-r", "9000000-", "/blob"), b"416")


@job()
def compressed_page(at):
    """A gzip coding stays one for those who ask for it."""
    equal(at.curl("--compressed", "/gzip"), origin.WORD)
    equal(gzip.decompress(at.curl("-H", "Accept-Encoding: gzip", "/gzip")), origin.WORD)


@job()
def redirects_are_the_clients(at):
    """curl -L follows, with the method that each status asks for."""
    equal(at.curl("-L", "/redirect/302/page/two"), b"page two\n")
    equal(at.curl("-L", "-d", "x=1", "/redirect/307/echo"), b"x=1")
    equal(at.curl("-w", "%{http_code}", "/redirect/301/page"), b"301")


@job()
def methods(at):
    """Every method arrives as it was sent."""
    for method in ("GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "PROPFIND", "REPORT"):
        equal(json.loads(at.curl("-X", method, "/fields"))["method"], method)


@job()
def query_as_written(at):
    """Odd letters in path and query are not rewritten."""
    for path in ("/fields/a%2Fb?x=%20&y=a+b&z=%E9", "/fields/~a;b=1,2?q=[1]&%71", "/fields/a%7Cb?=&&"):
        equal(json.loads(at.curl("-g", path))["path"], path)


@job()
def cookies(at):
    """Two cookies of one answer stay two, and both are sent back."""
    at.curl("-c", "jar", "/cookie")
    sent = dict(json.loads(at.curl("-b", "jar", "/fields"))["fields"])
    equal(sorted(sent["cookie"].split("; ")), ["a=1", "b=2"])


EXPECTS = ("-H", "Expect: 100-continue", "--expect100-timeout", "20", "--data-binary", "@-")


@job()
def expect_continue(at):
    """A client that waits for 100 before its content gets it."""
    version = "--http2" if at.way == "intercepted-h2" else "--http1.1"
    equal(at.run("curl", "-sS", version, *EXPECTS, f"{at.base}/echo", input=b"x" * 100_000), b"x" * 100_000)


def refused(at, version):
    code = at.run(
        "curl", "-sS", version, *EXPECTS, "-w", "%{http_code}", "-o", "no", f"{at.base}/refuse", input=b"x"
    )
    equal(code, b"413")


@job(ways=ONE)
def refused_expectation(at):
    """A client that waits for 100 gets the refusal in its place."""
    refused(at, "--http1.1")


@job(ways=("intercepted-h2",), fast=False)
def refused_expectation_in_http2(at):
    """curl ends its stream short of the length when it is refused, and still takes the refusal."""
    for _ in range(10):
        refused(at, "--http2")


@job()
def basic_login(at):
    """Basic credentials reach the origin."""
    equal(at.curl("-u", "ann:secret", "/basic"), b"hello ann\n")
    equal(at.curl("-w", "%{http_code}", "/basic"), b"401")


@job()
def digest_login(at):
    """Digest's response is over the target that the origin sees."""
    equal(at.curl("--digest", "-u", "ann:secret", "/digest?a=b"), b"hello ann\n")


@job(looks=(65,), ways=ONE)
def ntlm_login(at):
    """curl --ntlm does three messages on one connection, which is nobody else's."""
    equal(at.curl("--ntlm", "-u", "ann:secret", "/login/NTLM"), b"hello ann\n")
    equal(at.curl("-o", "no", "-w", "%{http_code}", "/login/NTLM"), b"401")


@job(looks=(65,), ways=ONE)
def negotiate_login(at):
    """Handshakes of two clients do not cross, and neither is served as the other."""
    def ask(connection, message=None):
        login = f"Authorization: Negotiate {message}\r\n" if message else ""
        connection.sendall(
            f"GET {at.target('/login/Negotiate')} HTTP/1.1\r\nHost: {at.host}:{at.port}\r\n{login}\r\n".encode()
        )
        head = receive_head(connection)
        length = int(head.lower().split(b"content-length:")[1].split()[0])
        return head.split()[1], receive(connection, length)

    with at.socket() as ann, at.socket() as bob:
        equal(ask(ann, "Zmlyc3Q=")[0], b"401", "Ann's first message")
        equal(ask(bob)[0], b"401", "Bob without a login")
        equal(ask(bob, "Zmlyc3Q=")[0], b"401", "Bob's first message")
        equal(ask(ann, "YW5u"), (b"200", b"hello ann\n"), "Ann's second message")
        equal(ask(bob)[0], b"401", "Bob within his handshake")
        equal(ask(bob, "Ym9i"), (b"200", b"hello bob\n"), "Bob's second message")
        equal(ask(ann), (b"200", b"hello ann\n"), "Ann, who is known")
    equal(at.curl("-o", "no", "-w", "%{http_code}", "/login/Negotiate"), b"401")


@job(looks=(81,))
def date_is_there(at):
    """An answer without Date gets one where the proxy is a party."""
    head = at.curl("-i", "/nodate").lower()
    if at.way != "relayed":
        equal(head.count(b"\r\ndate: "), 1, "the number of Date fields")
    holds(head.endswith(b"ok\n"), f"the content is missing: {head!r}")


@job(looks=(82,), ways=("http", "intercepted", "intercepted-h2"))
def blank_before_a_colon(at):
    """An old server's blank before the colon is taken away."""
    head = at.curl("-i", "/blank").lower()
    holds(b"\r\nx-a: b\r\n" in head, f"no field in {head!r}")
    holds(head.endswith(b"ok\n"), f"no content in {head!r}")


@job(ways=ONE)
def latin_file_name(at):
    """A byte over 0x7F in a field stays the byte that it is."""
    holds(b'filename="\xe9.txt"' in at.curl("-i", "/latin"), "the byte is another")


@job(looks=(72,), ways=("intercepted-h2",))
def latin_file_name_in_http2(at):
    """A byte over 0x7F stays the byte that it is in HTTP/2."""
    holds(b'filename="\xe9.txt"' in at.curl("-i", "/latin"), "the byte is another")


@job()
def large_answer_head(at):
    """Forty fields of a kilobyte arrive."""
    equal(at.curl("-i", "/heads/40").lower().count(b"\nx-field-"), 40)


@job(looks=(70,))
def large_request_head(at):
    """The first request of a connection has thirty fields of a kilobyte."""
    fields = []
    for number in range(30):
        fields += ["-H", f"X-Field-{number}: " + "v" * 1000]
    got = json.loads(at.curl(*fields, "/fields"))["fields"]
    equal(sum(1 for name, _ in got if name.startswith("x-field-")), 30)


@job()
def early_hints(at):
    """A 103 comes before the answer."""
    got = at.curl("-i", "/early")
    holds(b" 103" in got.split(b"\n")[0], f"no 103: {got!r}")
    holds(got.endswith(b"late\n"), "no answer")


@job()
def trailers(at):
    """An answer with a trailer is whole."""
    equal(at.curl("/trailer"), b"hello")


@job()
def many_requests_on_one_connection(at):
    """curl gets fifty pages, one after another."""
    equal(at.curl(f"{at.base}/page/[1-50]"), b"".join(b"page %d\n" % number for number in range(1, 51)))


@job()
def parallel_requests(at):
    """curl gets forty pages at a time."""
    at.curl("-Z", "--parallel-max", "40", "-o", "page-#1", f"{at.base}/page/[1-40]")
    for number in range(1, 41):
        equal((at.folder / f"page-{number}").read_bytes(), b"page %d\n" % number)


@job(ways=ONE)
def pipelined_requests(at):
    """Ten requests sent at once are answered in their order."""
    with at.socket() as connection:
        connection.sendall(b"".join(
            f"GET {at.target(f'/page/{number}')} HTTP/1.1\r\nHost: {at.host}:{at.port}\r\n\r\n".encode()
            for number in range(10)
        ))
        for number in range(10):
            receive_head(connection)
            equal(receive(connection, 7), b"page %d\n" % number)


@job()
def forms_of_curl(at):
    """curl -F sends a form with a file whose name has a quote."""
    (at.folder / "a.bin").write_bytes(b"\0\1\2")
    got = at.curl("-F", "text=Zoë", "-F", 'file=@a.bin;filename="a\\"b.bin"', "/echo")
    for part in ("Zoë".encode(), b"\0\1\2", b'name="text"', b'filename="a'):
        holds(part in got, f"{part!r} is not in the form: {got!r}")


@job()
def connect_refused(at):
    """An origin that is not there is told of, not hung on."""
    code = at.curl("-o", "no", "-w", "%{http_code}", f"{at.scheme}://{at.host}:{free_port()}/", status=None)
    equal(code, b"000" if at.way == "relayed" else b"502", "the status")


@job(ways=SECURE)
def openssl_s_client(at):
    """openssl s_client -proxy gets a page."""
    got = at.run(
        "openssl", "s_client", "-quiet", "-proxy", f"127.0.0.1:{at.server.port}", "-connect", f"{at.host}:{at.port}",
        "-servername", at.host, "-CAfile", at.ca, "-verify_return_error",
        input=f"GET /page/tls HTTP/1.0\r\nHost: {at.host}:{at.port}\r\n\r\n".encode(), status=None,
    )
    holds(got.endswith(b"page tls\n"), f"got {got!r}: {at.errors[-300:]!r}")


@job(ways=("intercepted-h2",))
def many_streams_with_content(at):
    """Thirty POSTs of 100 kB share a connection of HTTP/2."""
    (at.folder / "content").write_bytes(origin.BLOB[:100_000])
    at.curl("-Z", "--parallel-max", "30", "--data-binary", "@content", "-o", "got-#1", f"{at.base}/echo?[1-30]")
    for number in range(1, 31):
        equal((at.folder / f"got-{number}").read_bytes(), origin.BLOB[:100_000])
