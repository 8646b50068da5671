"""Each invariant of the stores' state reports a changed reading with its store and value, and passes a correct one."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from pflab.campaign.coverage import BRANCHES, OPTIONAL
from pflab.campaign.draw.faults import FAULT_KINDS
from pflab.invariants.backfill_array import NothingMissingIsForgotten
from pflab.invariants.invariant import VALIDATIONS, Invariant, violations_of
from pflab.invariants.registry import INVARIANTS
from pflab.invariants.stored_state import (
    ClaimsAreKept,
    DeletesWin,
    NoEntryIsOverdue,
    NothingLostAtHome,
    OneTree,
    OneWinner,
    VersionsKeptUnchanged,
)
from pflab.oracle.monitor import MONITORED
from pflab.terms.verdict import FolderVerdict, Judgement, Verdict
from tests.support.clock import START_AT
from tests.support.invariant_builders import (
    FOLDER,
    Trace,
    entry,
    number,
    numbers,
    request,
    row,
    shown_folder,
    versions_of,
)
from traces.events import ContentResumed, ContentSuspended, NodeStarted, ReplicaDropped, VersionDropped, VersionHeld
from traces.labtime import HOUR_US


def test_a_change_lost_at_its_own_store() -> None:
    """A store must have each change that it acknowledged, a later version of it, or its tombstone (DU-1)."""
    trace = Trace(NothingLostAtHome)
    made = trace.change("A", 1)
    later = trace.change("B", 1, object=made.object, operation="modify", supersedes=(made.number,))
    trace.folder("A", versions=versions_of(made))
    trace.folder("A", versions=versions_of(later))
    trace.folder("A", tombstones=(made.object,))
    trace.folder("B", versions=versions_of(later))
    trace.folder("A", holds=False)
    assert trace.witnesses() == []
    trace.folder("A")
    (witness,) = trace.witnesses()
    assert witness.startswith("A acknowledged A-1 (the creation of 'post 1'")
    assert witness.endswith("but no longer has it")


def test_a_dropped_replica_or_a_restore_explains_a_loss() -> None:
    """A change that went with a dropped replica, or is newer than a restored backup, is no violation (DU-1)."""
    trace = Trace(NothingLostAtHome)
    trace.change("A", 1)
    trace.change("B", 1)
    trace.add(ReplicaDropped, "A", folder=FOLDER, cnset="")
    trace.add(NodeStarted, "B", version="2003", replica_guid="be" * 16, reason="restored")
    trace.folder("A")
    trace.folder("B")
    assert trace.witnesses() == []


def test_the_last_writer_replaces_the_others() -> None:
    """Of associated messages the later in time replaces the other, and not the other way round (CN-9)."""
    trace = Trace(NothingLostAtHome)
    first = trace.change("A", 1, kind="fai", modified_at=START_AT + 1)
    second = trace.change("B", 1, kind="fai", object=first.object, modified_at=START_AT + 2)
    trace.folder("A", versions=versions_of(second))
    assert trace.witnesses() == []
    trace.folder("B", versions=versions_of(first))
    assert len(trace.witnesses()) == 1


def test_a_claim_without_a_version() -> None:
    """A store must have each change that it claims, or its successor (CN-7)."""
    trace = Trace(ClaimsAreKept)
    made = trace.change("A", 1)
    trace.folder("B", numbers=numbers("A", 1), versions=versions_of(made))
    trace.folder("B", numbers="")
    trace.folder("B", numbers_fai=numbers("A", 1))  # there it is a hole like any
    assert trace.witnesses() == []
    trace.folder("B", numbers=numbers("A", 1))
    (witness,) = trace.witnesses()
    assert witness.startswith("B accounts for A-1 (the creation of 'post 1'")


def test_a_change_that_lost_may_be_a_hole() -> None:
    """A change of an object that was deleted at some store may be covered as a hole (CN-6, DL-2)."""
    trace = Trace(ClaimsAreKept)
    made = trace.change("A", 1)
    trace.change("B", 1, object=made.object, operation="delete", supersedes=(made.number,))
    trace.folder("C", numbers=numbers("A", 1))
    assert trace.witnesses() == []
    trace.folder("C", numbers=numbers("B", 1))
    assert len(trace.witnesses()) == 1


def test_a_deletion_that_does_not_win() -> None:
    """A store that claims the only deletion of an object must have no version of it (DL-2)."""
    trace = Trace(DeletesWin)
    made = trace.change("A", 1)
    deletion = trace.change("B", 1, object=made.object, operation="delete", supersedes=(made.number,))
    trace.folder("C", numbers=numbers("A", 1), versions=versions_of(made))
    trace.folder("C", numbers=numbers("B", 1), tombstones=(deletion.object,))
    assert trace.witnesses() == []
    trace.folder("C", numbers=numbers("B", 1), versions=versions_of(made))
    (witness,) = trace.witnesses()
    assert witness.startswith("C accounts for B-1, which deleted 'post 1'")


def test_two_winners() -> None:
    """Stores with the same versions must show the same winner, the later one (CF-1)."""
    trace = Trace(OneWinner)
    first = trace.change("A", 1)
    second = trace.change("B", 2, object=first.object, modified_at=first.modified_at + 1)
    trace.folder("A", versions=versions_of(first, second), shown={first.object: second.number})
    trace.folder("B", versions=versions_of(first), shown={first.object: first.number})
    assert trace.witnesses() == []
    trace.folder("C", versions=versions_of(first, second), shown={first.object: first.number})
    same, later = trace.witnesses()
    assert same.startswith("C shows A-1 of 'post 2'")
    assert "A shows B-2, although both keep the same versions" in same
    assert later.endswith("B-2 is later")


def test_no_winner() -> None:
    """A message with kept versions must show one of them (CF-1)."""
    trace = Trace(OneWinner)
    made = trace.change("A", 1)
    trace.folder("A", versions=versions_of(made))
    (witness,) = trace.witnesses()
    assert "shows no version of it" in witness


def test_two_trees() -> None:
    """Stores with the same folder versions must show the same tree; the place of a hidden folder does not matter (HI-7)."""
    trace = Trace(OneTree)
    one, other = number("A", 1), number("A", 2)
    versions = {one: ((one, ""),), other: ((other, ""),)}
    tree = (shown_folder(one, "X"), shown_folder(other, "Y", hidden=True))
    trace.folder("A", folder="1-1", versions=versions, tree=tree)
    trace.folder("B", folder="1-1", versions=versions, tree=(tree[0], shown_folder(other, "Z", hidden=True)))
    trace.folder("B", folder="1-1", versions={one: versions[one]}, tree=(shown_folder(one, "Q"),))
    assert trace.witnesses() == []
    trace.folder("C", folder="1-1", versions=versions, tree=(shown_folder(one, "X (2)"), tree[1]))
    assert trace.witnesses() == ["C shows X (2) and A shows X, although both know the same versions of all folders"]


def test_bytes_that_changed_in_a_store() -> None:
    """A store must keep the bytes that the author made, and only versions that a store made (DU-1)."""
    trace = Trace(VersionsKeptUnchanged)
    made = trace.change("A", 1)
    trace.folder("B", versions=versions_of(made))
    assert trace.witnesses() == []
    trace.folder("B", versions={made.object: ((made.number, "others"),)})
    trace.folder("B", versions={made.object: ((number("A", 2), made.digest),)})
    first, second = trace.witnesses()
    assert first.endswith("with other bytes than its author's")
    assert second == "B keeps A-2, which nobody made"


def test_an_entry_that_nothing_will_wake() -> None:
    """When nothing is in progress no entry may be due in the past (BF-2)."""
    trace = Trace(NoEntryIsOverdue)
    trace.at = START_AT + HOUR_US
    trace.array("A", entry())
    trace.at += 1
    trace.array("A", entry(), quiet=False)
    assert trace.witnesses() == []
    trace.array("A", entry())
    (witness,) = trace.witnesses()
    assert "A's entry 1 (A-1 of Projects) was due at 2003-10-21T01:00:00Z" in witness
    assert "but the lab time is 2003" in witness


def test_an_entry_may_be_overdue_while_content_is_suspended() -> None:
    """While its store has suspended content an entry of a folder may be overdue, and afterwards it must ask (RP-5, BF-2)."""
    trace = Trace(NoEntryIsOverdue)
    trace.at = START_AT + HOUR_US + 1
    trace.add(ContentSuspended, "A")
    trace.array("A", entry(), entry(id=2, waiting_for_slot=True))
    assert trace.witnesses() == []
    trace.add(ContentResumed, "A")
    trace.array("A", entry())
    assert len(trace.witnesses()) == 1


def test_an_entry_that_waits_for_a_free_slot() -> None:
    """An entry may wait for a slot only while all are taken (BF-6)."""
    trace = Trace(NoEntryIsOverdue)
    full = entry(id=2, requests=(request("B"), request("C")))
    trace.array("A", full, entry(waiting_for_slot=True))
    assert trace.witnesses() == []
    trace.array("A", entry(id=2, requests=(request("B"),)), entry(waiting_for_slot=True))
    trace.array("A", full, entry(id=3, requests=(request("B"),)))
    trace.array("A", entry(missing=""))
    assert trace.witnesses() == [
        "A's entry 1 (A-1 of Projects) waits for a slot, but only 1 of 2 are taken",
        "A has 3 requests outstanding, but its limit is 2",
        "A's entry 1 ( of Projects) is empty, but was not removed",
    ]


def test_missing_numbers_without_an_entry() -> None:
    """Numbers in another store's row that a store lacks must be in an entry, except its own (BF-1)."""
    trace = Trace(NothingMissingIsForgotten)
    own, other = row("A", "A-1, B-2", local=True), row("B", "A-1..3, B-1..3", fai="B-7")
    listed = (entry(missing="B-1"), entry(missing="B-3", missing_fai="B-7"))
    trace.rows("A", own, other, entries=listed)
    assert trace.witnesses() == []
    trace.rows("A", own, other, entries=(entry(missing="B-3"),))
    assert trace.witnesses() == [
        f"A knows from a row that it lacks B-1 of {FOLDER}, but its backfill array has no entry for this",
        f"A knows from a row that it lacks B-7 (associated) of {FOLDER}, but its backfill array has no entry for this",
    ]


