"""The invariant of backfill time-outs reports planted violations and nothing else."""

from __future__ import annotations

import pytest

from pflab.campaign.seed import run_document
from pflab.invariants.backfill_timeouts import EntriesWaitAsConfigured, TimeoutsSendRequests
from pflab.terms.verdict import Judgement
from tests.support.campaign_scenarios import document_of
from tests.support.clock import START_AT
from tests.support.invariant_builders import FOLDER, Trace, entry, folder_version, gets, numbers, sends
from traces.events import (
    AddressStamped,
    EntryMade,
    EntryTimedOut,
    ReplicaAdded,
    RequestEnded,
    RowReplaced,
    StoreDeleted,
)
from traces.labtime import HOUR_US

LOCAL_US, REMOTE_US = 6 * HOUR_US, 12 * HOUR_US


def lab() -> Trace:
    """A trace in which A knows that all three, of one site, hold the folder."""
    trace = Trace(EntriesWaitAsConfigured, TimeoutsSendRequests)
    for store in "ABC":
        trace.add(AddressStamped, "A", store=store, address=f"{store}-IS@contoso.test")
    made = {"object": FOLDER, "kind": "folder", "subject": "Projects", "replicas": ("A", "B", "C"), "parent": "1-1"}
    trace.change("A", 1, folder="1-1", **made)
    trace.add(ReplicaAdded, "A", folder=FOLDER, store="A")
    return trace


def says(trace: Trace, *counters: int) -> None:
    """A takes B's row from a mail."""
    row = numbers("B", *counters)
    trace.add(
        RowReplaced, "A", folder=FOLDER, store="B", cnset=row, cnset_fai="", sent_at=START_AT, sent_number=len(counters)
    )


def finds(trace: Trace, due_us: int, *, local: bool) -> None:
    missing = numbers("B", 1, 2)
    trace.add(
        EntryMade, "A", folder=FOLDER, entry=1, cnset=missing, cnset_fai="", local=local, due_at=START_AT + due_us
    )


@pytest.mark.parametrize(
    ("due_us", "local", "expected"),
    [
        (LOCAL_US, True, ""),
        (REMOTE_US, True, "but the settings give"),
        (REMOTE_US, False, "counts as remote, but its site has B-1..2"),
    ],
)
def test_a_store_of_the_site_has_it(due_us: int, local: bool, expected: str) -> None:
    """Numbers that a store of the site has wait for the first local time-out."""
    trace = lab()
    says(trace, 1, 2)
    finds(trace, due_us, local=local)
    assert [expected in each for each in trace.witnesses()] == ([True] if expected else [])


@pytest.mark.parametrize(
    ("local", "expected"),
    [(True, "counts as local, but no store in its site has B-2"), (False, "counts as remote, but its site has B-1")],
)
def test_the_site_has_a_part(local: bool, expected: str) -> None:
    """Numbers that the site has and numbers that it does not have are never in one entry."""
    trace = lab()
    says(trace, 1)
    finds(trace, LOCAL_US if local else REMOTE_US, local=local)
    (found,) = trace.witnesses()
    assert expected in found


def divides(trace: Trace, due_us: int) -> None:
    numbers_1 = numbers("B", 1)
    trace.add(
        EntryMade,
        "A",
        folder=FOLDER,
        entry=2,
        cnset=numbers_1,
        cnset_fai="",
        local=True,
        due_at=START_AT + due_us,
        parent=1,
    )


@pytest.mark.parametrize(("due_us", "expected"), [(LOCAL_US, []), (REMOTE_US, [True])])
def test_a_store_of_the_site_comes_to_have_a_part(due_us: int, expected: list[bool]) -> None:
    """What the site gets later is due at the local time-out, counted from when it was found missing."""
    trace = lab()
    finds(trace, REMOTE_US, local=False)
    says(trace, 1)
    divides(trace, due_us)
    trace.array("A", entry(missing="B-2", local=False, due_at=START_AT + REMOTE_US))
    assert ["but the settings give" in each for each in trace.witnesses()] == expected


def test_a_part_that_the_site_has_stays_in_a_remote_entry() -> None:
    """What the site gets later is not left in an entry that waits for the remote time-out."""
    trace = lab()
    finds(trace, REMOTE_US, local=False)
    says(trace, 1)
    trace.array("A", entry(missing="B-1..2", local=False, due_at=START_AT + REMOTE_US))
    assert ["of which its site has B-1, is due at" in each for each in trace.witnesses()] == [True]


@pytest.mark.parametrize(("due_us", "expected"), [(LOCAL_US, []), (REMOTE_US, [True])])
def test_a_store_of_the_site_comes_to_have_it(due_us: int, expected: list[bool]) -> None:
    """Once a store of the site has all of it the due time is the earlier of the two."""
    trace = lab()
    finds(trace, REMOTE_US, local=False)
    says(trace, 1, 2)
    trace.array("A", entry(missing="B-1..2", due_at=START_AT + due_us))
    assert ["of which its site has B-1..2, is due at" in each for each in trace.witnesses()] == expected


