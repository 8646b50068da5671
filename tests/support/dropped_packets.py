"""An address at which connections are neither accepted nor refused, as behind a firewall that drops packets."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

Address = tuple[str, int]


@contextmanager
def packets_dropped() -> Iterator[Address]:
    """Yield an address on loopback that drops each request for a connection.

    Linux drops SYN packets while the queue of connections that a listener has not accepted is full. With a backlog of 0 the
    queue is full after the first connection.
    """
    with ExitStack() as stack:
        listening = stack.enter_context(socket.socket())
        listening.bind(("127.0.0.1", 0))
        listening.listen(0)
        stack.enter_context(socket.create_connection(listening.getsockname()))
        host, port = listening.getsockname()
        yield host, port
