"""The base64 of mail bodies: 300 KB each way for every mail, so at the speed of the fastest codec at hand.

That is msgspec's, which knows base64 as what JSON has for bytes: twice as fast as binascii either way. It reads only
sound base64 without line ends, so lines of our own length are joined first; whatever else comes, wrapped anew or with
strange characters in it, is binascii's to read, as lenient as ever.

(spec: ML-2)
"""

from binascii import a2b_base64
from collections.abc import Iterator
from typing import Final

import msgspec

LINE_COLUMNS: Final = 996
"""Base64 columns in a line: the most that is a multiple of 4 and stays within RFC 5321's 998."""

_STRIDE: Final = LINE_COLUMNS + 2  # with its CRLF
_ENCODER: Final = msgspec.json.Encoder()
_DECODER: Final = msgspec.json.Decoder(bytes)


def encoded_lines(body: bytes) -> Iterator[memoryview]:
    """The base64 of `body` in lines, without their line ends."""
    text = memoryview(_ENCODER.encode(body))[1:-1]  # a JSON string: the quotes go
    return (text[at : at + LINE_COLUMNS] for at in range(0, len(text), LINE_COLUMNS))


def decoded(content: bytes, start: int, end: int) -> bytes:
    """The bytes whose base64 is ``content[start:end]``. Raises `binascii.Error` for what is none."""
    text = _joined(content, start, end)
    # A backslash would mean something in JSON; binascii passes it over, as any character that base64 does not know.
    if text is not None and b"\\" not in text:
        try:
            return _DECODER.decode(text)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            pass
    return a2b_base64(memoryview(content)[start:end])


def _joined(content: bytes, start: int, end: int) -> bytes | None:
    """The lines as one JSON string, if they are as `encoded_lines` makes them."""
    stop = end - 2 if content.endswith(b"\r\n", start, end) else end
    returns, feeds = content[start + LINE_COLUMNS : stop : _STRIDE], content[start + LINE_COLUMNS + 1 : stop : _STRIDE]
    if returns.count(b"\r") != len(returns) or feeds.count(b"\n") != len(returns):
        return None
    view = memoryview(content)
    lines = [view[at : min(at + LINE_COLUMNS, stop)] for at in range(start, stop, _STRIDE)]
    return b"".join((b'"', *lines, b'"'))
