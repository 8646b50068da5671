"""Age limits: which store drops which item, what it says of it, and what is requested again (spec: DL-3)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from node.errors import MessageUnknown
from tests.support.clock import HOUR_MIN
from tests.support.post_office import PostOffice, deliver_all, mails_to
from traces.events import ExpiredEverywhere, ItemExpired, RequestAnswered, RequestSent
from traces.labtime import DAY_US, HOUR_US

AGED = """
organization: Test
sites: [SEA]
servers: {A: {}, B: {settings: {Age Limit: 2 d}}, C: {}}
folders:
  Projects: {replicas: [A, B, C]}
"""
NIGHTS = (24 * HOUR_MIN, 48 * HOUR_MIN, 72 * HOUR_MIN, 96 * HOUR_MIN, 120 * HOUR_MIN)
"""The midnights at which maintenance begins."""


def subjects(office: PostOffice, name: str) -> list[str]:
    return [message.subject for message in office[name].messages("Projects")]


def posted(text: str = AGED, subject: str = "old") -> PostOffice:
    office = PostOffice(text)
    office["A"].post(office.at(1), "Projects", subject=subject)
    office.run(office.at(15))
    return office


def pass_nights(office: PostOffice, count: int) -> None:
    for minutes in NIGHTS[:count]:
        for offset in (0, 15, 12 * HOUR_MIN + 15):
            office.run(office.at(minutes + offset))


def test_an_item_expires_on_one_store_and_stays_on_the_others() -> None:
    """A store drops a message past its own limit. The number stays in its set, so no store requests it (spec: DL-3)."""
    office = posted()
    pass_nights(office, 1)
    assert subjects(office, "B") == ["old"]
    pass_nights(office, 5)
    assert [subjects(office, name) for name in "ABC"] == [["old"], [], ["old"]]
    (expired,) = [event for event in office.events if isinstance(event, ItemExpired)]
    assert (expired.node, expired.at, expired.limit_us) == ("B", office.at(48 * HOUR_MIN + 15), 2 * DAY_US)
    known = {name: office[name].knowledge("Projects") for name in "AB"}
    assert known["A"].numbers == known["B"].numbers
    assert (known["B"].tombstones, len(known["B"].expired), known["A"].expired) == ((), 1, ())
    assert office["B"].backfill() == []
    assert not [event for event in office.events if isinstance(event, RequestSent)]


@pytest.mark.parametrize(
    ("replica", "store", "folder", "expires"),
    [("1 d", "9 d", "9 d", True), ("9 d", "1 d", "1 d", False), ("", "1 d", "9 d", True), ("", "", "1 d", True),
     ("", "", "", False)],
)  # fmt: skip
def test_this_replica_s_limit_goes_before_the_store_s_and_that_before_the_folder_s(
    replica: str, store: str, folder: str, expires: bool
) -> None:
    """The replica's limit overrides the store's, which overrides the folder's (spec: DL-3)."""
    settings = f"settings: {{Age Limit: {store}}}" if store else ""
    limits = f", replica_age_limits: {{B: {replica}}}" if replica else ""
    limits += f", age_limit: {folder}" if folder else ""
    text = AGED.replace("settings: {Age Limit: 2 d}", settings).replace("C]}", f"C]{limits}}}")
    office = posted(text)
    pass_nights(office, 2)
    assert subjects(office, "B") == ([] if expires else ["old"])


def test_a_folder_s_limit_replicates_and_can_be_taken_away() -> None:
    """The folder's limit is one of its properties and applies on every store without a limit of its own (spec: DL-3, HI-2)."""
    office = posted(AGED.replace("settings: {Age Limit: 2 d}", ""))
    office["C"].change_folder(office.at(20), "Projects", age_limit="1 d")
    office.run(office.at(30))
    office["A"].change_folder(office.at(31), "Projects", age_limit="none")
    pass_nights(office, 1)
    office["A"].change_folder(office.at(24 * HOUR_MIN + 60), "Projects", age_limit="1 d")
    office.run(office.at(25 * HOUR_MIN + 15))
    pass_nights(office, 3)
    assert [subjects(office, name) for name in "ABC"] == [[], [], []]
    assert min(event.at for event in office.events if isinstance(event, ItemExpired)) > office.at(25 * HOUR_MIN)


