"""The mails of a run as files: each that crossed a hop, for `pflab decode` and for any mail program.

Both drivers ask one gate before a mail leaves and tell it afterwards; keeping stands around the fault plan there and
changes nothing of what it says.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from pflab.errors import LabError
from pflab.faults.fault import MAIL_TYPES, Decision, Sending
from traces.labtime import SECOND_US, format_instant
from transport.mime.tamper import altered
from transport.protocol.hop_headers import hop_line

if TYPE_CHECKING:
    from pflab.runs.run_folder import RunFolder
    from traces.labtime import LabTime
    from transport.envelope import Transmission
    from transport.protocol.fault_points import Verb, VerbFault

_TYPE_OF_SUBJECT = {subject: name.replace(" ", "-") for name, subject in MAIL_TYPES.items()}
_ANY_OTHER = "mail"
"""What a file of ordinary mail, such as a notice, is called."""


class HopGate(Protocol):
    """Asked before each transmission, told after it; the fault plan is one."""

    def before_send(self, server: str, transmission: Transmission, now: LabTime) -> Decision: ...

    def after_send(self, server: str, transmission: Transmission, delivered: bool) -> None: ...

    def at_verb(self, from_: str, to: str, verb: Verb, now: LabTime) -> VerbFault | None: ...


def gate_of(faults: HopGate, folder: RunFolder | None) -> HopGate:
    """The gate of a lab: its fault plan, with the keeping of mail if the run folder wants it."""
    return Keeping(faults, folder.mails) if folder is not None and folder.keeps_mails else faults


class Keeping:
    """Writes what crossed a hop into `mails`: `2003-10-21T001500Z-A-to-B-content.eml`, by the lab time of its sending;
    others of that name are `...-content-2.eml` and so on.

    A mail is as it went over the line, the sender's hop line on top. One that was lost on purpose at the receiving end
    has crossed, one that was altered is as it arrived; one that goes over two hops is two files.
    """

    def __init__(self, gate: HopGate, mails: Path) -> None:
        self._gate = gate
        self._mails = mails
        self._names: dict[str, int] = {}
        self._altered: set[Sending] = set()

    def before_send(self, server: str, transmission: Transmission, now: LabTime) -> Decision:
        decision = self._gate.before_send(server, transmission, now)
        if decision.alter:
            self._altered.add((server, transmission.queue_id, transmission.message_id))
        return decision

    def at_verb(self, from_: str, to: str, verb: Verb, now: LabTime) -> VerbFault | None:
        return self._gate.at_verb(from_, to, verb, now)

    def after_send(self, server: str, transmission: Transmission, delivered: bool) -> None:
        """Raises LabError when the file cannot be written."""
        self._gate.after_send(server, transmission, delivered)
        sending = (server, transmission.queue_id, transmission.message_id)
        if delivered and not transmission.is_call:
            content = altered(transmission.content) if sending in self._altered else transmission.content
            self._write(server, replace(transmission, content=content))
        self._altered.discard(sending)

    def _write(self, server: str, sent: Transmission) -> None:
        at = format_instant(sent.sent_at - sent.sent_at % SECOND_US).replace(":", "")
        name = f"{at}-{server}-to-{sent.next_hop.replace(':', '-')}-{_TYPE_OF_SUBJECT.get(sent.subject, _ANY_OTHER)}"
        count = self._names[name] = self._names.get(name, 0) + 1
        path = self._mails / (f"{name}-{count}.eml" if count > 1 else f"{name}.eml")
        try:
            path.write_bytes(hop_line(server, sent.sent_at, sent.lamport, sent.priority) + sent.content)
        except OSError as error:
            raise LabError(f"the mail {path} cannot be kept: {error.strerror or error}") from error
