"""The oracle and its judge, on histories made by hand, without nodes."""

from __future__ import annotations

from node.views import EntryView, Knowledge, RowView
from pflab.oracle.compare import Judge, Reading
from pflab.oracle.oracle import Change, Oracle
from pflab.terms import number_sets as sets
from pflab.terms.folder_ids import HIERARCHY
from pflab.terms.verdict import Judgement, Verdict

GUIDS = {"A": "aa" * 16, "B": "bb" * 16, "C": "cc" * 16, "Setup": "00" * 16}
NAMES = {guid: name for name, guid in GUIDS.items()}
PROJECTS = f"{GUIDS['Setup']}:1"
ARCHIVE = f"{GUIDS['Setup']}:2"


def n(shown: str) -> str:
    """Return a number such as A-5 in the form of a trace."""
    name, _, counter = shown.partition("-")
    return f"{GUIDS[name]}:{counter}"


def folder(
    object_: str,
    shown: str,
    name: str,
    replicas: tuple[str, ...],
    *,
    at: int = 0,
    parent: str = HIERARCHY,
    op: str = "create",
) -> Change:
    return Change(
        store=shown.partition("-")[0],
        folder=HIERARCHY,
        object=object_,
        number=n(shown),
        kind="folder",
        operation=op,
        modified_at=at,
        subject=name,
        replicas=replicas,
        parent=parent,
    )


def message(
    shown: str,
    of: str | None = None,
    *,
    supersedes: tuple[str, ...] = (),
    op: str = "create",
    at: int = 1,
    kind: str = "message",
) -> Change:
    """A change of the message that `of` created (default: a new one); digest and subject follow from its number."""
    return Change(
        store=shown.partition("-")[0],
        folder=PROJECTS,
        object=n(of or shown),
        number=n(shown),
        kind=kind,
        operation=op,
        modified_at=at,
        supersedes=tuple(map(n, supersedes)),
        digest="" if op == "delete" else f"bytes of {shown}",
        subject=f"post {shown}",
    )


def oracle(*changes: Change, stores: tuple[str, ...] = ("A", "B")) -> Oracle:
    found = Oracle([folder(PROJECTS, "Setup-1", "Projects", stores)], stores)
    for change in changes:
        found.take(change)
    return found


def knows(
    *shown: str, of: dict[str, str] | None = None, dead: tuple[str, ...] = (), also: tuple[str, ...] = ()
) -> Knowledge:
    """A store that has these versions; `of` maps a version to its message's creation, `also` are further numbers that it
    claims."""
    of = of or {}
    versions: dict[str, tuple[tuple[str, str], ...]] = {}
    for each in shown:
        object_ = n(of.get(each, each))
        versions[object_] = tuple(sorted((*versions.get(object_, ()), (n(each), f"bytes of {each}"))))
    numbers = sets.of_numbers(map(n, (*shown, *dead, *also)))
    text = ";".join(
        f"{guid}:" + ",".join(f"{low}-{high}" if high > low else str(low) for low, high in ranges)
        for guid, ranges in sorted(numbers.items())
    )
    shown_map = {object_: kept[-1][0] for object_, kept in versions.items()}
    tombs = tuple(sorted(n(of.get(each, each)) for each in dead))
    return Knowledge(PROJECTS, True, text, "", versions, shown_map, tombs)


TREE = Knowledge(
    HIERARCHY,
    True,
    f"{GUIDS['Setup']}:1",
    "",
    {PROJECTS: ((f"{GUIDS['Setup']}:1", ""),)},
    {PROJECTS: f"{GUIDS['Setup']}:1"},
    (),
)


def judge(found: Oracle, **stores: Knowledge) -> Judge:
    readings = {name: Reading(name, {HIERARCHY: TREE, PROJECTS: knowledge}) for name, knowledge in stores.items()}
    return Judge(found, readings, lambda guid: NAMES[guid])


def projects(verdict: Verdict) -> tuple[Judgement, str]:
    each = verdict.folder("Projects")
    assert each is not None
    return each.judgement, "; ".join(each.witnesses)


def test_a_superseded_version_need_not_exist() -> None:
    """CN-4: a version that another names as superseded, directly or through others, need not exist."""
    truth = oracle(
        message("A-1"), message("B-1", "A-1", supersedes=("A-1",)), message("A-2", "A-1", supersedes=("B-1",))
    ).truth()
    assert truth[PROJECTS].versions == {n("A-1"): frozenset({n("A-2")})}


