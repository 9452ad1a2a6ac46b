# SPDX-License-Identifier: Apache-2.0
"""Hellos, flights and chains for `scripts/hostile`: TLS records made by hand, so that nothing has to be in order.

A client judges a chain as soon as the server's Certificate message is there, in TLS 1.2 before any key is used. So a hello
and a list of mutated certificates are all that a server has to send.
"""

import os
import struct
import subprocess

NOT_BEFORE, NOT_AFTER = "20250101000000Z", "20350101000000Z"
AUTHORITY = "basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign,cRLSign\nsubjectKeyIdentifier=hash\n"
LEAF = (
    "basicConstraints=critical,CA:FALSE\nkeyUsage=critical,digitalSignature\nextendedKeyUsage=serverAuth\n"
    "subjectAltName=DNS:localhost,%s\n" % ",".join(f"IP:127.200.0.{number}" for number in range(1, 9))
)
RICH = (
    "nameConstraints=critical,permitted;IP:127.0.0.0/255.0.0.0,permitted;DNS:localhost,excluded;email:.a.test\n"
    "certificatePolicies=1.2.3.4,2.5.29.32.0\npolicyConstraints=requireExplicitPolicy:3\ninhibitAnyPolicy=2\n"
)


def mint(folder):
    """Makes a root, two intermediates and leaves below them; returns their DER, the root last."""

    def run(*arguments):
        subprocess.run(
            ("openssl",) + arguments, cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )

    def certificate(name, subject, extensions, signer=None, key=("EC", "ec_paramgen_curve:P-256")):
        run("genpkey", "-algorithm", key[0], "-pkeyopt", key[1], "-out", f"{name}.key")
        run("req", "-new", "-key", f"{name}.key", "-subj", subject, "-out", f"{name}.csr")
        with open(os.path.join(folder, f"{name}.ext"), "w") as file:
            file.write(extensions)
        signing = ("-CA", f"{signer}.pem", "-CAkey", f"{signer}.key") if signer else ("-signkey", f"{name}.key")
        run(
            "x509",
            "-req",
            "-in",
            f"{name}.csr",
            "-extfile",
            f"{name}.ext",
            "-days",
            "3650",
            "-out",
            f"{name}.pem",
            *signing,
        )
        run("x509", "-in", f"{name}.pem", "-outform", "DER", "-out", f"{name}.der")
        with open(os.path.join(folder, f"{name}.der"), "rb") as file:
            return file.read()

    root = certificate("root", "/O=Hostile/CN=Root", AUTHORITY)
    plain = certificate("plain", "/O=Hostile/CN=Plain", AUTHORITY, "root")
    rich = certificate("rich", "/O=Hostile/CN=Rich", AUTHORITY + RICH, "root")
    leaf = certificate("leaf", "/CN=localhost", LEAF, "plain")
    below = certificate(
        "below", "/CN=localhost", LEAF + "certificatePolicies=1.2.3.4\n", "rich", ("RSA", "rsa_keygen_bits:2048")
    )
    with open(os.path.join(folder, "server.pem"), "w") as file:
        for name in ("leaf", "plain"):
            with open(os.path.join(folder, f"{name}.pem")) as part:
                file.write(part.read())
    return [leaf, plain, below, rich, root]


def record(body, kind=22, version=b"\x03\x03"):
    return bytes([kind]) + version + struct.pack(">H", min(len(body), 65535)) + body[:65535]


def records(messages, size):
    return b"".join(record(messages[start : start + size]) for start in range(0, len(messages), size))


def message(kind, body):
    return bytes([kind]) + len(body).to_bytes(3, "big") + body


def vector(size, body):
    return (len(body) & (1 << 8 * size) - 1).to_bytes(size, "big") + body


def hello(rng, name, marker=b""):
    """A ClientHello that offers TLS 1.2 and 1.3; without a name for what is asked for by address."""
    extensions = [(0, vector(2, b"\0" + vector(2, name)))] if name else []
    extensions += [
        (43, b"\x04\x03\x04\x03\x03"),
        (10, b"\0\x02\0\x17"),
        (11, b"\x01\0"),
        (13, b"\0\x04\x04\x03\x08\x04"),
        (23, b""),
        (0xFE0D, rng.randbytes(20)),
    ]
    if rng.random() < 0.3:
        rng.shuffle(extensions)
    if rng.random() < 0.2:
        extensions.append(rng.choice(extensions))
    if rng.random() < 0.1:
        extensions += [(number + 1000, b"") for number in range(rng.choice((10, 1000, 16_000)))]
    body = (
        b"\x03\x03"
        + (marker + rng.randbytes(32))[:32]
        + vector(1, rng.randbytes(32))
        + vector(2, b"\xc0\x2b\xc0\x2f\x13\x01")
        + b"\x01\0"
    )
    body += vector(2, b"".join(struct.pack(">H", kind) + vector(2, content) for kind, content in extensions))
    return message(1, body)


