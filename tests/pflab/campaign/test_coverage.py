"""The coverage of a campaign counts each branch by the event or reading that shows it."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs

from node.views import Knowledge
from pflab.campaign.coverage import BRANCHES, OPTIONAL, BranchCounter
from pflab.invariants.invariant import FolderReading
from tests.support.clock import START_AT
from tests.support.invariant_builders import FOLDER, Trace, number, numbers, shown_folder
from topology.file.load import topology_from_text
from traces import events as ev

VERSION = {
    "folder": FOLDER,
    "object": number("A", 100),
    "number": number("A", 1),
    "kind": "message",
    "pcl": "",
    "modified_at": START_AT,
    "way": "broadcast",
    "stands_for": "",
    "digest": "",
    "deleted": False,
}


def test_a_store_that_learns_of_a_deletion_at_its_start() -> None:
    """A store that was down when another was deleted learns of it at its start; only that counts as the branch (RP-6)."""
    branch, deletion = "deletion learned at its start", {"store": "C", "forced": False}
    started = {"version": "2003", "replica_guid": "aa" * 16, "reason": "restart"}
    trace = Trace()
    coverage = BranchCounter(trace.facts)
    coverage.event(trace.add(ev.NodeStarted, "A", **started))
    trace.at += 1
    coverage.event(trace.add(ev.StoreDeleted, "A", **deletion))
    assert branch not in coverage.counts
    coverage.event(trace.add(ev.NodeStarted, "B", **started))
    coverage.event(trace.add(ev.StoreDeleted, "B", **deletion))
    assert branch in coverage.counts


def candidate(store: str, has: int) -> ev.Candidate:
    return ev.Candidate(store=store, down=False, preferred=False, cost=0, version="2003", has=has, passed_over="")


def seen_after(*events: tuple[type[ev.Event], dict[str, Any]]) -> set[str]:
    trace = Trace()
    coverage = BranchCounter(trace.facts)
    for kind, fields in events:
        coverage.event(trace.add(kind, "A", **fields))
    return set(coverage.counts)


@pytest.mark.parametrize(
    ("branch", "kind", "fields"),
    [
        ("duplicate ignored", ev.VersionIgnored, {**VERSION, "reason": "duplicate"}),
        ("tombstone hit", ev.VersionIgnored, {**VERSION, "reason": "tombstoned"}),
        ("conflict of associated messages", ev.VersionIgnored, {**VERSION, "kind": "fai", "reason": "old"}),
        ("held applied", ev.VersionApplied, {**VERSION, "way": "queue"}),
        ("hierarchy by backfill", ev.VersionApplied, {**VERSION, "kind": "folder", "way": "backfill"}),
        ("content by backfill", ev.VersionApplied, {**VERSION, "way": "backfill"}),
        (
            "lost edit notice sent",
            ev.ConflictNotice,
            {"folder": FOLDER, "object": number("A", 1), "contacts": (), "versions": (number("A", 1),)},
        ),
        (
            "old conflict ended",
            ev.ConflictAged,
            {
                "folder": FOLDER,
                "object": number("A", 1),
                "number": number("A", 2),
                "winner": number("A", 1),
                "since_at": START_AT,
                "limit_us": 0,
            },
        ),
        ("retry of an entry", ev.EntryTimedOut, {"folder": FOLDER, "entry": 1, "attempt": 2}),
        (
            "several sources asked",
            ev.SourcesConsidered,
            {"folder": FOLDER, "entry": 1, "candidates": (candidate("B", 2),), "chosen": ("B", "C")},
        ),
        (
            "answer in several mails",
            ev.RequestAnswered,
            {"folder": FOLDER, "requester": "B", "cnset": numbers("A", 1), "mails": 2, "request_mail": "1"},
        ),
        (
            "empty answer",
            ev.RequestAnswered,
            {"folder": FOLDER, "requester": "B", "cnset": "", "mails": 1, "request_mail": "1"},
        ),
        ("mail expired", ev.HopExpired, {"queue_id": 1, "recipients": (), "reason": ""}),
        ("content suspended", ev.ContentSuspended, {}),
        ("content resumed", ev.ContentResumed, {}),
        (
            "request refused while suspended",
            ev.RequestRefused,
            {"folder": FOLDER, "requester": "B", "request_mail": "1"},
        ),
        ("store deleted", ev.StoreDeleted, {"store": "C", "forced": False}),
        ("store deleted with what it held", ev.StoreDeleted, {"store": "C", "forced": True}),
        ("crash", ev.NodeStarted, {"version": "2003", "replica_guid": "aa" * 16, "reason": "restart"}),
    ],
)
def test_a_branch_by_its_event(branch: str, kind: type[ev.Event], fields: dict[str, Any]) -> None:
    """The event that shows a branch is counted for it."""
    assert branch in seen_after((kind, fields))
    assert branch in (*BRANCHES, *OPTIONAL)


@pytest.mark.parametrize(
    ("resolve", "branch"),
    [
        ("default", None),
        ("last writer wins", "conflict where the last writer wins"),
        ("no notification", "conflict without notification"),
    ],
)
def test_branches_of_the_resolve_methods(resolve: str, branch: str | None) -> None:
    """A conflict counts for its folder's resolve method (CF-4)."""
    text = f"servers: {{A: , B: , C: }}\nfolders: {{Projects: {{replicas: [A, B], resolve: {resolve}}}}}\n"
    trace = Trace(topology=topology_from_text(text, "planted"))
    coverage = BranchCounter(trace.facts)
    coverage.event(
        trace.add(ev.ConflictArose, "A", folder=FOLDER, object=number("A", 1), versions=(), winner=number("A", 1))
    )
    assert set(coverage.counts) == {"conflict", *([branch] if branch else [])}
    assert set(coverage.counts) <= set(BRANCHES)