def test_the_order_in_which_changes_are_learnt_does_not_matter() -> None:
    """CN-4: the order of the changes does not affect what must exist."""
    changes = [message("A-1"), message("B-1", "A-1", supersedes=("A-1",)), message("A-2", "A-1", supersedes=("A-1",))]
    one, other = oracle(*changes), oracle(*reversed(changes))
    assert one.truth() == other.truth()


def test_concurrent_versions_must_all_be_kept() -> None:
    """CF-1: two edits of one version are both maximal."""
    truth = oracle(
        message("A-1"), message("A-2", "A-1", supersedes=("A-1",)), message("B-1", "A-1", supersedes=("A-1",))
    ).truth()
    assert truth[PROJECTS].versions == {n("A-1"): frozenset({n("A-2"), n("B-1")})}


def test_a_delete_wins_over_a_concurrent_edit() -> None:
    """DL-2: of a message deleted at one store and edited at another only the tombstone must exist."""
    truth = oracle(
        message("A-1"),
        message("A-2", "A-1", supersedes=("A-1",), op="delete"),
        message("B-1", "A-1", supersedes=("A-1",), at=9),
    ).truth()
    assert truth[PROJECTS].versions == {}
    assert truth[PROJECTS].tombstones == {n("A-1"): n("A-2")}


def test_the_last_writer_of_a_folder_wins_with_its_replica_list() -> None:
    """HI-5: of two changes of a folder's properties the later one wins whole, with its replica list."""
    found = oracle()
    found.take(folder(PROJECTS, "A-1", "Projects", ("A", "B", "C"), at=5, op="modify"))
    found.take(folder(PROJECTS, "B-1", "Plans", ("B",), at=6, op="modify"))
    truth = found.truth()[PROJECTS]
    assert (truth.path, truth.holders) == ("Plans", ("B",))


def test_equal_times_go_to_the_larger_guid() -> None:
    """CN-8: at the same instant the raw bytes of the number's GUID decide."""
    found = oracle()
    found.take(folder(PROJECTS, "B-1", "From B", ("B",), at=5, op="modify"))
    found.take(folder(PROJECTS, "A-1", "From A", ("A",), at=5, op="modify"))
    assert found.truth()[PROJECTS].path == "From B"


def test_of_associated_messages_the_last_writer_wins() -> None:
    """CN-9: concurrent versions of an associated message leave one."""
    truth = oracle(
        message("A-1", kind="fai"),
        message("A-2", "A-1", supersedes=("A-1",), at=3, kind="fai"),
        message("B-1", "A-1", supersedes=("A-1",), at=2, kind="fai"),
    ).truth()
    assert truth[PROJECTS].versions == {n("A-1"): frozenset({n("A-2")})}


def test_a_tombstoned_folder_takes_its_descendants_along() -> None:
    """HI-6: nothing must exist below a deleted folder, whichever store made it there."""
    found = oracle()
    found.take(folder(ARCHIVE, "Setup-2", "Archive", ("A",), parent=PROJECTS))
    found.take(message("A-1"))
    assert ARCHIVE in found.truth()
    found.take(folder(PROJECTS, "B-1", "", (), at=2, op="delete"))
    truth = found.truth()
    assert list(truth) == [HIERARCHY]
    assert truth[HIERARCHY].tombstones == {PROJECTS: n("B-1")}
    assert ARCHIVE in truth[HIERARCHY].versions  # the folder itself is kept, hidden


def test_equal_holders_that_have_what_must_exist_have_converged() -> None:
    """CV-1: equal knowledge that has all acknowledged changes is convergence."""
    found = oracle(message("A-1"), message("B-1"))
    held = knows("A-1", "B-1")
    assert projects(judge(found, A=held, B=held).verdict()) == (Judgement.CONVERGED, "")


def test_the_witness_says_which_store_lacks_what() -> None:
    """CV-1: the witness names the store, the change and the stores that have it."""
    found = oracle(message("A-1"))
    judgement, witness = projects(judge(found, A=knows("A-1"), B=knows()).verdict())
    assert judgement is Judgement.NOT_CONVERGED
    assert "B lacks A-1 (the creation of 'post A-1'); A has it" in witness