def test_what_waits_in_the_queue_is_not_missing() -> None:
    """A queued hierarchy change must be in no entry until it is dropped from the queue (HI-4, BF-2)."""
    trace = Trace(NothingMissingIsForgotten)
    version = {
        "folder": "1-1",
        "object": number("B", 9),
        "number": number("B", 3),
        "kind": "folder",
        "pcl": "",
        "modified_at": START_AT,
        "way": "broadcast",
        "stands_for": numbers("B", 2, 3),
        "digest": "",
        "deleted": False,
    }
    here = (row("A", "A-1", local=True), row("B", "B-2..3"))
    trace.add(VersionHeld, "A", until_at=START_AT, waits_for=number("B", 8), **version)
    trace.rows("A", *here, folder="1-1")
    assert trace.witnesses() == []
    trace.add(VersionDropped, "A", reason="planted", **version)
    trace.rows("A", *here, folder="1-1")
    assert trace.witnesses() == [
        "A knows from a row that it lacks B-2..3 of the hierarchy, but its backfill array has no entry for this"
    ]


# -- the whole of them


def test_the_verdict_becomes_violations() -> None:
    """Each problem in the final verdict becomes a violation: which store lacks what, by which rule (CV-1 to CV-3)."""
    tree = FolderVerdict("1-1", "1-1", Judgement.CONVERGED, ("A", "B"))
    assert tree.in_words() == "Folder hierarchy (1-1): converged on A and B"
    bad = FolderVerdict(FOLDER, "Projects", Judgement.NOT_CONVERGED, ("A", "B"), ("B lacks A-1",))
    verdict = Verdict((bad,), lost=("A-1: no store has it",), untruthful=("a row",), leftovers=("B waits",))
    found, doubts = violations_of(verdict, START_AT)
    assert [each.invariant for each in found] == list(VALIDATIONS)
    assert found[0].in_words() == (
        "converged (CV-1, CV-2) at 2003-10-21T00:00:00Z: Projects: not converged (B lacks A-1)"
    )
    assert doubts == ()


