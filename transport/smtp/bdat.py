"""The chunks of one mail by BDAT (RFC 3030): the command, and the mail that the chunks form.

The reply to a chunk is sent after all its bytes have arrived, even if the chunk is wrong, because a sender always sends the
whole chunk. After a refused chunk every further chunk of the mail is refused, until RSET or EHLO.

# spec: ML-4, ML-7
"""

import re
from dataclasses import dataclass
from typing import Final

from transport.envelope import RefusalError
from transport.smtp.data import CRLF, check_lines
from transport.smtp.limits import NoRoom

CHUNK_LIMIT: Final = 10_000
"""Largest number of chunks of one mail (decision). No sender makes a chunk of each line."""

SKIP_FACTOR: Final = 2
"""A chunk larger than this factor times the size limit of mails is not read, and the connection is closed."""

_COMMAND: Final = re.compile(r"([0-9]{1,18})(?: +(LAST))?", re.IGNORECASE)
_OUT_OF_ORDER: Final = "5.5.1 an earlier chunk was refused; send RSET first"


@dataclass(frozen=True, slots=True)
class Chunk:
    """The size of the chunk that a BDAT command announces, and whether it is the last."""

    size: int
    last: bool


def read_command(argument: str | None) -> Chunk | None:
    """Return the chunk that `BDAT <argument>` announces; None for a malformed command."""
    match = _COMMAND.fullmatch(argument.strip()) if argument else None
    return None if match is None else Chunk(int(match[1]), match[2] is not None)


class Chunks:
    """Collects the chunks of one mail of at most `limit_bytes`.

    Call `announced` before the bytes of a chunk are read, and `add` with the bytes unless the chunk was refused.
    """

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._blocks: list[bytes] = []
        self._size = 0
        self._count = 0
        self._refusal: RefusalError | None = None
        self._told = False

    def announced(self, chunk: Chunk) -> RefusalError | None:
        """Return why the next chunk is refused; None if it is accepted."""
        if self._told:
            return RefusalError(503, _OUT_OF_ORDER)
        self._count += 1
        if self._refusal is not None:
            pass
        elif self._size + chunk.size > self._limit_bytes:
            self.refuse(RefusalError(552, f"5.3.4 message larger than {self._limit_bytes} bytes"))
        elif self._count > CHUNK_LIMIT:
            self.refuse(RefusalError(552, f"5.5.2 more than {CHUNK_LIMIT} chunks in one mail"))
        self._told = self._refusal is not None
        return self._refusal

    def refuse(self, refusal: RefusalError) -> None:
        """Refuse the rest of this mail."""
        self._refusal = refusal
        self._blocks.clear()

    def overflowed(self) -> RefusalError:
        """Refuse a chunk for which there was not enough room, and return the refusal."""
        self.refuse(NoRoom())
        self._told = True
        return NoRoom()

    def add(self, blocks: list[bytes]) -> None:
        """Add the bytes of a chunk."""
        self._blocks += blocks
        self._size += sum(map(len, blocks))

    def content(self, *, binary: bool) -> bytes:
        """Return the mail. Raise RefusalError (550) for a line end that is not allowed.

        In a mail that was announced as binary, only the line ends of the header are checked.
        """
        content = self._blocks[0] if len(self._blocks) == 1 else b"".join(self._blocks)
        self._blocks = []
        if binary:
            end = content.find(b"\r\n\r\n")
            text = content[: end + 2] if end >= 0 else content
        else:
            text = content
        check_lines(text if text.endswith(CRLF) else text + CRLF)
        return content
