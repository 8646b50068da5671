"""Invariants of whom a store tells: every other holder that its own version of the folder lists, and nobody else."""

from __future__ import annotations

from pflab import invariants_sets as bits
from pflab.invariants import Hears, Invariant, Witnesses
from pflab.invariants_facts import Facts
from pflab.invariants_known import stores_of
from pflab.mailkinds import BROADCASTS, MailKind, Mark, mail_name
from traces.events import ChangeMade, HopSent, MailReceived, MailSubmitted, NodeStarted, NodeStopped, StatusDue


def named(stores: frozenset[str]) -> str:
    return ", ".join(sorted(stores)) or "nobody"


class ToldToAllOthers(Invariant):
    id = "told to all other holders"
    rules = ("OUT-5", "ST-3", "RP-2")
    says = "A broadcast, and a status request that is no repeat, goes to all other holders that its sender knows of."

    def hears(self) -> Hears:
        return {MailSubmitted: self._submitted}

    def _submitted(self, event: MailSubmitted) -> Witnesses:
        to_all = event.message_type in BROADCASTS
        if not to_all and (event.message_type != MailKind.STATUS_REQUEST or Mark.REPEAT in event.marks):
            return
        said = stores_of(event.recipients)
        for section in event.folders:
            others = self.facts.known.others(event.node, section.folder)
            if others is not None and others != said:
                what = f"{event.node}'s {mail_name(event.message_type)} for {self.facts.folder(section.folder)}"
                yield f"{what} went to {named(said)}; the other holders are {named(others)}"


class StatusesReachAll(Invariant):
    id = "statuses reach all"
    rules = ("ST-1", "OUT-5")
    says = "The status of a folder that a check found due goes, at once, to all other holders that its sender knows of."

    def __init__(self, facts: Facts) -> None:
        super().__init__(facts)
        self._due: dict[str, dict[str, frozenset[str] | None]] = {}
        """Store to the folders found due, with the other holders as they were then."""

    def hears(self) -> Hears:
        return {
            StatusDue: self._check,
            MailSubmitted: self._submitted,
            MailReceived: self._next,
            ChangeMade: self._next,
            HopSent: self._next,
            NodeStopped: self._next,
            NodeStarted: self._next,
        }

    def _check(self, event: StatusDue) -> Witnesses:
        yield from self._next(event)
        self._due[event.node] = {each: self.facts.known.others(event.node, each) for each in event.folders}

    def _submitted(self, event: MailSubmitted) -> Witnesses:
        due = self._due.get(event.node)
        if due is None:
            return
        if event.message_type != MailKind.STATUS or any(section.folder not in due for section in event.folders):
            yield from self._next(event)
            return
        said = stores_of(event.recipients)
        for section in event.folders:
            del due[section.folder]
            others = self.facts.known.others(event.node, section.folder)
            if others is not None and others != said:
                folder = self.facts.folder(section.folder)
                yield f"{event.node}'s status of {folder} went to {named(said)}; the other holders are {named(others)}"

    def _next(
        self, event: StatusDue | MailSubmitted | MailReceived | ChangeMade | HopSent | NodeStopped | NodeStarted
    ) -> Witnesses:
        for folder, others in self._due.pop(event.node, {}).items():
            if others:
                what = f"{event.node} found the status of {self.facts.folder(folder)} due"
                yield f"{what} and sent none; the other holders are {named(others)}"


class EachNumberIsToldOnce(Invariant):
    id = "each number is told once"
    rules = ("CN-6", "CN-7")
    says = "The mails of one broadcast name different numbers: what a later one brings no earlier one claims."

    def __init__(self, facts: Facts) -> None:
        super().__init__(facts)
        self._named: dict[str, tuple[str, dict[bool, dict[str, int]]]] = {}

    def hears(self) -> Hears:
        return {MailSubmitted: self._submitted, ChangeMade: self._next, NodeStarted: self._next}

    def _next(self, event: ChangeMade | NodeStarted) -> Witnesses:
        # A later broadcast may well name again what a new change supersedes; and a store that is back from a backup
        # broadcasts what it had not yet broadcast then.
        self._named.pop(event.node, None)
        return iter(())

    def _submitted(self, event: MailSubmitted) -> Witnesses:
        if event.message_type not in BROADCASTS:
            return
        for section in event.folders:
            folder, named = self._named.get(event.node, ("", {}))
            if folder != section.folder:
                named = {}
                self._named[event.node] = (section.folder, named)
            for text, fai in ((section.cnset, False), (section.cnset_fai, True)):
                told, numbers = named.setdefault(fai, {}), bits.parse(text)
                twice = bits.common(told, numbers)
                bits.add(told, numbers)
                if twice:
                    what = f"{event.node}'s {mail_name(event.message_type)} for {self.facts.folder(section.folder)}"
                    yield f"{what} names {self.facts.words(twice)}, and so does a mail before it in the same broadcast"


TOLD: tuple[type[Invariant], ...] = (ToldToAllOthers, StatusesReachAll, EachNumberIsToldOnce)