def hostile_hello(rng, inputs, name, marker=b""):
    kind = rng.randrange(6)
    first = hello(rng, rng.choice((name, name, b"other.test", None, name + b"\0", b"x" * 300)), marker)
    if kind == 0:
        return record(first, version=b"\x03\x01")
    if kind == 1:
        return records(first, rng.choice((1, 5, 40, 200)))
    if kind == 2:
        return b"\x80" + bytes([len(first) & 127]) + first
    if kind == 3:
        return rng.choice(
            (record(b"\x01\0", 21), record(b"\x01", 20), record(b"", 22) * 500, rng.randbytes(300))
        ) + record(first)
    return inputs.mutated(rng, record(first)) + rng.choice((b"", record(first), rng.randbytes(50)))


def hostile_chain(rng, inputs, certificates):
    """Certificates that may be in order, in a list that may be."""
    leaf, plain, below, rich, root = certificates
    chain = list(
        rng.choice(([leaf, plain], [below, rich], [below, rich, root], [leaf, rich, plain, root], [root], [plain], []))
    )
    for _ in range(rng.choice((0, 1, 1, 2))):
        if chain:
            place = rng.randrange(len(chain))
            chain[place] = mutated_certificate(rng, chain[place])
    if rng.random() < 0.1:
        chain += [mutated_certificate(rng, plain) for _ in range(rng.choice((3, 20, 80)))]
    rng.random() < 0.1 and rng.shuffle(chain)
    return chain


def mutated_certificate(rng, der):
    """Changes values more often than lengths: what cannot be parsed at all never reaches the rules."""
    der = bytearray(der)
    for _ in range(rng.choice((1, 1, 2, 6))):
        place = rng.randrange(len(der))
        kind = rng.randrange(4)
        if kind == 0:
            der[place] ^= 1 << rng.randrange(8)
        elif kind == 1:
            der[place] = rng.choice((0, 1, 0x7F, 0x80, 0xFF, 0x30, 0x02, 0x05, 0x1E, 0x1C))
        elif kind == 2:
            found = der.find(
                rng.choice((b"\x55\x1d", b"\x06\x03", b"\x02\x01", b"\x01\x01\xff", b"\x0c", b"\x17\x0d", b"\x03\x42"))
            )
            if found >= 0:
                der[min(len(der) - 1, found + rng.randrange(6))] = rng.randrange(256)
        else:
            der[place : place + 4] = rng.randbytes(4)
    return bytes(der)


def flight(rng, inputs, certificates):
    """A TLS 1.2 server's answer up to the end of its certificates, and something behind it."""
    start = message(
        2,
        b"\x03\x03"
        + rng.randbytes(32)
        + b"\0"
        + rng.choice((b"\xc0\x2b", b"\xc0\x2f"))
        + b"\0"
        + vector(2, b"\xff\x01\0\x01\0"),
    )
    if rng.random() < 0.05:
        start = message(2, b"\x03\x03" + rng.randbytes(32) + b"\0\x13\x01\0" + vector(2, b"\0\x2b\0\x02\x03\x04"))
    chain = hostile_chain(rng, inputs, certificates)
    certificate = message(11, vector(3, b"".join(vector(3, der) for der in chain)))
    whole = records(start + certificate, rng.choice((200, 1000, 16_384, 16_384)))
    kind = rng.randrange(8)
    if kind == 0:
        whole = inputs.mutated(rng, whole)
    elif kind == 1:
        whole = record(b"\x01\x70", 21) * rng.choice((1, 3, 2000)) + whole
    elif kind == 2:
        # Messages of nothing, as many as fit into records.
        whole = record(message(0, b"") * rng.choice((10, 4096))) * rng.choice((1, 20)) + whole
    elif kind == 3:
        whole = record(start) + record(message(11, vector(3, vector(3, b"\0" * 90_000))))
    return whole + rng.choice((b"", record(message(14, b"")), rng.randbytes(30)))