@pytest.mark.parametrize(("how", "expected"), [("empty", 1), ("satisfied", 0)])
def test_a_source_has_nothing_and_nobody_else_is_asked(how: str, expected: int) -> None:
    """After an empty answer a request goes to another store that claims a change of the entry (BF-3, BF-5)."""
    trace = lab()
    says(trace, 1, 2)
    finds(trace, LOCAL_US, local=True)
    trace.add(RequestEnded, "A", folder=FOLDER, entry=1, source="C", how=how)
    trace.array("A", entry(missing="B-1..2", due_at=START_AT + LOCAL_US))
    words = "got nothing from C, but no request went to B"
    assert [words in each for each in trace.witnesses()] == [True] * expected


def leaves(trace: Trace, *counters: int) -> None:
    """A took B off the list, and B says what it has."""
    folder_version(trace, "A", 2, replicas=("A", "C"))
    gets(trace, "A", sends(trace, "B", 1, 0x20, ("A",), row=numbers("B", *counters), marks=("delete-pending",)))


@pytest.mark.parametrize(
    ("due_us", "local", "expected"),
    [(LOCAL_US, True, ""), (REMOTE_US, False, "counts as remote, but its site has B-1..2")],
)
def test_a_leaving_store_of_the_site_has_it(due_us: int, local: bool, expected: str) -> None:
    """Numbers of a leaving store of the site wait for the first local time-out, until the store is answered (RP-2)."""
    trace = lab()
    leaves(trace, 1, 2)
    finds(trace, due_us, local=local)
    assert [expected in each for each in trace.witnesses()] == ([True] if expected else [])


@pytest.mark.parametrize("end", ["no replica", "retained", "listed again", "deleted"])
def test_a_leaving_store_that_is_gone_has_nothing(end: str) -> None:
    """What a store said when it left counts no more once it is answered, says it has none, is back or deleted (RP-2)."""
    trace = lab()
    leaves(trace, 1, 2)
    if end == "no replica":
        gets(trace, "A", sends(trace, "B", 2, 0x80000004, ("A",), marks=(end,)))
    elif end == "retained":
        sends(trace, "A", 3, 0x10, ("B",), row=numbers("B", 1, 2), marks=(end,))
    elif end == "listed again":
        folder_version(trace, "A", 4, replicas=("A", "B", "C"))
    else:
        trace.add(StoreDeleted, "A", store="B", forced=True)
    finds(trace, REMOTE_US, local=False)
    assert trace.witnesses() == []


@pytest.mark.parametrize(("due_us", "expected"), [(LOCAL_US, []), (REMOTE_US, [True])])
def test_a_store_of_the_site_leaves_with_all_of_an_entry(due_us: int, expected: list[bool]) -> None:
    """Once a leaving store of the site has all of it the due time is the earlier of the two."""
    trace = lab()
    finds(trace, REMOTE_US, local=False)
    leaves(trace, 1, 2)
    trace.array("A", entry(missing="B-1..2", due_at=START_AT + due_us))
    assert ["of which its site has B-1..2, is due at" in each for each in trace.witnesses()] == expected


def test_a_leaving_store_is_asked_too() -> None:
    """A time-out after which nobody is asked is a violation, also if only a leaving store has the changes (BF-3, RP-2)."""
    trace = lab()
    leaves(trace, 1, 2)
    trace.add(EntryTimedOut, "A", folder=FOLDER, entry=1, attempt=1)
    trace.array("A", entry(missing="B-1..2"))
    assert ["but no request went to B" in each for each in trace.witnesses()] == [True]


WAITED_FOR_ITS_REPLICA = """
title: "Seed 888, shrunk"
missing: skip
seed: 888
topology:
  organization: Campaign
  sites: [SEA]
  servers:
    A: {site: SEA, version: "2000"}
    D: {site: SEA, version: "5.5"}
  settings:
    Replication Short Backfill Request Timeout: 30 min
steps:
  - {at: 19 h 54 min, backup: {on: D, as: f1}}
  - {at: 21 h 5 min, folder: {on: A, create: M25, replicas: [A, D], as: g25}}
  - {at: 23 h 16 min, delay: {from: A, to: D, type: content response, count: 1, by: 80 min, as: f2}}
  - {at: 23 h 16 min, post: {on: A, folder: g25, subject: post, as: m27}}
  - {at: 23 h 24 min, lose: {from: A, to: D, type: content, count: 1, as: f3}}
  - {at: 23 h 31 min, post: {on: A, folder: g25, subject: post, as: m28}}
  - {at: 23 h 39 min, heal: f3}
  - {at: 1 d 54 min, restore: {on: D, backup: f1}}
  - {at: 1 d 1 h 16 min, repair: all}
  - {until: {converged: all, within: bound}}
"""


def test_a_response_that_waited_for_its_replica_begins_to_fill_it() -> None:
    """On 5.5 a new replica asks at once until a response has arrived for it; a response that waited in the queue counts too
    (BF-2, IN-5)."""
    assert run_document(document_of(WAITED_FOR_ITS_REPLICA)).judgement is Judgement.CONVERGED