def chooses(method: str, *found: ev.Candidate, chosen: tuple[str, ...] = ("B",), **more: Any) -> set[str]:
    fields = {"folder": FOLDER, "entry": 1, "candidates": found, "chosen": chosen, "method": method, **more}
    return seen_after((ev.SourcesConsidered, fields))


def test_branches_of_the_versions() -> None:
    """A version's own branch shows in its choice of sources, and in what a 5.5 server does at once or at midnight (BF-3)."""
    old = structs.replace(candidate("C", 2), version="5.5", near=True, has_all=True)
    near, newest = structs.replace(candidate("B", 2), near=True), structs.replace(candidate("C", 2), version="2007")
    assert "two holders asked" in chooses("two holders", candidate("B", 1), candidate("C", 1), chosen=("B", "C"))
    assert "six groups: parts one at a time" in chooses("six groups", candidate("B", 1), one_by_one=True)
    seen = chooses("six groups", candidate("B", 2), old)
    assert {"six groups: the first that has all", "six groups: a near older server passed over"} <= seen
    assert "sorted list: the cheapest asked before a newer" in chooses("sorted list", near, newest)
    assert "preferred source asked" in chooses("sorted list", structs.replace(candidate("B", 2), preferred=True))
    listed = {
        "folder": FOLDER,
        "candidates": (structs.replace(candidate("B", 1), group=7),),
        "chosen": ("B",),
        "method": "six steps",
    }
    assert {"six steps list responders", "the oldest replica listed"} <= seen_after((ev.RespondersConsidered, listed))
    entry = {"folder": FOLDER, "entry": 1, "cnset": "", "cnset_fai": "", "local": True, "due_at": START_AT}
    assert "a new replica of 5.5 asks at once" not in seen_after((ev.EntryMade, entry)), "A is of version 2003"


def test_ordinary_events_are_no_branch() -> None:
    """First attempts and single sources count as no branch."""
    assert (
        seen_after(
            (ev.EntryTimedOut, {"folder": FOLDER, "entry": 1, "attempt": 1}),
            (
                ev.SourcesConsidered,
                {"folder": FOLDER, "entry": 1, "candidates": (candidate("B", 2),), "chosen": ("B",)},
            ),
            (ev.VersionApplied, VERSION),
        )
        == set()
    )


