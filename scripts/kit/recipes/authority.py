# SPDX-License-Identifier: Apache-2.0
"""Authorities whose keys follow from their names, so that pages can quote pins. They are trusted within a page's mounts alone."""

import base64
import datetime
import hashlib
import sys

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551


def key_of(name):
    number = int.from_bytes(hashlib.sha256(f"recipe {name}".encode()).digest(), "big") % (ORDER - 1) + 1
    return ec.derive_private_key(number, ec.SECP256R1())


def pin_of(name):
    public = key_of(name).public_key().public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    return "sha256/" + base64.b64encode(hashlib.sha256(public).digest()).decode()


class Authority:
    def __init__(self, name):
        self.name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
        self.key = key_of(name)
        self.certificate = self.sign(
            self.name, self.key, 3650,
            (x509.BasicConstraints(ca=True, path_length=None), True),
            (x509.KeyUsage(False, False, False, False, False, True, True, False, False), True))
        self.pem = self.certificate.public_bytes(serialization.Encoding.PEM).decode()

    def sign(self, subject, key, days, *extensions):
        now = datetime.datetime.now(datetime.timezone.utc)
        made = x509.CertificateBuilder().subject_name(subject).issuer_name(self.name).public_key(key.public_key())
        made = made.serial_number(x509.random_serial_number()).not_valid_before(now - datetime.timedelta(days=1))
        made = made.not_valid_after(now + datetime.timedelta(days=days))
        for extension, is_critical in (
            *extensions,
            (x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False),
            (x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key()), False),
        ):
            made = made.add_extension(extension, is_critical)
        return made.sign(self.key, hashes.SHA256())

    def certify(self, name, path, key=None):
        """Writes a certificate for a name with its chain and its key into one file."""
        own = key_of(key or name)
        certificate = self.sign(
            x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)]), own, 90,
            (x509.SubjectAlternativeName([x509.DNSName(name)]), False),
            (x509.KeyUsage(True, False, False, False, False, False, False, False, False), True),
            (x509.ExtendedKeyUsage([x509.ExtendedKeyUsageOID.SERVER_AUTH]), False))
        secret = own.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        path.write_bytes(
            certificate.public_bytes(serialization.Encoding.PEM) + self.pem.encode() + secret)
        path.chmod(0o644)


if __name__ == "__main__":
    # The pins that pages quote.
    for name in sys.argv[1:]:
        print(pin_of(name), name)
