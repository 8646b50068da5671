"""Changes that a restore loses rightly follow from the events alone (DU-1, RP-4)."""

from __future__ import annotations

from typing import Any

import msgspec

from pflab.campaign.draw import timed
from pflab.campaign.draw.timed import Span, fault
from pflab.campaign.scenario_document import Document
from pflab.campaign.seed import run_document
from pflab.oracle.losses import Losses
from pflab.terms.mail_types import MailKind
from pflab.terms.verdict import Judgement
from tests.support.campaign_scenarios import campaign_scenario
from tests.support.invariant_builders import FOLDER, Trace, applies, gets, lab, number, sends
from traces.events import (
    BackupMade,
    BackupRestored,
    ChangeMade,
    Event,
    ExpiredEverywhere,
    NodeStarted,
    ReplicaDropped,
    ReplicaPending,
    StoreDeleted,
    VersionIgnored,
)
from traces.labtime import DAY_US, HOUR_US, MINUTE_US


class LossTrace:
    """A trace that passes its events to `Losses`."""

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
    """A change newer than the backup and on no other store is lost; one in the backup or applied elsewhere is not (DU-1)."""
    losses_trace = LossTrace()
    losses_trace.change("A", 1)
    losses_trace.backs_up()
    sent, unsent = losses_trace.change("A", 2), losses_trace.change("A", 3)
    losses_trace.applies("B", sent)
    losses_trace.goes_back()
    assert losses_trace.losses.lost == {unsent.number: "A"}
    assert not losses_trace.losses.has("A", FOLDER, sent.number)
    assert losses_trace.losses.has("A", FOLDER, number("A", 1))


def test_what_was_under_way_is_found_again() -> None:
    """A mail that arrives after the restore brings the change back, which must then be everywhere (DU-1)."""
    losses_trace = LossTrace()
    losses_trace.backs_up()
    made = losses_trace.change("A", 1)
    losses_trace.goes_back()
    assert made.number in losses_trace.losses.lost
    losses_trace.applies("C", made)
    assert losses_trace.losses.lost == {}


def test_a_store_that_begins_as_new_had_nothing() -> None:
    """From a backup that is too old nothing comes back, not even its content (DL-4)."""
    losses_trace = LossTrace()
    made = losses_trace.change("A", 1)
    losses_trace.backs_up()
    losses_trace.goes_back(reason="first")
    assert set(losses_trace.losses.lost) == {made.number}


def test_a_later_version_keeps_what_it_supersedes() -> None:
    """An edit or deletion on another store preserves what it superseded, as long as that store keeps it (DL-2)."""
    losses_trace = LossTrace()
    losses_trace.backs_up("A")
    losses_trace.backs_up("B")
    made = losses_trace.change("A", 1)
    deleted = losses_trace.change("A", 2, object=made.object, operation="delete", supersedes=(made.number,))
    losses_trace.applies("B", deleted)
    losses_trace.goes_back("A")
    assert losses_trace.losses.lost == {}
    losses_trace.goes_back("B", "bb")
    assert set(losses_trace.losses.lost) == {made.number, deleted.number}


def test_a_replica_released_by_a_store_that_was_restored() -> None:
    """A store left because another had its data, and that one was restored since: changes that both had are lost (RP-2)."""
    losses_trace = LossTrace()
    losses_trace.backs_up("B")
    made = losses_trace.change("A", 1)
    losses_trace.applies("B", made)
    losses_trace.goes_back("B", "be")
    assert losses_trace.losses.lost == {}
    losses_trace.add(ReplicaDropped, "A", folder=FOLDER, cnset="")
    assert set(losses_trace.losses.lost) == {made.number}


def test_a_store_that_accounts_for_an_expired_item_loses_it_by_a_restore() -> None:
    """A store may let another leave when it accounts for an item that has expired on both. If it is then restored to an older
    backup, no store has this number any more (DL-3, RP-2, DU-1)."""
    losses_trace = LossTrace()
    made = losses_trace.change("A", 1)
    losses_trace.backs_up("B")
    losses_trace.add(ReplicaPending, "A", folder=FOLDER)
    losses_trace.add(ExpiredEverywhere, "B", folder=FOLDER, cnset=made.number, cnset_fai="")
    losses_trace.add(ReplicaDropped, "A", folder=FOLDER, cnset=made.number)
    assert losses_trace.losses.lost == {}
    losses_trace.goes_back("B", "be")
    assert losses_trace.losses.lost == {made.number: "B"}


def test_a_restore_that_undoes_a_deletion_loses_the_dropped_content() -> None:
    """A store whose restore undoes the deletion of a folder has lost the content that it dropped for it (DU-1, HI-6)."""
    losses_trace = LossTrace()
    losses_trace.backs_up()
    made = losses_trace.change("A", 1)
    losses_trace.add(ReplicaDropped, "A", folder=FOLDER, cnset="")
    assert losses_trace.losses.lost == {}
    losses_trace.goes_back()
    assert set(losses_trace.losses.lost) == {made.number}


def test_a_store_that_is_deleted_takes_its_deletions_with_it() -> None:
    """If a store deletes a folder and is deleted before it tells anybody, the content that it dropped is lost too (DU-1,
    RP-6)."""
    losses_trace = LossTrace()
    made = losses_trace.change("A", 1)
    losses_trace.add(ReplicaDropped, "A", folder=FOLDER, cnset="")
    losses_trace.add(StoreDeleted, "B", store="A", forced=True)
    assert losses_trace.losses.lost == {made.number: "A"}