def test_a_verdict_over_nothing_is_a_doubt() -> None:
    """Without a folder, or with one that cannot be judged, the result is never clean."""
    unknown = FolderVerdict(FOLDER, "Projects", Judgement.UNKNOWN, ("A",), ("A is stopped",))
    assert violations_of(Verdict((unknown,)), START_AT) == ((), ("Projects: unknown (A is stopped)",))
    assert violations_of(Verdict(()), START_AT) == ((), ("there is no folder to judge",))


@pytest.mark.parametrize("invariant", INVARIANTS, ids=lambda each: each.id)
def test_each_invariant_has_a_name_rules_and_a_sentence(invariant: type[Invariant], project_root: Path) -> None:
    """Each invariant has a unique id, rules of the catalogue, and one sentence that says what it requires."""
    assert [each.id for each in INVARIANTS].count(invariant.id) == 1
    assert invariant.says.endswith(".")
    catalogue = (project_root / "docs" / "rules.yaml").read_text("utf-8")
    assert invariant.rules
    assert all(f"id: {rule}\n" in catalogue for rule in invariant.rules)


def test_invariants_share_no_code_with_the_agent(project_root: Path) -> None:
    """The invariants import names from node or transport only for the type checker (CV-2)."""
    paths = sorted((project_root / "pflab" / "invariants").rglob("*.py"))
    assert len(paths) > 10
    for path in paths:
        body = ast.parse(path.read_text("utf-8")).body
        imported = [node.module or "" for node in body if isinstance(node, ast.ImportFrom)]
        imported += [alias.name for node in body if isinstance(node, ast.Import) for alias in node.names]
        assert not [name for name in imported if name.split(".")[0] in {"node", "transport"}], path.name


