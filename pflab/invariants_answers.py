"""Invariants of answers: to requests for changes, to status requests, to stores that want to leave."""

from __future__ import annotations

from dataclasses import dataclass, field

from pflab import invariants_sets as bits
from pflab.invariants import Hears, Invariant, Witnesses
from pflab.invariants_facts import Facts
from pflab.invariants_known import stores_of
from pflab.invariants_told import named
from pflab.mailkinds import RESPONSES, MailKind, Mark
from topology.problems import counted
from traces.events import (
    ChangeMade,
    Event,
    HopReceived,
    HopSent,
    MailFolder,
    MailReceived,
    MailSubmitted,
    NodeStarted,
    NodeStopped,
    RequestAnswered,
    RequestRefused,
    StatusDue,
)

BETWEEN = (ChangeMade, HopReceived, HopSent, NodeStarted, NodeStopped, StatusDue)
"""Events of a node that can only be of another stimulus than the mail before."""


@dataclass(slots=True)
class _Asked:
    """A request mail that is being worked on, and the responses so far."""

    mail: MailReceived
    responses: list[MailSubmitted] = field(default_factory=list)


class RequestsAreAnswered(Invariant):
    id = "requests are answered"
    rules = ("BF-5", "CN-7", "DL-3")
    says = (
        "A backfill request is answered as it comes, to the requester alone, by mails whose sets are disjoint and together"
        " what was asked for and the source owns, save what is named as expired there; while content is suspended it is not."
    )

    def __init__(self, facts: Facts) -> None:
        super().__init__(facts)
        self._open: dict[str, _Asked] = {}
        self._answered: set[tuple[str, str]] = set()

    def hears(self) -> Hears:
        return {
            MailReceived: self._received,
            MailSubmitted: self._submitted,
            RequestAnswered: self._answers,
            RequestRefused: self._refuses,
            **dict.fromkeys(BETWEEN, self._next),
        }

    def _received(self, event: MailReceived) -> Witnesses:
        yield from self._next(event)
        if event.message_type == MailKind.BACKFILL_REQUEST and (event.node, event.mail) not in self._answered:
            self._open[event.node] = _Asked(event)

    def _submitted(self, event: MailSubmitted) -> Witnesses:
        asked = self._open.get(event.node)
        if asked is not None and event.message_type in RESPONSES:
            asked.responses.append(event)
            if stores_of(event.recipients) != {asked.mail.sender}:
                said = named(stores_of(event.recipients))
                yield f"{event.node} answered {asked.mail.sender}'s request by a mail to {said}"

    def _answers(self, event: RequestAnswered) -> Witnesses:
        self._answered.add((event.node, event.request_mail))
        asked = self._open.pop(event.node, None)
        if asked is None or asked.mail.mail != event.request_mail:
            return
        for section in asked.mail.folders:
            answers = [each for mail in asked.responses for each in mail.folders if each.folder == section.folder]
            what = f"{event.node}'s answer to {asked.mail.sender} for {self.facts.folder(section.folder)}"
            if not answers or len(answers) != event.mails:
                yield f"{what} is {counted(len(answers), 'mail')}, and is said to be {event.mails}"
                continue
            yield from self._expired(what, event.node, answers)
            for kind in ("", "_fai"):
                yield from self._covers(what, section, answers, kind)

    def _refuses(self, event: RequestRefused) -> Witnesses:
        asked = self._open.pop(event.node, None)
        if asked is not None and event.node not in self.facts.stands_still:
            yield f"{event.node} refused the request of {asked.mail.sender}, and its content is not suspended"

    def _expired(self, what: str, node: str, answers: list[MailFolder]) -> Witnesses:
        both = (text for each in answers for text in (each.expired, each.expired_fai))
        for number in bits.numbers(bits.union(bits.parse(text) for text in both)):
            change = self.facts.changes.get(number)
            if change is None or (node, change.object) not in self.facts.expired_at:
                yield f"{what} calls {self.facts.shown(number)} expired, and no age limit took it"

    def _covers(self, what: str, asked: MailFolder, answers: list[MailFolder], kind: str) -> Witnesses:
        told: dict[str, int] = {}
        for answer in answers:
            part = bits.parse(getattr(answer, f"cnset{kind}"))
            twice = bits.common(told, part)
            if twice:
                yield f"{what} names {self.facts.words(twice)} in two of its mails"
            bits.add(told, part)
        owed = bits.common(bits.parse(getattr(asked, f"cnset{kind}")), bits.parse(getattr(answers[-1], f"row{kind}")))
        expired = bits.union(bits.parse(getattr(each, f"expired{kind}")) for each in answers)
        lacking = bits.minus(bits.minus(owed, told), expired)
        if lacking:
            yield f"{what} lacks {self.facts.words(lacking)}, which was asked for and which its row claims"

    def _next(self, event: Event) -> Witnesses:
        asked = self._open.pop(event.node, None)
        if asked is not None:
            yield f"{event.node} did not answer the request {asked.mail.mail} of {asked.mail.sender}"


