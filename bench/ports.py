"""Ports for servers that are started later, or that are stopped and started again.

The system gives ports of a range of its own to whoever asks for any free one, thus also between a probe of a port and its use.
So these ports are below that range.
"""

from __future__ import annotations

import random
import socket
from typing import Final

_PORTS: Final = range(10_240, 32_000)
"""Below the ports that Linux (32768) and macOS (49152) choose themselves."""

_ATTEMPTS: Final = 1000


def free_port(count: int = 1) -> int:
    """Return a port of the loopback at which nothing listens, and at the `count` - 1 ports after it neither."""
    chosen = random.SystemRandom()  # tests fix the seed of the other generator
    for _ in range(_ATTEMPTS):
        first = chosen.choice(_PORTS[: -count + 1 or None])
        if all(_is_free(port) for port in range(first, first + count)):
            return first
    raise AssertionError("no port is free")


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
