"""The content of an SMTP DATA command as bytes: dot stuffing, its end, and what may not be inside.

Everything is done on whole blocks by methods of `bytes`, and where it can be by those that look for a
single byte, which run at the speed of memory; a loop over lines is what makes a mail of 300 KB slow. The
one end of a content is CRLF . CRLF. A CR or LF that stands alone is refused rather than repaired: servers
that disagree on what ends a line are how mail is smuggled.

# spec: ML-7

The stream from which a session reads: command lines that end in CRLF, and chunks of a size that is said beforehand.

A chunk goes past the stream's buffer: the blocks that the socket gave are the blocks that are joined in the end, which
is what makes BDAT several times as fast as DATA.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import Any, Final

from transport.envelope import RefusalError

CRLF: Final = b"\r\n"
DOT_LINE: Final = b"\r\n."
END_OF_DATA: Final = b"\r\n.\r\n"

MESSAGE_LIMIT_BYTES: Final = 64 * 1024 * 1024
"""Largest content that a server takes (decision: twice aiosmtpd's default; replication mails stay far below
it).
"""

LINE_LIMIT_BYTES: Final = 64 * 1024
"""Longest line inside a content, line end included (decision; RFC 5321 4.5.3.1.6 asks for 1000 at least)."""


_DOT_TRIES: Final = 64
"""So many dots are looked at one by one before the general search takes over; encoded content has dots in
its header only.
"""

_FEW_LINES: Final = 4096
"""Up to so many lines a content is checked line by line; ours of 300 KB have some 400."""

SOCKET_READ_BYTES: Final = 64 * 1024
"""What one read from a socket may bring; see `read_in_small_blocks`."""


def read_in_small_blocks(transport: asyncio.BaseTransport) -> None:
    """Makes asyncio's transport ask its socket for less at a time.

    It asks for 256 KB, which the C library fetches from the system anew each time: four times the cost of reading
    a command or an answer. A transport of another make takes no harm.
    """
    if hasattr(transport, "max_size"):
        transport.max_size = SOCKET_READ_BYTES


class DataReader:
    """Gathers one content of at most `limit_bytes` from the chunks that a socket gives.

    `feed` until it says True, then `content()`; `rest` is what came after the end. What is too large is
    read to its end all the same, and thrown away while it comes.
    """

    def __init__(self, limit_bytes: int = MESSAGE_LIMIT_BYTES) -> None:
        self._limit_bytes = limit_bytes
        self._buffer = bytearray()
        self._too_large = False
        self._refusal: RefusalError | None = None
        self._end = -1
        self.rest = b""

    def feed(self, chunk: bytes) -> bool:
        """Takes the next bytes; True when the end of the content is among them."""
        buffer = self._buffer
        from_index = max(0, len(buffer) - len(END_OF_DATA) + 1)
        buffer += chunk
        if not self._too_large and buffer.startswith(b".\r\n"):
            self._end, end_length = 0, 3
        else:
            found = _find_dotted(buffer, END_OF_DATA, from_index)
            self._end, end_length = (found + 2, 3) if found >= 0 else (-1, 0)
        if self._end >= 0:
            self.rest = bytes(buffer[self._end + end_length :])
            self._too_large = self._too_large or self._end > self._limit_bytes
            return True
        if len(buffer) > self._limit_bytes + len(END_OF_DATA):
            self._too_large = True
            del buffer[: -len(END_OF_DATA)]
        return False

    @property
    def keeps(self) -> bool:
        """False once what comes is thrown away."""
        return not self._too_large

    def refuse(self, refusal: RefusalError) -> None:
        """Throws away what has come and will come of this content."""
        self._refusal = refusal
        self._too_large = True
        del self._buffer[: -len(END_OF_DATA)]

    def content(self) -> bytes:
        """The content with its dots as they were. Raises RefusalError: too large (552), or with line ends
        or lines that are not allowed (550).
        """
        assert self._end >= 0, "the content has not ended"
        if self._refusal is not None:
            raise self._refusal
        if self._too_large:
            raise RefusalError(552, f"5.3.4 message larger than {self._limit_bytes} bytes")
        del self._buffer[self._end :]
        raw = bytes(self._buffer)
        self._buffer.clear()
        check_lines(raw)
        return unstuff(raw)


def check_lines(raw: bytes) -> None:
    """RefusalError (550) for a lone CR or LF, or a line of more than `LINE_LIMIT_BYTES`; `raw` is empty or
    ends with CRLF.
    """
    if _few_good_lines(raw):
        return
    ends = raw.count(CRLF)
    if raw.count(b"\r") != ends or raw.count(b"\n") != ends:
        raise RefusalError(550, "5.6.0 a lone CR or LF in the message: lines must end in CRLF")
    # From line end to the last line end within the limit: no object for each line, however many there are.
    at, size = 0, len(raw)
    while at < size:
        end = raw.rfind(b"\n", at, at + LINE_LIMIT_BYTES)
        if end < 0:
            raise RefusalError(550, f"5.6.0 a line of more than {LINE_LIMIT_BYTES} bytes in the message")
        at = end + 1


def _few_good_lines(raw: bytes) -> bool:
    """True if few lines are in `raw` and all are good: from each CR to its LF, by look-ups of one byte, which takes a
    quarter of the time that counting pairs does.
    """
    at, size = 0, len(raw)
    for _ in range(_FEW_LINES):
        if at == size:
            return True
        end = raw.find(b"\n", at, at + LINE_LIMIT_BYTES)
        if end <= at or raw.find(b"\r", at, end) != end - 1:
            return False
        at = end + 1
    return False


def unstuff(raw: bytes) -> bytes:
    """Undoes dot stuffing: the first dot of a line goes (RFC 5321 4.5.2)."""
    if raw.startswith(b"."):
        raw = raw[1:]
    return raw.replace(DOT_LINE, CRLF) if _find_dotted(raw, DOT_LINE) >= 0 else raw


def stuff(head: bytes, content: bytes) -> bytes:
    """The bytes to send after 354 for `head` (header lines of ours with their line ends, or nothing) and
    `content` below it: dots doubled at line starts, and the end of data. A content that does not end with a
    line end gets one.
    """
    start = b"." if content.startswith(b".") else b""
    end = END_OF_DATA if content and not content.endswith(CRLF) else b".\r\n"
    if _find_dotted(content, DOT_LINE) >= 0:
        content = content.replace(DOT_LINE, DOT_LINE + b".")
    return b"".join((head, start, content, end))


def _find_dotted(data: bytes | bytearray, pattern: bytes, start: int = 0) -> int:
    """What `data.find(pattern, start)` gives, for a pattern with a dot at index 2 in data with few dots."""
    dot = start + 1
    for _ in range(_DOT_TRIES):
        dot = data.find(b".", dot + 1)
        if dot < 0 or data.startswith(pattern, dot - 2):
            return dot - 2 if dot >= 0 else -1
    return data.find(pattern, dot - 1)


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