def test_what_has_expired_is_not_changed_and_a_late_copy_does_not_bring_it_back() -> None:
    """A user cannot edit an expired message, and a duplicate of the mail that brought it changes nothing (spec: DL-3, IN-3)."""
    office = PostOffice(AGED)
    message = office["A"].post(office.at(1), "Projects", subject="old").id
    copies = mails_to(office.cycle("A", office.at(15)), "B")
    deliver_all(office, copies, office.at(15))
    pass_nights(office, 4)
    with pytest.raises(MessageUnknown, match="has expired"):
        office["B"].edit(office.at(110 * HOUR_MIN), "Projects", message, subject="new")
    deliver_all(office, copies, office.at(110 * HOUR_MIN))
    assert subjects(office, "B") == []


def test_a_newer_version_of_an_expired_item_is_a_new_one() -> None:
    """An expired message that is edited elsewhere comes back, in no conflict; a deletion then removes it (spec: DL-3, DL-2)."""
    office = PostOffice(AGED)
    message = office["A"].post(office.at(1), "Projects", subject="old").id
    office.run(office.at(15))
    pass_nights(office, 4)
    office["A"].edit(office.at(110 * HOUR_MIN), "Projects", message, subject="edited")
    office.run(office.at(110 * HOUR_MIN + 15))
    (shown,) = office["B"].messages("Projects")
    assert (shown.subject, shown.in_conflict) == ("edited", False)
    office["C"].delete(office.at(111 * HOUR_MIN), "Projects", message)
    office.run(office.at(111 * HOUR_MIN + 15))
    assert office["B"].knowledge("Projects").tombstones == office["C"].knowledge("Projects").tombstones
    assert office["B"].knowledge("Projects").expired == ()


LATE = """
organization: Test
sites: [SEA]
servers: {A: {settings: {Age Limit: 1 d}}, B: {LIMIT}, C: {}}
folders:
  Projects: {replicas: [A, B]}
"""


def new_replica(limit: str) -> PostOffice:
    """Give C a replica of a folder whose message has expired on A, and on B too if B has the limit."""
    office = posted(LATE.replace("LIMIT", limit))
    pass_nights(office, 3)
    office["A"].change_folder(office.at(110 * HOUR_MIN), "Projects", replicas=["A", "B", "C"])
    for quarter in range(1, 5):
        office.run(office.at(110 * HOUR_MIN + 15 * quarter))
    due = office["C"].backfill()[0].due_at
    for hours in (0, 1):
        office.run(due + hours * HOUR_US)
    return office


def test_a_source_says_expired_here_and_the_next_is_asked_at_once() -> None:
    """A response lists numbers as expired here, and the requester asks the next holder for them (spec: DL-3)."""
    office = new_replica("")
    asked = [event for event in office.events if isinstance(event, RequestSent)]
    assert {event.source for event in asked} == {"A", "B"} or [event.source for event in asked] == ["B"]
    assert {event.at for event in asked} == {asked[0].at}
    assert subjects(office, "C") == ["old"]
    assert office["C"].backfill() == []


ONE_SLOT = """
organization: Test
sites: [SEA, NYC]
servers:
  A: {site: SEA, settings: {Age Limit: 1 d}}
  B: {site: NYC}
  C: {site: SEA, settings: {Replication Outstanding Backfill Limit: 1}}
connectors: [{between: [SEA, NYC]}]
folders:
  Projects: {replicas: [A, B]}
  Plans: {replicas: [A, B]}
"""