def test_the_page_on_campaigns_names_everything(project_root: Path) -> None:
    """docs/how-to/campaigns.md lists each invariant with its rules, each validation, branch and kind of fault."""
    flowing = " ".join((project_root / "docs" / "how-to" / "campaigns.md").read_text("utf-8").split())
    for invariant in INVARIANTS:
        assert f"- **{invariant.id}** ({', '.join(invariant.rules)}): {invariant.says}" in flowing
    for name in (*VALIDATIONS, *MONITORED, *BRANCHES, *OPTIONAL, *FAULT_KINDS):
        assert name in flowing


def test_what_a_later_update_in_the_queue_names_still_waits() -> None:
    """A number that two queued updates name is not missing as long as one of them waits (HI-4)."""
    trace = Trace(NothingMissingIsForgotten)
    common = {
        "folder": "1-1",
        "object": number("B", 9),
        "kind": "folder",
        "pcl": "",
        "modified_at": START_AT,
        "way": "broadcast",
        "digest": "",
        "deleted": False,
    }
    here = (row("A", "A-1", local=True), row("B", "B-2..3"))
    first = {"number": number("B", 2), "stands_for": "", **common}
    later = {"number": number("B", 3), "stands_for": numbers("B", 2, 2), **common}
    for version in (first, later):
        trace.add(VersionHeld, "A", until_at=START_AT, waits_for=number("B", 8), **version)
    trace.add(VersionDropped, "A", reason="planted", **first)
    trace.rows("A", *here, folder="1-1")
    assert trace.witnesses() == []
    trace.add(VersionDropped, "A", reason="planted", **later)
    trace.rows("A", *here, folder="1-1")
    assert trace.witnesses() == [
        "A knows from a row that it lacks B-2..3 of the hierarchy, but its backfill array has no entry for this"
    ]
