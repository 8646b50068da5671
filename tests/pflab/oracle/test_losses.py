"""What is rightly gone with a restore is worked out from the events alone, and nothing else is (DU-1, RP-4)."""

from __future__ import annotations

from typing import Any

import msgspec

from pflab.campaign.plans.plan import Plan, Post, Restore
from pflab.campaign.seed import run_plan
from pflab.oracle.losses import Losses
from pflab.terms.verdict import Judgement
from tests.support.invariant_builders import FOLDER, Trace, applies, lab, number
from traces.events import (
    BackupMade,
    BackupRestored,
    ChangeMade,
    Event,
    NodeStarted,
    ReplicaDropped,
    ReplicaPending,
    VersionIgnored,
)
from traces.labtime import DAY_US, HOUR_US, MINUTE_US


class Book:
    """A trace whose events the losses hear of."""

    def __init__(self) -> None:
        self.trace: Trace = lab()
        self.losses = Losses()

    def change(self, node: str, counter: int, **fields: Any) -> ChangeMade:
        made = self.trace.change(node, counter, **fields)
        self.losses.take(made)
        return made

    def applies(self, node: str, made: ChangeMade) -> None:
        self.losses.take(applies(self.trace, node, made))

    def add(self, kind: type[Event], node: str, **fields: Any) -> None:
        self.losses.take(self.trace.add(kind, node, **fields))

    def backs_up(self, store: str = "A") -> None:
        self.add(BackupMade, "lab", store=store, backup=f"backup of {store}")

    def goes_back(self, store: str = "A", guid: str = "ee", reason: str = "restored") -> None:
        self.add(BackupRestored, "lab", store=store, backup=f"backup of {store}")
        self.add(NodeStarted, store, version="2003", replica_guid=guid * 16, reason=reason)


def test_what_only_the_restored_store_had_is_lost() -> None:
    """Newer than the backup and on no other store: lost; in the backup, or applied elsewhere: not (DU-1)."""
    book = Book()
    book.change("A", 1)
    book.backs_up()
    sent, unsent = book.change("A", 2), book.change("A", 3)
    book.applies("B", sent)
    book.goes_back()
    assert book.losses.lost == {unsent.number: "A"}
    assert not book.losses.has("A", FOLDER, sent.number)
    assert book.losses.has("A", FOLDER, number("A", 1))


def test_what_was_under_way_is_found_again() -> None:
    """A mail that comes after the restore brings the change back, and it must then be everywhere (DU-1)."""
    book = Book()
    book.backs_up()
    made = book.change("A", 1)
    book.goes_back()
    assert made.number in book.losses.lost
    book.applies("C", made)
    assert book.losses.lost == {}


def test_a_store_that_begins_as_new_had_nothing() -> None:
    """Of a backup that is too old nothing comes back, what it had included (DL-4)."""
    book = Book()
    made = book.change("A", 1)
    book.backs_up()
    book.goes_back(reason="first")
    assert set(book.losses.lost) == {made.number}


def test_what_a_later_version_stood_for_goes_with_it() -> None:
    """An edit, or a deletion, that another store kept stands for what it replaced, as long as it is kept (DL-2)."""
    book = Book()
    book.backs_up("A")
    book.backs_up("B")
    made = book.change("A", 1)
    deleted = book.change("A", 2, object=made.object, operation="delete", supersedes=(made.number,))
    book.applies("B", deleted)
    book.goes_back("A")
    assert book.losses.lost == {}
    book.goes_back("B", "bb")
    assert set(book.losses.lost) == {made.number, deleted.number}


def test_a_replica_let_go_by_one_that_went_back() -> None:
    """A store that left had the word of one that has been restored since: what went with both is lost (RP-2)."""
    book = Book()
    book.backs_up("B")
    made = book.change("A", 1)
    book.applies("B", made)
    book.goes_back("B", "be")
    assert book.losses.lost == {}
    book.add(ReplicaDropped, "A", folder=FOLDER, cnset="")
    assert set(book.losses.lost) == {made.number}


