"""Explain one change, or one mail: what happened to it on all stores, in words.

The explanation uses the trace alone. It says who made the change, which mails carried it, what happened to these mails, and how
each store received it. For a store that did not receive the change, it says what the store knew and which stores it asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from pflab.errors import LabError
from pflab.explain.mail import answer_ended, fault_behind, mail_lines
from pflab.explain.outcome import Outcome
from pflab.explain.source_choice import choice_lines
from pflab.runs.event_lines import event_json, one_line
from pflab.runs.events import RunEvents
from pflab.terms import number_sets as sets
from pflab.terms.event_words import Lexicon, hours_and_minutes, store_named, to_the_second
from pflab.terms.mail_types import BROADCASTS, RESPONSES, UPDATES, Mark, mail_name
from pflab.terms.verdict import join_names
from topology.problems import did_you_mean
from traces.events import (
    ChangeMade,
    EntryMade,
    EntryPruned,
    EntrySatisfied,
    EntryTimedOut,
    Event,
    FaultAltered,
    FaultHealed,
    FaultInjected,
    HopDeleted,
    HopDropped,
    HopExpired,
    HopFailed,
    HopReceived,
    HopSent,
    Loss,
    MailBad,
    MailReceived,
    MailSubmitted,
    RequestAnswered,
    RequestEnded,
    RequestSent,
    RunEnded,
    SourcesConsidered,
    VersionApplied,
    VersionDropped,
    VersionHeld,
    VersionIgnored,
)
from traces.labtime import LabTime

MAX_NEAR = 40


@dataclass(slots=True)
class Life:
    """An explanation: `told` has the sentences, and `events` has the events that prove them, in order."""

    what: str
    told: list[str] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)

    def as_document(self, names: Lexicon) -> dict[str, Any]:
        return {"what": self.what, "told": self.told, "events": [event_json(event, names) for event in self.events]}

    def after(self, earlier: Life) -> Life:
        """Return the sentences and events of this explanation of a lab's future that the explanation of its past lacks."""
        sentences = [line for line in self.told if line not in earlier.told]
        events = [event for event in self.events if event not in earlier.events]
        what = "What the lab will do with it, if nobody changes anything"
        return Life(what, sentences or ["Nothing more happens to it within this time."], events)

    def lines(self, names: Lexicon) -> list[str]:
        return [self.what, *[f"  {line}" for line in self.told], "", *[one_line(event, names) for event in self.events]]


def explain(run: RunEvents, number_text: str) -> Life:
    """Explain a change (`A-3`, or its form in traces) or a mail (its Message-ID).

    The explanation of a mail that became a post includes the post. Raises LabError, with a suggestion, for anything else.
    """
    change = _change(run, number_text)
    if change is not None:
        return _Change(run, change).life()
    mail = number_text.strip().strip("<>")
    if any(event.mail == mail for event in run.events):
        return _mail_life(run, mail)
    changes = [run.names.number(event.number) for event in run.events if isinstance(event, ChangeMade)]
    near = did_you_mean(number_text, changes[:MAX_NEAR]) if changes else "the run has no changes"
    raise LabError(f"{number_text!r} is neither a change nor a mail of this run; {near}")


def _change(run: RunEvents, number_text: str) -> ChangeMade | VersionApplied | None:
    """Return the first event that says which folder and kind the change with this number has."""
    for event in run.events:
        if isinstance(event, ChangeMade | VersionApplied) and number_text in (
            event.number,
            run.names.number(event.number),
        ):
            return event
    return None