def test_who_asks_again_at_once_waits_for_a_slot_from_now_on() -> None:
    """An entry whose source says "expired here" is due at that time, not when the retry time-out would have ended (spec: DL-3,
    BF-6)."""
    office = posted(ONE_SLOT)
    pass_nights(office, 3)
    office["A"].post(office.at(100 * HOUR_MIN), "Plans", subject="new")
    office.run(office.at(100 * HOUR_MIN + 15))
    for folder in ("Projects", "Plans"):
        office["A"].change_folder(office.at(110 * HOUR_MIN), folder, replicas=["A", "B", "C"])
    for quarter in range(1, 5):
        office.run(office.at(110 * HOUR_MIN + 15 * quarter))
    due = office["C"].backfill()[0].due_at
    requests = mails_to(office.cycle("C", due), "A")
    deliver_all(office, requests, due, "A")
    later = due + HOUR_US
    deliver_all(office, office.cycle("A", later), later, "C")
    waits = {entry.path: entry.due_at for entry in office["C"].backfill() if entry.waiting_for_slot}
    assert waits == {"Projects": later, "Plans": due}


def test_what_every_holder_has_let_expire_is_accounted_for() -> None:
    """When every holder has said "expired here", the store claims the number and waits for nothing (spec: DL-3, CN-7)."""
    office = new_replica("settings: {Age Limit: 1 d}")
    assert subjects(office, "C") == []
    assert office["C"].backfill() == []
    (everywhere,) = [event for event in office.events if isinstance(event, ExpiredEverywhere)]
    assert everywhere.node == "C"
    assert office["C"].knowledge("Projects").numbers == office["A"].knowledge("Projects").numbers


def test_an_unsent_change_does_not_expire() -> None:
    """A change that was not broadcast does not expire, however old, because no other store has it (spec: DL-3, DU-1)."""
    office = PostOffice(AGED.replace("C]}", "C], schedule: never}"))
    office["B"].post(office.at(1), "Projects", subject="only here")
    pass_nights(office, 5)
    assert subjects(office, "B") == ["only here"]


def test_age_limits_are_applied_in_maintenance_at_most_once_in_their_interval() -> None:
    """The task runs during the store's maintenance, at most once in the interval of Replication Expiry (spec: DL-3)."""
    office = posted(AGED.replace("Age Limit: 2 d", "Age Limit: 1 h, Maintenance Schedule: '03:00-04:00'"))
    office.run(office.at(2 * HOUR_MIN + 59))
    assert subjects(office, "B") == ["old"]
    office.run(office.at(3 * HOUR_MIN))
    assert subjects(office, "B") == []
    office["A"].post(office.at(3 * HOUR_MIN + 1), "Projects", subject="second")
    office.run(office.at(3 * HOUR_MIN + 15))
    office.run(office.at(26 * HOUR_MIN))
    assert subjects(office, "B") == ["second"]
    office.run(office.at(27 * HOUR_MIN))
    assert subjects(office, "B") == []


STALE = """
organization: Test
sites: [SEA]
servers: {A: {settings: {Age Limit: 2 d}}, B: {settings: {Age Limit: 2 d}}, C: {}, D: {}}
folders:
  Projects: {replicas: [A, B, C, D]}
"""


def hear_of_it_late(office: PostOffice, until: int, deaf_to: str) -> None:
    """Advance by quarters of an hour; C hears B from the fourth day on, and never the stores in `deaf_to`."""
    for minutes in range(45, until, 15):
        for name in "ABCD":
            for mail in office.cycle(name, office.at(minutes)):
                if mail[1].next_hop != "C" or (minutes > 73 * HOUR_MIN and name not in deaf_to):
                    office.deliver(mail, office.at(minutes))


def known_rows_are_old(to: str) -> PostOffice:
    """All stores have told their rows when A posts, and only these stores get the post. When B tells C of it, it has expired
    on B."""
    office = PostOffice(STALE)
    for name in "AD":
        office[name].post(office.at(1), "Projects", subject=f"of {name}")
    office.run(office.at(15))
    office["A"].post(office.at(16), "Projects", subject="late")
    deliver_all(office, office.cycle("A", office.at(30)), office.at(30), to)
    return office


def given_up_by_c(office: PostOffice) -> list[ExpiredEverywhere]:
    return [event for event in office.events if isinstance(event, ExpiredEverywhere) and event.node == "C"]