def test_equal_is_not_enough() -> None:
    """CV-2: holders that have all lost an acknowledged change have not converged, and the loss is reported."""
    found = oracle(message("A-1"))
    verdict = judge(found, A=knows(), B=knows()).verdict()
    assert projects(verdict)[0] is Judgement.NOT_CONVERGED
    assert verdict.lost == ("A-1 (the creation of 'post A-1') in Projects: no store has it",)


def test_an_old_version_still_kept_is_reported() -> None:
    """CV-1: a store that still has a superseded version is named."""
    found = oracle(message("A-1"), message("A-2", "A-1", supersedes=("A-1",)))
    of = {"A-2": "A-1"}
    witness = projects(judge(found, A=knows("A-2", of=of, also=("A-1",)), B=knows("A-1", "A-2", of=of)).verdict())[1]
    assert witness == "B still keeps A-1 of 'post A-2', superseded by A-2"


def test_a_resurrected_message_is_reported() -> None:
    """IN-4: a store that shows a deleted message is named, with the deletion."""
    found = oracle(message("A-1"), message("A-2", "A-1", supersedes=("A-1",), op="delete"))
    dead = knows(dead=("A-2",), of={"A-2": "A-1"}, also=("A-1",))
    witness = projects(judge(found, A=dead, B=knows("A-1", also=("A-2",))).verdict())[1]
    assert "B still has 'post A-2', deleted by A-2" in witness


def test_a_missing_tombstone_is_reported() -> None:
    """DL-1: each replica must keep a tombstone, also one that never had the message."""
    found = oracle(message("A-1"), message("A-2", "A-1", supersedes=("A-1",), op="delete"))
    dead = knows(dead=("A-2",), of={"A-2": "A-1"}, also=("A-1",))
    witness = projects(judge(found, A=dead, B=knows(also=("A-1", "A-2"))).verdict())[1]
    assert witness == "B lacks A-2 (the deletion of 'post A-2')"


def test_other_bytes_are_reported() -> None:
    """CV-1: content is the items' bytes; one different byte is not convergence."""
    found = oracle(message("A-1"))
    other = knows("A-1")
    other.versions[n("A-1")] = ((n("A-1"), "other bytes"),)
    witness = projects(judge(found, A=knows("A-1"), B=other).verdict())[1]
    assert witness == "B has other bytes for A-1 (the creation of 'post A-1') than its author"


def test_a_number_that_only_some_claim_is_reported() -> None:
    """CN-7: if one holder claims a superseded number, all must."""
    found = oracle(message("A-1"), message("A-2", "A-1", supersedes=("A-1",)))
    of = {"A-2": "A-1"}
    witness = projects(judge(found, A=knows("A-2", of=of, also=("A-1",)), B=knows("A-2", of=of)).verdict())[1]
    assert witness == "B does not account for A-1, which A accounts for"


def test_a_version_that_lost_before_it_was_sent_is_no_gap() -> None:
    """DL-2: a number that lost to a deletion before it was sent is no gap if no holder claims it."""
    found = oracle(
        message("A-1"),
        message("A-2", "A-1", supersedes=("A-1",), op="delete"),
        message("B-1", "A-1", supersedes=("A-1",)),
    )
    dead = knows(dead=("A-2",), of={"A-2": "A-1"}, also=("A-1",))
    assert projects(judge(found, A=dead, B=dead).verdict()) == (Judgement.CONVERGED, "")


def test_a_version_kept_but_not_claimed_is_reported() -> None:
    """CV-1: a store that has a version but does not claim its number would never be asked for it."""
    found = oracle(message("A-1"))
    uncounted = Knowledge(PROJECTS, True, "", "", {n("A-1"): ((n("A-1"), "bytes of A-1"),)}, {}, ())
    witness = projects(judge(found, A=uncounted, B=uncounted).verdict())[1]
    assert witness == "A does not account for A-1; B does not account for A-1"


def test_sets_that_differ_by_a_closed_hole_are_reported() -> None:
    """CV-1: knowledge includes the set, not only the versions."""
    found = oracle(message("A-3"))
    witness = projects(judge(found, A=knows("A-3", also=("A-1", "A-2")), B=knows("A-3")).verdict())[1]
    assert witness == "B does not account for A-1..2, which A accounts for"


