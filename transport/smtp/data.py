"""The bytes of an SMTP connection: command lines, the content of DATA, and the chunks of BDAT.

==================  =========================================================================================
`DataReader`        collects a content up to CRLF . CRLF and removes dot stuffing
`stuff`             the opposite, for sending
`check_lines`       refuses line ends that are not allowed
`CommandReader`     the stream of a connection: command lines that end in CRLF, and chunks of a known size
==================  =========================================================================================

A CR or LF alone is refused and not repaired. If two servers have different rules for the end of a line, one mail can hide
another mail ("SMTP smuggling").

All functions work on whole blocks with methods of `bytes`. A search for one byte is the fastest, so it is used where possible.
A loop over lines would make a mail of 300 KB slow. The bytes of a chunk bypass the buffer of the stream: the blocks from the
socket are joined once, which makes BDAT several times as fast as DATA.

# spec: ML-7
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

_KEPT_OF_DISCARDED: Final = len(END_OF_DATA) + 1
"""How many last bytes of a discarded content are kept, to find its end and the byte before the end."""

MESSAGE_LIMIT_BYTES: Final = 64 * 1024 * 1024
"""Largest content that a server accepts (decision: twice aiosmtpd's default; replication mails are far smaller)."""

LINE_LIMIT_BYTES: Final = 64 * 1024
"""Longest line inside a content, line end included (decision; RFC 5321 4.5.3.1.6 asks for 1000 at least)."""

_DOT_TRIES: Final = 64
"""How many dots are examined one by one before the general search begins. An encoded content has dots only in its header."""

_FEW_LINES: Final = 4096
"""Largest number of lines that are checked one by one. Our mails of 300 KB have about 400 lines."""

SOCKET_READ_BYTES: Final = 64 * 1024
"""Largest read from a socket; see `read_in_small_blocks`."""


def read_in_small_blocks(transport: asyncio.BaseTransport) -> None:
    """Make asyncio's transport read smaller blocks from its socket.

    By default it reads up to 256 KB, and the C library asks the system for this memory each time. That takes four times as long
    as reading a command or a reply. Other transports are not changed.
    """
    if hasattr(transport, "max_size"):
        transport.max_size = SOCKET_READ_BYTES


class DataReader:
    """Collects one content of at most `limit_bytes` from the blocks of a socket.

    Call `feed` until it returns True, then `content()`. After this, `rest` has the bytes after the end. A content that is too
    large is read to its end and discarded.

    doubtful: the end was CR CRLF . CRLF. Another server may have read these bytes, and the bytes after them, as content of the
    mail.
    """

    def __init__(self, limit_bytes: int = MESSAGE_LIMIT_BYTES) -> None:
        self._limit_bytes = limit_bytes
        self._buffer = bytearray()
        self._too_large = False
        self._refusal: RefusalError | None = None
        self._end = -1
        self.rest = b""
        self.doubtful = False

    def feed(self, chunk: bytes) -> bool:
        """Add the next bytes; return True if the content has ended."""
        buffer = self._buffer
        from_index = max(0, len(buffer) - len(END_OF_DATA) + 1)
        buffer += chunk
        if not self._too_large and buffer.startswith(b".\r\n"):
            self._end, end_length = 0, 3
        else:
            end_at = _find_dotted(buffer, END_OF_DATA, from_index)
            self._end, end_length = (end_at + 2, 3) if end_at >= 0 else (-1, 0)
        if self._end >= 0:
            self.rest = bytes(buffer[self._end + end_length :])
            self.doubtful = buffer[max(0, self._end - 3) : self._end] == b"\r\r\n"
            self._too_large = self._too_large or self._end > self._limit_bytes
            return True
        if len(buffer) > self._limit_bytes + len(END_OF_DATA):
            self._too_large = True
            del buffer[:-_KEPT_OF_DISCARDED]
        return False

    @property
    def keeps(self) -> bool:
        """True if further bytes are kept, and not discarded."""
        return not self._too_large

    def refuse(self, refusal: RefusalError) -> None:
        """Discard this content, and refuse it at its end."""
        self._refusal = refusal
        self._too_large = True
        del self._buffer[:-_KEPT_OF_DISCARDED]

    def content(self) -> bytes:
        """Return the content without dot stuffing.

        Raise RefusalError if it is too large (552), or has line ends or lines that are not allowed (550).
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
    """Raise RefusalError (550) for a lone CR or LF, or a line of more than `LINE_LIMIT_BYTES`.

    `raw` is empty or ends with CRLF.
    """
    if _few_good_lines(raw):
        return
    ends = raw.count(CRLF)
    if raw.count(b"\r") != ends or raw.count(b"\n") != ends:
        raise RefusalError(550, "5.6.0 a lone CR or LF in the message: lines must end in CRLF")
    # Jump to the last line end within the limit. So no Python object is made for each line.
    at, size = 0, len(raw)
    while at < size:
        end = raw.rfind(b"\n", at, at + LINE_LIMIT_BYTES)
        if end < 0:
            raise RefusalError(550, f"5.6.0 a line of more than {LINE_LIMIT_BYTES} bytes in the message")
        at = end + 1


def _few_good_lines(raw: bytes) -> bool:
    """Return True if `raw` has few lines and all are allowed. Counting pairs of CR and LF takes four times as long."""
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
    """Return a content without dot stuffing: the first dot of each line is removed (RFC 5321 4.5.2)."""
    if raw.startswith(b"."):
        raw = raw[1:]
    return raw.replace(DOT_LINE, CRLF) if _find_dotted(raw, DOT_LINE) >= 0 else raw


def stuff(head: bytes, content: bytes) -> bytes:
    """Return the bytes to send after 354: `head`, `content` with dots doubled at line starts, and the end of data.

    `head` is header lines with their line ends, or nothing. A content without a line end at its end gets one.
    """
    start = b"." if content.startswith(b".") else b""
    end = END_OF_DATA if content and not content.endswith(CRLF) else b".\r\n"
    if _find_dotted(content, DOT_LINE) >= 0:
        content = content.replace(DOT_LINE, DOT_LINE + b".")
    return b"".join((head, start, content, end))


def _find_dotted(data: bytes | bytearray, pattern: bytes, start: int = 0) -> int:
    """Return `data.find(pattern, start)`; this is fast if the pattern has a dot at index 2 and the data has few dots."""
    dot = start + 1
    for _ in range(_DOT_TRIES):
        dot = data.find(b".", dot + 1)
        if dot < 0 or data.startswith(pattern, dot - 2):
            return dot - 2 if dot >= 0 else -1
    return data.find(pattern, dot - 1)


_CONTROL: Final = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")


class CommandReader(asyncio.StreamReader):
    """A stream of command lines that end in CRLF, and of chunks.

    A line is read as an empty line if it has a lone CR or LF, or a control character, which a log could show on a terminal. The
    class uses two names of asyncio that are not public: `_buffer`, `_maybe_resume_transport`.
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
        """Return the next line; `separator` is ignored."""
        line = await super().readuntil(CRLF)
        # aiosmtpd answers "500 bad syntax" to an empty line.
        return CRLF if _CONTROL.search(line, 0, len(line) - 2) else line

    @property
    def has_line(self) -> bool:
        """True if the next command of a group has already arrived (RFC 2920)."""
        return CRLF in self._buffer

    def has(self, size: int) -> bool:
        """Return whether `size` bytes have arrived."""
        return len(self._buffer) >= size

    def forget(self) -> None:
        """Drop the bytes that have arrived but were not read."""
        self._buffer.clear()

    def unread(self, data: bytes) -> None:
        """Put back bytes that belong to the next read."""
        self._buffer[:0] = data

    async def take(self, size: int, keeps: Callable[[int], bool]) -> list[bytes]:
        """Return the next `size` bytes, in blocks. Blocks for which `keeps` returns False are discarded.

        The task is cancelled if the connection ends first.
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
        """Add bytes from the socket to the chunk that is being read, and the remaining bytes to the buffer."""
        if self._left:
            part = data if len(data) <= self._left else data[: self._left]
            if self._keeps(len(part)):
                self._blocks.append(bytes(part))
            self._left -= len(part)
            if not self._left and self._whole is not None and not self._whole.done():
                self._whole.set_result(None)
            data = data[len(part) :]
            if not data:
                return
        super().feed_data(data)


def _none(_: int) -> bool:
    return False
