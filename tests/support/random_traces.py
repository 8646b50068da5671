"""Small random traces, and the findings of a plain Python oracle on them.

Three stores change a few messages and receive some of each other's versions, in some order. Some replicas are dropped, and
some stores are restored from a backup. The recorder writes the lines, so they are well formed; nothing else is realistic.

The oracle is pflab's own (`pflab.oracle.oracle`, CV-2), which uses only the `supersedes` field and no predecessor lists. This
module computes what each store has event by event.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from pflab.oracle.losses import Losses
from pflab.oracle.oracle import Change, Oracle, change_of
from traces.events import (
    EVENT_TYPES,
    BackupMade,
    BackupRestored,
    ChangeMade,
    Event,
    NodeStarted,
    NodeStopped,
    ReplicaDropped,
    RunEnded,
    RunStarted,
    VersionApplied,
)
from traces.recorder import Recorder
from traces.segments import SegmentName, write_segment

STORES = ("A", "B", "C")
SETUP = "5e" * 16
FOLDER = f"{SETUP}:1"
RANDOM_RUNS = 80
STEPS = 24

Mismatch = tuple[str, str, str, str]
"""Folder, store, what, number."""


@dataclass(slots=True)
class RandomRun:
    """The expected findings in a random trace."""

    wrong: set[Mismatch]
    lost: set[str]
    """Without the versions of deleted objects: a store that has the deletion claims them, whoever lost them."""
    buried: set[str]
    """The numbers of the versions of deleted objects."""


@dataclass(slots=True)
class _Store:
    """A store: its recorder, and the versions that it has, by object: number to event."""

    name: str
    guid: str
    recorder: Recorder
    counter: int = 0
    guids: int = 1
    has: dict[str, dict[str, Any]] = field(default_factory=dict)

    def kept(self, object_: str) -> dict[str, Any]:
        """Return the versions that no other version here supersedes; of a deleted object only the deletion."""
        mine = self.has.get(object_, {})
        return {
            number: event for number, event in mine.items()
            if not any(number != other and _covers(mine[other], number) for other in mine)
        }  # fmt: skip


def _covers(event: Any, number: str) -> bool:
    guid, _, counter = number.rpartition(":")
    known = dict(part.split(":") for part in event.pcl.split(";"))
    return int(known.get(guid, 0)) >= int(counter)


class _Play:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.at = 1_000_000
        self.lines: dict[str, bytes] = {}
        self.events: list[Event] = []
        self.lab = Recorder(run=f"random-{seed}", node="lab", checked=True)
        self.made: list[Any] = []
        self.objects = 0
        self.copies = 0
        self.backups: dict[str, tuple[str, int, dict[str, dict[str, Any]], int]] = {}
        holders = self.random.choice([("A", "B", "C"), ("A", "B"), ("B", "C")])
        self.holders = holders
        topology = {
            "servers": {name: {"site": "S", "version": "2003", "joins": "start"} for name in STORES},
            "folders": {"F": {"replicas": list(holders)}},
        }
        self.note(self.lab, RunStarted, topology=json.dumps(topology), seed=str(seed), settings={}, version="1.2")
        self.stores = {name: self._begin(name, index) for index, name in enumerate(STORES)}

    def _begin(self, name: str, index: int) -> _Store:
        guid = f"{index + 10:032x}"
        store = _Store(name, guid, Recorder(run=self.lab.run, node=name, checked=True))
        self.note(store.recorder, NodeStarted, version="2003", replica_guid=guid, reason="first")
        return store

    def note(self, recorder: Recorder, kind: type[Event], /, **fields: Any) -> Any:
        recorder.begin(self.at)
        recorder.record(kind, **fields)
        (event,) = recorder.events
        self.lines[recorder.node] = self.lines.get(recorder.node, b"") + recorder.take()
        self.events.append(event)
        return event

    def play(self) -> None:
        for _ in range(STEPS):
            self.at += 1
            store = self.stores[self.random.choice(self.holders)]
            act = self.random.choices(
                (self.change, self.deliver, self.drop, self.backup, self.restore), (8, 14, 1, 2, 2)
            )[0]
            act(store)
        if self.random.random() < 0.6:
            self.settle()
        self.at += 1
        for store in self.stores.values():
            self.note(store.recorder, NodeStopped, how="stop")
        self.note(self.lab, RunEnded, verdict="passed")

    def change(self, store: _Store) -> None:
        living = [each for each in store.has if not self._deleted(store, each)]
        number = f"{store.guid}:{store.counter + 1}"
        if not living or self.random.random() < 0.4:
            self.objects += 1
            object_, kept, operation = f"{store.guid}:{1000 + self.objects}", {}, "create"
        else:
            object_ = self.random.choice(living)
            kept, operation = store.kept(object_), self.random.choice(("modify", "modify", "delete"))
            if self._dropped_an_own_version(store, object_, kept):
                return
        store.counter += 1
        pcl: dict[str, int] = {}
        for event in kept.values():
            for part in event.pcl.split(";"):
                guid, counter = part.split(":")
                pcl[guid] = max(pcl.get(guid, 0), int(counter))
        pcl[store.guid] = store.counter
        event = self.note(
            store.recorder, ChangeMade, folder=FOLDER, object=object_, number=number, kind="message", operation=operation,
            modified_at=self.at, supersedes=tuple(sorted(kept)), pcl=";".join(f"{g}:{c}" for g, c in sorted(pcl.items())),
            digest="" if operation == "delete" else f"{self.at:064x}", subject=f"m{self.objects}",
        )  # fmt: skip
        self.made.append(event)
        store.has.setdefault(object_, {})[number] = event

    def _dropped_an_own_version(self, store: _Store, object_: str, kept: dict[str, Any]) -> bool:
        """Return whether the store has made a version that it has dropped since. A predecessor list has one counter for each
        store, so it would cover that version; the plain oracle would not."""
        own = [event.number for event in self.made if event.object == object_ and event.number.startswith(store.guid)]
        return any(not any(_covers(event, number) for event in kept.values()) for number in own)

    def _deleted(self, store: _Store, object_: str) -> bool:
        return any(event.operation == "delete" for event in store.has.get(object_, {}).values())

    def deliver(self, store: _Store) -> None:
        if self.made:
            self.apply(store, self.random.choice(self.made))

    def apply(self, store: _Store, event: Any) -> None:
        """Apply a version as the store would: an old one, or one of a deleted object, changes nothing."""
        mine = store.has.get(event.object, {})
        if any(_covers(each, event.number) for each in mine.values()) or self._deleted(store, event.object):
            return
        self.note(
            store.recorder, VersionApplied, folder=FOLDER, object=event.object, number=event.number, kind="message",
            pcl=event.pcl, modified_at=event.modified_at, way="broadcast", stands_for=event.number, digest=event.digest,
            deleted=event.operation == "delete",
        )  # fmt: skip
        store.has.setdefault(event.object, {})[event.number] = event

    def drop(self, store: _Store) -> None:
        self.note(store.recorder, ReplicaDropped, folder=FOLDER, cnset="")
        store.has = {}
        # No restore undoes a drop: the plain oracle counts the dropped versions as gone for good.
        self.backups = {backup: kept for backup, kept in self.backups.items() if kept[0] != store.name}

    def backup(self, store: _Store) -> None:
        self.copies += 1
        backup = f"backup-{self.copies}"
        self.note(self.lab, BackupMade, store=store.name, backup=backup, through=store.recorder.seq)
        copy = {object_: dict(events) for object_, events in store.has.items()}
        self.backups[backup] = (store.name, store.recorder.seq, copy, store.counter)

    def restore(self, store: _Store) -> None:
        mine = [backup for backup, (name, *_) in self.backups.items() if name == store.name]
        if not mine:
            return
        backup = self.random.choice(mine)
        self.note(self.lab, BackupRestored, store=store.name, backup=backup)
        store.guids += 1
        store.guid = f"{store.guids * 100 + STORES.index(store.name) + 10:032x}"
        store.counter = 0
        self.note(store.recorder, NodeStarted, version="2003", replica_guid=store.guid, reason="restored")
        store.has = {object_: dict(events) for object_, events in self.backups[backup][2].items()}

    def settle(self) -> None:
        """Every holder gets every version that some store still has."""
        for _ in range(2):
            for event in self.made:
                if any(event.number in store.has.get(event.object, {}) for store in self.stores.values()):
                    for name in self.holders:
                        self.apply(self.stores[name], event)

    # --- the expected findings

    def expected_findings(self) -> RandomRun:
        genesis = Change(
            store="Setup", folder="1-1", object=FOLDER, number=FOLDER, kind="folder", operation="create", modified_at=0,
            replicas=self.holders, parent="1-1", subject="F",
        )  # fmt: skip
        oracle, losses = Oracle([genesis], STORES), Losses()
        for index, event in enumerate(self.events):
            if index == 1 + len(STORES):  # after the start of the run and of each store
                losses.began_with([genesis], STORES)
            losses.take(event)
            if isinstance(event, ChangeMade):
                oracle.take(change_of(event))
        truth = oracle.without(losses.lost).truth()[FOLDER]
        wrong: set[Mismatch] = set()
        for name in self.holders:
            store = self.stores[name]
            for object_, numbers in truth.versions.items():
                kept = set() if self._deleted(store, object_) else set(store.kept(object_))
                wrong |= {(FOLDER, name, "lacks", number) for number in numbers - kept}
                wrong |= {(FOLDER, name, "keeps", number) for number in kept - numbers}
            for object_, number in truth.tombstones.items():
                if self._deleted(store, object_):
                    continue
                kept = set(store.kept(object_))
                wrong |= {(FOLDER, name, "keeps", each) for each in kept}
                if not kept:
                    wrong.add((FOLDER, name, "lacks deletion", number))
        buried = {event.number for event in self.made if event.object in truth.tombstones}
        return RandomRun(wrong, set(losses.lost) - buried, buried)


def write_random_runs(place: Path, seeds: Sequence[int] = range(RANDOM_RUNS)) -> dict[str, RandomRun]:
    """Write `place/<seed>/*.jsonl`, and return the expected findings by seed."""
    found = {}
    for seed in seeds:
        play = _Play(seed)
        play.play()
        folder = place / str(seed)
        folder.mkdir(parents=True)
        for node, lines in play.lines.items():
            write_segment(folder, SegmentName(node, 1, 1), [lines])
        found[str(seed)] = play.expected_findings()
    assert {msgspec.json.decode(line)["type"] for line in play.lines["A"].splitlines()} <= EVENT_TYPES.keys()
    return found