def test_a_deletion_in_the_backup_loses_nothing() -> None:
    """A backup with the deletion brings nothing back and loses nothing; the same holds for a store that had left."""
    losses_trace = LossTrace()
    losses_trace.change("A", 1)
    losses_trace.add(ReplicaDropped, "A", folder=FOLDER, cnset="")
    losses_trace.backs_up()
    losses_trace.change("A", 2)
    losses_trace.add(ReplicaPending, "A", folder=FOLDER)
    losses_trace.add(ReplicaDropped, "A", folder=FOLDER, cnset="")
    losses_trace.goes_back()
    assert losses_trace.losses.lost == {}


def test_the_loser_of_a_lost_version_is_lost_too() -> None:
    """A change that its author dropped for a winning version is on no store once that version is lost (CN-9, RP-2, DU-1)."""
    losses_trace = LossTrace()
    losses_trace.backs_up("B")
    beaten, winner = losses_trace.change("A", 1), losses_trace.change("B", 1)
    brought = msgspec.structs.asdict(applies(losses_trace.trace, "B", beaten))
    losses_trace.losses.take(VersionIgnored(reason="old", **brought))
    losses_trace.add(ReplicaDropped, "A", folder=FOLDER, cnset="")
    assert losses_trace.losses.lost == {}
    losses_trace.goes_back("B", "be")
    assert set(losses_trace.losses.lost) == {beaten.number, winner.number}


def test_a_backup_from_before_another_restore_brings_back_what_that_one_lost() -> None:
    """A change in the backup that a store is restored to is not lost, even if an earlier restore lost it (DU-1, RP-4)."""
    losses_trace = LossTrace()
    made = losses_trace.change("A", 1)
    losses_trace.backs_up()
    losses_trace.goes_back(reason="first")
    assert set(losses_trace.losses.lost) == {made.number}
    losses_trace.goes_back(guid="ef")
    assert losses_trace.losses.lost == {}


def test_a_replica_dropped_without_a_restore_explains_nothing() -> None:
    """DU-1 allows losses only by a restore or the loss of a store, not by a replica that was dropped too soon."""
    losses_trace = LossTrace()
    losses_trace.change("A", 1)
    losses_trace.add(ReplicaDropped, "A", folder=FOLDER, cnset="")
    assert losses_trace.losses.lost == {}


def with_posts(*faults: Span, days: str = "180") -> Document:
    posts = [timed.post(at_us=hour * HOUR_US + MINUTE_US, on="A", folder="F", label=f"m{hour}") for hour in (1, 3, 7)]
    settings = {"Replication Folder Tombstone Age Limit": int(days)}
    topology = {
        "servers": {"A": {}, "B": {}},
        "folders": {"F": {"replicas": ["A", "B"]}},
        "settings": settings,
    }
    return campaign_scenario(*faults, steps=tuple(posts), topology=topology, length_us=2 * DAY_US)


def test_a_scenario_with_a_restore() -> None:
    """The backup is made when the fault begins, and restored when it ends; unsent changes are lost and reported (RP-4)."""
    result = run_document(with_posts(fault("restore", at_us=2 * HOUR_US, lasts_us=HOUR_US + 2 * MINUTE_US, server="A")))
    assert result.judgement is Judgement.CONVERGED
    assert result.branches["restored from backup"] == 1
    assert result.branches["loss reported"] == 1


def test_a_scenario_with_a_backup_that_is_too_old() -> None:
    """A store restored later than the tombstone age begins as new, and has everything at the end (DL-4)."""
    result = run_document(
        with_posts(fault("restore", at_us=HOUR_US, lasts_us=30 * HOUR_US, server="A", dead_us=HOUR_US), days="1")
    )
    assert result.judgement is Judgement.CONVERGED
    assert result.branches["began as new"] == 1
    assert "loss reported" not in result.branches


def test_a_restore_that_ends_after_the_work_comes_before_its_end() -> None:
    """The lab is healed only after every lost store is restored."""
    result = run_document(with_posts(fault("restore", at_us=HOUR_US, lasts_us=30 * DAY_US, server="A")))
    assert result.judgement is Judgement.CONVERGED
    assert result.branches["restored from backup"] == 1


def test_a_leaving_store_may_lose_only_what_the_store_that_let_it_go_has_lost() -> None:
    """The last copy of a change is rightly lost with a leaving store only if the holder that permitted the drop had the change
    and was restored or deleted since (DU-1, RP-2)."""
    for has_it, lost in ((True, True), (False, False)):
        losses_trace = LossTrace()
        losses_trace.backs_up("C")
        made = losses_trace.change("A", 1)
        losses_trace.applies("B", made)
        if has_it:
            losses_trace.applies("C", made)
        losses_trace.add(ReplicaPending, "B", folder=FOLDER)
        answer = sends(losses_trace.trace, "C", 1, MailKind.STATUS, ("B",), marks=("retained",))
        losses_trace.losses.take(gets(losses_trace.trace, "B", answer))
        losses_trace.goes_back("C", "ce")
        losses_trace.add(StoreDeleted, "C", store="A", forced=True)
        losses_trace.add(ReplicaDropped, "B", folder=FOLDER, cnset="")
        assert (made.number in losses_trace.losses.lost) == lost
