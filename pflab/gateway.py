"""The address under which a container sees the machine that it runs on: its default gateway."""

from __future__ import annotations

import socket
import struct
from pathlib import Path
from typing import Final

ROUTES: Final = Path("/proc/net/route")

_UP_AND_GATEWAY: Final = 0x3
_EVERYWHERE: Final = "00000000"


def default_gateways(routes: Path = ROUTES) -> frozenset[str]:
    """The IPv4 addresses of the default gateways, as Linux tells them; none where it does not."""
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
