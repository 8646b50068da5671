"""X.509 certificates of the lab's authority, for STARTTLS between servers.

The Ed25519 keys of these certificates are derived from the lab's seed, so the same seed makes the same files. They are not the
keys of `node.codec.signing`. Certificates are valid for a century, because lab time is not the time of the machine.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import UTC, datetime

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from node.codec.signing import derived_key

_FROM = datetime(2000, 1, 1, tzinfo=UTC)
_UNTIL = datetime(2100, 1, 1, tzinfo=UTC)
_AUTHORITY_NAME = "pflab authority"
_MAX_NAME_CHARS = 64
"""Longest common name (X.520). The complete name is in the subject alternative names."""


@dataclass(frozen=True, slots=True)
class ServerCertificate:
    """What a server needs to offer STARTTLS and to verify other servers, in PEM form."""

    certificate: bytes
    private_key: bytes = field(repr=False)
    authority: bytes


def server_certificate(seed: bytes, server: str) -> ServerCertificate:
    """Return the certificate of a server with this name. `seed` is the seed of the authority."""
    authority_key = _key(seed, "tls authority")
    key = _key(seed, f"tls server {server}")
    authority = (
        _builder(_AUTHORITY_NAME, authority_key.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(authority_key, None)
    )
    certificate = (
        _builder(server, key.public_key())
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(server)]), critical=False)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .sign(authority_key, None)
    )
    return ServerCertificate(certificate.public_bytes(Encoding.PEM), _pem(key), authority.public_bytes(Encoding.PEM))


def _key(seed: bytes, purpose: str) -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(derived_key(seed, purpose))


def _builder(name: str, key: Ed25519PublicKey) -> x509.CertificateBuilder:
    serial = int.from_bytes(hashlib.blake2b(key.public_bytes_raw(), digest_size=16).digest()) >> 1 or 1
    return (
        x509.CertificateBuilder()
        .subject_name(_named(name))
        .issuer_name(_named(_AUTHORITY_NAME))
        .public_key(key)
        .serial_number(serial)
        .not_valid_before(_FROM)
        .not_valid_after(_UNTIL)
    )


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name[:_MAX_NAME_CHARS])])


def _pem(key: Ed25519PrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