class StatusRequestsAreAnswered(Invariant):
    id = "status requests are answered"
    rules = ("ST-2", "ST-7")
    says = (
        "A holder answers a status request of which all are responders as it comes if it has what the requester lacks;"
        " a repeat it always answers."
    )

    def __init__(self, facts: Facts) -> None:
        super().__init__(facts)
        self._open: dict[str, tuple[MailReceived, dict[str, str]]] = {}

    def hears(self) -> Hears:
        return {
            MailReceived: self._received,
            MailSubmitted: self._submitted,
            **dict.fromkeys(BETWEEN, self._next),
        }

    def _received(self, event: MailReceived) -> Witnesses:
        yield from self._next(event)
        if event.message_type not in (MailKind.STATUS, MailKind.STATUS_REQUEST) or Mark.DELETE_PENDING in event.marks:
            return
        owed = {section.folder: why for section in event.folders if (why := self._why(event, section))}
        if owed:
            self._open[event.node] = (event, owed)

    def _why(self, event: MailReceived, section: MailFolder) -> str:
        """Why the section must be answered, or ''."""
        known = self.facts.known
        if not known.holds(event.node, section.folder) or known.pending(event.node, section.folder):
            return ""
        if Mark.REPEAT in event.marks:
            return "it is a repeat"
        if event.message_type != MailKind.STATUS_REQUEST or Mark.ALL_RESPOND not in event.marks:
            return ""
        # At least what its own last mail about the folder claimed; it may have more by now.
        rows = known.said.get((event.node, section.folder), (bits.EMPTY, bits.EMPTY))
        theirs = (bits.parse(section.row), bits.parse(section.row_fai))
        lacking = bits.union(bits.minus(mine, other) for mine, other in zip(rows, theirs, strict=True))
        return f"{event.sender} lacks {self.facts.words(lacking)}" if lacking else ""

    def _submitted(self, event: MailSubmitted) -> Witnesses:
        found = self._open.get(event.node)
        if (
            found is not None
            and event.message_type == MailKind.STATUS
            and stores_of(event.recipients) == {found[0].sender}
        ):
            for section in event.folders:
                found[1].pop(section.folder, None)
        return iter(())

    def _next(self, event: Event) -> Witnesses:
        mail, owed = self._open.pop(event.node, (None, {}))
        for folder, why in owed.items():
            assert mail is not None
            yield f"{event.node} did not answer {mail.sender}'s {mail.mail} for {self.facts.folder(folder)}, and {why}"


class LetGoByWhoHasAll(Invariant):
    id = "let go by who has all"
    rules = ("RP-2",)
    says = (
        "A leaving store is let go only by a holder that stays and has everything that the leaving store said it has."
    )

    def __init__(self, facts: Facts) -> None:
        super().__init__(facts)
        self._wants: dict[tuple[str, str, str], tuple[bits.Bits, bits.Bits]] = {}
        facts.backups.follow(self._wants)

    def hears(self) -> Hears:
        return {MailReceived: self._received, MailSubmitted: self._submitted}

    def _received(self, event: MailReceived) -> Witnesses:
        if Mark.DELETE_PENDING in event.marks:
            for section in event.folders:
                place = (event.node, section.folder, event.sender)
                self._wants[place] = (bits.parse(section.row), bits.parse(section.row_fai))
        return iter(())

    def _submitted(self, event: MailSubmitted) -> Witnesses:
        if event.message_type != MailKind.STATUS or Mark.RETAINED not in event.marks:
            return
        for section in event.folders:
            folder = self.facts.folder(section.folder)
            if self.facts.known.pending(event.node, section.folder):
                yield f"{event.node} lets {named(stores_of(event.recipients))} leave {folder}, and is leaving itself"
            for store in stores_of(event.recipients):
                wants = self._wants.get((event.node, section.folder, store), (bits.EMPTY, bits.EMPTY))
                rows = (bits.parse(section.row), bits.parse(section.row_fai))
                lacking = bits.union(bits.minus(each, row) for each, row in zip(wants, rows, strict=True))
                if lacking:
                    yield f"{event.node} lets {store} leave {folder} and lacks {self.facts.words(lacking)} of it"


ANSWERS: tuple[type[Invariant], ...] = (RequestsAreAnswered, StatusRequestsAreAnswered, LetGoByWhoHasAll)
