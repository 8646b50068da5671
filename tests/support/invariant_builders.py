"""Events and readings made by hand, so that a violation can be planted in them."""

from __future__ import annotations

from typing import Any, TypeVar

from node.views import EntryView, FolderView, Knowledge, RequestView, RowView
from pflab.invariants.evidence.facts import Facts
from pflab.invariants.invariant import ArrayReading, FolderReading, Invariant, InvariantSet, RowsReading
from pflab.terms import number_sets as sets
from tests.support.clock import START_AT
from topology.file.load import topology_from_text
from topology.model import Topology
from traces.events import (
    AddressStamped,
    ChangeMade,
    Event,
    MailFolder,
    MailReceived,
    MailSubmitted,
    NodeStarted,
    VersionApplied,
)
from traces.labtime import HOUR_US

GUIDS = {"A": "aa" * 16, "B": "bb" * 16, "C": "cc" * 16}
FOLDER = f"{'dd' * 16}:1"
MESSAGE = f"{GUIDS['A']}:77"

E = TypeVar("E", bound=Event)


def organization() -> Topology:
    return topology_from_text(
        "servers: {A: {settings: {Replication Outstanding Backfill Limit: 2}}, B: , C: }\n"
        "folders: {Projects: {replicas: [A, B, C]}}\n",
        "planted",
    )


class Trace:
    """Adds the headers that recorders write to events, and passes each to the invariants under test."""

    def __init__(self, *invariants: type[Invariant], topology: Topology | None = None) -> None:
        self.facts = Facts(topology or organization())
        self.guard = InvariantSet(self.facts, invariants)
        self.at = START_AT
        self._seq: dict[str, int] = {}
        self._lamport = 0
        for store, guid in GUIDS.items():
            self.add(NodeStarted, store, version="2003", replica_guid=guid, reason="first")

    def add(self, kind: type[E], node: str, /, **fields: Any) -> E:
        """Record the next event of a node; header fields may be given."""
        self._seq[node] = fields.pop("seq", self._seq.get(node, 0) + 1)
        self._lamport = fields.pop("lamport", self._lamport + 1)
        at = fields.pop("at", self.at)
        event = kind(run="r", node=node, incarnation=1, seq=self._seq[node], lamport=self._lamport, at=at, **fields)
        self.facts.names.learn(event)
        self.guard.event(event)
        return event

    def change(self, node: str, counter: int, **fields: Any) -> ChangeMade:
        """Record a change of the folder; by default it makes a new message."""
        number = f"{GUIDS[node]}:{counter}"
        given: dict[str, Any] = {
            "folder": FOLDER,
            "object": f"{GUIDS[node]}:{counter + 100}",
            "number": number,
            "kind": "message",
            "operation": "create",
            "modified_at": self.at + counter,
            "supersedes": (),
            "pcl": numbers(node, counter),
            "digest": f"bytes of {number}",
            "subject": f"post {counter}",
        }
        return self.add(ChangeMade, node, **given | fields)

    def mail(self, node: str, number: int, *, message_type: int = 0x4, **section: Any) -> MailSubmitted:
        """Record that a store sends a mail about the folder."""
        marks = section.pop("marks", ())
        recipients = section.pop("recipients", ("B-IS@contoso.test",))
        given: dict[str, Any] = {"folder": FOLDER, "cnset": "", "cnset_fai": "", "row": "", "row_fai": "", "updates": 1}
        return self.add(
            MailSubmitted,
            node,
            mail=f"{number}@{node}",
            message_type=message_type,
            folders=(MailFolder(**given | section),),
            recipients=recipients,
            size=100,
            number=number,
            marks=marks,
        )

    def folder(self, store: str, **fields: Any) -> None:
        """Pass a reading of a store's folder to the invariants."""
        tree = fields.pop("tree", ())
        folder = fields.pop("folder", FOLDER)
        given: dict[str, Any] = {
            "folder": "Projects",
            "holds": True,
            "numbers": "",
            "numbers_fai": "",
            "versions": {},
            "shown": {},
            "tombstones": (),
        }
        self.guard.folder(FolderReading(store, folder, Knowledge(**given | fields), tree), self.at)

    def array(self, store: str, *entries: EntryView, quiet: bool = True) -> None:
        self.guard.array(ArrayReading(store, self.at, quiet, entries), self.at)

    def rows(self, store: str, *rows: RowView, entries: tuple[EntryView, ...] = (), folder: str = FOLDER) -> None:
        self.guard.rows(RowsReading(store, folder, rows, entries), self.at)

    def witnesses(self) -> list[str]:
        return [each.witness for each in self.guard.violations]


