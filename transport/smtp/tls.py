"""TLS for STARTTLS: the certificate of a server, and the authority that it trusts."""

import ssl
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Tls:
    """The contexts of a server: for connections to it, and for connections that it makes."""

    server: ssl.SSLContext
    client: ssl.SSLContext


def load_tls(certificate: Path, private_key: Path, authority: Path) -> Tls:
    """Return the contexts from PEM files. A peer's certificate must be signed by the authority and name the server.

    Raise OSError for a file that cannot be read or is not a PEM file (ssl.SSLError is an OSError).
    """
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.minimum_version = ssl.TLSVersion.TLSv1_3
    server.load_cert_chain(certificate, private_key)
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.minimum_version = ssl.TLSVersion.TLSv1_3
    client.load_verify_locations(authority)
    return Tls(server, client)