def test_a_stopped_holder_makes_it_unknown() -> None:
    """CV-1: the state of a stopped holder is unknown."""
    assert projects(judge(oracle(message("A-1")), A=knows("A-1")).verdict()) == (Judgement.UNKNOWN, "B is stopped")


def test_a_judgement_over_nothing_is_never_clean() -> None:
    """CV-1: a verdict without a folder is unknown."""
    assert Verdict(()).judgement is Judgement.UNKNOWN


def test_a_store_that_forgot_its_own_change_is_caught_at_any_time() -> None:
    """DU-1: a store keeps a change that it acknowledged, as it is, in a later version, or as a tombstone."""
    found = oracle(message("A-1"), message("B-1"), message("A-2", "B-1", supersedes=("B-1",)))
    of = {"A-2": "B-1"}
    assert judge(found, A=knows("A-1", "A-2", of=of), B=knows("A-2", of=of)).lost_at_home() == []
    lost = judge(found, A=knows("A-2", of=of), B=knows("A-2", of=of)).lost_at_home()
    assert lost == ["A acknowledged A-1 (the creation of 'post A-1') in Projects and no longer has it"]


def test_a_replica_that_was_dropped_by_the_rules_is_no_loss() -> None:
    """RP-2: a replica dropped and added again starts empty."""
    found = oracle(message("A-1"))
    readings = judge(found, A=knows(), B=knows("A-1")).readings
    again = Judge(found, readings, lambda guid: NAMES[guid], frozenset({("A", PROJECTS)}))
    assert again.lost_at_home() == []


def row(store: str, numbers: str, *, local: bool = False) -> RowView:
    return RowView(store, local, numbers, "", None, None, traced(numbers))


def traced(named: str) -> str:
    """A set with names as traces write it."""
    found = sets.parse_named(named).items()
    return ";".join(f"{GUIDS[name]}:{','.join(f'{low}-{high}' for low, high in ranges)}" for name, ranges in found)


def test_a_row_that_claims_too_much_is_reported() -> None:
    """CV-3: a row is truthful if its store has all that it claims."""
    found = oracle(message("A-1"))
    rows = {PROJECTS: (row("A", "A-1", local=True), row("B", "A-1..2"))}
    readings = {
        "A": Reading("A", {HIERARCHY: TREE, PROJECTS: knows("A-1")}, rows),
        "B": Reading("B", {HIERARCHY: TREE, PROJECTS: knows("A-1")}),
    }
    verdict = Judge(found, readings, lambda guid: NAMES[guid]).verdict()
    assert verdict.untruthful == ("A's row for B in Projects claims A-2, which B lacks",)
    assert verdict.judgement is Judgement.NOT_CONVERGED


def test_a_backfill_entry_that_a_holder_could_satisfy_is_reported() -> None:
    """CV-3: after the bound no entry remains that a present holder claims."""
    found = oracle(message("A-1"))
    entry = EntryView(1, PROJECTS, "Projects", "A-1", "", 0, 1, 0, True, False, (), traced("A-1"))
    readings = {
        "A": Reading("A", {HIERARCHY: TREE, PROJECTS: knows("A-1")}),
        "B": Reading("B", {HIERARCHY: TREE, PROJECTS: knows()}, {PROJECTS: (row("A", "A-1"),)}, (entry,)),
    }
    verdict = Judge(found, readings, lambda guid: NAMES[guid]).verdict()
    assert verdict.leftovers == ("B still waits for A-1 in Projects, which A has",)


def test_sets_are_read_as_people_see_them() -> None:
    """RST-1: A-1..3 and A-1, A-2, A-3 are one set, in any order and with any separator."""
    assert sets.parse_named("A-1..3 B-7") == sets.parse_named("B-7, A-3, A-1, A-2") == {"A": [(1, 3)], "B": [(7, 7)]}


def test_set_difference_cuts_ranges() -> None:
    """CN-5: the difference of two sets cuts ranges."""
    assert sets.minus({"A": [(1, 10)], "B": [(1, 1)]}, {"A": [(3, 4), (9, 20)]}) == {
        "A": [(1, 2), (5, 8)],
        "B": [(1, 1)],
    }
