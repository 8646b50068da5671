"""The TLS certificate of a server of the lab, as files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from node.codec.signing import derived_seed
from node.host.whole_files import write_whole
from transport.smtp.tls import Tls, load_tls

if TYPE_CHECKING:
    from pathlib import Path

_OWNER_ONLY: Final = 0o600


def tls_of(folder: Path, secret: int | str, server: str) -> Tls:
    """Write the certificate and keys of a server below `folder` and load them. `secret` is the lab's secret or its seed.

    All servers write the certificate of the authority, and may do so at once.
    """
    from node.codec.certificates import server_certificate  # noqa: PLC0415 - few labs use TLS, and X.509 is slow to import

    certificate = server_certificate(derived_seed(secret, "authority"), server)
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{server}.crt", folder / f"{server}.key", folder / "authority.crt"]
    for path, content in zip(
        paths, (certificate.certificate, certificate.private_key, certificate.authority), strict=True
    ):
        write_whole(path, content, mode=_OWNER_ONLY)
    return load_tls(*paths)
