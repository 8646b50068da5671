"""The secret of a lab's stores and the tokens of its APIs, and the addresses of the default gateways.

The secret and the tokens are made when the lab first starts, each in a file that only its owner can read. A container sees the
machine that it runs on as its default gateway.
"""

from __future__ import annotations

import secrets
import socket
import struct
from pathlib import Path
from typing import Final

from node.host.whole_files import write_whole

SECRET: Final = "secret"
"""The file from which the stores' keys are derived."""

TOKEN: Final = "token"
"""The file with the token that requests must carry."""

USERS_TOKEN: Final = "users-token"
"""The file with the token that allows only what users do."""  # spec: AD-1

_OWNER_READS: Final = 0o400
_BYTES: Final = 32


def made_or_read(folder: Path) -> tuple[str, str, str]:
    """Return the secret, the token and the token for users; make those that do not exist.

    Raises OSError if a file cannot be written or read.
    """
    folder.mkdir(parents=True, exist_ok=True)
    names = (SECRET, TOKEN, USERS_TOKEN)
    for name in names:
        path = folder / name
        if path.exists():
            continue
        write_whole(path, f"{secrets.token_hex(_BYTES)}\n".encode(), mode=_OWNER_READS)
    secret, token, users_token = ((folder / name).read_text("ascii").strip() for name in names)
    return secret, token, users_token


ROUTES: Final = Path("/proc/net/route")

_UP_AND_GATEWAY: Final = 0x3
_EVERYWHERE: Final = "00000000"


def default_gateways(routes: Path = ROUTES) -> frozenset[str]:
    """Return the IPv4 addresses of the default gateways from Linux's routing table; none on other systems."""
    try:
        lines = routes.read_text("ascii").splitlines()[1:]
    except OSError:
        return frozenset()
    rows = [line.split() for line in lines]
    return frozenset(
        socket.inet_ntoa(struct.pack("=L", int(row[2], 16)))
        for row in rows
        if row[1] == _EVERYWHERE and int(row[3], 16) & _UP_AND_GATEWAY == _UP_AND_GATEWAY
    )
