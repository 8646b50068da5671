"""What a review found: each test is a requirement that was broken when it was written."""

from __future__ import annotations

import signal
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace

import pytest

from node import incoming, tombstones
from node.cnset import CNSet
from node.errors import Crashed, MailRefused, NodeError
from node.items import PR_DISPLAY_NAME, Version
from node.keys import LabAuthority
from node.numbers import ChangeNumber
from node.packing import split
from node.pcl import Pcl
from node.replmail import MessageType, ReplicationMail, Section, Update, decode, encode
from pflab.simulator import Simulator
from tests.node.office import THREE, Office
from tests.node.test_backfill import TWO_SITES
from tests.node.test_bad_mail import HOP, message_in, wrapped
from topology.load import topology_from_text
from traces.labtime import HOUR_US
from transport import tnefstream
from transport.errors import CodecError
from transport.hopline import hop_line, take_hop_line
from transport.item import decode_item, encode_item
from transport.mta_values import Transmission
from transport.smtp_data import check_lines

H = 60
CHECK = 36 * H + 15  # the check at 12:15 of the second day, the first 24 h or more after a post at 00:01
AUTHORITY = LabAuthority(b"office of the tests")


def only(mails: list[tuple[str, Transmission]], to: str) -> list[tuple[str, Transmission]]:
    return [mail for mail in mails if mail[1].next_hop == to]


def deliver_all(office: Office, mails: list[tuple[str, Transmission]], now: int, to: str = "ABCDE") -> None:
    for mail in mails:
        if mail[1].next_hop in to:
            office.deliver(mail, now)


def altered(office: Office, content: bytes, change: Callable[[ReplicationMail], ReplicationMail]) -> bytes:
    """A mail of A's as A itself would have signed it with something else inside."""
    mail = decode(message_in(content), office["A"]._verifier)
    return wrapped(encode(change(mail), AUTHORITY.identity("A")))