def numbers(store: str, *counters: int) -> str:
    return f"{{{GUIDS[store]}}}:{','.join(map(str, counters))}"


def number(store: str, counter: int) -> str:
    return f"{GUIDS[store]}:{counter}"


def versions_of(*changes: ChangeMade) -> dict[str, tuple[tuple[str, str], ...]]:
    """Return the versions of one object in the form of `Knowledge`."""
    return {changes[0].object: tuple(sorted((each.number, each.digest) for each in changes))}


def entry(**fields: Any) -> EntryView:
    given: dict[str, Any] = {
        "id": 1,
        "folder": FOLDER,
        "path": "Projects",
        "missing": "A-1",
        "missing_fai": "",
        "made_at": START_AT,
        "due_at": START_AT + HOUR_US,
        "attempts": 0,
        "local": True,
        "waiting_for_slot": False,
        "requests": (),
    }
    given |= fields
    return EntryView(**given, cnset=traced(given["missing"]), cnset_fai=traced(given["missing_fai"]))


def row(store: str, numbers_: str, *, local: bool = False, fai: str = "") -> RowView:
    """Return a row as a store shows it."""
    return RowView(store, local, numbers_, fai, None, START_AT, traced(numbers_), traced(fai))


def traced(named: str) -> str:
    """Return a set with store names in the form of a trace."""
    found = sets.parse_named(named)
    parts = (f"{GUIDS[name]}:{','.join(f'{low}-{high}' for low, high in ranges)}" for name, ranges in found.items())
    return ";".join(parts)


def request(source: str) -> RequestView:
    return RequestView(source, "A-1", START_AT, START_AT + HOUR_US)


def shown_folder(id_: str, path: str, *, hidden: bool = False) -> FolderView:
    return FolderView(id_, path, ("A",), None, (), "normal", hidden, True)


# --- what stores do


def lab(*invariants: type[Invariant]) -> Trace:
    """A trace in which each store knows all three."""
    trace = Trace(*invariants)
    for node in "ABC":
        for store in "ABC":
            trace.add(AddressStamped, node, store=store, address=f"{store}-IS@contoso.test")
    return trace


def sends(trace: Trace, node: str, serial: int, type_: int, to: tuple[str, ...], **section: Any) -> MailSubmitted:
    """Record that a store sends a mail about the folder to the stores `to`."""
    recipients = tuple(f"{store}-IS@contoso.test" for store in to)
    return trace.mail(node, serial, message_type=type_, recipients=recipients, **section)


def gets(trace: Trace, node: str, mail: MailSubmitted) -> Event:
    """Record that a store receives a mail as its sender wrote it."""
    return trace.add(
        MailReceived,
        node,
        mail=mail.mail,
        sender=mail.node,
        message_type=mail.message_type,
        folders=mail.folders,
        recipients=(node,),
        size=mail.size,
        number=mail.number,
        marks=mail.marks,
    )


def folder_version(trace: Trace, node: str, counter: int, **fields: Any) -> ChangeMade:
    """Record that a store makes a version of the folder."""
    given: dict[str, Any] = {
        "folder": "1-1",
        "object": FOLDER,
        "kind": "folder",
        "operation": "modify",
        "parent": "1-1",
    }
    return trace.change(node, counter, **given | fields)


def applies(trace: Trace, node: str, made: ChangeMade, **fields: Any) -> VersionApplied:
    """Record that a store applies a version as its author made it, except for `fields`."""
    given: dict[str, Any] = {
        "folder": made.folder,
        "object": made.object,
        "number": made.number,
        "kind": made.kind,
        "pcl": made.pcl,
        "modified_at": made.modified_at,
        "way": "broadcast",
        "stands_for": made.pcl,
        "digest": made.digest,
        "deleted": made.operation == "delete",
    }
    return trace.add(VersionApplied, node, **given | fields)