def test_an_old_row_does_not_show_that_a_store_lacks_an_expired_item() -> None:
    """A store that lacked an item at its last mail may have it by now, so C does not give up the item (spec: DL-3)."""
    office = known_rows_are_old("BD")
    hear_of_it_late(office, 96 * HOUR_MIN, deaf_to="AD")
    assert [entry.missing for entry in office["C"].backfill()] == ["A-2"]
    assert given_up_by_c(office) == []
    for minutes in range(96 * HOUR_MIN, 190 * HOUR_MIN, 15):
        office.run(office.at(minutes))
    assert "late" in subjects(office, "C")
    assert given_up_by_c(office) == []


def test_a_long_silence_shows_that_a_store_lacks_an_expired_item() -> None:
    """A store repeats its status while another lacks something that it has. So a store that stays silent does not have the
    item, and C waits no longer for an item that no store has (spec: DL-3, ST-7)."""
    office = known_rows_are_old("B")
    hear_of_it_late(office, 240 * HOUR_MIN, deaf_to="AD")
    assert office["C"].backfill() == []
    assert len(given_up_by_c(office)) == 1


def test_an_expired_item_is_remembered_until_all_have_its_number() -> None:
    """A source remembers that an item has expired for as long as any store may request it, however short tombstones live
    (spec: DL-3)."""
    office = PostOffice(
        "organization: Test\nsites: [SEA]\nsettings: {Replication Folder Tombstone Age Limit: 1 d}\n"
        "servers: {A: {settings: {Age Limit: 1 d}}, C: {}}\nfolders: {Projects: {replicas: [A, C]}}\n"
    )
    office["A"].post(office.at(1), "Projects", subject="old")
    for minutes in range(15, 120 * HOUR_MIN, 15):
        office.cycle("A", office.at(minutes))
    for minutes in range(120 * HOUR_MIN, 200 * HOUR_MIN, 15):
        office.run(office.at(minutes))
    assert office["C"].backfill() == []
    assert subjects(office, "A") == subjects(office, "C") == []
    assert len(given_up_by_c(office)) == 1


def test_expired_numbers_are_told_by_kind() -> None:
    """The number of an expired content is a hole in the set of associated messages, and the store claims it (spec: DL-3,
    CN-9)."""
    office = PostOffice(
        AGED.replace("A: {}", "A: {settings: {Age Limit: 3 d}}").replace("{settings: {Age Limit: 2 d}}", "{}")
    )
    office["A"].post(office.at(1), "Projects", subject="old")
    office.run(office.at(15))
    pass_nights(office, 5)
    assert [subjects(office, name) for name in "AB"] == [[], ["old"]]
    office["A"].post(office.at(133 * HOUR_MIN), "Projects", subject="a view", associated=True)
    office.cycle("A", office.at(133 * HOUR_MIN + 15))  # lost
    for hours in (144, 156, 168):
        deliver_all(
            office, mails_to(office.cycle("A", office.at(hours * HOUR_MIN + 15)), "B"), office.at(hours * HOUR_MIN + 15)
        )
    (entry,) = office["B"].backfill()
    assert (entry.missing, entry.missing_fai) == ("", "A-1..2")
    for mail in office.cycle("B", entry.due_at):
        office.deliver(mail, entry.due_at)
    deliver_all(office, office.cycle("A", entry.due_at), entry.due_at, "B")
    assert office["B"].backfill() == []
    (answer,) = [event for event in office.events if isinstance(event, RequestAnswered)]
    assert answer.expired == ""


TWO_LEAVE = """
organization: Test
sites: [SEA]
servers: {A: {}, B: {}, K: {settings: {Age Limit: 1 d}}, L: {}}
folders:
  Projects: {replicas: [A, B, K, L]}
"""


def only_on_l() -> PostOffice:
    """A and B lost L's post, and it has expired on K."""
    office = PostOffice(TWO_LEAVE)
    office["L"].post(office.at(1), "Projects", subject="only on L")
    deliver_all(office, office.cycle("L", office.at(15)), office.at(15), "K")
    for minutes in (*NIGHTS[:3], *(night + 15 for night in NIGHTS[:3])):
        office.cycle("K", office.at(minutes))
    assert subjects(office, "K") == []
    return office


