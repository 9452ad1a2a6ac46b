# Makes certificates down to their bytes, and chains of them that are changed in one place or several, for
# `scripts/differential`. The changes are made before signing, so that the signature fits what is signed, except for those
# that are about signatures. Keys and choices follow from a seed.
import hashlib
from dataclasses import dataclass, field, replace

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519, padding, rsa

# --- DER ---


def tlv(tag, content):
    count = len(content)
    if count < 128:
        return bytes([tag, count]) + content
    size = (count.bit_length() + 7) // 8
    return bytes([tag, 0x80 | size]) + count.to_bytes(size, "big") + content


def seq(*parts):
    return tlv(0x30, b"".join(parts))


def integer(number):
    size = max(1, (number.bit_length() + 8) // 8)
    return tlv(2, number.to_bytes(size, "big", signed=True))


def oid(dotted):
    numbers = [int(part) for part in dotted.split(".")]
    out = bytearray()
    for number in [numbers[0] * 40 + numbers[1], *numbers[2:]]:
        groups = [number & 0x7F]
        while number := number >> 7:
            groups.append(number & 0x7F | 0x80)
        out += bytes(reversed(groups))
    return tlv(6, bytes(out))


TRUE = b"\x01\x01\xff"


def bits(numbers):
    if not numbers:
        return tlv(3, b"\0")
    value = bytearray(max(numbers) // 8 + 1)
    for number in numbers:
        value[number // 8] |= 0x80 >> number % 8
    return tlv(3, bytes([7 - max(numbers) % 8]) + bytes(value))


def rdn(text, kind="2.5.4.3", tag=0x0C):
    encoding = {0x1E: "utf-16-be", 0x1C: "utf-32-be", 0x14: "latin-1"}.get(tag, "utf-8")
    return tlv(0x31, seq(oid(kind), tlv(tag, text.encode(encoding))))


def name(*parts):
    return seq(*(rdn(part) if isinstance(part, str) else part for part in parts))


# --- Keys ---

CURVES = {"p256": ec.SECP256R1, "p384": ec.SECP384R1, "p521": ec.SECP521R1, "k256": ec.SECP256K1, "p224": ec.SECP224R1}
ALGORITHMS = {
    "ecdsa-sha256": seq(oid("1.2.840.10045.4.3.2")),
    "ecdsa-sha384": seq(oid("1.2.840.10045.4.3.3")),
    "ecdsa-sha1": seq(oid("1.2.840.10045.4.1")),
    "rsa-sha256": seq(oid("1.2.840.113549.1.1.11"), tlv(5, b"")),
    "rsa-sha1": seq(oid("1.2.840.113549.1.1.5"), tlv(5, b"")),
    "rsa-sha512": seq(oid("1.2.840.113549.1.1.13"), tlv(5, b"")),
    "ed25519": seq(oid("1.3.101.112")),
    "ed448": seq(oid("1.3.101.113")),
}
DIGESTS = {"sha1": hashes.SHA1, "sha256": hashes.SHA256, "sha384": hashes.SHA384, "sha512": hashes.SHA512}


class Key:
    """A private key of a kind; all but RSA's follow from the seed."""

    def __init__(self, kind, seed):
        self.kind = kind
        secret = hashlib.shake_256(f"{kind} {seed}".encode()).digest(57)
        if kind in CURVES:
            self.private = ec.derive_private_key(int.from_bytes(secret[:26], "big"), CURVES[kind]())
        elif kind == "ed25519":
            self.private = ed25519.Ed25519PrivateKey.from_private_bytes(secret[:32])
        elif kind == "ed448":
            self.private = ed448.Ed448PrivateKey.from_private_bytes(secret)
        else:
            self.private = rsa.generate_private_key(3 if kind == "rsa2048e3" else 65537, int(kind[3:7]))
        self.spki = self.private.public_key().public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        self.identifier = hashlib.sha256(self.spki).digest()[:20]

    def algorithm(self, digest="sha256"):
        if self.kind.startswith("ed"):
            return self.kind
        return ("rsa-" if self.kind.startswith("rsa") else "ecdsa-") + digest

    def sign(self, body, algorithm):
        if self.kind.startswith("ed"):
            return self.private.sign(body)
        digest = DIGESTS[algorithm.split("-")[1]]()
        if self.kind.startswith("rsa"):
            return self.private.sign(body, padding.PKCS1v15(), digest)
        return self.private.sign(body, ec.ECDSA(digest, deterministic_signing=True))


# --- Certificates ---

BASIC, USAGE, PURPOSES, NAMES = "2.5.29.19", "2.5.29.15", "2.5.29.37", "2.5.29.17"
SUBJECT_KEY, AUTHORITY_KEY, CONSTRAINTS = "2.5.29.14", "2.5.29.35", "2.5.29.30"
POLICIES, MAPPINGS, POLICY_CONSTRAINTS, ANY_POLICY = "2.5.29.32", "2.5.29.33", "2.5.29.36", "2.5.29.54"
SERVER, CLIENT, ANY_PURPOSE = "1.3.6.1.5.5.7.3.1", "1.3.6.1.5.5.7.3.2", "2.5.29.37.0"


def dns(text, tag=0x82):
    return tlv(tag, text.encode("latin-1"))


def authority_key(identifier):
    return seq(tlv(0x80, identifier))


def constraints(permitted=(), excluded=()):
    parts = [tlv(tag, b"".join(seq(base) for base in bases)) for tag, bases in ((0xA0, permitted), (0xA1, excluded)) if bases]
    return seq(*parts)


def policies(*ids):
    return seq(*(seq(oid(one)) for one in ids))


@dataclass
class Certificate:
    """What a certificate shall say; `signed` says it."""

    subject: bytes
    key: Key
    issuer: bytes
    signer: Key
    serial: bytes = integer(4711)
    version: int | None = 2
    dates: tuple = ((0x17, b"250101000000Z"), (0x17, b"270101000000Z"))
    # (number, critical, value)
    extensions: list = field(default_factory=list)
    digest: str = "sha256"
    inner_algorithm: bytes | None = None
    spki: bytes | None = None
    unique: bytes = b""
    # Changes of bytes, before and after signing.
    body_change: object = None
    change: object = None
    extension_wrapper: object = None

    def signed(self):
        algorithm = self.signer.algorithm(self.digest)
        outer = ALGORITHMS[algorithm]
        extensions = b""
        if self.extensions:
            listed = seq(*(seq(oid(n), TRUE if c else b"", tlv(4, v)) for n, c, v in self.extensions))
            extensions = tlv(0xA3, listed)
        body = seq(
            tlv(0xA0, integer(self.version)) if self.version is not None else b"",
            self.serial,
            self.inner_algorithm or outer,
            self.issuer,
            seq(*(tlv(tag, text) for tag, text in self.dates)),
            self.subject,
            self.spki or self.key.spki,
            self.unique,
            extensions,
        )
        if self.body_change:
            body = self.body_change(body)
        signature = self.signer.sign(body, algorithm)
        der = seq(body, outer, tlv(3, b"\0" + signature))
        return self.change(der) if self.change else der

    def put(self, number, value, critical=None, place=None):
        """The same with another value for an extension, or without it."""
        was = [(n, c, v) for n, c, v in self.extensions if n == number]
        kept = [(n, c, v) for n, c, v in self.extensions if n != number]
        if value is not None:
            flag = critical if critical is not None else bool(was and was[0][1])
            kept.insert(len(kept) if place is None else place, (number, flag, value))
        return replace(self, extensions=kept)

    def value(self, number):
        return next((v for n, _, v in self.extensions if n == number), None)


def authority(subject, key, issuer, signer, path_length=None):
    basic = seq(TRUE, integer(path_length)) if path_length is not None else seq(TRUE)
    listed = [(BASIC, True, basic), (USAGE, True, bits([5, 6])), (SUBJECT_KEY, False, tlv(4, key.identifier))]
    if signer is not key:
        listed.append((AUTHORITY_KEY, False, authority_key(signer.identifier)))
    return Certificate(subject, key, issuer, signer, extensions=listed)


def server(subject, key, issuer, signer, host=b"", purposes=(SERVER,)):
    listed = [
        (BASIC, True, seq()),
        (USAGE, True, bits([0, 2] if key.kind.startswith("rsa") else [0])),
        (PURPOSES, False, seq(*(oid(one) for one in purposes))),
        (SUBJECT_KEY, False, tlv(4, key.identifier)),
        (AUTHORITY_KEY, False, authority_key(signer.identifier)),
        (NAMES, False, seq(host)),
    ]
    return Certificate(subject, key, issuer, signer, extensions=listed)


# --- Changes ---
# Each takes a source of random choices and a certificate, and returns another certificate.

NAME_CHOICES = [
    dns("*.example.test"), dns("*.test"), dns("*.co.uk"), dns("WWW.Example.TEST"), dns("www.example.test."), dns("under_score.example.test"),
    dns("w*.example.test"), dns("*.*.example.test"), dns("www.example.test\0.evil.test"), dns(""), dns("."), dns("-www.example.test"),
    dns("xn--bcher-kva.test"), dns("10.0.0.1"), tlv(0x87, bytes([10, 0, 0, 1])), tlv(0x87, bytes(16)), tlv(0x87, b"abc"),
    tlv(0x87, bytes(10) + b"\xff\xff" + bytes([10, 0, 0, 1])), dns("admin@example.test", 0x81), dns("https://www.example.test/", 0x86),
    tlv(0x88, b"\x2a\x03"), tlv(0xA0, oid("1.2.3.4") + tlv(0xA0, tlv(12, b"x"))), tlv(0xA4, name("Somebody")), dns("elsewhere.test"),
    dns("a" * 64 + ".test"), dns("m\xfcller.test"), dns("www.example.test"), dns("sub.www.example.test"),
]  # fmt: skip
BASE_CHOICES = [
    dns("example.test"), dns(".example.test"), dns("www.example.test"), dns("test"), dns(""), dns("elsewhere.test"), dns("*.example.test"),
    tlv(0x87, bytes([10, 0, 0, 0, 255, 0, 0, 0])), tlv(0x87, bytes(32)), tlv(0x87, bytes([10, 0, 0, 0, 255, 0, 255, 0])), tlv(0x87, b"abcd"),
    dns("example.test", 0x81), dns("admin@example.test", 0x81), dns("@", 0x81), dns(".example.test", 0x86), dns("www.example.test", 0x86),
    tlv(0xA4, name("Leaf")), tlv(0xA4, name()), tlv(0xA4, name(rdn("leaf", tag=0x13))), tlv(0x88, b"\x2a\x03"), tlv(0xA0, oid("1.2.3.4") + tlv(0xA0, tlv(12, b"x"))),
]  # fmt: skip
DATE_CHOICES = [
    ((0x17, b"250101000000Z"), (0x17, b"250201000000Z")), ((0x17, b"261201000000Z"), (0x17, b"270101000000Z")),
    ((0x18, b"20250101000000Z"), (0x17, b"270101000000Z")), ((0x17, b"250101000000Z"), (0x18, b"20270101000000Z")),
    ((0x17, b"2501010000Z"), (0x17, b"270101000000Z")), ((0x17, b"250101000000+0000"), (0x17, b"270101000000Z")),
    ((0x17, b"250101000000Z"), (0x18, b"20600101000000Z")), ((0x17, b"250101000000Z"), (0x18, b"20270101000000.5Z")),
    ((0x17, b"270101000000Z"), (0x17, b"250101000000Z")), ((0x17, b"250101000000Z"), (0x18, b"99991231235959Z")),
    ((0x17, b"260601120000Z"), (0x17, b"270101000000Z")), ((0x17, b"250101000000Z"), (0x17, b"260601120000Z")),
    ((0x17, b"251301000000Z"), (0x17, b"270101000000Z")), ((0x17, b"500101000000Z"), (0x17, b"490101000000Z")),
]  # fmt: skip


def change_names(random, c):
    chosen = random.sample(NAME_CHOICES, random.randint(1, 3))
    if random.random() < 0.6:
        chosen.append(dns("www.example.test"))
    return c.put(NAMES, seq(*chosen), critical=random.random() < 0.15)


def change_constraints(random, c):
    permitted = random.sample(BASE_CHOICES, random.randint(0, 3))
    excluded = random.sample(BASE_CHOICES, random.randint(0, 2))
    return c.put(CONSTRAINTS, constraints(permitted, excluded), critical=random.random() < 0.8)


def change_basic(random, c):
    choices = [seq(), seq(TRUE), seq(TRUE, integer(0)), seq(TRUE, integer(1)), seq(integer(0)), seq(b"\x01\x01\x00"), seq(b"\x01\x01\x01"), seq(TRUE, integer(-1)), None, b"", seq(TRUE, integer(2**40))]
    return c.put(BASIC, random.choice(choices), critical=random.random() < 0.8)


def change_usage(random, c):
    choices = [None, bits([0]), bits([5]), bits([5, 6]), bits([0, 5]), bits([2]), bits([4]), bits([6]), bits([]), bits([8]), tlv(3, b"\x01\x80"), tlv(3, b"\x00\x80\x00")]
    return c.put(USAGE, random.choice(choices), critical=random.random() < 0.8)


def change_purposes(random, c):
    chosen = random.sample([SERVER, CLIENT, ANY_PURPOSE, "1.3.6.1.5.5.7.3.9", "1.2.3.4"], random.randint(0, 2))
    value = None if random.random() < 0.2 else seq(*(oid(one) for one in chosen))
    return c.put(PURPOSES, value, critical=random.random() < 0.2)


def change_identifiers(random, c):
    number = random.choice([SUBJECT_KEY, AUTHORITY_KEY])
    wrong = bytes(random.randbytes(20))
    if number == SUBJECT_KEY:
        choices = [None, tlv(4, wrong), tlv(4, b""), b"\x05\x00"]
    else:
        with_serial = seq(tlv(0x80, wrong), tlv(0xA1, tlv(0xA4, c.issuer)), tlv(0x82, b"\x01"))
        choices = [None, authority_key(wrong), seq(), with_serial, b"\x05\x00"]
    return c.put(number, random.choice(choices), critical=random.random() < 0.2)


def change_policies(random, c):
    ids = ["2.23.140.1.2.1", "1.2.3.4.1", "1.2.3.4.2", "2.5.29.32.0"]
    kind = random.randrange(5)
    if kind == 0:
        return c.put(POLICIES, policies(*random.sample(ids, random.randint(1, 3))), critical=random.random() < 0.3)
    if kind == 1:
        parts = [tlv(tag, bytes([random.randrange(3)])) for tag in (0x80, 0x81) if random.random() < 0.7]
        return c.put(POLICY_CONSTRAINTS, seq(*parts), critical=random.random() < 0.8)
    if kind == 2:
        return c.put(ANY_POLICY, integer(random.randrange(3)), critical=random.random() < 0.8)
    if kind == 3:
        return c.put(MAPPINGS, seq(seq(oid(random.choice(ids)), oid(random.choice(ids)))), critical=random.random() < 0.8)
    doubled = policies(ids[0], ids[0])
    qualified = seq(seq(oid(ids[1]), seq(seq(oid("1.2.3.4.9"), tlv(12, b"x")))))
    return c.put(POLICIES, random.choice([doubled, qualified, seq(), b""]), critical=random.random() < 0.5)


def change_dates(random, c):
    return replace(c, dates=random.choice(DATE_CHOICES))


def change_serial(random, c):
    choices = [integer(0), integer(-5), integer(2**159 - 1), integer(2**170), tlv(2, b"\0\x01"), tlv(2, b""), tlv(2, b"\0" + b"\xff" * 20)]
    return replace(c, serial=random.choice(choices))


def change_version(random, c):
    changed = replace(c, version=random.choice([None, 0, 1, 3, 2]))
    return replace(changed, extensions=[]) if random.random() < 0.5 else changed


def change_key(random, c, world):
    key = random.choice(world.odd_keys)
    spki = random.choice([None, None, None, *world.odd_infos])
    return replace(c, key=key, spki=spki)


def change_signature(random, c):
    kind = random.randrange(5)
    if kind == 0:
        return replace(c, change=lambda der: der[:-1] + bytes([der[-1] ^ 1]))
    if kind == 1:
        return replace(c, inner_algorithm=random.choice(list(ALGORITHMS.values())))
    if kind == 2 and not c.signer.kind.startswith("ed"):
        return replace(c, digest=random.choice(["sha1", "sha384" if not c.signer.kind.startswith("rsa") else "sha512"]))
    if kind == 3:
        return replace(c, change=lambda der: der + b"\0")
    return replace(c, unique=tlv(random.choice([0x81, 0x82]), b"\0\x55"))


def change_subject(random, c):
    tag = random.choice([0x0C, 0x13, 0x14, 0x1E, 0x1C, 0x16])
    choices = [name(), name(rdn("Leaf", tag=tag)), name(rdn("leaf"), rdn("o", "2.5.4.10")), name(rdn("www.example.test")), name(rdn("WWW.example.test")), name(rdn("admin@example.test", "1.2.840.113549.1.9.1", 0x16)), name(rdn("elsewhere.test"))]
    return replace(c, subject=random.choice(choices))


def change_issuer_spelling(random, c):
    text = {b"Middle": "Middle", b"Root": "Root"}
    found = next((word for mark, word in text.items() if mark in c.issuer), None)
    if not found:
        return replace(c, issuer=name())
    spelled = random.choice([found.upper(), f" {found} ", found])
    return replace(c, issuer=name(rdn(spelled, tag=random.choice([0x0C, 0x13, 0x1E, 0x1C, 0x14]))))


def change_extension(random, c):
    kind = random.randrange(6)
    extensions = list(c.extensions)
    if kind == 0 and extensions:
        extensions.append(random.choice(extensions))
    elif kind == 1:
        extensions.append(("1.2.3.4.5", True, b"\x05\x00"))
    elif kind == 2:
        extensions.append(("1.2.3.4.5", False, b"\xff"))
    elif kind == 3:
        access = seq(seq(oid("1.3.6.1.5.5.7.48.1"), dns("http://ocsp.test/", 0x86)))
        extensions.append(("1.3.6.1.5.5.7.1.1", random.random() < 0.3, random.choice([access, seq(), b"\x05\x00"])))
    elif kind == 4 and extensions:
        place = random.randrange(len(extensions))
        number, critical, value = extensions[place]
        extensions[place] = (number, not critical, value)
    elif extensions:
        place = random.randrange(len(extensions))
        number, critical, value = extensions[place]
        spoilt = bytearray(value + b"\0" if random.random() < 0.3 or not value else value)
        spoilt[random.randrange(len(spoilt))] ^= 1 << random.randrange(8)
        extensions[place] = (number, critical, bytes(spoilt))
    return replace(c, extensions=extensions)


def change_bytes(random, c):
    """One byte, before signing: whatever it becomes, the signature fits."""
    place, bit = random.random(), 1 << random.randrange(8)

    def change(body):
        changed = bytearray(body)
        changed[int(place * len(changed))] ^= bit
        return bytes(changed)

    return replace(c, body_change=change)


CHANGES = [
    change_names, change_constraints, change_basic, change_usage, change_purposes, change_identifiers, change_policies, change_dates,
    change_serial, change_version, change_signature, change_subject, change_issuer_spelling, change_extension, change_bytes,
]  # fmt: skip


# --- Chains ---


class World:
    """Keys and authorities that chains are made of."""

    def __init__(self, seed, random):
        self.random = random
        kinds = ["p256", "p256", "p256", "p384", "p521", "rsa2048", "rsa2048", "ed25519"]
        self.keys = [Key(kind, f"{seed} {index}") for index, kind in enumerate(kinds)]
        odd = ["k256", "p224", "rsa1024", "rsa2048e3", "ed448", "rsa4096", "p256"]
        self.odd_keys = [Key(kind, f"{seed} odd") for kind in odd]
        self.odd_infos = [self.keys[0].spki[:-1], self.keys[0].spki[:-1] + b"\0", seq(seq(oid("1.2.3.4")), tlv(3, b"\0abc"))]
        self.leaf_keys = [Key(kind, f"{seed} leaf") for kind in ["p256", "p384", "rsa2048"]]
        self.forms = [form for form in (0, 0, 1, 1, 1, 2, 3, 4, 5)]

    def chain(self):
        """The certificates of a chain, leaf first, and its root: unsigned yet."""
        random = self.random
        form = random.choice(self.forms)
        root_key, middle_key, low_key = random.sample(self.keys, 3)
        leaf_key = random.choice(self.leaf_keys)
        root_name, middle_name, low_name, leaf_name = name("Root"), name("Middle"), name("Low"), name("Leaf")
        root = authority(root_name, root_key, root_name, root_key)
        middle = authority(middle_name, middle_key, root_name, root_key)
        host = dns("www.example.test")
        if form == 0:
            return [server(leaf_name, leaf_key, root_name, root_key, host)], [root], []
        if form == 1:
            return [server(leaf_name, leaf_key, middle_name, middle_key, host), middle], [root], []
        low = authority(low_name, low_key, middle_name, middle_key)
        leaf = server(leaf_name, leaf_key, low_name, low_key, host)
        if form == 2:
            return [leaf, low, middle], [root], []
        if form == 3:
            # The root is a cross certificate too, and the other authority is not trusted.
            other = Key("p256", "other")
            cross = authority(root_name, root_key, name("Other"), other)
            return [leaf, low, middle, cross], [root], []
        if form == 4:
            # The intermediate is the anchor.
            return [leaf, low], [middle], []
        # Two intermediates of one name, with one key; one is about to be changed.
        twin = replace(middle, serial=integer(4712))
        return [leaf, low, middle], [root], [twin]

    def case(self):
        """Chain, roots and host; and roots of the same names and keys that say nothing else of themselves."""
        random = self.random
        chain, roots, extra = self.chain()
        for _ in range(random.choice([0, 1, 1, 1, 2, 2, 3])):
            place = random.randrange(len(chain) + len(roots))
            group, index = (chain, place) if place < len(chain) else (roots, place - len(chain))
            if random.random() < 0.08:
                group[index] = change_key(random, group[index], self)
            else:
                group[index] = random.choice(CHANGES)(random, group[index])
        clean = {}

        def sign(c):
            der = c.signed()
            clean[der] = replace(authority(c.subject, c.key, c.subject, c.key), spki=c.spki)
            return der

        chain = [sign(c) for c in [*chain, *extra]]
        roots = [sign(c) for c in roots]
        shape = random.randrange(12)
        rest = chain[1:]
        if shape == 0 and rest:
            rest.pop(random.randrange(len(rest)))
        elif shape == 1:
            rest += roots
        elif shape == 2 and rest:
            rest.append(random.choice(rest))
        elif shape == 3:
            roots = [*roots, chain[0]] if random.random() < 0.3 else [*roots, *rest[:1]]
        if shape % 3 == 0:
            random.shuffle(rest)
        host = random.choices(
            ["www.example.test", "WWW.EXAMPLE.TEST", "a.www.example.test", "10.0.0.1", "www.example.test.", "example.test"],
            [20, 1, 1, 1, 1, 1],
        )[0]
        return [chain[0], *rest], roots, host, [clean[root].signed() for root in roots]
