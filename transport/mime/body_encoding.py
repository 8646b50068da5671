"""The body form of a whole mail on its way: which mails only BDAT carries, and what becomes of them elsewhere.

A bridgehead that must hand an S-TNEF mail to a server without CHUNKING, or over a connector, writes the same TNEF in
base64. The bytes of the TNEF stay as they are, and with them the items and the signature over them.

# spec: ML-4
"""

import re
from typing import Final

from transport.errors import CodecError
from transport.mime.base64_body import LINE_COLUMNS, encoded_lines
from transport.mime.message import HEAD_ENDS, BodyForm
from transport.protocol.hop_headers import header_of

_BINARY_FIELD: Final = re.compile(rb"^content-transfer-encoding:[ \t]*binary\b", re.IGNORECASE | re.MULTILINE)
_S_TNEF_END: Final = HEAD_ENDS[BodyForm.S_TNEF].encode("ascii")
_TNEF_END: Final = HEAD_ENDS[BodyForm.TNEF].encode("ascii")
_PEEK_BYTES: Final = 16 * 1024


def is_binary(content: bytes) -> bool:
    """True if the header says that the body is binary, which DATA does not carry."""
    end = content.find(b"\r\n\r\n", 0, _PEEK_BYTES)
    if end > 0 and content.endswith(_TNEF_END, 0, end + 2):
        return False
    return _BINARY_FIELD.search(header_of(content)) is not None


def far_size(content: bytes) -> int:
    """How long `as_seven_bit(content)` is; the mail's own length where it cannot be written anew."""
    end = content.find(b"\r\n\r\n", 0, _PEEK_BYTES)
    if end < 0 or not content.endswith(_S_TNEF_END, 0, end + 2):
        return len(content)
    encoded = (len(content) - end - 4 + 2) // 3 * 4
    lines = -(-encoded // LINE_COLUMNS)
    return end + 4 - len(_S_TNEF_END) + len(_TNEF_END) + encoded + 2 * lines


def as_seven_bit(content: bytes) -> bytes:
    """A mail with its body in base64 that came as S-TNEF; any other mail that needs no BDAT as it is.

    CodecError for a binary mail of another make: its parts cannot be written anew here.
    """
    if not is_binary(content):
        return content
    end = content.find(b"\r\n\r\n", 0, _PEEK_BYTES)
    if end < 0 or not content.endswith(_S_TNEF_END, 0, end + 2):
        raise CodecError("its binary body is no S-TNEF of ours")
    head = content[: end + 2 - len(_S_TNEF_END)] + _TNEF_END
    return b"\r\n".join([head, *encoded_lines(content[end + 4 :]), b""])