def test_what_was_buried_with_a_folder_goes_with_its_deletion() -> None:
    """A store that forgets the deletion of a folder by its restore has lost what it dropped for it (DU-1, HI-6)."""
    book = Book()
    book.backs_up()
    made = book.change("A", 1)
    book.add(ReplicaDropped, "A", folder=FOLDER, cnset="")
    assert book.losses.lost == {}
    book.goes_back()
    assert set(book.losses.lost) == {made.number}


def test_what_was_buried_before_the_backup_stays_buried() -> None:
    """A backup that knows of the deletion brings nothing back and loses nothing; nor does one of a store that had left."""
    book = Book()
    book.change("A", 1)
    book.add(ReplicaDropped, "A", folder=FOLDER, cnset="")
    book.backs_up()
    book.change("A", 2)
    book.add(ReplicaPending, "A", folder=FOLDER)
    book.add(ReplicaDropped, "A", folder=FOLDER, cnset="")
    book.goes_back()
    assert book.losses.lost == {}


def test_what_lost_against_a_version_goes_with_it() -> None:
    """A change that was beaten where its author left it is in no store once the winner is gone (CN-9, RP-2, DU-1)."""
    book = Book()
    book.backs_up("B")
    beaten, winner = book.change("A", 1), book.change("B", 1)
    brought = msgspec.structs.asdict(applies(book.trace, "B", beaten))
    book.losses.take(VersionIgnored(reason="old", **brought))
    book.add(ReplicaDropped, "A", folder=FOLDER, cnset="")
    assert book.losses.lost == {}
    book.goes_back("B", "be")
    assert set(book.losses.lost) == {beaten.number, winner.number}


def test_a_backup_from_before_another_restore_brings_back_what_that_one_lost() -> None:
    """What is in a backup that a store goes back to is not lost, although it was before (DU-1, RP-4)."""
    book = Book()
    made = book.change("A", 1)
    book.backs_up()
    book.goes_back(reason="first")
    assert set(book.losses.lost) == {made.number}
    book.goes_back(guid="ef")
    assert book.losses.lost == {}


def test_a_replica_dropped_without_a_restore_explains_nothing() -> None:
    """DU-1 knows restore and loss of a store; a replica that was dropped too soon is no excuse."""
    book = Book()
    book.change("A", 1)
    book.add(ReplicaDropped, "A", folder=FOLDER, cnset="")
    assert book.losses.lost == {}


def plan(*faults: Restore, days: str = "180") -> Plan:
    posts = [Post(at_us=hour * HOUR_US + MINUTE_US, on="A", folder="F", label=f"m{hour}") for hour in (1, 3, 7)]
    settings = {"Replication Folder Tombstone Age Limit": int(days)}
    topology = {
        "servers": {"A": {}, "B": {}},
        "folders": {"F": {"replicas": ["A", "B"]}},
        "settings": settings,
    }
    return Plan(seed=1, length_us=2 * DAY_US, topology=topology, steps=tuple(posts), faults=faults)


def test_a_plan_with_a_restore() -> None:
    """A backup when the fault begins, the store back on it when it ends; what was unsent is lost and told (RP-4)."""
    result = run_plan(plan(Restore(at_us=2 * HOUR_US, lasts_us=HOUR_US + 2 * MINUTE_US, server="A", dead_us=0)))
    assert result.judgement is Judgement.CONVERGED
    assert result.branches["restored from backup"] == 1
    assert result.branches["loss reported"] == 1


def test_a_plan_with_a_backup_that_is_too_old() -> None:
    """Longer than a tombstone lives after the backup the store begins as new, and has everything in the end (DL-4)."""
    result = run_plan(plan(Restore(at_us=HOUR_US, lasts_us=30 * HOUR_US, server="A", dead_us=HOUR_US), days="1"))
    assert result.judgement is Judgement.CONVERGED
    assert result.branches["began as new"] == 1
    assert "loss reported" not in result.branches


def test_a_restore_that_ends_after_the_plan_comes_before_its_end() -> None:
    """A lab is healed only once what was lost is back on its backup."""
    result = run_plan(plan(Restore(at_us=HOUR_US, lasts_us=30 * DAY_US, server="A")))
    assert result.judgement is Judgement.CONVERGED
    assert result.branches["restored from backup"] == 1
