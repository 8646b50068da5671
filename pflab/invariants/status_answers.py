"""Invariants of answers to backfill requests, to status requests, and to stores that want to leave. The last invariant here
checks which holders must answer a status request: it repeats the choice of responders (ST-3, ST-4).

A 2000 server chooses responders for content in six steps. Every version except 5.5 may also use these steps for the requests
that it sends when it starts. In all other cases a store chooses all holders. The steps are repeated until they have chosen
three holders. Each step chooses one holder. It prefers servers newer than 5.5, then holders that have everything, then what
the table says:

| step | chooses from | prefers |
|---|---|---|
| 1 | holders of the site | the one asked longest ago |
| 2 | active holders of other sites with an affinity | the cheapest |
| 3 | holders of the site | any |
| 4 | holders of other sites with an affinity | the cheapest |
| 5 | holders of other sites with a known transmission time | the fastest |
| 6 | holders of other sites | any |

The holder of the oldest replica is added if its replica is older than those of all chosen holders.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from pflab.invariants.evidence import bit_sets as bits
from pflab.invariants.evidence.knowledge import stores_of
from pflab.invariants.invariant import Invariant, Witnesses
from pflab.invariants.mail.recipients import named
from pflab.terms.event_handlers import event_handler
from pflab.terms.folder_ids import HIERARCHY
from pflab.terms.mail_types import RESPONSES, MailKind, Mark
from topology.problems import counted
from traces.events import (
    Candidate,
    ChangeMade,
    HopReceived,
    HopSent,
    MailFolder,
    MailReceived,
    MailSubmitted,
    NodeStarted,
    NodeStopped,
    RequestAnswered,
    RequestRefused,
    RespondersConsidered,
    StatusDue,
)
from traces.labtime import LabTime

Between: TypeAlias = ChangeMade | HopReceived | HopSent | NodeStarted | NodeStopped | StatusDue
"""Events that show that the stimulus of the last received mail has ended."""


@dataclass(slots=True)
class _Asked:
    """A request mail that the store is answering, and the responses so far."""

    mail: MailReceived
    responses: list[MailSubmitted] = field(default_factory=list)


class RequestsAreAnswered(Invariant):
    id = "requests are answered"
    rules = ("BF-5", "CN-7", "DL-3")
    says = (
        "A store answers a backfill request at once, to the requester only. The mails of an answer name different "
        "changes. Together they name all requested changes that the source has, except changes that they report as "
        "expired. While content is suspended there is no answer."
    )

    def remember(self) -> None:
        self._open: dict[str, _Asked] = {}
        self._divided: dict[str, list[_Asked]] = {}
        """By store: long answers, which continue in further stimuli at the same instant."""
        self._answered: set[tuple[str, str]] = set()

    @event_handler
    def _received(self, event: MailReceived) -> Witnesses:
        yield from self._unanswered(event.node)
        ends = {event.node, event.sender}
        recipients = [self.facts.known.recipients(event.node, section.folder) for section in event.folders]
        if (
            all(ends <= stores for stores in recipients)  # else no answer can be sent (ML-1, ML-8)
            and event.message_type == MailKind.BACKFILL_REQUEST
            and (event.node, event.mail) not in self._answered
        ):
            self._open[event.node] = _Asked(event)

    @event_handler
    def _submitted(self, event: MailSubmitted) -> Witnesses:
        request = self._open.get(event.node)
        if request is None or not _is_part_of(event, request.mail):
            goes_on = (answer for answer in self._divided.get(event.node, ()) if _is_part_of(event, answer.mail))
            request = next(goes_on, request)
        if request is not None and event.message_type in RESPONSES:
            request.responses.append(event)
            if stores_of(event.recipients) != {request.mail.sender}:
                recipients = named(stores_of(event.recipients))
                yield f"{event.node} answered {request.mail.sender}'s request by a mail to {recipients}"

    @event_handler
    def _answers(self, event: RequestAnswered) -> Witnesses:
        self._answered.add((event.node, event.request_mail))
        request = self._open.pop(event.node, None)
        requests = self._divided.get(event.node, [])
        request = next(
            (request for request in [request, *requests] if request and request.mail.mail == event.request_mail), None
        )
        if request is None:
            return
        if request in requests:
            requests.remove(request)
        for section in request.mail.folders:
            answers = [
                answer for mail in request.responses for answer in mail.folders if answer.folder == section.folder
            ]
            subject = f"{event.node}'s answer to {request.mail.sender} for {self.facts.folder(section.folder)}"
            if not answers or len(answers) != event.mails:
                yield f"{subject} is {counted(len(answers), 'mail')}, but its event says {event.mails}"
                continue
            yield from self._expired(subject, event.node, answers)
            yield from self._covers(subject, section, answers)

    @event_handler
    def _refuses(self, event: RequestRefused) -> Witnesses:
        request = self._open.pop(event.node, None)
        if request is not None and event.node not in self.facts.suspended:
            yield f"{event.node} refused the request of {request.mail.sender}, but its content is not suspended"

    def _expired(self, subject: str, node: str, answers: list[MailFolder]) -> Witnesses:
        texts = (text for answer in answers for text in (answer.expired, answer.expired_fai))
        for number in bits.numbers(bits.union(bits.parse(text) for text in texts)):
            change = self.facts.changes.get(number)
            if change is None or (node, change.object) not in self.facts.expired_at:
                yield f"{subject} reports {self.facts.shown(number)} as expired, but it did not expire there"

    def _covers(self, subject: str, request: MailFolder, answers: list[MailFolder]) -> Witnesses:
        numbers: dict[str, int] = {}
        for answer in answers:
            part = bits.by_kind(answer.cnset, answer.cnset_fai)
            twice = bits.common(numbers, part)
            if twice:
                yield f"{subject} names {self.facts.words(twice)} in two of its mails"
            bits.add(numbers, part)
        row = bits.by_kind(answers[-1].row, answers[-1].row_fai)
        duty = bits.common(bits.by_kind(request.cnset, request.cnset_fai), row)
        expired_numbers = bits.union(bits.by_kind(answer.expired, answer.expired_fai) for answer in answers)
        gap = bits.minus(bits.minus(duty, numbers), expired_numbers)
        if gap:
            yield f"{subject} lacks {self.facts.words(gap)}, which was asked for and which its row claims"

    @event_handler
    def _next(self, event: Between) -> Witnesses:
        return self._unanswered(event.node)

    def _unanswered(self, store: str) -> Witnesses:
        request = self._open.pop(store, None)
        if request is not None and request.responses:
            self._divided.setdefault(store, []).append(request)
        elif request is not None:
            yield f"{store} did not answer the request {request.mail.mail} of {request.mail.sender}"


def _is_part_of(answer: MailSubmitted, request: MailReceived) -> bool:
    """Return whether a mail goes to the sender of the request, and names only changes that were requested."""
    numbers = {section.folder: bits.by_kind(section.cnset, section.cnset_fai) for section in request.folders}
    return stores_of(answer.recipients) == {request.sender} and all(
        section.folder in numbers
        and not bits.minus(bits.by_kind(section.cnset, section.cnset_fai), numbers[section.folder])
        for section in answer.folders
    )


class StatusRequestsAreAnswered(Invariant):
    id = "status requests are answered"
    rules = ("ST-2", "ST-7")
    says = (
        "If all holders must respond to a status request, a holder that has something more than the requester answers "
        "at once. A holder always answers a repeat."
    )

    def remember(self) -> None:
        self._open: dict[str, tuple[MailReceived, dict[str, str]]] = {}

    @event_handler
    def _received(self, event: MailReceived) -> Witnesses:
        yield from self._unanswered(event.node)
        if event.message_type not in (MailKind.STATUS, MailKind.STATUS_REQUEST) or Mark.DELETE_PENDING in event.marks:
            return
        reasons = {section.folder: why for section in event.folders if (why := self._why(event, section))}
        if reasons:
            self._open[event.node] = (event, reasons)

    def _why(self, event: MailReceived, section: MailFolder) -> str:
        """Return why the store must answer this section, or '' if it need not."""
        knowledge = self.facts.known
        if not knowledge.holds(event.node, section.folder) or knowledge.pending(event.node, section.folder):
            return ""
        if not {event.node, event.sender} <= knowledge.recipients(event.node, section.folder):
            return ""  # nothing can be sent (ML-1, ML-8)
        if Mark.REPEAT in event.marks:
            return "it is a repeat"
        if event.message_type != MailKind.STATUS_REQUEST or Mark.ALL_RESPOND not in event.marks:
            return ""
        # The store has at least what its own last mail about the folder claimed.
        row = knowledge.claims.get((event.node, section.folder), bits.EMPTY)
        gap = bits.minus(row, bits.by_kind(section.row, section.row_fai))
        return f"{event.sender} lacks {self.facts.words(gap)}" if gap else ""

    @event_handler
    def _submitted(self, event: MailSubmitted) -> None:
        request = self._open.get(event.node)
        if (
            request is not None
            and event.message_type == MailKind.STATUS
            and stores_of(event.recipients) == {request[0].sender}
        ):
            for section in event.folders:
                request[1].pop(section.folder, None)

    @event_handler
    def _next(self, event: Between) -> Witnesses:
        return self._unanswered(event.node)

    def _unanswered(self, store: str) -> Witnesses:
        mail, reasons = self._open.pop(store, (None, {}))
        for folder, why in reasons.items():
            assert mail is not None
            yield f"{store} did not answer {mail.sender}'s {mail.mail} for {self.facts.folder(folder)}, although {why}"


class LeavingIsPermittedByCompleteHolders(Invariant):
    id = "leaving is permitted by complete holders"
    rules = ("RP-2",)
    says = (
        "A holder permits a store to leave only if the holder itself stays, and has everything that the "
        "leaving store claimed."
    )

    def remember(self) -> None:
        self._wants: dict[tuple[str, str, str], bits.Bits] = self.facts.backups.follow({})

    @event_handler
    def _received(self, event: MailReceived) -> None:
        if Mark.DELETE_PENDING in event.marks:
            for section in event.folders:
                row = bits.by_kind(section.row, section.row_fai)
                self._wants[event.node, section.folder, event.sender] = row

    @event_handler
    def _submitted(self, event: MailSubmitted) -> Witnesses:
        if event.message_type != MailKind.STATUS or Mark.RETAINED not in event.marks:
            return
        for section in event.folders:
            folder = self.facts.folder(section.folder)
            if self.facts.known.pending(event.node, section.folder):
                yield f"{event.node} lets {named(stores_of(event.recipients))} leave {folder}, but is leaving itself"
            for store in stores_of(event.recipients):
                wants = self._wants.get((event.node, section.folder, store), bits.EMPTY)
                if gap := bits.minus(wants, bits.by_kind(section.row, section.row_fai)):
                    yield f"{event.node} lets {store} leave {folder}, but lacks {self.facts.words(gap)} of it"


ANSWERS: tuple[type[Invariant], ...] = (
    RequestsAreAnswered,
    StatusRequestsAreAnswered,
    LeavingIsPermittedByCompleteHolders,
)

LAST = 1 << 62
ALL, STEPS = "all holders", "six steps"
LIMITS: Mapping[str, int] = {"2000": 4, "2003": 3, "2007": 3}
BY_STEPS = 3

Rank = tuple[int, ...]


class RespondersAreListedByVersionRules(Invariant):
    id = "responders are listed by version rules"
    rules = ("ST-3", "ST-4")
    says = (
        "If the Exchange version of the asking store requires it, all holders must respond. Otherwise the "
        "stores that the six steps list and the holder of the oldest replica must respond."
    )

    def remember(self) -> None:
        self._started_at: dict[str, LabTime] = {}

    @event_handler
    def _started(self, event: NodeStarted) -> None:
        self._started_at[event.node] = event.at

    @event_handler
    def _considered(self, event: RespondersConsidered) -> Witnesses:
        subject = f"{event.node}, asking for the status of {self.facts.folder(event.folder)},"
        server = self.facts.topology.servers[event.node]
        version, at_start = str(server.version), self._started_at.get(event.node) == event.at
        method = (ALL, STEPS)[version == "2000" and event.folder != HIERARCHY]
        if event.method != method and not (at_start and version != "5.5"):
            yield f"{subject} lists by {event.method!r}, but {version} lists by {method!r}"
        holders = self.facts.known.reached(event.node, event.folder) or frozenset()
        if event.method == ALL:
            if holders - set(event.chosen):
                yield f"{subject} does not list {', '.join(sorted(holders - set(event.chosen)))}"
            return
        absent = holders - {candidate.store for candidate in event.candidates}
        if absent:
            yield f"{subject} did not consider {', '.join(sorted(absent))}"
        if event.limit != LIMITS[version]:
            yield f"{subject} lists {event.limit} responders, but {version} lists {LIMITS[version]}"
        right = _by_steps(event.candidates)[: event.limit]
        if list(event.chosen) != right:
            yield f"{subject} lists {', '.join(event.chosen)}, but should list {', '.join(right)}"
        for candidate in event.candidates:
            far_server = self.facts.topology.servers[candidate.store]
            if (candidate.version, candidate.near) != (str(far_server.version), far_server.site == server.site):
                yield f"{subject} uses a wrong version or site of {candidate.store}"


def _way(candidate: Candidate) -> Rank:
    return (
        candidate.affinity if candidate.affinity is not None else LAST,
        candidate.cost if candidate.cost is not None else LAST,
    )


_LOOKS: Sequence[tuple[Callable[[Candidate], bool], Callable[[Candidate], Rank]]] = (
    (lambda candidate: candidate.near, lambda candidate: (candidate.backfilled_at,)),
    (lambda candidate: not candidate.near and candidate.affinity is not None and candidate.active, _way),
    (lambda candidate: candidate.near, lambda candidate: ()),
    (lambda candidate: not candidate.near and candidate.affinity is not None, _way),
    (
        lambda candidate: not candidate.near and candidate.transit_us is not None,
        lambda candidate: (candidate.transit_us or 0,),
    ),
    (lambda candidate: not candidate.near, lambda candidate: ()),
)


def _by_steps(candidates: Sequence[Candidate]) -> list[str]:
    candidates_left = {candidate.store: candidate for candidate in candidates}
    responders: list[Candidate] = []
    while candidates_left and len(responders) < BY_STEPS:
        for looks, rank in _LOOKS:
            fits = [candidate for candidate in candidates_left.values() if looks(candidate)]
            if fits and len(responders) < BY_STEPS:
                fits.sort(
                    key=lambda candidate: (
                        candidate.version == "5.5",
                        not candidate.has_all,
                        rank(candidate),
                        candidate.guid,
                    )
                )
                responders.append(candidates_left.pop(fits[0].store))
    oldest = sorted(candidates_left.values(), key=lambda candidate: (candidate.added_at or 0, candidate.guid))[:1]
    if oldest and all((oldest[0].added_at or 0) < (candidate.added_at or 0) for candidate in responders):
        responders += oldest
    return [candidate.store for candidate in responders]


RESPONDERS: tuple[type[Invariant], ...] = (RespondersAreListedByVersionRules,)
