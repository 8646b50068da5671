"""The mails of a run as files: each mail that crossed a hop, for `pflab decode` and for any mail program."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

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

DecideNow = Callable[[FaultPoint], Decision]
"""Decides for one point without waiting, as `FaultPlan.decide` does."""


def with_capture(decide: DecideNow, folder: RunFolder | None) -> DecideNow:
    """Return `decide`, with the capture of mails added if the run folder keeps mails."""
    return MailCapture(decide, folder.mails).decide if folder is not None and folder.keeps_mails else decide


class MailCapture:
    """Writes each mail that crossed a hop to the folder `mails`. It does not change decisions.

    A file has a name such as `2003-10-21T001500Z-A-to-B-content.eml`, with the lab time at which the mail was sent. If
    this name exists, the next is `...-content-2.eml`. The file has the mail as it crossed the hop, with the sender's hop
    line on top. A mail that a fault loses at the receiving server has a file too. An altered mail is written as it
    arrived. A mail that crosses two hops is two files.
    """

    def __init__(self, decide: DecideNow, mails: Path) -> None:
        self._decide = decide
        self._mails = mails
        self._names: dict[str, int] = {}
        self._altered: set[QueueRow] = set()

    def decide(self, point: FaultPoint) -> Decision:
        """Return the decision. Raises LabError if a file cannot be written."""
        decision = self._decide(point)
        if isinstance(point, BeforeSend) and decision.alter:
            self._altered.add(point.row)
        elif isinstance(point, AfterSend):
            if point.delivered and not point.transmission.is_call:
                self._write(point)
            self._altered.discard(point.row)
        return decision

    def _write(self, point: AfterSend) -> None:
        sent = point.transmission
        content = altered(sent.content) if point.row in self._altered else sent.content
        at = format_instant(sent.sent_at - sent.sent_at % SECOND_US).replace(":", "")
        type_ = _TYPE_OF_SUBJECT.get(sent.subject, _ANY_OTHER)
        name = f"{at}-{point.server}-to-{sent.next_hop.replace(':', '-')}-{type_}"
        count = self._names[name] = self._names.get(name, 0) + 1
        path = self._mails / (f"{name}-{count}.eml" if count > 1 else f"{name}.eml")
        try:
            path.write_bytes(hop_line(point.server, sent.sent_at, sent.lamport, sent.priority) + content)
        except OSError as error:
            raise LabError(f"the mail {path} cannot be written: {error.strerror or error}") from error