@contextmanager
def at_most(seconds: int) -> Iterator[None]:
    """Fails what takes longer, however long it would take."""

    def ring(_signum: int, _frame: object) -> None:
        raise AssertionError(f"took longer than {seconds} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


# -- the backfill array


def test_an_entry_that_waits_for_a_slot_gets_one_though_the_entry_before_it_was_satisfied_meanwhile() -> None:
    """A slot given back goes to the entry longest due; none waits for ever while slots are free (spec: BF-6, CN-7)."""
    folders = "".join(f"  F{index}: {{replicas: [A, B]}}\n" for index in range(3))
    office = Office(THREE + folders + "settings: {Replication Outstanding Backfill Limit: 1}\n")
    for index in range(3):
        office["A"].post(office.at(1 + index), f"F{index}", subject="lost")
    late = only(office.cycle("A", office.at(15)), "B")
    deliver_all(office, office.cycle("A", office.at(CHECK)), office.at(CHECK), "B")
    due = office["B"].backfill()[0].due_at
    (request,) = office.cycle("B", due)
    office.deliver(request, due)
    deliver_all(office, office.cycle("A", due), due)  # F0's answer: its slot goes to F1 at the next tick,
    office.deliver(late[1], due)  # but F1's lost mail comes before that
    for hours in range(0, 10 * 24, 6):
        office.run(due + hours * HOUR_US)
    assert [entry.path for entry in office["B"].backfill()] == []
    assert len(office["B"].messages("F2")) == 1


def test_a_store_of_the_site_that_comes_to_have_it_is_asked_at_the_earlier_time() -> None:
    """If a store of the site comes to have all of it later, the due time becomes the earlier of the two (spec: BF-2)."""
    office = Office(TWO_SITES)  # A and B in one site, C in the other; mail of C comes by way of A
    office["C"].post(office.at(1), "Projects", subject="x")
    (lost,) = office.cycle("C", office.at(15))
    deliver_all(office, office.cycle("C", office.at(CHECK)), office.at(CHECK))
    deliver_all(office, office.take("A", office.at(CHECK)), office.at(CHECK))
    (entry,) = office["B"].backfill()
    asked_at = entry.due_at
    office.cycle("B", asked_at)  # the request to C is lost
    office.deliver(lost, asked_at + HOUR_US)
    office.take("A", asked_at + HOUR_US)  # what A relays to B is lost again, but A has it now, and says so
    office["A"].post(asked_at + HOUR_US, "Projects", subject="y")
    deliver_all(office, office.cycle("A", asked_at + 2 * HOUR_US), asked_at + 2 * HOUR_US, "B")
    (entry,) = office["B"].backfill()
    assert (entry.local, entry.due_at) == (True, asked_at + 12 * HOUR_US)
    requests = office.cycle("B", asked_at + 12 * HOUR_US)
    assert [mail[1].recipients for mail in requests] == [("A-IS@contoso.test",)]


# -- numbers and what stands for them


def test_a_broadcast_names_only_the_numbers_that_its_version_supersedes() -> None:
    """An update names its own number and those that it supersedes, not those of a version beside it (spec: CN-7, DU-1)."""
    office = Office(THREE.replace("{A: {site: SEA}, B: {site: SEA}, C: {site: SEA}}", "{A: {}, B: {}, C: {}, D: {}}")
                    .replace("[A, B, C]", "[A, B, C, D]"))  # fmt: skip
    message = office["A"].post(office.at(1), "Projects", subject="one")
    office.run(office.at(15))
    office["B"].edit(office.at(16), "Projects", message, subject="first of B")
    deliver_all(office, office.cycle("B", office.at(30)), office.at(30), "D")
    office["A"].edit(office.at(31), "Projects", message, subject="from A")
    office["B"].edit(office.at(32), "Projects", message, subject="second of B")
    deliver_all(office, office.cycle("B", office.at(45)), office.at(45), "A")
    deliver_all(office, office.cycle("A", office.at(45)), office.at(45), "CD")
    office.running = ["C", "D"]  # A and B are lost, and with them B's second edit; its first one is on D
    for hours in range(1, 10 * 24, 3):
        office.run(office.at(45 + hours * H))
    assert office["C"].knowledge("Projects").versions == office["D"].knowledge("Projects").versions


def test_a_folder_that_cannot_be_decoded_stays_missing() -> None:
    """The numbers of an update that cannot be decoded are not accounted for (spec: CN-7, IN-5)."""

    def nameless(mail: ReplicationMail) -> ReplicationMail:
        (update,) = mail.updates
        assert update.version.item is not None
        item = decode_item(update.version.item)
        props = {tag: value for tag, value in item.props.items() if tag != PR_DISPLAY_NAME}
        return replace(
            mail,
            updates=(replace(update, version=replace(update.version, item=encode_item(replace(item, props=props)))),),
        )

    office = Office()
    office["A"].create_folder(office.at(1), "News", replicas=["A", "B", "C"])
    content = only(office.cycle("A", office.at(15)), "B")[0][1].content
    office["B"].mail_in(office.at(15), HOP, "", ["B-IS@contoso.test"], altered(office, content, nameless))
    assert len(office.of_type("version.failed")) == 1
    assert office["B"].state("1-1").rows[0].numbers == "Setup-1"
    assert [entry.missing for entry in office["B"].backfill()] == ["A-1"]


LATER = """
organization: Test
sites: [SEA]
servers: {A: {}, B: {}, E: {joins: later}}
settings: {Replication Folder Tombstone Age Limit: 1 d}
folders:
  P: {replicas: [A, B]}
"""


def test_a_hidden_folder_does_not_keep_a_new_store_waiting_for_ever() -> None:
    """No store waits for ever: a folder under a tombstone is applied, hidden, also where the tombstone is past its age
    (spec: HI-6, DL-4, CN-7)."""
    office = Office(LATER)
    office["A"].delete_folder(office.at(1), "P")
    office["B"].create_folder(office.at(2), "P/Q", replicas=["A", "B"])
    office.run(office.at(15))
    for half_days in range(8):
        office.run(office.at(15 + half_days * 12 * H))
    now = office.at(5 * 24 * H)
    office.join("E", now)
    for hours in range(0, 30 * 24, 6):
        office.run(now + hours * HOUR_US)
    assert office["E"].backfill() == []
    assert office["E"].knowledge("1-1").versions == office["A"].knowledge("1-1").versions


# -- starts and crashes


def test_a_restore_that_is_killed_in_the_middle_reissues_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kill at any instruction loses nothing, and no counter is ever reused (spec: CN-1, RP-4)."""
    office = Office()
    node = office["A"]
    node.post(office.at(1), "Projects", subject="1")
    office.run(office.at(15))
    backup = node.backup()
    node.post(office.at(16), "Projects", subject="2")
    office.run(office.at(30))
    node.close(office.at(31))

    def killed(*_: object) -> None:
        raise Crashed("killed")

    with monkeypatch.context() as patch, suppress(Crashed):
        patch.setattr(node, "_start", killed)
        node.restore(office.at(40), backup)
    node.abandon()
    node.reopen(office.at(41))
    node.post(office.at(42), "Projects", subject="3")
    for hours in range(1, 5 * 24, 6):
        office.run(office.at(42 + hours * H))
    for name in "ABC":
        assert sorted(each.subject for each in office[name].messages("Projects")) == ["1", "2", "3"]


def test_a_restored_store_that_crashes_at_its_start_asks_around_all_the_same() -> None:
    """A restored store asks for the status of 1-1 and of its replicas when it starts (spec: RP-4, ST-3)."""
    office = Office()
    node = office["A"]
    node.post(office.at(1), "Projects", subject="1")
    office.run(office.at(15))
    backup = node.backup()
    node.close(office.at(31))
    node.crash_at = "before commit"
    with pytest.raises(Crashed):
        node.restore(office.at(40), backup)
    node.abandon()
    node.reopen(office.at(41))
    subjects = {mail[1].subject for mail in office.cycle("A", office.at(45))}
    assert "Folder Status Request" in subjects


# -- mail that nobody honest sends


def test_an_update_that_claims_to_stand_for_everything_is_refused_in_no_time() -> None:
    """Malformed input is one clear error, never a crash or a hang (spec: CN-5, IN-5)."""
    office = Office()
    office["A"].post(office.at(1), "Projects", subject="real")
    content = only(office.cycle("A", office.at(15)), "B")[0][1].content
    everything = CNSet.span(b"g" * 16, 1, 2**40)
    greedy = altered(
        office, content, lambda mail: replace(mail, updates=(replace(mail.updates[0], stands_for=everything),))
    )
    with at_most(2):
        office["B"].mail_in(office.at(15), HOP, "", ["B-IS@contoso.test"], greedy)


def test_an_outsiders_hop_line_does_not_spoil_those_of_this_server() -> None:
    """Nothing that an outsider says changes what servers tell one another: mail keeps its priority (spec: ML-6, OUT-8)."""
    hop, _ = take_hop_line(b"X-Pflab-Hop: server=x; sent=1; lamport=999999999999999\r\nSubject: hi\r\n\r\nx\r\n")
    assert hop is not None
    office = Office()
    office["B"].mail_in(office.at(1), hop, "x@y.test", ["B-IS@contoso.test"], b"Subject: hi\r\n\r\nx\r\n")
    office["B"].post(office.at(2), "Projects", subject="x")
    mail = office.cycle("B", office.at(15))[0][1]
    line = hop_line("B", mail.sent_at, mail.lamport, mail.priority)
    assert take_hop_line(line + mail.content)[0] == mail.hop_from("B")


def test_the_limit_on_attributes_holds_while_they_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits bound what a mail may cost, whoever sends it: 64 MB by SMTP must not become 800 MB (spec: ML-7, IN-5)."""
    monkeypatch.setattr(tnefstream, "MAX_ATTRIBUTES", 1_000)
    stream = tnefstream.PREFIX + b"\x01\x01\x00\x06\x00\0\0\0\0\0\0" * 50_000
    tracemalloc.start()
    try:
        with pytest.raises(CodecError):
            tnefstream.walk(stream)
        assert tracemalloc.get_traced_memory()[1] < len(stream)
    finally:
        tracemalloc.stop()


def test_a_mail_of_empty_lines_costs_no_more_than_its_size() -> None:
    """Sizes have limits that bound memory too: 64 MB of empty lines must not take 1.4 GB (spec: ML-7)."""
    raw = b"\r\n" * 500_000
    tracemalloc.start()
    try:
        check_lines(raw)
        assert tracemalloc.get_traced_memory()[1] < 4 * len(raw)
    finally:
        tracemalloc.stop()


# -- errors that escape


def test_as_many_deletions_as_are_packed_in_one_mail_can_be_written() -> None:
    """A cycle never fails for ever: what is packed can be encoded, and what is encoded is read (spec: OUT-3, HI-6)."""
    guid = b"g" * 16
    folder = ChangeNumber(guid, 1).to_xid()
    numbers = [ChangeNumber(guid, index) for index in range(2, 70_000)]
    deletions = [Update(Version(number.to_xid(), number, Pcl.of(number), 1, None)) for number in numbers]
    for mail in split(deletions, 16 * 1024 * 1024, None, hierarchy=False):
        section = Section(folder, CNSet.EMPTY, CNSet.EMPTY)
        encode(
            ReplicationMail(MessageType.CONTENT, "A", guid, 0, 1, 1, "x@y.test", (section,), tuple(mail)),
            AUTHORITY.identity("A"),
        )


@pytest.mark.parametrize("act", [
    lambda node, now: node.post(now, "Projects", subject="\ud800"),
    lambda node, now: node.create_folder(now, "X", contacts=["\ud800"]),
    lambda node, now: node.create_folder(now, "X", contacts=["x"] * 70_000),
    lambda node, now: node.body("Projects", "junk"),
    lambda node, now: node.restore(now, b"junk"),
], ids=["subject", "contact", "contacts", "body", "restore"])  # fmt: skip
def test_what_users_get_wrong_is_always_an_error_of_the_node(act: Callable[..., object]) -> None:
    """Each mistake is one clear NodeError, and changes nothing (docs: node.errors)."""
    office = Office()
    before = office["A"].knowledge("1-1"), office["A"].knowledge("Projects")
    with pytest.raises(NodeError):
        act(office["A"], office.at(1))
    assert (office["A"].knowledge("1-1"), office["A"].knowledge("Projects")) == before


def test_an_unsent_change_that_others_have_and_a_deletion_replaced_is_claimed_here_too() -> None:
    """Converged is equal knowledge on all holders, and a healthy organization repeats nothing (spec: CV-1, CN-7, ST-7)."""
    office = Office(THREE.replace("contacts: [kim@test.test]", "schedule: every 4 h"))
    message = office["A"].post(office.at(1), "Projects", subject="one")
    mails = office.cycle("A", office.at(4 * H))
    deliver_all(office, mails, office.at(4 * H), "C")  # lost on its way to B
    deliver_all(office, only(office.cycle("A", office.at(CHECK)), "B"), office.at(CHECK))
    (entry,) = office["B"].backfill()
    due = entry.due_at
    office["A"].edit(due - 10, "Projects", message, subject="two")  # A-2, not broadcast yet: a response takes it to B
    office["C"].delete(due - 10, "Projects", message)  # C-1, which knows nothing of A-2
    deliver_all(office, only(office.cycle("B", due), "A"), due)
    deliver_all(office, only(office.cycle("A", due), "B"), due)
    assert [each.subject for each in office["B"].messages("Projects")] == ["two"]
    now = due + 4 * HOUR_US
    deliver_all(office, office.cycle("C", now), now)  # the deletion comes to A before A's own cycle
    for hours in range(0, 20 * 24, 3):
        office.run(now + hours * HOUR_US)
    assert {office[name].knowledge("Projects").numbers for name in "ABC"} == {office["B"].knowledge("Projects").numbers}


# -- second round


def test_what_only_a_restored_leaver_claimed_leaves_the_array() -> None:
    """What no row claims any more leaves the array, with an event; nothing is waited for for ever (spec: RST-4, RP-2, RP-4)."""
    office = Office()
    backup = office["B"].backup()
    office["B"].post(office.at(1), "Projects", subject="only here")
    office.cycle("B", office.at(15))  # lost
    office["A"].change_folder(office.at(16), "Projects", replicas=["A", "C"])
    office.run(office.at(30))  # B leaves and says what it has
    assert [entry.missing for entry in office["A"].backfill()] == ["B-1"]
    office["B"].close(office.at(31))
    office["B"].restore(office.at(40), backup)  # and has it no more
    for hours in range(0, 10 * 24, 3):
        office.run(office.at(40 + hours * H))
    assert {name: office[name].backfill() for name in "AC"} == {"A": [], "C": []}


def test_what_waits_goes_out_when_the_stores_schedule_is_changed() -> None:
    """A directory value holds at the next read: what "never" kept back goes with the new cycles (spec: SE-1, OUT-1)."""
    office = Office(THREE + "settings: {Replication Schedule: never}\n")
    office["A"].post(office.at(1), "Projects", subject="x")
    office.run(office.at(15))
    office["A"].configure(office.at(16), {"Replication Schedule": "always"})
    for hours in range(1, 4 * 24, 3):
        office.run(office.at(hours * H))
    assert [len(office[name].messages("Projects")) for name in "ABC"] == [1, 1, 1]


def test_content_that_waits_for_a_replica_is_taken_when_the_replica_is_added_here() -> None:
    """Content for a replica not yet known here waits for it, whoever adds the replica (spec: HI-4)."""
    office = Office(THREE.replace("[A, B, C]", "[A, B]"))
    office["A"].change_folder(office.at(1), "Projects", replicas=["A", "B", "C"])
    office.cycle("A", office.at(15))  # the hierarchy mail is lost
    office["A"].post(office.at(16), "Projects", subject="early")
    deliver_all(office, office.cycle("A", office.at(30)), office.at(30))
    office["C"].change_folder(office.at(31), "Projects", replicas=["A", "B", "C"])
    assert [each.subject for each in office["C"].messages("Projects")] == ["early"]


def test_each_request_gives_its_slot_back_when_its_own_retry_time_ends() -> None:
    """A source silent until the retry time-out is marked down then, and its slot is free then (spec: BF-4, BF-6)."""
    text = THREE.replace("Projects:", "P:") + "  E0: {replicas: [A, B]}\n"
    office = Office(text + "settings: {Replication Outstanding Backfill Limit: 2}\n")
    office["A"].post(office.at(1), "E0", subject="e0")
    late = only(office.cycle("A", office.at(15)), "B")
    deliver_all(office, office.cycle("A", office.at(CHECK)), office.at(CHECK), "B")
    start = office["B"].backfill()[0].due_at

    def at(hours: float) -> int:
        return start + int(hours * HOUR_US)

    office.cycle("B", at(0))  # the request to A is lost, and 12 h later A is marked down for its silence
    office["A"].post(at(0), "P", subject="a")
    office["C"].post(at(0), "P", subject="c")
    deliver_all(office, office.cycle("A", at(0.25)), at(0.25), "")
    deliver_all(office, office.cycle("C", at(0.25)), at(0.25), "A")
    office["A"].post(at(7) - 1, "P", subject="a2")
    deliver_all(office, office.cycle("A", at(7)), at(7), "B")  # A has all, C has its own: one entry
    office["C"].post(at(7) + 1, "P", subject="c2")
    deliver_all(office, office.cycle("C", at(8)), at(8), "B")
    for hours in range(8, 26):
        if hours == 19:
            deliver_all(office, late, at(hours))  # a slot comes free: A is asked in a second round
        office.cycle("B", at(hours))
    # C, asked at 13 h, has been silent for its 12 h.
    downs = {event.store: event.at for event in office.of_type("source.down")}  # type: ignore[attr-defined]
    assert downs.get("C") == at(25)


def test_tombstones_that_must_stay_do_not_keep_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tombstone past its age that all holders know is dropped, whatever others wait for (spec: DL-4)."""
    monkeypatch.setattr(tombstones, "A_PAGE", 1)
    office = Office(
        THREE.replace("Projects: {replicas: [A, B, C]", "Projects: {replicas: [A, B]")
        + "  Q: {replicas: [A, C]}\nsettings: {Replication Folder Tombstone Age Limit: 1 d}\n"
    )
    gone = [office["A"].post(office.at(1), path, subject="x") for path in ("Projects", "Q")]
    office.run(office.at(15))
    for path, message in zip(("Projects", "Q"), gone, strict=True):
        office["A"].delete(office.at(16), path, message)
    office.running = ["A", "C"]  # B is down and never hears of it
    for hours in range(1, 5 * 24, 3):
        office.run(office.at(17 + hours * H))
    assert office["A"].knowledge("Projects").tombstones == (gone[0],)
    assert office["A"].knowledge("Q").tombstones == ()


def test_what_waits_in_the_queue_is_not_asked_for_again() -> None:
    """Numbers held in the queue are not missing; once dropped they make a new entry (spec: BF-2)."""
    office = Office(THREE + "settings: {Replication Message Size Limit: 1 KB}\n")
    big = ["x" * 900 + "@test.test"]
    office["A"].create_folder(office.at(1), "X", replicas=["A"], contacts=big)
    office["A"].create_folder(office.at(2), "X/Y", replicas=["A"], contacts=big)
    office["A"].change_folder(office.at(3), "X", rename="X2")  # the parent's number is now the later one
    office.cycle("A", office.at(15))
    deliver_all(office, office.cycle("A", office.at(CHECK)), office.at(CHECK), "B")
    due = office["B"].backfill()[0].due_at
    deliver_all(office, office.cycle("B", due), due)
    child, _ = only(office.cycle("A", due), "B")
    office.deliver(child, due)  # the mail with the parent is lost
    assert len(office.of_type("version.held")) == 1
    office.cycle("B", office["B"].backfill()[0].due_at)
    asked = [CNSet.parse(event.cnset) for event in office.of_type("request.sent")]  # type: ignore[attr-defined]
    held = ChangeNumber(office["A"]._ctx.store.guid, 2)  # type: ignore[union-attr]
    assert [held in numbers for numbers in asked] == [True, False]


async def test_a_store_that_crashes_while_it_is_told_of_a_join_is_told_again() -> None:
    """A kill at any instruction loses nothing: every store learns of a new one (spec: RP-3)."""
    topology = topology_from_text(LATER)
    lab = Simulator(topology)
    await lab.up()
    lab.faults.crash("B")
    await lab.start("E")
    await lab.advance(topology.start_at + 24 * HOUR_US)
    assert lab.read("B", lambda node: node.bad_mail()) == []
    await lab.close()


# -- third round


@pytest.mark.parametrize("what", ["message", "folder"])
def test_a_late_duplicate_does_not_bring_back_what_was_deleted_and_forgotten(what: str) -> None:
    """Only numbers that are new here are applied: a duplicate changes nothing, however late, and whoever sends it again
    (spec: IN-1, IN-3, IN-4, DL-4)."""
    office = Office(THREE + "settings: {Replication Folder Tombstone Age Limit: 1 d}\n")
    if what == "message":
        message = office["A"].post(office.at(1), "Projects", subject="x")
    else:
        office["A"].create_folder(office.at(1), "News", replicas=["A", "B", "C"])
    mails = office.cycle("A", office.at(15))
    deliver_all(office, mails, office.at(15))
    office.run(office.at(30))
    if what == "message":
        office["A"].delete(office.at(31), "Projects", message)
    else:
        office["A"].delete_folder(office.at(31), "News")
    for hours in range(1, 5 * 24, 3):
        office.run(office.at(31 + hours * H))
    path = "Projects" if what == "message" else "1-1"
    assert office["B"].knowledge(path).tombstones == ()
    deliver_all(office, mails, office.at(6 * 24 * H), "B")
    assert office["B"].knowledge(path).versions == office["A"].knowledge(path).versions


def test_a_mail_sent_before_the_silence_does_not_mark_its_sender_up() -> None:
    """A replayed mail is no sign of life: an outsider cannot keep a dead source at the head of the list (spec: BF-4, ML-6)."""
    office = Office()
    office["A"].post(office.at(1), "Projects", subject="heard")
    (captured,) = only(office.cycle("A", office.at(15)), "B")
    office.deliver(captured, office.at(15))
    office["A"].post(office.at(16), "Projects", subject="lost")
    deliver_all(office, office.cycle("A", office.at(30)), office.at(30), "")
    deliver_all(office, office.cycle("A", office.at(CHECK)), office.at(CHECK), "B")
    (entry,) = office["B"].backfill()
    office.cycle("B", entry.due_at)  # the request is lost
    (entry,) = office["B"].backfill()
    office.cycle("B", entry.due_at)
    assert len(office.of_type("source.down")) == 1
    office.deliver(captured, entry.due_at + HOUR_US)
    assert office.of_type("source.up") == []


def test_outsiders_cannot_fill_the_disk_with_bad_mail_between_two_checks() -> None:
    """What is kept of bad mail has a limit that holds at any time (spec: ML-7, IN-5)."""
    office = Office()
    for index in range(incoming.BAD_MAIL_KEPT + 10):
        content = b"Subject: %d\r\n\r\nx\r\n" % index
        office["B"].mail_in(office.at(1), HOP, "x@y.test", ["B-IS@contoso.test"], content)
    assert len(office["B"].bad_mail()) <= incoming.BAD_MAIL_KEPT


def test_instants_that_no_clock_shows_make_a_bad_mail() -> None:
    """Whatever is wrong with a mail, it is bad mail, one event, and no error (spec: IN-5, CN-5)."""
    office = Office()
    office["A"].post(office.at(1), "Projects", subject="x")
    content = only(office.cycle("A", office.at(15)), "B")[0][1].content
    for instant in (-(2**63), 2**63 - 1):
        odd = altered(office, content, lambda mail, instant=instant: replace(mail, sent_at=instant))  # type: ignore[misc]
        office["B"].mail_in(office.at(15), HOP, "", ["B-IS@contoso.test"], odd)
    assert len(office["B"].bad_mail()) == 2


TRIANGLE = """
organization: Test
sites: [SEA, NYC, LON]
connectors:
  - {name: SEA-NYC, between: [SEA, NYC], cost: 10}
  - {name: SEA-LON, between: [SEA, LON], cost: 10}
  - {name: LON-NYC, between: [LON, NYC], cost: 30}
servers: {A: {site: SEA}, B: {site: NYC}, C: {site: LON}}
folders:
  Projects: {replicas: [A, B]}
"""


async def test_mail_goes_another_way_while_a_link_is_down() -> None:
    """A link that goes down or up changes routes (spec: RT-2)."""
    topology = topology_from_text(TRIANGLE)
    lab = Simulator(topology)
    await lab.up()
    lab.faults.cut("SEA-NYC")
    await lab.do("A", lambda node, now: node.post(now, "Projects", subject="x"))
    await lab.advance(topology.start_at + 3 * HOUR_US)
    assert lab.read("B", lambda node: len(node.messages("Projects"))) == 1
    await lab.close()


def test_a_folder_that_comes_after_its_parents_tombstone_was_forgotten_is_not_held_for_ever() -> None:
    """No store waits for ever: a folder whose parent was deleted is applied, hidden, however late it comes
    (spec: HI-6, HI-4, DL-4, CN-7)."""
    office = Office(THREE + "settings: {Replication Folder Tombstone Age Limit: 1 d}\n")
    office["C"].create_folder(office.at(1), "Projects/New", replicas=["A", "C"])
    office["A"].delete_folder(office.at(2), "Projects")
    deliver_all(office, office.cycle("C", office.at(15)), office.at(15), "A")  # lost on its way to B
    deliver_all(office, office.cycle("A", office.at(15)), office.at(15))
    for hours in range(72):
        now = office.at(30 + hours * H)
        while mails := [mail for name in "ABC" for mail in office.cycle(name, now)]:
            for sender, mail in mails:
                if not (sender == "B" and mail.subject.endswith("Backfill Request")):  # as are B's requests at first
                    office.deliver((sender, mail), now)
    for hours in range(72, 30 * 24, 6):
        office.run(office.at(30 + hours * H))
    assert office["B"].backfill() == []
    assert office["B"].knowledge("1-1").versions == office["A"].knowledge("1-1").versions


def test_an_old_empty_response_does_not_end_a_new_request() -> None:
    """A request ends by its own answer or its time: a duplicate of an older, empty response, replayed by whomever, neither
    ends it nor saves a silent source from being marked down (spec: BF-4, BF-5, BF-6)."""
    office = Office()
    office["A"].post(office.at(1), "Projects", subject="lost")
    office.cycle("A", office.at(15))
    (status_mail,) = only(office.cycle("A", office.at(CHECK)), "B")
    office.deliver(status_mail, office.at(CHECK))

    def old_and_empty(mail: ReplicationMail) -> ReplicationMail:
        section = replace(mail.sections[0], cnset=CNSet.EMPTY, cnset_fai=CNSet.EMPTY)
        kind = MessageType.CONTENT_RESPONSE
        return replace(mail, type=kind, sections=(section,), in_reply_to="an-older-request@x.test")

    due = office["B"].backfill()[0].due_at
    office.cycle("B", due)  # the request is lost
    content = altered(office, status_mail[1].content, old_and_empty)
    office["B"].mail_in(due + HOUR_US, HOP, "", ["B-IS@contoso.test"], content)
    (entry,) = office["B"].backfill()
    assert [request.source for request in entry.requests] == ["A"]
    office.cycle("B", entry.due_at)
    assert len(office.of_type("source.down")) == 1


def test_a_refused_mail_costs_no_more_than_one_that_is_taken() -> None:
    """Limits bound what outsiders cost: with 1,000 folders a refused mail takes 240 ms, 700 times a taken one (spec: ML-7)."""
    office = Office()
    before = office["B"]._ctx
    looping = b"Received: x\r\n" * 40 + b"Subject: x\r\n\r\nx\r\n"
    with pytest.raises(MailRefused):
        office["B"].mail_in(office.at(1), HOP, "x@y.test", ["B-IS@contoso.test"], looping)
    assert office["B"]._ctx is before


def test_a_lost_edit_is_told_though_the_deletion_comes_by_backfill() -> None:
    """A tombstone travels with its author's predecessor list: what another store knew besides must not hide from the home
    store that an edit lost to it (spec: DL-2, CF-2)."""
    office = Office(THREE)
    message = office["A"].post(office.at(1), "Projects", subject="x")
    office.run(office.at(15))
    office["A"].edit(office.at(16), "Projects", message, subject="edited")
    office["B"].delete(office.at(17), "Projects", message)
    deliver_all(office, office.cycle("A", office.at(30)), office.at(30), "C")  # C has the edit first
    deliver_all(office, office.cycle("B", office.at(30)), office.at(30), "C")  # the deletion is lost on its way to A
    for hours in range(1, 72):
        now = office.at(30 + hours * H)
        while mails := [mail for name in "ABC" for mail in office.cycle(name, now)]:
            for sender, mail in mails:
                if {sender, mail.next_hop} != {"A", "B"}:
                    office.deliver((sender, mail), now)
    assert office["A"].messages("Projects") == []
    assert [event.node for event in office.of_type("conflict.notice") if event.node == "A"]