EXPIRED_AT_THE_ONE_THAT_ANSWERS = """
title: "Seed 881, shrunk"
missing: skip
seed: 881
topology:
  organization: Campaign
  sites: [SEA]
  servers:
    A: {site: SEA}
    B: {site: SEA}
    C: {site: SEA, settings: {Replication Folder Tombstone Age Limit: 1}}
  settings:
    Age Limit: 6 h
    Replication Short Backfill Request Timeout: 1 h
    Replication Short Backfill Request Timeout Later Retry: 1 h
steps:
  - {at: 0 s, folder: {on: C, create: M25, replicas: [C, B, A], as: g25}}
  - {at: 2 h, post: {on: B, folder: g25, subject: post, as: m27}}
  - {at: 150 min, backup: {on: B, as: f1}}
  - {at: 450 min, kill: A}
  - {at: 1 d 4 h 30 min, restore: {on: B, backup: f1}}
  - {at: 1 d 9 h 30 min, repair: all}
  - {until: {converged: all, within: bound}}
"""


def test_a_source_where_the_item_expired_is_not_asked_again() -> None:
    """At a later time-out a store whose row claims what has expired there is passed over (DL-3, BF-3)."""
    assert run_document(document_of(EXPIRED_AT_THE_ONE_THAT_ANSWERS)).judgement is Judgement.CONVERGED


A_HOLE_AMONG_ASSOCIATED_MESSAGES = """
title: "Seed 982, shrunk"
missing: skip
seed: 982
topology:
  organization: Campaign
  sites: [SEA]
  servers:
    A: {site: SEA, version: "5.5"}
    B: {site: SEA, version: "2003", settings: {Age Limit: 1 h, Replication Expiry: 1 h}}
  folders:
    F0: {replicas: [B]}
steps:
  - {at: 16 min, post: {on: B, folder: F0, subject: post, as: m2}}
  - {at: 201 min, replica: {on: A, folder: F0, add: A}}
  - {at: 330 min, delay: {from: B, to: A, type: content, count: 1, by: 40 min, as: f1}}
  - {at: 386 min, post: {on: B, folder: F0, subject: post, associated: true, as: m6}}
  - {at: 424 min, lose: {from: B, to: A, type: content, count: 1, as: f2}}
  - {at: 464 min, heal: f2}
  - {at: 19 h 30 min, repair: all}
  - {until: {converged: all, within: bound}}
"""


def test_what_expired_of_contents_is_a_hole_among_associated_messages() -> None:
    """The number of an expired content is a hole in the set of associated messages, and may still be requested there (DL-3)."""
    assert run_document(document_of(A_HOLE_AMONG_ASSOCIATED_MESSAGES)).judgement is Judgement.CONVERGED


BACK_ON_THE_LIST = """
title: "Seed 1125, shrunk"
missing: skip
seed: 1125
topology:
  organization: Campaign
  sites: [SEA]
  servers:
    A: {site: SEA, version: "5.5"}
    C: {site: SEA, version: "5.5"}
  folders:
    F0: {replicas: [A, C]}
steps:
  - {at: 5 min, post: {on: C, folder: F0, subject: post, as: m2}}
  - {at: 5 min, replica: {on: C, folder: F0, remove: A}}
  - {at: 491 min, replica: {on: C, folder: F0, add: A}}
  - {at: 551 min, repair: all}
  - {until: {converged: all, within: bound}}
"""


def test_a_store_that_is_added_again_before_it_left_misses_changes() -> None:
    """A leaving store requests nothing. If it is put back on the list before it has left, it misses what others told of
    meanwhile (RP-2, BF-1)."""
    assert run_document(document_of(BACK_ON_THE_LIST)).judgement is Judgement.CONVERGED


EXPIRED_WHERE_NOBODY_CAN_TELL = """
title: "Seed 1046, shrunk"
missing: skip
seed: 1046
topology:
  organization: Campaign
  sites: [SEA]
  servers:
    A: {site: SEA, version: "2000", settings: {Age Limit: 1 h}}
    B: {site: SEA, version: "2000"}
    C: {site: SEA, version: "2000"}
  folders:
    F0: {replicas: [A, B]}
steps:
  - {at: 437 min, folder: {on: A, create: G4, under: F0, replicas: [A], as: g5}}
  - {at: 851 min, replica: {on: B, folder: g5, add: C}}
  - {at: 856 min, folder: {on: B, move: g5, under: "/"}}
  - {at: 1 d 43 min, post: {on: C, folder: g5, subject: post, as: m16}}
  - {at: 1 d 48 min, folder: {on: B, delete: F0}}
  - {at: 1 d 1 h 48 min, repair: all}
  - {until: {converged: all, within: bound}}
"""


def test_stores_may_differ_by_expired_messages_in_a_doubtful_folder() -> None:
    """An age limit may remove a message at one store only, also in a folder for which the oracle cannot say what must exist
    (CV-2, DL-3)."""
    assert run_document(document_of(EXPIRED_WHERE_NOBODY_CAN_TELL)).judgement is Judgement.CONVERGED
