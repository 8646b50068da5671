"""The body encoding of a whole mail in transit: binary mails, which only BDAT can carry, and their 7-bit form.

Before a bridgehead sends an S-TNEF mail over a connector, or to a server without CHUNKING, it encodes the TNEF in base64.
The bytes of the TNEF do not change, so the items and the signature over them stay valid.

# spec: ML-4
"""

import re
from typing import Final

from transport.errors import CodecError
from transport.mime.base64_body import LINE_COLUMNS, encoded_lines
from transport.mime.headers import header_of, header_size
from transport.mime.message import HEAD_ENDS, BodyForm

_BINARY_FIELD: Final = re.compile(rb"^content-transfer-encoding:[ \t]*binary\b", re.IGNORECASE | re.MULTILINE)
_S_TNEF_END: Final = HEAD_ENDS[BodyForm.S_TNEF].encode("ascii")
_TNEF_END: Final = HEAD_ENDS[BodyForm.TNEF].encode("ascii")
_OWN_HEADER_BYTES: Final = 16 * 1024  # a mail with a larger header is not encoded again


def is_binary(content: bytes) -> bool:
    """Return whether the header says that the body is binary. DATA cannot carry such a mail."""
    header = header_of(content)
    return not header.endswith(_TNEF_END) and _BINARY_FIELD.search(header) is not None


def far_size(content: bytes, header_bytes: int) -> int:
    """Return the length of `as_seven_bit(content)`, without encoding it; the mail's own length if it cannot be encoded."""
    if not _is_s_tnef(content, header_bytes):
        return len(content)
    encoded = (len(content) - header_bytes - 2 + 2) // 3 * 4
    lines = -(-encoded // LINE_COLUMNS)
    return header_bytes + 2 - len(_S_TNEF_END) + len(_TNEF_END) + encoded + 2 * lines


def as_seven_bit(content: bytes) -> bytes:
    """Return an S-TNEF mail with its body in base64. Return any other mail without a binary body unchanged.

    Raise CodecError for a binary mail of another program: this function cannot encode its parts.
    """
    if not is_binary(content):
        return content
    size = header_size(content)
    if not _is_s_tnef(content, size):
        raise CodecError(
            "the binary body of the mail is not an S-TNEF message of this program, so it cannot be encoded as text"
        )
    head = content[: size - len(_S_TNEF_END)] + _TNEF_END
    return b"\r\n".join([head, *encoded_lines(content[size + 2 :]), b""])


def _is_s_tnef(content: bytes, header_bytes: int) -> bool:
    return (
        header_bytes + 2 <= _OWN_HEADER_BYTES
        and content.endswith(_S_TNEF_END, 0, header_bytes)
        and content.startswith(b"\r\n", header_bytes)
    )