class _Change:
    """Collects what the events of a run say about one change number.

    A store numbers the changes of all its folders in one series, and the set in a mail about one folder also covers numbers of
    other folders. So a set says something about this change only if it is about the folder and kind of the change (spec: CN-9).
    """

    def __init__(self, run: RunEvents, version: ChangeMade | VersionApplied) -> None:
        self.run = run
        self.outcome = Outcome(run.topology, run, version) if run.topology is not None else None
        self.names = run.names
        self.number = version.number
        self.folder = version.folder
        self.associated = version.kind == "fai"
        self.guid, self.counter = sets.split_number(version.number)
        self.shown = run.names.number(version.number)
        self.mails: dict[str, MailSubmitted] = {}
        self.entries: set[tuple[str, int]] = set()
        self.faults: set[str] = set()
        self.last_mail: dict[str, MailReceived] = {}
        self.noticed: dict[str, MailReceived] = {}
        self.evidence: list[Event] = []

    def life(self) -> Life:
        for event in self.run.events:  # mails first: within one instant an event may come before the mail that it names
            if isinstance(event, MailSubmitted):
                self.sent(event)
        for event in self.run.events:
            if self._is_about(event):
                self.evidence.append(event)
        self.evidence += [
            event
            for event in self.run.events
            if isinstance(event, FaultInjected | FaultHealed) and event.fault in self.faults
        ]
        self.evidence = self.run.in_order(self.evidence)
        creation = self._first(ChangeMade, lambda event: event.number == self.number)
        return Life(self._what(creation), self._sentences(creation), self.evidence)

    # -- what belongs to it

    def _is_about(self, event: Event) -> bool:
        if isinstance(event, MailReceived):
            self.last_mail[event.node] = event
        about = _ABOUT.get(type(event))
        return about is not None and about(self, event)

    def names_it(self, numbers: Any) -> bool:
        """Return whether a section of a mail, an entry or a request contains the change."""
        text = numbers.cnset_fai if self.associated else numbers.cnset
        return numbers.folder == self.folder and sets.contains(text, self.guid, self.counter)

    def change(self, event: Any) -> bool:
        return event.number == self.number or self.number in event.supersedes

    def version(self, event: Any) -> bool:
        return event.number == self.number or (
            event.folder == self.folder and sets.contains(event.stands_for, self.guid, self.counter)
        )

    def sent(self, event: Any) -> bool:
        if not any(map(self.names_it, event.folders)):
            return False
        if event.mail is not None:
            self.mails[event.mail] = event
        return True

    def received(self, event: Any) -> bool:
        return event.mail in self.mails

    def altered(self, event: Any) -> bool:
        if event.mail not in self.mails:
            return False
        self.faults.add(event.fault)
        return True

    def hop(self, event: Any) -> bool:
        if event.mail not in self.mails:
            return False
        if isinstance(event, HopDropped):
            self.faults.add(event.fault)
        # A hop that succeeded needs no line: the mail's arrival has one.
        return not isinstance(event, HopSent | HopReceived)

    def entry_made(self, event: Any) -> bool:
        if not self.names_it(event):
            return False
        self.entries.add((event.node, event.entry))
        mail = self.last_mail.get(event.node)
        if mail is not None and mail.at == event.at:
            self.noticed.setdefault(event.node, mail)
            if mail not in self.evidence and mail.mail not in self.mails:
                self.evidence.append(mail)
        return True

    def entry(self, event: Any) -> bool:
        return (event.node, event.entry) in self.entries

    def answered(self, event: Any) -> bool:
        return event.request_mail in self.mails and event.folder == self.folder

    def lost(self, event: Any) -> bool:
        return event.folder == self.folder and sets.contains(event.cnset, self.guid, self.counter)

    # -- in words

    def _first(self, kind: type[Any], fits: Callable[[Any], bool]) -> Any:
        return next((event for event in self.evidence if isinstance(event, kind) and fits(event)), None)

    def _what(self, change: ChangeMade | None) -> str:
        if change is None:
            return f"Change {self.shown}, made before the trace of this run begins"
        verb = {"create": "made", "modify": "changed", "delete": "deleted"}[change.operation]
        words = self.names.as_of(change.at).what(change.folder, change.object, change.number)
        return f"Change {self.shown}: {words}, {verb} on {change.node} at {to_the_second(change.at)}"

    def _sentences(self, creation: ChangeMade | None) -> list[str]:
        lines = list(self._mail_sentences())
        stores = dict.fromkeys(
            [event.node for event in self.evidence if event.node != "lab"]
            + [
                store_named(entry)
                for mail in self.mails.values()
                if mail.message_type in UPDATES
                for entry in mail.recipients
            ]
        )
        made_on = creation.node if creation else ""
        for store in sorted(stores):
            if store != made_on or self._applied(store) is not None:
                lines += self._store_sentences(store, creation.at if creation else None)
        successor = self._first(ChangeMade, lambda event: self.number in event.supersedes)
        if successor is not None:
            when = to_the_second(successor.at)
            lines.append(f"{self.names.number(successor.number)} replaced it, made on {successor.node} at {when}.")
        return [*lines, self.outcome.sentence()] if self.outcome is not None else lines

    def _mail_sentences(self) -> Iterable[str]:
        """Yield each mail that brought the change without a request, and the stores that it did not reach."""
        for id_, mail in self.mails.items():
            if mail.message_type not in BROADCASTS:
                continue
            to = join_names(map(store_named, mail.recipients))
            kind = mail_name(mail.message_type)
            how = (
                f"in a resent mail ({kind}), by order of an administrator"
                if Mark.RESENT in mail.marks
                else f"in its broadcast ({kind})"
            )
            yield f"At {to_the_second(mail.at)} {mail.node} sends it to {to}, {how}."
            for event in self.evidence:
                if isinstance(event, HopDropped) and event.mail == id_:
                    recipients = join_names(map(store_named, event.recipients))
                    yield f"  The copy for {recipients} is lost on arrival (fault {event.fault})."
                elif isinstance(event, MailBad) and event.mail == id_:
                    fault = fault_behind(event, self.evidence)
                    yield f"  {event.node} keeps its copy aside as bad mail: {event.reason}{fault}."
                elif isinstance(event, HopExpired) and event.mail == id_:
                    recipients = join_names(map(store_named, event.recipients))
                    yield f"  At {to_the_second(event.at)} {event.node} gives up the copy for {recipients}: {event.reason}."
                elif isinstance(event, HopDeleted) and event.mail == id_:
                    recipients = join_names(map(store_named, event.recipients))
                    at = to_the_second(event.at)
                    yield f"  At {at} an administrator deletes the copy for {recipients} from {event.node}'s queue."
            failures = [event for event in self.evidence if isinstance(event, HopFailed) and event.mail == id_]
            if failures:
                first = failures[0]
                yield f"  From {to_the_second(first.at)} on {first.node} cannot hand it to {first.next_hop}: {first.reason}."

    def _store_sentences(self, store: str, made_at: LabTime | None) -> list[str]:
        lines: list[str] = []
        entry = self._first(EntryMade, lambda event: event.node == store)
        if entry is not None:
            lines.append(self._missed(store, entry))
        steps = [*self._choices(store), *self._requests(store), *self._answers(store)]
        lines += [line for _, _, line in sorted(steps, key=lambda step: step[:2])]
        arrival = self._applied(store)
        rival = self._first(VersionApplied, lambda event: event.node == store and event.number != self.number)
        late = self._first(VersionIgnored, lambda event: event.node == store and event.number == self.number)
        if arrival is not None:
            after = f", {hours_and_minutes(arrival.at - made_at)} after it was made" if made_at is not None else ""
            since = f"{to_the_second(arrival.at)}{after}, by {self._way(arrival)}"
            loss = self.outcome.lost_by_restore(store) if self.outcome is not None else None
            if loss is None or loss.at < arrival.at:
                lines.append(f"{store} has it since {since}.")
            else:
                until = f"the restore from {loss.backup} at {to_the_second(loss.at)}"
                lines.append(f"{store} has it since {since}, until {until}.")
        elif rival is not None:
            successor = self.names.number(rival.number)
            lines.append(
                f"{store} has no copy of it: at {to_the_second(rival.at)} it got {successor}, which replaced it."
            )
        elif late is not None:
            lines.append(f"{store} does not need it at {to_the_second(late.at)}: {late.reason}.")
        else:
            lines.append(self._without(store, knows=entry is not None))
        return lines

    def _applied(self, store: str) -> VersionApplied | None:
        """Return the last event in which the store received the change. After a restore a store can receive a change again."""
        applications = [event for event in self.evidence if isinstance(event, VersionApplied) and event.node == store]
        return next((event for event in reversed(applications) if event.number == self.number), None)

    def _way(self, arrival: VersionApplied) -> str:
        """Return how a store received the change, in words."""
        arrived = (
            event
            for event in self.evidence
            if isinstance(event, MailReceived) and event.node == arrival.node and event.seq < arrival.seq
        )
        mail = max(arrived, key=lambda event: event.seq, default=None)
        is_resent = arrival.way == "broadcast" and mail is not None and Mark.RESENT in mail.marks
        return "a resent mail" if is_resent else _WAYS[arrival.way]

    def _without(self, store: str, *, knows: bool) -> str:
        """Return the sentence for a store that has not received the change. If the run has not ended, the change may still
        arrive."""
        if not _has_ended(self.run) and any(self._under_way(mail, store) for mail in self.mails.values()):
            return f"{store} does not have it yet; a mail with it is on the way."
        words = f"{store} does not get it in this run" if _has_ended(self.run) else f"{store} does not have it yet"
        return f"{words}." if knows else f"{words}, and has not learned that the change is missing."

    def _under_way(self, mail: MailSubmitted, store: str) -> bool:
        """Return whether the mail brings the change to a store, and its way there has not ended."""
        if mail.message_type not in UPDATES or store not in map(store_named, mail.recipients):
            return False
        ends = [event for event in self.evidence if event.mail == mail.mail]
        return not any(
            (isinstance(event, MailReceived | MailBad) and event.node == store)
            or (isinstance(event, HopDropped | HopExpired | HopDeleted) and store in map(store_named, event.recipients))
            for event in ends
        )

    def _choices(self, store: str) -> Iterable[tuple[LabTime, int, str]]:
        for event in self.evidence:
            if isinstance(event, SourcesConsidered) and event.node == store:
                for line in choice_lines(event, self.names):
                    yield event.at, event.lamport, line

    def _requests(self, store: str) -> Iterable[tuple[LabTime, int, str]]:
        for event in self.evidence:
            if isinstance(event, RequestSent) and event.node == store:
                yield event.at, event.lamport, f"At {to_the_second(event.at)} {store} asks {event.source} for it."

    def _answers(self, store: str) -> Iterable[tuple[LabTime, int, str]]:
        for id_, mail in self.mails.items():
            if mail.message_type in RESPONSES and store in map(store_named, mail.recipients):
                ends = [
                    event for event in self.evidence if isinstance(event, HopDropped | MailBad) and event.mail == id_
                ]
                how = answer_ended(ends[0], self.evidence) if ends else ""
                yield (
                    mail.at,
                    mail.lamport,
                    f"At {to_the_second(mail.at)} {mail.node} sends it to {store} as an answer{how}.",
                )

    def _missed(self, store: str, entry: EntryMade) -> str:
        mail = self.noticed.get(store)
        how = f" from a {mail_name(mail.message_type)} mail of {mail.sender}" if mail is not None else ""
        reach = "in its site" if entry.local else "outside its site only"
        return (
            f"At {to_the_second(entry.at)} {store} learns{how} that it misses the change; it is known {reach}, so {store} waits"
            f" {hours_and_minutes(entry.due_at - entry.at)}, until {to_the_second(entry.due_at)}."
        )


