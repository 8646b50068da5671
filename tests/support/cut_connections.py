"""A proxy to a lab that cuts each connection after a number of bytes of the answers."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit


@contextmanager
def cut_line(url: str, bytes_each: int) -> Iterator[tuple[str, list[int]]]:
    """Run a proxy that closes each connection after this many bytes of answers; give its URL and a list with one entry for
    each connection."""
    target = urlsplit(url)
    made: list[int] = []
    listener = socket.create_server(("127.0.0.1", 0))

    def accept() -> None:
        with suppress(OSError):
            while True:
                asking, _ = listener.accept()
                made.append(1)
                threading.Thread(target=carry, args=(asking,), daemon=True).start()

    def carry(asking: socket.socket) -> None:
        with asking, socket.create_connection((target.hostname, target.port)) as lab:
            threading.Thread(target=pump, args=(asking, lab), daemon=True).start()
            left = bytes_each
            with suppress(OSError):
                while left and (some := lab.recv(min(left, 4096))):
                    asking.sendall(some)
                    left -= len(some)
                asking.shutdown(socket.SHUT_RDWR)

    def pump(asking: socket.socket, lab: socket.socket) -> None:
        with suppress(OSError):
            while some := asking.recv(65536):
                lab.sendall(some.replace(f"127.0.0.1:{listener.getsockname()[1]}".encode(), target.netloc.encode()))
            lab.shutdown(socket.SHUT_WR)

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", made
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()