def test_what_a_leaving_store_still_has_is_not_given_up() -> None:
    """Two stores leave at once: one says that an item has expired there, the other has it. The item stays missing, and its
    store may not leave, until it was requested with success (spec: DL-3, RP-2, DU-1)."""
    office = only_on_l()
    office["A"].change_folder(office.at(121 * HOUR_MIN), "Projects", replicas=["A", "B"])
    for minutes in range(121 * HOUR_MIN + 15, 260 * HOUR_MIN, 30):
        for mail in [mail for name in office.running for mail in office.cycle(name, office.at(minutes))]:
            if minutes > 190 * HOUR_MIN or (mail[0], mail[1].subject) != ("L", "Folder Content Backfill Response"):
                office.deliver(mail, office.at(minutes))
    assert [event for event in office.events if isinstance(event, ExpiredEverywhere)] == []
    assert [subjects(office, name) for name in "ABKL"] == [["only on L"], ["only on L"], [], []]


def until(office: PostOffice, start: int, met: Callable[[], bool]) -> int:
    """Advance by quarters of an hour, losing C's responses to B, until the condition holds; return that time."""
    for minutes in range(start, start + 96 * HOUR_MIN, 15):
        if met():
            return minutes
        for mail in [mail for name in office.running for mail in office.cycle(name, office.at(minutes))]:
            if (mail[0], mail[1].next_hop, mail[1].subject) != ("C", "B", "Folder Content Backfill Response"):
                office.deliver(mail, office.at(minutes))
    raise AssertionError("it was not met in four days")


def test_a_store_with_a_new_replica_is_asked_again_for_expired_items() -> None:
    """ "Expired here" applied to a replica that has been dropped since. The store's new replica is a source like any other
    (spec: DL-3, RP-2, BF-3)."""
    office = PostOffice(
        AGED.replace("A: {}", "A: {settings: {Age Limit: 1 d}}").replace("{settings: {Age Limit: 2 d}}", "{}")
    )
    office["C"].post(office.at(1), "Projects", subject="late")
    deliver_all(office, office.cycle("C", office.at(15)), office.at(15), "A")  # lost for B
    told = until(office, 30, lambda: any(each.expired for each in office.events if isinstance(each, RequestAnswered)))
    told = until(office, told, lambda: bool(office["B"].backfill()[0].requests))
    office["A"].configure(office.at(told), {"Age Limit": "100 d"})
    office["C"].change_folder(office.at(told), "Projects", replicas=["B", "C"])
    dropped_at = until(office, told, lambda: not office["A"].folders()[0].held_here)
    office["C"].change_folder(office.at(dropped_at), "Projects", replicas=["A", "B", "C"])
    again = until(office, dropped_at, lambda: subjects(office, "A") == ["late"])
    office["C"].close(office.at(again))
    office.running.remove("C")
    for minutes in range(again, again + 200 * HOUR_MIN, 15):
        for mail in [mail for name in office.running for mail in office.cycle(name, office.at(minutes))]:
            if mail[1].next_hop != "C":
                office.deliver(mail, office.at(minutes))
    assert subjects(office, "B") == ["late"]


def test_a_store_that_let_an_item_expire_does_not_let_its_last_holder_go() -> None:
    """A leaving store has the last copy of an item, which one holder let expire and the others lack. That holder has the
    number, but answers only when the others have it (spec: RP-2, DL-3, DU-1)."""
    office = only_on_l()
    office["A"].change_folder(office.at(121 * HOUR_MIN), "Projects", replicas=["A", "B", "K"])
    for minutes in range(121 * HOUR_MIN + 15, 260 * HOUR_MIN, 30):
        for mail in [mail for name in office.running for mail in office.cycle(name, office.at(minutes))]:
            office.deliver(mail, office.at(minutes))
    assert [subjects(office, name) for name in "ABKL"] == [["only on L"], ["only on L"], [], []]
    assert "Projects" not in [view.path for view in office["L"].folders() if view.held_here]
