"""TLS for STARTTLS: what a server shows, and whom it believes."""

import ssl
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Tls:
    """The two sides of a server: as one that is connected to, and as one that connects."""

    server: ssl.SSLContext
    client: ssl.SSLContext


def load_tls(certificate: Path, private_key: Path, authority: Path) -> Tls:
    """Reads PEM files. A peer's certificate must be the authority's and bear the name of the server that is meant.

    Raises OSError for a file that cannot be read or is none (ssl.SSLError is an OSError).
    """
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.minimum_version = ssl.TLSVersion.TLSv1_3
    server.load_cert_chain(certificate, private_key)
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.minimum_version = ssl.TLSVersion.TLSv1_3
    client.load_verify_locations(authority)
    return Tls(server, client)
