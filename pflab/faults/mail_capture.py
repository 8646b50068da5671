"""The mails of a run as they crossed each hop: as files for `pflab decode` and any mail program, and the newest ones in memory.

A captured mail has the sender's hop line on top. A mail that a fault loses at the receiving server is captured too. An altered
mail is captured as it arrived. A mail that crosses two hops is captured twice.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pflab.errors import LabError
from pflab.faults.fault import MAIL_TYPES
from traces.labtime import SECOND_US, format_instant
from transport.mime.tamper import altered
from transport.protocol.fault_points import AfterSend, BeforeSend, Decision, FaultPoint, QueueRow
from transport.protocol.hop_headers import hop_line

if TYPE_CHECKING:
    from pflab.runs.run_folder import RunFolder

_TYPE_OF_SUBJECT = {subject: name.replace(" ", "-") for name, subject in MAIL_TYPES.items()}
_ANY_OTHER = "mail"
"""The type in the file name of ordinary mail, such as a notice."""

MOST_RECENT: Final = 1000
RECENT_BYTES: Final = 64 * 1024 * 1024
"""How many mails a lab keeps in memory at most, and how many bytes."""

DecideNow = Callable[[FaultPoint], Decision]
"""Decides for one point without waiting, as `FaultPlan.decide` does."""

Keep = Callable[[AfterSend, bytes], None]
"""Keeps a mail that has crossed a hop. Its content has the hop line on top."""


def with_capture(decide: DecideNow, folder: RunFolder | None, *keeps: Keep) -> DecideNow:
    """Return `decide`, with the capture of mails added: by `keeps`, and as files if the run folder keeps mails."""
    if folder is not None and folder.keeps_mails:
        keeps = (*keeps, MailFiles(folder.mails).keep)
    return MailCapture(decide, *keeps).decide if keeps else decide


class MailCapture:
    """Passes each mail that crossed a hop to `keeps`. It does not change decisions."""

    def __init__(self, decide: DecideNow, *keeps: Keep) -> None:
        self._decide = decide
        self._keeps = keeps
        self._altered: dict[QueueRow, tuple[str, ...]] = {}

    def decide(self, point: FaultPoint) -> Decision:
        """Return the decision. Raises LabError if a mail cannot be kept."""
        decision = self._decide(point)
        if isinstance(point, BeforeSend) and decision.alter:
            self._altered[point.row] = decision.alter
        elif isinstance(point, AfterSend):
            # Nodes in other processes send the content only if the lab has asked for it.
            if point.delivered and not point.transmission.is_call and point.transmission.content:
                self._captured(point)
            self._altered.pop(point.row, None)
        return decision

    def _captured(self, point: AfterSend) -> None:
        transmission = point.transmission
        content = altered(transmission.content, self._altered.get(point.row, ()))
        line = hop_line(point.server, transmission.sent_at, transmission.lamport, transmission.priority)
        for keep in self._keeps:
            keep(point, line + content)


class MailFiles:
    """Writes each captured mail to a folder.

    A file has a name such as `2003-10-21T001500Z-A-to-B-content.eml`, with the lab time at which the mail was sent. If
    this name exists, the next is `...-content-2.eml`.
    """

    def __init__(self, mails: Path) -> None:
        self._mails = mails
        self._names: dict[str, int] = {}

    def keep(self, point: AfterSend, content: bytes) -> None:
        """Write the file. Raises LabError if it cannot be written."""
        transmission = point.transmission
        at = format_instant(transmission.sent_at - transmission.sent_at % SECOND_US).replace(":", "")
        type_ = _TYPE_OF_SUBJECT.get(transmission.subject, _ANY_OTHER)
        name = f"{at}-{point.server}-to-{transmission.next_hop.replace(':', '-')}-{type_}"
        count = self._names[name] = self._names.get(name, 0) + 1
        path = self._mails / (f"{name}-{count}.eml" if count > 1 else f"{name}.eml")
        try:
            path.write_bytes(content)
        except OSError as error:
            raise LabError(f"the mail {path} cannot be written: {error.strerror or error}") from error


class RecentMails:
    """Keeps the newest captured mails in memory, so that people can read them: one for each Message-ID, from its last hop.

    most: how many mails.
    most_bytes: how many bytes together; a larger mail is not kept.
    """

    def __init__(self, most: int = MOST_RECENT, most_bytes: int = RECENT_BYTES) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self._bytes = 0
        self._mails: OrderedDict[str, bytes] = OrderedDict()

    def keep(self, point: AfterSend, content: bytes) -> None:
        """Keep the mail, and forget the oldest ones beyond the limits."""
        mail = point.transmission.message_id
        self._bytes -= len(self._mails.pop(mail, b""))
        self._mails[mail] = content
        self._bytes += len(content)
        while len(self._mails) > self._most or self._bytes > self._most_bytes:
            _, forgotten = self._mails.popitem(last=False)
            self._bytes -= len(forgotten)

    def all(self) -> dict[str, bytes]:
        """Return the mails by Message-ID, the oldest first."""
        return dict(self._mails)

    def find(self, mail: str) -> bytes | None:
        """Return a mail by its Message-ID; None if it is not kept."""
        return self._mails.get(mail)
