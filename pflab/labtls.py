"""The certificates of a lab as files, one set a server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from node.certificates import server_certificate
from node.keys import derived_seed
from transport.smtp_tls import Tls, load_tls

if TYPE_CHECKING:
    from pathlib import Path

_OWNER_ONLY = 0o600


def tls_of(folder: Path, seed: int, server: str) -> Tls:
    """The TLS of a server of the lab with that seed; its files are (re)written below `folder`."""
    made = server_certificate(derived_seed(seed, "authority"), server)
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{server}.crt", folder / f"{server}.key", folder / "authority.crt"]
    for path, content in zip(paths, (made.certificate, made.private_key, made.authority), strict=True):
        path.touch(mode=_OWNER_ONLY)
        path.write_bytes(content)
    return load_tls(*paths)