_WAYS = {
    "broadcast": "its broadcast",
    "backfill": "backfill",
    "queue": "a mail that had waited until its folder was known",
}

_ABOUT: dict[type[Event], Callable[[_Change, Any], bool]] = {
    ChangeMade: _Change.change,
    VersionApplied: _Change.version,
    VersionIgnored: _Change.version,
    VersionHeld: _Change.version,
    VersionDropped: _Change.version,
    MailSubmitted: _Change.sent,
    MailReceived: _Change.received,
    MailBad: _Change.received,
    HopSent: _Change.hop,
    HopReceived: _Change.hop,
    HopFailed: _Change.hop,
    HopDropped: _Change.hop,
    HopExpired: _Change.hop,
    HopDeleted: _Change.hop,
    FaultAltered: _Change.altered,
    EntryMade: _Change.entry_made,
    EntrySatisfied: _Change.entry,
    EntryTimedOut: _Change.entry,
    SourcesConsidered: _Change.entry,
    EntryPruned: _Change.names_it,
    RequestSent: _Change.names_it,
    RequestEnded: _Change.entry,
    RequestAnswered: _Change.answered,
    Loss: _Change.lost,
}
"""For each type of event, the method that decides whether an event concerns the change."""


def _has_ended(run: RunEvents) -> bool:
    """Return whether nothing can happen any more in this run."""
    return any(isinstance(event, RunEnded) for event in run.events)


def _mail_life(run: RunEvents, mail: str) -> Life:
    """Explain a mail: the events that name it, the faults that acted on it, and each post that it became (spec: ML-5)."""
    events = [event for event in run.events if event.mail == mail]
    faults = {event.fault for event in events if isinstance(event, HopDropped | FaultAltered)}
    events += [
        event for event in run.events if isinstance(event, FaultInjected | FaultHealed) and event.fault in faults
    ]
    lines = mail_lines(run.names, events, ended=_has_ended(run))
    for creation in [event for event in events if isinstance(event, ChangeMade)]:
        post = _Change(run, creation).life()
        lines += [f"It became a post. {post.what}.", *(f"  {line}" for line in post.told)]
        events += post.events
    return Life(f"Mail <{mail}>", lines, run.in_order(events))
