"""The chunks of one mail by BDAT (RFC 3030): what a command says, and what a sequence of them comes to.

The answer to a chunk is given when all its bytes have come, whatever is wrong with it: a sender that has begun a chunk
sends it whole. After one that was refused every further chunk of the mail is refused, until RSET or a new EHLO.

# spec: ML-4, ML-7
"""

import re
from dataclasses import dataclass
from typing import Final

from transport.envelope import RefusalError
from transport.smtp.data import CRLF, check_lines
from transport.smtp.limits import NoRoom

CHUNK_LIMIT: Final = 10_000
"""Chunks of one mail (decision): a chunk a line is far from any sender's habit."""

SKIP_FACTOR: Final = 2
"""A chunk that is larger than this many mails at the size limit is not even read to its end: the connection goes."""

_COMMAND: Final = re.compile(r"([0-9]{1,18})(?: +(LAST))?", re.IGNORECASE)
_OUT_OF_ORDER: Final = "5.5.1 an earlier chunk was refused: RSET first"


@dataclass(frozen=True, slots=True)
class Chunk:
    """What a BDAT command announces."""

    size: int
    last: bool


def read_command(argument: str | None) -> Chunk | None:
    """The chunk that `BDAT <argument>` announces; None for no BDAT command: nobody knows how many bytes follow it."""
    match = _COMMAND.fullmatch(argument.strip()) if argument else None
    return None if match is None else Chunk(int(match[1]), match[2] is not None)


class Chunks:
    """Gathers the chunks of one mail of at most `limit_bytes`.

    `announced` before the bytes of a chunk are read (they are thrown away if it says so), `came` when they are here.
    """

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._blocks: list[bytes] = []
        self._size = 0
        self._count = 0
        self._refusal: RefusalError | None = None
        self._told = False

    def announced(self, chunk: Chunk) -> RefusalError | None:
        """Why the chunk about to come is refused, None if it is not."""
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
        """Nothing more of this mail is taken."""
        self._refusal = refusal
        self._blocks.clear()

    def overflowed(self) -> RefusalError:
        """Why a chunk is refused of which not all could be kept."""
        self.refuse(NoRoom())
        self._told = True
        return NoRoom()

    def came(self, blocks: list[bytes]) -> None:
        """The bytes of a chunk that was not refused."""
        self._blocks += blocks
        self._size += sum(map(len, blocks))

    @property
    def size(self) -> int:
        """Bytes so far."""
        return self._size

    def content(self, *, binary: bool) -> bytes:
        """The mail. RefusalError (550) for line ends that are not allowed: anywhere, or in the header alone of a mail
        that was announced as binary.
        """
        whole = self._blocks[0] if len(self._blocks) == 1 else b"".join(self._blocks)
        self._blocks = []
        if binary:
            end = whole.find(b"\r\n\r\n")
            text = whole[: end + 2] if end >= 0 else whole
        else:
            text = whole
        check_lines(text if text.endswith(CRLF) else text + CRLF)
        return whole
