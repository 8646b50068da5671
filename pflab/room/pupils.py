"""The pupils of a class: who they are, how often each may ask, and who makes room when the class is full.

A pupil who joins gets a secret, which every later request carries. The pupils are found by a digest of it, so the time of a
look-up says nothing about the secrets of others.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

from node.errors import Misuse
from pflab.errors import LabError, NotThere
from pflab.room.broadcast import Queue

MOST_PUPILS: Final = 500
"""The most pupils of a class: more than a lecture hall has, and few enough that a change for all is sent in a moment."""

MOST_LETTERS: Final = 40
"""The longest name, which must fit on a projector (decision)."""

AWAY_S: Final = 60.0
"""Real time after which a pupil without a stream makes room for another, if the class is full: a phone that was locked for a
moment keeps its place."""

BURST: Final = 20
"""How many changes a pupil may send at once: votes that are changed again and again."""

CHANGES_A_SECOND: Final = 2.0
"""How many changes a pupil may send for long. Nobody presses buttons faster for long."""

READS_BURST: Final = 200
"""How many reads a pupil may send at once: a page that shows a lab asks for every server."""

READS_A_SECOND: Final = 20.0
"""How many reads a pupil may send for long: with five hundred pupils that play by the rules there is a processor left."""

MOST_LAB_STREAMS: Final = 4
"""How many streams of labs a pupil may have: a browser shares one among its pages."""

LAB_BYTES: Final = 4 * 1024 * 1024
"""How much a pupil may put into one own lab. Each store of the lab keeps it, and mails on their way have it too, so eight full
labs take some hundred megabytes of the server's memory."""

SECRET_BYTES: Final = 16
"""The random bytes of a pupil's secret and of the trainer's token: nobody guesses 128 bits, so wrong ones are not counted. A
count by address would let one pupil lock out a school behind one address."""

ID_BYTES: Final = 4


class ClassFull(LabError):
    """The class has as many pupils as it can have."""


class TooFast(LabError):
    """A pupil asks more often than the limit."""


class PupilUnknown(NotThere):
    """The class has no such pupil."""


@dataclass(slots=True)
class Allowance:
    """How many requests may be sent: `burst` at once, and `rate` a second for long.

    left: what is left of it at `at_s`.
    """

    burst: int
    rate: float
    at_s: float
    left: float = field(init=False)

    def __post_init__(self) -> None:
        self.left = self.burst

    def spend(self, now_s: float) -> bool:
        """Count a request, and return whether it may be sent."""
        self.left = min(self.burst, self.left + (now_s - self.at_s) * self.rate)
        self.at_s = now_s
        if self.left < 1:
            return False
        self.left -= 1
        return True


@dataclass(slots=True, eq=False)
class Pupil:
    """One pupil.

    digest: of the secret.
    lab: the id of the lab that is the pupil's own, if there is one.
    lab_bytes: how much the pupil has put into this lab.
    step: the last step that was sent to the pupil; None for none.
    seen_s: the real time of the last request.
    stream: what waits to be sent to the pupil's page; None if no page is open.
    lab_streams: how many streams of labs are open.
    """

    id: str
    name: str
    digest: bytes
    seen_s: float
    changes: Allowance
    reads: Allowance
    lab: str | None = None
    lab_bytes: int = 0
    step: int | None = None
    stream: Queue | None = None
    lab_streams: int = 0


class Pupils:
    """The pupils of one class, in the order in which they joined.

    monotonic: returns real time in seconds.
    """

    def __init__(self, monotonic: Callable[[], float], most: int = MOST_PUPILS) -> None:
        self._monotonic = monotonic
        self._most = most
        self._by_digest: dict[bytes, Pupil] = {}

    def __len__(self) -> int:
        return len(self._by_digest)

    def __contains__(self, pupil: object) -> bool:
        """Return whether a pupil has not been removed."""
        return isinstance(pupil, Pupil) and pupil.digest in self._by_digest

    def __iter__(self) -> Iterator[Pupil]:
        return iter(self._by_digest.values())

    def join(self, name: str) -> tuple[Pupil, str]:
        """Add a pupil, and return it with its secret. A name that is taken gets a number.

        Raises Misuse for a name that is empty, too long or has more than one line.
        """
        wanted = " ".join(name.split())
        if not wanted or len(wanted) > MOST_LETTERS or not wanted.isprintable() or len(name.splitlines()) > 1:
            raise Misuse(f"a name has 1 to {MOST_LETTERS} letters in one line; write another")
        now_s = self._monotonic()
        secret = secrets.token_urlsafe(SECRET_BYTES)
        pupil = Pupil(
            secrets.token_hex(ID_BYTES),
            self._free(wanted),
            _digest(secret),
            now_s,
            Allowance(BURST, CHANGES_A_SECOND, now_s),
            Allowance(READS_BURST, READS_A_SECOND, now_s),
        )
        self._by_digest[pupil.digest] = pupil
        return pupil, secret

    def longest_away(self) -> Pupil | None:
        """Return the pupil who makes room for another; None if there is room. Raises ClassFull."""
        if len(self) < self._most:
            return None
        away = [pupil for pupil in self if pupil.stream is None and self._monotonic() - pupil.seen_s >= AWAY_S]
        if not away:
            raise ClassFull(f"the class has {self._most} pupils, which is the limit; ask the trainer to remove some")
        return min(away, key=lambda pupil: pupil.seen_s)

    def with_secret(self, secret: str) -> Pupil | None:
        """Return the pupil with this secret, who is then seen; None if there is none."""
        pupil = self._by_digest.get(_digest(secret))
        if pupil is not None:
            pupil.seen_s = self._monotonic()
        return pupil

    def check_pace(self, pupil: Pupil, *, changes: bool) -> None:
        """Count a request of a pupil. Raises TooFast if it is one too many."""
        if not (pupil.changes if changes else pupil.reads).spend(self._monotonic()):
            raise TooFast("you ask too often; wait a second")

    def remove(self, id_: str) -> Pupil:
        """Remove a pupil and return it. Raises PupilUnknown."""
        return self._by_digest.pop(self.with_id(id_).digest)

    def with_id(self, id_: str) -> Pupil:
        """Return the pupil with this id. Raises PupilUnknown."""
        pupil = next((pupil for pupil in self if pupil.id == id_), None)
        if pupil is None:
            raise PupilUnknown("the class has no pupil with this id; GET /room/pupils lists them")
        return pupil

    def _free(self, name: str) -> str:
        """Return a name, with a number if another pupil has it."""
        taken = {pupil.name for pupil in self}
        number = 2
        free = name
        while free in taken:
            end = f" {number}"
            free = name[: MOST_LETTERS - len(end)] + end
            number += 1
        return free


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()
