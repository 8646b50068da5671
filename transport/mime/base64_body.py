"""The base64 of mail bodies. Every mail encodes and decodes up to 300 KB, so this uses the fastest codec available.

The fastest is msgspec, which writes bytes in JSON as base64. It is twice as fast as binascii in both directions. It reads only
correct base64 without line ends, so lines of our own length are joined first. Binascii, which is lenient, reads all other
bodies, for example with other line lengths or foreign characters.

(spec: ML-2)
"""

from binascii import a2b_base64
from collections.abc import Iterator
from typing import Final

import msgspec

LINE_COLUMNS: Final = 996
"""Base64 columns in a line: the largest multiple of 4 below the limit of RFC 5321, which is 998."""

_STRIDE: Final = LINE_COLUMNS + 2  # with its CRLF
_ENCODER: Final = msgspec.json.Encoder()
_DECODER: Final = msgspec.json.Decoder(bytes)


def encoded_lines(body: bytes) -> Iterator[memoryview]:
    """Return the base64 of `body` in lines, without line ends."""
    text = memoryview(_ENCODER.encode(body))[1:-1]  # a JSON string without its quotes
    return (text[at : at + LINE_COLUMNS] for at in range(0, len(text), LINE_COLUMNS))


def decoded(content: bytes, start: int, end: int) -> bytes:
    """Return the bytes whose base64 is ``content[start:end]``. Raise `binascii.Error` for malformed base64."""
    text = _joined(content, start, end)
    # A backslash is an escape in JSON; binascii ignores it, like any character that is not base64.
    if text is not None and b"\\" not in text:
        try:
            return _DECODER.decode(text)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            pass
    return a2b_base64(memoryview(content)[start:end])


def _joined(content: bytes, start: int, end: int) -> bytes | None:
    """Return the lines as one JSON string; None if they are not as `encoded_lines` makes them."""
    stop = end - 2 if content.endswith(b"\r\n", start, end) else end
    returns, feeds = content[start + LINE_COLUMNS : stop : _STRIDE], content[start + LINE_COLUMNS + 1 : stop : _STRIDE]
    if returns.count(b"\r") != len(returns) or feeds.count(b"\n") != len(returns):
        return None
    view = memoryview(content)
    lines = [view[at : min(at + LINE_COLUMNS, stop)] for at in range(start, stop, _STRIDE)]
    return b"".join((b'"', *lines, b'"'))
