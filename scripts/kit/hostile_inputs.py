# SPDX-License-Identifier: Apache-2.0
"""What `scripts/hostile` sends: every input is made of a seed and its number alone.

A grammar of messages and documents, the strings of the corpus of conversations, and mutations of both.
"""

import ast
import base64
import gzip
import json
import pathlib
import plistlib
import random
import re
import struct
import zlib

LIMITS = sorted(
    {
        value + step
        for bits in (8, 16, 32, 64)
        for value in (-(1 << bits - 1), (1 << bits - 1) - 1, (1 << bits) - 1)
        for step in (-1, 0, 1)
    }
)
MARKS = "\u0301\u0316"
LONG_MARKS = [(MARKS * count).encode() for count in (1, 40, 3000)]
# Made once: a mebibyte or three of one thing, in a few kilobytes.
BOMBS = {
    (coding, piece): (gzip.compress if coding == b"gzip" else zlib.compress)(piece * (1_500_000 // len(piece)), 9)
    for coding in (b"gzip", b"deflate")
    for piece in (b"\0", b"[", b"a&", b'{"a":', b"a=1&", b"<a>", b"1,")
}
# One user's name, password, and what htpasswd -B makes of it.
CREDENTIALS = b"someone:hostile"
HASH = "$2y$04$abcdefghijklmnopqrstuuBeicS2sqhGscQQVvEKX/Sf1v3EO91ie"
PARAMETERS = b"".join(b";p%d=1" % number for number in range(1600))


def corpus(folder):
    """The string literals of the conversations in the tests, as bytes; interpolations are left out."""
    found = set()
    for file in sorted(pathlib.Path(folder).glob("*.swift")):
        for literal in re.findall(r'"((?:[^"\\\n]|\\.)*)"', file.read_text()):
            literal = re.sub(r"\\\([^()]*(\([^()]*\)[^()]*)*\)", "", literal)
            literal = re.sub(r"\\u\{([0-9A-Fa-f]+)\}", lambda code: chr(int(code[1], 16)), literal)
            literal = literal.replace("\\r", "\r").replace("\\n", "\n").replace("\\t", "\t").replace("\\0", "\0")
            literal = literal.replace('\\"', '"').replace("\\\\", "\\")
            if len(literal) > 3:
                found.add(literal.encode("utf-8", "replace"))
    return sorted(found)


class Inputs:
    """Makes inputs; `at` gives the generator of one of them."""

    def __init__(self, seed, fragments):
        self.seed, self.fragments = seed, fragments

    def at(self, index):
        return random.Random(self.seed * 1_000_003 + index)

    # ---- Mutations

    def mutated(self, rng, data):
        data = bytearray(data)
        for _ in range(rng.choice((0, 1, 1, 1, 2, 3, 8))):
            place = rng.randrange(len(data) + 1)
            kind = rng.randrange(9)
            if kind == 0 and data:
                data[place % len(data)] ^= 1 << rng.randrange(8)
            elif kind == 1:
                data[place:place] = bytes([rng.choice(b'\0\r\n\t :;,="\\/%&[]{}<>\x7f\x80\xff0')]) * rng.choice(
                    (1, 1, 2, 300)
                )
            elif kind == 2:
                del data[place : place + rng.choice((1, 2, 8, 64))]
            elif kind == 3:
                end = place + rng.randrange(1, 200)
                data[place:place] = data[place:end] * rng.choice((1, 2, 50))
            elif kind == 4:
                data[place:place] = rng.choice(self.fragments)
            elif kind == 5:
                numbers = list(re.finditer(rb"\d+", bytes(data)))
                if numbers:
                    found = rng.choice(numbers)
                    data[found.start() : found.end()] = self.number(rng)
            elif kind == 6:
                data[place : place + 8] = rng.randbytes(8)
            elif kind == 7:
                data[place:place] = struct.pack(rng.choice((">", "<")) + "Q", rng.choice(LIMITS) & (1 << 64) - 1)[
                    rng.randrange(8) :
                ]
            else:
                del data[place:]
        return bytes(data[:200_000])

    def number(self, rng):
        limit = rng.choice(LIMITS)
        return rng.choice((b"%d", b"1e%d", b"-1e%d", b"0.%d", b"%d.5", b"%de400")) % limit

    def word(self, rng):
        return rng.choice(
            (
                b"a",
                b"b",
                b"limit",
                b"name",
                b"__proto__",
                b"a[]",
                b"a[b]",
                b"a[][b]",
                b"\xff\xfe",
                b"%00",
                "é".encode(),
                rng.choice(LONG_MARKS),
                b"x" * rng.choice((1, 300, 9000)),
                self.number(rng),
            )
        )

    LENGTHS = (0, 1, 1, 2, 2, 3, 3, 5, 5, 10, 10, 33, 33, 200, 1000, 5000)

    def length(self, rng):
        """How many members a list has: mostly few, sometimes far too many."""
        return rng.choice(self.LENGTHS)

    # ---- Bodies

    def value(self, rng, depth=0):
        kind = rng.randrange(9 if depth < 3 else 6)
        if kind < 2:
            return rng.choice((0, 1, -1, 1.5, -0.0, 1e308, rng.choice(LIMITS)))
        if kind < 5:
            return rng.choice(
                ("", "a", "1", "a b&c=d", "\u0000", "\U0001f600", MARKS * 20, "x" * rng.choice((10, 5000)))
            )
        if kind == 5:
            return rng.choice((None, True, False))
        if kind == 6:
            return [self.value(rng, depth + 1) for _ in range(rng.randrange(6 - depth))]
        return {
            rng.choice("abcde") + str(rng.randrange(9)): self.value(rng, depth + 1)
            for _ in range(rng.randrange(6 - depth))
        }

    def json(self, rng):
        kind = rng.randrange(8)
        if kind == 0:
            depth = rng.choice((10, 511, 512, 513, 20_000))
            opening, closing = rng.choice(((b"[", b"]"), (b'{"a":', b"}"), (b'[{"":[', b"]}]")))
            return opening * depth + b"1" + closing * depth
        if kind == 1:
            return b'{"a":[' + b",".join(self.number(rng) for _ in range(self.length(rng))) + b"]}"
        if kind == 2:
            return b"{" + b",".join(b'"a":%d' % number for number in range(self.length(rng))) + b"}"
        if kind == 3:
            return (
                b'{"a":"'
                + rng.choice(
                    (
                        b"\\ud83d",
                        b"\\u0000",
                        b"\\",
                        "\ud800".encode("utf-8", "surrogatepass"),
                        b"\\ud83d\\ude00" * 500,
                        LONG_MARKS[2],
                    )
                )
                + b'"}'
            )
        document = json.dumps(self.value(rng), ensure_ascii=rng.random() < 0.5).encode("utf-8", "replace")
        if kind == 4:
            return document.decode("utf-8", "replace").encode(
                rng.choice(("utf-16", "utf-32", "utf-16-le", "utf-32-be"))
            )
        return document if kind == 5 else self.mutated(rng, document)

    def form(self, rng):
        kind = rng.randrange(5)
        if kind == 0:
            return (
                rng.choice((b"a&", b"a=b&", b"a[]=b&", b"a[][b]=c&", b"a[b][]=c&", b"&", b"=&")) * self.length(rng)
                + b"a"
            )
        if kind == 1:
            return b"a" + b"[b]" * rng.choice((63, 64, 65, 3000)) + b"=1"
        if kind == 2:
            return b"&".join(b"n%d=%d" % (number, number) for number in range(self.length(rng)))
        return self.mutated(rng, b"&".join(self.word(rng) + b"=" + self.word(rng) for _ in range(rng.randrange(8))))

    def multipart(self, rng):
        parts = b""
        for _ in range(1001 if rng.random() < 0.02 else rng.choice((1, 1, 2, 3, 4, 20))):
            parts += b'--b\r\nContent-Disposition: form-data; name="%b"%b\r\n' % (
                rng.choice((b"a", b"a[]", b"_charset_", b"a%22b", b"n" * 300)),
                rng.choice((b"", b'; filename="f"', b"; x=y; x=y")),
            )
            parts += rng.choice(
                (b"", b"", b"Content-Type: text/plain; charset=%b\r\n" % rng.choice((b"utf-16", b"x", b"shift_jis")))
            )
            parts += b"\r\n" + rng.choice((b"v", b"", b"\xff", self.number(rng))) + b"\r\n"
        return self.mutated(rng, parts + b"--b--\r\n")

    def plist(self, rng):
        kind = rng.randrange(6)
        if kind == 0:
            return b'<plist version="1.0">' + b"<array>" * rng.choice((10, 511, 5000)) + b"</array>" * 10 + b"</plist>"
        if kind == 1:
            # Containers that share their members: few bytes, many values.
            count = rng.choice((5, 30, 200))
            objects = [bytes([0xA2, index + 1, index + 1]) for index in range(min(count, 254))] + [b"\x08"]
            data, offsets = b"bplist00", []
            for item in objects:
                offsets.append(len(data))
                data += item
            table = len(data)
            data += b"".join(struct.pack(">H", offset) for offset in offsets)
            return self.mutated(rng, data + bytes(6) + b"\x02\x01" + struct.pack(">QQQ", len(objects), 0, table))
        value = {"a": self.value(rng, 2)}

        def plain(value):
            if isinstance(value, dict):
                return {key: plain(member) for key, member in value.items()}
            if isinstance(value, list):
                return [plain(member) for member in value]
            if isinstance(value, int) and not -(1 << 63) <= value < 1 << 64:
                return str(value)
            return value if value is not None and not (isinstance(value, str) and "\0" in value) else "none"

        document = plistlib.dumps(plain(value), fmt=rng.choice((plistlib.FMT_XML, plistlib.FMT_BINARY)))
        return document if kind == 2 else self.mutated(rng, document)

    def xml(self, rng):
        kind = rng.randrange(7)
        if kind == 0:
            return b"<a>" * rng.choice((10, 511, 20_000)) + b"</a>"
        if kind == 1:
            return b"<a %b/>" % b" ".join(b"a%d='%d'" % (number, number) for number in range(self.length(rng)))
        if kind == 2:
            return b"<a " + b"a='1' " * self.length(rng) + b"/>"
        if kind == 3:
            return b"<!DOCTYPE a [<!ENTITY b '" + b"&c;" * 10 + b"'>]><a>&b;</a>"
        document = (
            b"<?xml version='1.0' encoding='%b'?><a b='&#%b;'><![CDATA[x]]><!-- c --><n:d xmlns:n='u'>&amp;</n:d></a>"
            % (
                rng.choice((b"utf-8", b"utf-16", b"latin1", b"x")),
                rng.choice((b"65", b"x41", b"0", b"1114112", b"99999999999")),
            )
        )
        return document if kind == 4 else self.mutated(rng, document)

    def image(self, rng):
        def chunk(kind, data):
            return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

        size = rng.choice((1, 2, 100, 65535, 2**31 - 1))
        kind = rng.randrange(6)
        if kind == 0:
            document = b"\x89PNG\r\n\x1a\n" + chunk(
                b"IHDR", struct.pack(">IIBBBBB", size, size, 8, rng.choice((0, 2, 3, 6)), 0, 0, 0)
            )
            document += chunk(b"IDAT", zlib.compress(bytes(200))) + chunk(b"IEND", b"")
        elif kind == 1:
            document = (
                b"BM"
                + struct.pack("<IHHI", 70, 0, 0, 54)
                + struct.pack(
                    "<IIIHHIIiiII",
                    40,
                    size,
                    size,
                    1,
                    rng.choice((1, 8, 24, 32)),
                    0,
                    16,
                    0,
                    0,
                    rng.choice((0, 2**32 - 1)),
                    0,
                )
                + bytes(16)
            )
        elif kind == 2:
            document = (
                b"GIF89a"
                + struct.pack("<HHBBB", size & 65535, 1, 0x80, 0, 0)
                + b"\0\0\0\xff\xff\xff,\0\0\0\0\1\0\1\0\0\2\2D\1\0;"
            )
        elif kind == 3:
            entries = b"".join(
                struct.pack("<HHII", tag, 4, 1, value)
                for tag, value in ((256, size), (257, size), (258, 8), (259, 1), (262, 1), (273, 8), (278, 1), (279, 4))
            )
            document = b"II*\0\x0c\0\0\0\1\2\3\4" + struct.pack("<H", 8) + entries + bytes(4)
        elif kind == 4:
            document = (
                struct.pack("<HHHBBBBHHII", 0, 1, 1, 1, 1, 0, 0, 1, 32, 48, 22)
                + struct.pack("<IIIHHIIiiII", 40, size, size, 1, 32, 0, 8, 0, 0, 0, 0)
                + bytes(8)
            )
        else:
            document = b"#define a_width %d\n#define a_height 1\nstatic char a_bits[] = { 0x01 };\n" % size
        return self.mutated(rng, document)

    def document(self, rng, kind):
        return getattr(self, kind)(rng)

    KINDS = {
        "json": b"application/json",
        "form": b"application/x-www-form-urlencoded",
        "multipart": b"multipart/form-data; boundary=b",
        "plist": b"application/x-plist",
        "xml": b"application/xml",
        "image": b"image/png",
    }

    def coded(self, rng, body):
        """The body under a content coding, sometimes as a bomb, and the field for it."""
        if rng.random() < 0.8:
            return body, b""
        if rng.random() < 0.15:
            (name, _), bomb = rng.choice(list(BOMBS.items()))
            return bomb, b"Content-Encoding: " + name + b"\r\n"
        coded = gzip.compress(body, 1)
        name = rng.choice((b"gzip", b"gzip", b"deflate", b"gzip, gzip", b"br", b"zstd", b"identity", b"x"))
        if name == b"deflate":
            coded = zlib.compress(body, 1)
        elif name == b"gzip, gzip":
            coded = gzip.compress(coded, 1)
        return self.mutated(rng, coded) if rng.random() < 0.3 else coded, b"Content-Encoding: " + name + b"\r\n"

    def type(self, rng, kind):
        if rng.random() < 0.85:
            return self.KINDS[kind]
        return rng.choice(
            (
                b"text/plain",
                b"",
                self.KINDS[rng.choice(list(self.KINDS))],
                self.KINDS[kind] + b"; charset=utf-7",
                b"application/" + LONG_MARKS[2] + b"+json",
                self.KINDS[kind] + b";a=b" * 3000,
                self.KINDS[kind] + PARAMETERS,
            )
        )

    # ---- Fields

    def fields(self, rng):
        found = b""
        for _ in range(rng.choice((0, 1, 2, 4))):
            name = rng.choice(
                (
                    b"Connection",
                    b"Via",
                    b"Accept-Encoding",
                    b"TE",
                    b"Trailer",
                    b"Upgrade",
                    b"Cookie",
                    b"Accept",
                    b"Expect",
                    b"Transfer-Encoding",
                    b"Content-Length",
                    b"Proxy-Authorization",
                    b"WWW-Authenticate",
                    b"Content-Type",
                    b"Range",
                    b"If-Range",
                    b"Max-Forwards",
                    b"Forwarded",
                    b"Host",
                    b"Content-Encoding",
                    b"Set-Cookie",
                    b"Keep-Alive",
                    b"Location",
                    b"ETag",
                    b"Date",
                    b"Age",
                    b"Content-Range",
                    b"X",
                )
            )
            kind = rng.randrange(5)
            if kind == 0:
                value = b", ".join(
                    rng.choice((b"a%d", b"close", b"gzip;q=0.%d", b"h2c", b"1.1 p%d", b"x=%d")).replace(
                        b"%d", b"%d" % number
                    )
                    for number in range(min(self.length(rng), 1000))
                )[:15_000]
            elif kind == 1:
                value = self.number(rng)
            elif kind == 2:
                value = rng.choice((b",", b" ,", b"a,", b";", b"a;", b'"', b'a="b", ')) * rng.choice((1, 500, 5000))
            elif kind == 3:
                value = rng.choice(
                    (
                        b"chunked",
                        b"upgrade",
                        b"close",
                        b"keep-alive",
                        b"websocket",
                        b"100-continue",
                        b"bytes=0-1,2-",
                        b"Basic YTpi",
                        b'Digest realm="a", nonce="b"',
                        b"*/*;q=0.1",
                        b"trailers",
                        LONG_MARKS[2],
                    )
                )
            else:
                value = rng.choice(self.fragments).replace(b"\r", b"").replace(b"\n", b"")
            found += name + b": " + value + b"\r\n"
        if rng.random() < 0.03:
            found += b"".join(b"X-%d: y\r\n" % number for number in range(rng.choice((240, 256, 2000))))
        return found

    def chunked(self, rng, body):
        size = rng.choice((1, 7, 100, 1000, 1000, 100_000, 100_000))
        body = body[: 1000 * size]
        pieces = b"".join(
            b"%x%b\r\n%b\r\n"
            % (len(body[start : start + size]), rng.choice((b"", b";a=b", b" ;a")), body[start : start + size])
            for start in range(0, len(body), size)
        )
        return pieces + b"0\r\n" + (self.fields(rng) if rng.random() < 0.1 else b"X-T: 1\r\n") + b"\r\n"

    # ---- Messages

    def request(self, rng, origin, index):
        """A request that is anything but sure to be one."""
        if rng.random() < 0.25:
            return self.mutated(rng, rng.choice(self.fragments) + rng.choice(self.fragments))
        host = b"127.0.0.1:%d" % origin
        method = rng.choice(
            (b"GET", b"GET", b"POST", b"PUT", b"HEAD", b"OPTIONS", b"TRACE", b"CONNECT", b"DELETE", b"get", b"X" * 65)
        )
        path = rng.choice(
            (
                b"/",
                b"/echo/%d",
                b"/any/%d",
                b"/json/%d",
                b"/a/../b//c;x%%2f..%%5c",
                b"/%d?" + b"a=b&" * 500,
                b"*",
                b"/x%%00",
            )
        )
        target = rng.choice(
            (
                b"http://" + host,
                b"http://" + host,
                b"",
                b"https://" + host,
                b"ws://" + host,
                b"HTTP://u@" + host,
                b"http://0x7f.1",
                b"http://[::1]:1",
                b"http://" + b"a." * 120 + b"test",
            )
        ) + path.replace(b"%d", b"%d" % index)
        if method == b"CONNECT":
            target = rng.choice((host, b"[::1]:0", b"a:65536", b"0:1", b"127.0.0.1:1"))
        body = b""
        fields = b"Host: %b\r\n" % host + self.fields(rng)
        if rng.random() < 0.4:
            body = rng.choice((lambda _: b"abc", self.form, self.json))(rng)
            if rng.random() < 0.5:
                body, framing = self.chunked(rng, body), b"Transfer-Encoding: chunked\r\n"
            else:
                framing = b"Content-Length: %d\r\n" % len(body)
            fields += framing
        head = b"%b %b HTTP/1.%d\r\n%b\r\n" % (method, target, rng.choice((1, 1, 1, 0)), fields)
        if rng.random() < 0.1:
            return (head + body) * rng.choice((2, 5, 30))
        return self.mutated(rng, head + body) if rng.random() < 0.5 else head + body

    def bodied(self, rng, origin, index):
        """A request in order, with a body that need not be: the routes read it, and write it in another form."""
        kind = rng.choice(("json", "form", "multipart", "plist", "json", "form"))
        body, coding = self.coded(rng, self.document(rng, kind))
        route = rng.choice(
            (b"tojson", b"toform", b"toplist", b"tobinary", b"tomultipart", b"toquery", b"contract", b"throttle")
        )
        framing = b"Content-Length: %d\r\n" % len(body)
        if rng.random() < 0.2:
            body, framing = self.chunked(rng, body), b"Transfer-Encoding: chunked\r\n"
        return b"POST http://127.0.0.1:%d/%b/%d HTTP/1.1\r\nHost: a\r\nContent-Type: %b\r\n%b%b\r\n%b" % (
            origin,
            route,
            index,
            self.type(rng, kind),
            coding,
            framing,
            body,
        )

    def guarded(self, rng, origin, index):
        """A request of any kind to a proxy that wants a password: with the right one, a wrong one, or what is none."""
        made = rng.choice((self.request, self.bodied, self.plain))(rng, origin, index)
        right = base64.b64encode(CREDENTIALS)
        value = rng.choice(
            (
                b"Basic " + right,
                b"Basic " + right,
                b"basic  " + right,
                b"Basic " + base64.b64encode(b"someone:%d" % index),
                b"Basic " + base64.b64encode(rng.randbytes(rng.randrange(1200))),
                b"Basic " + right[: rng.randrange(len(right))],
                b"Basic " + right + b"\r\nProxy-Authorization: Basic " + right,
                b"Basic " + base64.b64encode(b"\xff" * 100 + b":" + b"a" * 100),
                b"Digest username=someone",
                b"Basic",
                b"",
            )
        )
        first, end, rest = made.partition(b"\r\n")
        return first + end + b"Proxy-Authorization: " + value + b"\r\n" + rest

    def plain(self, rng, origin, index):
        """A request in order, whose answer will not be."""
        route = rng.choice(
            (
                b"json",
                b"schema",
                b"xml",
                b"plist",
                b"image",
                b"compound",
                b"report",
                b"nulls",
                b"placeholder",
                b"any",
                b"contract",
            )
        )
        return b"%b http://127.0.0.1:%d/%b/%d HTTP/1.1\r\nHost: a\r\n%b\r\n" % (
            rng.choice((b"GET", b"GET", b"GET", b"HEAD")),
            origin,
            route,
            index,
            rng.choice((b"", b"", b"Connection: Upgrade\r\nUpgrade: websocket\r\n", b"TE: trailers\r\n")),
        )

    def response(self, rng, route):
        """What the origin answers: `plain` has asked for it."""
        if rng.random() < 0.2:
            return self.mutated(rng, rng.choice(self.fragments) + rng.choice(self.fragments))
        kind = {
            "json": "json",
            "schema": "json",
            "report": "json",
            "nulls": "json",
            "contract": "json",
            "xml": "xml",
            "plist": "plist",
            "image": "image",
        }.get(route) or rng.choice(("json", "xml", "plist", "image", "form"))
        if rng.random() < 0.1:
            kind = rng.choice(list(self.KINDS))
        body, coding = self.coded(rng, self.document(rng, kind))
        status = rng.choice(
            (b"200 OK",) * 8
            + (b"204 ", b"304 x", b"206 Part", b"404 Not", b"999 ", b"101 Switching", b"100 ", b"401 No")
        )
        framing = rng.choice((0, 0, 1, 2))
        fields = b"Content-Type: " + self.type(rng, kind) + b"\r\n" + coding + self.fields(rng)
        if framing == 0:
            fields += b"Content-Length: %d\r\n" % (len(body) + rng.choice((0, 0, 0, 0, 1, -1)))
        elif framing == 1:
            body, fields = self.chunked(rng, body), fields + b"Transfer-Encoding: chunked\r\n"
        start = rng.choice((b"",) * 6 + (b"HTTP/1.1 103 Early\r\nLink: a\r\n\r\n" * rng.choice((1, 200)),))
        message = b"%bHTTP/1.%d %b\r\n%b\r\n%b" % (start, rng.choice((1, 1, 1, 0)), status, fields, body)
        return self.mutated(rng, message) if rng.random() < 0.3 else message
