"""The stream from which a session reads: command lines that end in CRLF, and chunks of a size that is said beforehand.

A chunk goes past the stream's buffer: the blocks that the socket gave are the blocks that are joined in the end, which
is what makes BDAT several times as fast as DATA.
"""

import asyncio
import re
from collections.abc import Callable
from typing import Any, Final

from transport.smtp_data import CRLF

_CONTROL: Final = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")


class CommandReader(asyncio.StreamReader):
    """A stream of command lines that end in CRLF; a line with a lone CR or LF inside, or with another control character,
    which logs would hand on to a terminal, comes out as an empty one.

    Leans on names of asyncio's that are not public: `_buffer`, `_maybe_resume_transport`.
    """

    _buffer: bytearray
    _maybe_resume_transport: Any

    def __init__(self, *, limit: int, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(limit=limit, loop=loop)
        self._loop_of_chunks = loop
        self._blocks: list[bytes] = []
        self._left = 0
        self._keeps: Callable[[int], bool] = _none
        self._whole: asyncio.Future[None] | None = None

    async def readuntil(self, separator: Any = b"\n") -> bytes:
        """The next line, whatever `separator` says."""
        line = await super().readuntil(CRLF)
        # aiosmtpd answers "500 bad syntax" to an empty line.
        return CRLF if _CONTROL.search(line, 0, len(line) - 2) else line

    @property
    def has_line(self) -> bool:
        """True when the next command has come already, as in a group (RFC 2920)."""
        return CRLF in self._buffer

    def has(self, size: int) -> bool:
        """True when so many bytes have come that were not read."""
        return len(self._buffer) >= size

    def forget(self) -> None:
        """Drops what has come and was not read."""
        self._buffer.clear()

    def unread(self, rest: bytes) -> None:
        """Puts back what was read too far."""
        self._buffer[:0] = rest

    async def take(self, size: int, keeps: Callable[[int], bool]) -> list[bytes]:
        """The next `size` bytes, in blocks; `keeps` is asked about each as it comes, and those for which it says no are
        thrown away. Cancelled when the connection ends before.
        """
        first = bytes(self._buffer[:size])
        del self._buffer[: len(first)]
        self._maybe_resume_transport()
        blocks = [first] if first and keeps(len(first)) else []
        self._left = size - len(first)
        if self._left:
            self._blocks, self._keeps = blocks, keeps
            self._whole = self._loop_of_chunks.create_future()
            try:
                await self._whole
            finally:
                self._left, self._blocks, self._keeps, self._whole = 0, [], _none, None
        return blocks

    def feed_data(self, data: Any) -> None:
        """What the socket gives: a chunk's bytes to the chunk, the others to the buffer."""
        if self._left:
            taken = data if len(data) <= self._left else data[: self._left]
            if self._keeps(len(taken)):
                self._blocks.append(bytes(taken))
            self._left -= len(taken)
            if not self._left and self._whole is not None and not self._whole.done():
                self._whole.set_result(None)
            data = data[len(taken) :]
            if not data:
                return
        super().feed_data(data)


def _none(_: int) -> bool:
    return False