def test_requests_for_more_than_any_source_has() -> None:
    """If no single source has everything, the requests together ask for more than the best candidate has."""
    choice = (
        ev.SourcesConsidered,
        {"folder": FOLDER, "entry": 1, "candidates": (candidate("B", 1), candidate("C", 1)), "chosen": ("B", "C")},
    )
    share = {"folder": FOLDER, "entry": 1, "cnset_fai": "", "retry_at": START_AT}
    first = (ev.RequestSent, {**share, "source": "B", "cnset": numbers("A", 1)})
    second = (ev.RequestSent, {**share, "source": "C", "cnset": numbers("A", 2)})
    assert "no source had all" not in seen_after(choice, first)
    assert "no source had all" in seen_after(choice, first, second)


def test_repeats() -> None:
    """A status and a status request marked repeat are branches of their own (ST-7)."""
    trace = Trace()
    coverage = BranchCounter(trace.facts)
    for index, message_type in enumerate((0x10, 0x20, 0x4), start=1):
        coverage.event(trace.mail("A", index, message_type=message_type, marks=("repeat",)))
    assert set(coverage.counts) == {"status repeat", "status request repeat"}


def test_reordered_and_doubled_mails() -> None:
    """The numbers and ids of mails show which ones arrive after a later one, or twice (IN-3, RST-4)."""
    trace = Trace()
    coverage = BranchCounter(trace.facts)
    sent = {index: trace.mail("A", index) for index in (1, 2)}

    def arrives(index: int) -> None:
        coverage.event(
            trace.add(
                ev.MailReceived,
                "B",
                mail=f"{index}@A",
                sender="A",
                message_type=0x10,
                folders=sent[index].folders,
                recipients=("B",),
                size=1,
                number=index,
            )
        )

    arrives(2)
    row = {"folder": FOLDER, "store": "A", "cnset": "", "cnset_fai": "", "sent_at": START_AT, "sent_number": 2}
    coverage.event(trace.add(ev.RowReplaced, "B", mail="2@A", **row))
    assert set(coverage.counts) == set()
    arrives(1)
    assert set(coverage.counts) == {"reordered row not replaced"}
    arrives(1)
    assert "mail received twice" in coverage.counts


def reading(tree: tuple[Any, ...], versions: dict[str, str]) -> FolderReading:
    kept: dict[str, tuple[tuple[str, str], ...]] = {each: ((change, ""),) for each, change in versions.items()}
    knowledge = Knowledge("1-1", True, "", "", kept, {}, ())
    return FolderReading("A", "1-1", knowledge, tree)


def test_suffixes_and_cycles_are_read_off_the_tree() -> None:
    """A folder shown with a suffix and a cycle of parents have no event; the tree of folders shows them (HI-7)."""
    trace = Trace()
    coverage = BranchCounter(trace.facts)
    folder = {"folder": "1-1", "kind": "folder", "replicas": ("A",)}
    one, other = number("A", 50), number("A", 51)
    first = trace.change("A", 1, object=one, subject="X", parent=other, **folder)
    plain = trace.change("A", 2, object=other, subject="Y", parent="1-1", **folder)
    coverage.folder(
        reading((shown_folder(one, "Y/X"), shown_folder(other, "Y")), {one: first.number, other: plain.number})
    )
    assert set(coverage.counts) == set()
    coverage.folder(reading((shown_folder(other, "Y (2)"),), {other: plain.number}))
    assert set(coverage.counts) == {"name suffix"}
    ring = trace.change("A", 3, object=other, subject="Y", parent=one, operation="modify", **folder)
    coverage.folder(
        reading((shown_folder(one, "Y/X"), shown_folder(other, "Y")), {one: first.number, other: ring.number})
    )
    assert set(coverage.counts) == {"name suffix", "folder cycle cut"}
