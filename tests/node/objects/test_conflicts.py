"""How conflicts are shown and reported, and how old ones end (spec: CF-4, CF-5)."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from node.errors import MessageUnknown, Misuse, NotAContact
from node.objects.local_changes import ITEM_ROOM, MAX_ITEM_BYTES
from tests.support.clock import HOUR_MIN
from tests.support.post_office import PostOffice, deliver_all
from traces.events import ChangeMade, ConflictAged, ConflictArose, ConflictEnded, ConflictNotice
from traces.labtime import DAY_US, MINUTE_US, LabTime
from transport.envelope import Transmission

AGED = """
organization: Test
sites: [SEA]
servers: {A: {}, B: {}, C: {}}
settings: {Replication Folder Conflict Age Limit: 1 d}
folders:
  Projects: {replicas: [A, B, C], contacts: [kim@test.test]}
"""
AGE = 24 * HOUR_MIN
AROSE = 30


def plain(method: str) -> str:
    return AGED.replace("settings: {Replication Folder Conflict Age Limit: 1 d}\n", "").replace(
        "[kim@test.test]", f"[kim@test.test], resolve: {method}"
    )


def in_conflict(text: str = AGED, folder: Path | None = None, body: str = "") -> tuple[PostOffice, str]:
    """A and B edit a message in one interval. Half an hour after the start every store has both versions; B's wins."""
    office = PostOffice(text, folder)
    message = office["A"].post(office.at(1), "Projects", subject="one").id
    office.run(office.at(15))
    office["A"].edit(office.at(16), "Projects", message, subject="from A")
    office["B"].edit(office.at(17), "Projects", message, subject="from B", body=body or None)
    office.run(office.at(AROSE))
    return office, message


def aged(office: PostOffice) -> list[ConflictAged]:
    return cast("list[ConflictAged]", office.of_type("conflict.aged"))


def shown(office: PostOffice, name: str) -> tuple[str, int]:
    (view,) = office[name].messages("Projects")
    return view.subject, len(view.versions)


# -- who resolves


@pytest.mark.parametrize("by", [None, "kim@test.test", "Kim@TEST.test"])
def test_a_contact_resolves_a_conflict(by: str | None) -> None:
    """A contact, by default the first one, resolves a conflict at any replica, and the trace names the contact (CF-3)."""
    office, message = in_conflict()
    (view,) = office["C"].messages("Projects")
    office["C"].resolve(office.at(31), "Projects", message, view.versions[1], by)
    office.run(office.at(46))
    assert [shown(office, name) for name in "ABC"] == [("from A", 1)] * 3
    ended = cast("list[ConflictEnded]", office.of_type("conflict.ended"))
    assert {each.node: each.by for each in ended} == {"A": "", "B": "", "C": "kim@test.test"}


@pytest.mark.parametrize("keep", ["all", "one"])
def test_other_people_cannot_resolve_a_conflict(keep: str) -> None:
    """A person who is not a contact is refused with the reason, and nothing changes (CF-3)."""
    office, message = in_conflict()
    version = "all" if keep == "all" else office["C"].messages("Projects")[0].versions[1]
    reason = "sam@test.test is not a contact of Projects and cannot resolve .* the contacts are: kim@test.test"
    with pytest.raises(NotAContact, match=reason):
        office["C"].resolve(office.at(31), "Projects", message, version, "sam@test.test")
    assert shown(office, "C") == ("from B", 2)
    assert office.of_type("conflict.ended") == []


def test_nobody_resolves_in_a_folder_without_contacts() -> None:
    """Without contacts a resolution is refused, and an edit ends the conflict (CF-3)."""
    office, message = in_conflict(AGED.replace("[kim@test.test]", "[]"))
    with pytest.raises(NotAContact, match=r"Projects has no contacts, .* an edit also ends its conflict"):
        office["C"].resolve(office.at(31), "Projects", message, "all")
    office["C"].edit(office.at(31), "Projects", message, subject="both")
    assert shown(office, "C") == ("both", 1)


# -- notices


def test_two_versions_that_join_in_one_mail_are_reported_one_by_one() -> None:
    """The home store sends a notice for each version that joins a conflict, with the versions that were then in conflict, even
    if the next version is in the same mail (spec: CF-2)."""
    office = PostOffice(AGED)
    message = office["A"].post(office.at(1), "Projects", subject="one").id
    office.run(office.at(15))
    for minutes, name in ((16, "A"), (17, "B"), (18, "C")):
        office[name].edit(office.at(minutes), "Projects", message, subject=f"from {name}")
    edits = [mail for name in "BC" for mail in office.cycle(name, office.at(AROSE))]
    deliver_all(office, edits, office.at(AROSE), to="BC")  # what goes to A is lost
    office["B"].post(office.at(31), "Projects", subject="two")
    for hours in range(1, 12):
        office.run(office.at(hours * HOUR_MIN))
    arose = [
        set(event.versions)
        for event in cast("list[ConflictArose]", office.of_type("conflict.arose"))
        if event.node == "A"
    ]
    told = cast("list[ConflictNotice]", office.of_type("conflict.notice"))
    assert [len(versions) for versions in arose] == [2, 3]
    assert [set(event.versions) for event in told] == arose
    texts = [office["A"].mailbox_mail(notice.id) for notice in office["A"].mailbox()]
    assert sorted(text.count(b"message/rfc822") for text in texts) == [2, 3]


# -- resolve methods


@pytest.mark.parametrize(
    ("method", "in_conflict_", "notices"),
    [("default", True, 1), ("last writer wins", False, 0), ("no notification", True, 0)],
)
def test_the_resolve_method_changes_what_is_shown_and_sent(method: str, in_conflict_: bool, notices: int) -> None:
    """By default a conflict is shown and reported. "Last writer wins" does neither, and "without notification" only shows it
    (spec: CF-4)."""
    office, _ = in_conflict(plain(method))
    for name in "ABC":
        (view,) = office[name].messages("Projects")
        assert (view.subject, view.in_conflict) == ("from B", in_conflict_)
        (folder,) = office[name].folders()
        assert folder.resolve == method
    assert len(office["A"].mailbox()) == notices
    assert len(office.of_type("conflict.notice")) == notices


@pytest.mark.parametrize("method", ["default", "last writer wins", "no notification"])
def test_the_resolve_method_never_changes_what_is_kept(method: str) -> None:
    """Every method keeps every version, and a user can still choose one in the winner's place (spec: CF-4, CF-3)."""
    office, message = in_conflict(plain(method))
    kept = {name: office[name].knowledge("Projects").versions[message] for name in "ABC"}
    assert kept["A"] == kept["B"] == kept["C"]
    assert len(kept["A"]) == 2
    (view,) = office["C"].messages("Projects")
    assert set(view.versions) == {number for number, _ in kept["C"]}
    office["C"].resolve(office.at(31), "Projects", message, view.versions[1])
    office.run(office.at(45))
    assert {shown(office, name) for name in "ABC"} == {("from A", 1)}


@pytest.mark.parametrize("method", ["last writer wins", "no notification"])
def test_the_resolve_method_can_be_set_on_a_running_lab(method: str) -> None:
    """A new method is a change of the folder like any other: it applies at each store that has received it, and traces show
    it (spec: CF-4, HI-2)."""
    office = PostOffice(plain("default"))
    office["C"].change_folder(office.at(1), "Projects", resolve=method)
    office.run(office.at(15))
    assert {office[name].folders()[0].resolve for name in "ABC"} == {method}
    message = office["A"].post(office.at(16), "Projects", subject="one").id
    office.run(office.at(30))
    for name in "AB":
        office[name].edit(office.at(31), "Projects", message, subject=f"from {name}")
    office.run(office.at(45))
    assert len(office.of_type("conflict.notice")) == 0
    assert shown(office, "C")[1] == 2
    assert office["C"].messages("Projects")[0].in_conflict is (method == "no notification")
    office["A"].change_folder(office.at(46), "Projects", resolve="default")
    office.run(office.at(60))
    assert all(office[name].messages("Projects")[0].in_conflict for name in "ABC")
    made = cast("list[ChangeMade]", office.of_type("change.made"))
    told = [each.resolve for each in made if each.kind == "folder"]
    assert told == [method, "default"]
    with pytest.raises(Misuse, match="not a resolve method; write one of default, last writer wins, no notification"):
        office["A"].change_folder(office.at(61), "Projects", resolve="first writer wins")


def test_a_folder_is_made_with_a_resolve_method() -> None:
    """A new folder has the method given at its creation, or the default (spec: CF-4)."""
    office = PostOffice(plain("default"))
    office["A"].create_folder(office.at(1), "Quiet", resolve="no notification")
    office["A"].create_folder(office.at(1), "Loud")
    office.run(office.at(15))
    assert {each.path: each.resolve for each in office["B"].folders()} == {
        "Projects": "default",
        "Quiet": "no notification",
        "Loud": "default",
    }


def test_a_lost_edit_is_reported_under_every_method() -> None:
    """An edit that lost to a deletion is no conflict: no store keeps it, so the contacts are told (spec: DL-2, CF-4)."""
    for method in ("last writer wins", "no notification"):
        office = PostOffice(plain(method))
        message = office["A"].post(office.at(1), "Projects", subject="one").id
        office.run(office.at(15))
        office["A"].edit(office.at(16), "Projects", message, subject="edited")
        office["B"].delete(office.at(17), "Projects", message)
        office.run(office.at(30))
        assert len(office["A"].mailbox()) == 1


# -- old conflicts


def test_the_home_store_ends_an_old_conflict_alone_and_keeps_the_winner() -> None:
    """Once a conflict reaches the age, and not before, the first store of the list makes a change that keeps the winner
    (spec: CF-5)."""
    office, _ = in_conflict()
    office.run(office.at(AROSE + AGE) - 1)
    assert aged(office) == []
    office.run(office.at(AROSE + AGE))
    (event,) = aged(office)
    assert (event.node, event.at - event.since_at, event.limit_us) == ("A", DAY_US, DAY_US)
    assert office["A"].messages("Projects")[0].change == event.number
    assert [shown(office, name) for name in "ABC"] == [("from B", 1), ("from B", 2), ("from B", 2)]
    office.run(office.at(AROSE + AGE + 15))
    assert {shown(office, name) for name in "ABC"} == {("from B", 1)}
    assert len({office[name].knowledge("Projects").numbers for name in "ABC"}) == 1
    (made,) = [each for each in office.events if isinstance(each, ChangeMade) and each.number == event.number]
    assert len(made.supersedes) == 2
    assert event.winner in made.supersedes
    office.run(office.at(9 * AGE))
    assert len(aged(office)) == 1


def test_without_the_setting_a_conflict_lasts() -> None:
    """Without the setting conflicts never end by age (spec: CF-5)."""
    office, _ = in_conflict(plain("default"))
    for days in range(1, 60):
        office.run(office.at(days * AGE))
    assert {shown(office, name)[1] for name in "ABC"} == {2}


def test_the_limit_of_another_store_has_no_effect() -> None:
    """Only the home store's setting counts (spec: CF-5)."""
    office, _ = in_conflict(
        AGED.replace("settings: {Replication Folder Conflict Age Limit: 1 d}\n", "").replace(
            "B: {}", "B: {settings: {Replication Folder Conflict Age Limit: 1 d}}"
        )
    )
    office.run(office.at(9 * AGE))
    assert aged(office) == []


def test_a_conflict_that_a_person_ended_is_left_alone() -> None:
    """The store ignores a conflict that a person has ended, and the age of a new conflict starts at zero (spec: CF-5, CF-3)."""
    office, message = in_conflict()
    office["C"].edit(office.at(20 * HOUR_MIN), "Projects", message, subject="merged")
    office.run(office.at(20 * HOUR_MIN + 15))
    office.run(office.at(AROSE + AGE))
    assert aged(office) == []
    office["A"].edit(office.at(30 * HOUR_MIN), "Projects", message, subject="again A")
    office["B"].edit(office.at(30 * HOUR_MIN + 1), "Projects", message, subject="again B")
    office.run(office.at(30 * HOUR_MIN + 15))
    office.run(office.at(30 * HOUR_MIN + 15 + AGE) - 1)
    assert aged(office) == []
    office.run(office.at(30 * HOUR_MIN + 15 + AGE))
    assert [event.at - event.since_at for event in aged(office)] == [DAY_US]


def test_a_deleted_message_has_no_conflict_to_end() -> None:
    """A deletion ends a conflict too (spec: CF-5, DL-2)."""
    office, message = in_conflict()
    office["B"].delete(office.at(HOUR_MIN), "Projects", message)
    office.run(office.at(HOUR_MIN + 15))
    office.run(office.at(9 * AGE))
    assert aged(office) == []
    assert office["A"].messages("Projects") == []


def test_a_version_that_joins_makes_a_conflict_no_younger() -> None:
    """The age is that of the conflict, not of its newest version (spec: CF-5)."""
    office = PostOffice(AGED)
    message = office["A"].post(office.at(1), "Projects", subject="one").id
    office.run(office.at(15))
    for minutes, name in ((16, "A"), (17, "B"), (18, "C")):
        office[name].edit(office.at(minutes), "Projects", message, subject=f"from {name}")
    mails = {name: office.cycle(name, office.at(AROSE)) for name in "ABC"}
    for name in "AB":
        deliver_all(office, mails[name], office.at(AROSE))
    deliver_all(office, mails["C"], office.at(20 * HOUR_MIN))
    office.run(office.at(AROSE + AGE))
    (event,) = aged(office)
    assert event.since_at == office.at(AROSE)
    assert shown(office, "A") == ("from C", 1)


def test_the_store_that_is_home_at_the_age_ends_the_conflict() -> None:
    """The store that is first in the list when the conflict reaches the age ends it, by its own count of that age (spec:
    CF-5)."""
    office, _ = in_conflict()
    office["A"].change_folder(office.at(20 * HOUR_MIN), "Projects", replicas=["C", "B", "A"])
    office.run(office.at(20 * HOUR_MIN + 15))
    office.run(office.at(AROSE + AGE))
    office.run(office.at(AROSE + AGE + 15))
    assert [event.node for event in aged(office)] == ["C"]
    assert {shown(office, name) for name in "ABC"} == {("from B", 1)}


def test_a_new_home_store_ends_an_old_conflict_at_once() -> None:
    """A conflict past the age ends as soon as a store with the setting becomes home (spec: CF-5)."""
    office, _ = in_conflict(
        AGED.replace("settings: {Replication Folder Conflict Age Limit: 1 d}\n", "").replace(
            "B: {}", "B: {settings: {Replication Folder Conflict Age Limit: 1 d}}"
        )
    )
    office["A"].change_folder(office.at(50 * HOUR_MIN), "Projects", replicas=["B", "C", "A"])
    office.run(office.at(50 * HOUR_MIN + 15))
    (event,) = aged(office)
    assert (event.node, event.at) == ("B", office.at(50 * HOUR_MIN + 15))


def test_the_limit_can_be_taken_back_and_set(tmp_path: Path) -> None:
    """A changed registry value applies from the next start, also to existing conflicts (spec: CF-5, SE-1)."""
    name = "Replication Folder Conflict Age Limit"
    office, _ = in_conflict(folder=tmp_path)
    for at, value in ((office.at(HOUR_MIN), None), (office.at(5 * AGE + 1), "7 d")):
        office["A"].configure(at, {name: value})
        office["A"].abandon()
        office["A"].open(at)
        office.run(max(at, office.at(5 * AGE)))
        assert aged(office) == []
    office.run(office.at(AROSE + 7 * AGE) - MINUTE_US)
    assert aged(office) == []
    office.run(office.at(AROSE + 7 * AGE))
    assert len(aged(office)) == 1


def test_a_restart_forgets_no_age(tmp_path: Path) -> None:
    """A killed store keeps the ages, and ends at its start each conflict that has reached the age meanwhile (spec: CF-5)."""
    for killed_for in (2 * HOUR_MIN, 60 * HOUR_MIN):
        folder = tmp_path / str(killed_for)
        folder.mkdir()
        office, _ = in_conflict(folder=folder)
        office["A"].abandon()
        office["A"].open(office.at(HOUR_MIN + killed_for))
        office.run(office.at(max(AROSE + AGE, HOUR_MIN + killed_for)))
        assert [event.since_at for event in aged(office)] == [office.at(AROSE)]


def test_a_restored_store_counts_the_age_from_its_restore() -> None:
    """Otherwise the conflict could begin again before the change that ended it after the backup comes back (spec: CF-5,
    RP-4)."""
    office, message = in_conflict()
    backup = office["A"].backup()
    office["C"].edit(office.at(2 * HOUR_MIN), "Projects", message, subject="merged")
    office.run(office.at(2 * HOUR_MIN + 15))
    office["A"].abandon()
    office["A"].restore(office.at(3 * AGE), backup)
    assert shown(office, "A") == ("from B", 2)
    for quarter in range(4 * 30):
        office.run(office.at(3 * AGE + 15 * quarter))
    assert aged(office) == []
    assert {shown(office, name) for name in "ABC"} == {("merged", 1)}


def test_a_restored_store_ends_what_is_still_in_conflict() -> None:
    """It counts from the restore, and ends the conflict at the age (spec: CF-5)."""
    office, _ = in_conflict()
    backup = office["A"].backup()
    office["A"].abandon()
    office["A"].restore(office.at(2 * HOUR_MIN), backup)
    for hours in range(3, 28):
        office.run(office.at(hours * HOUR_MIN))
    (event,) = aged(office)
    assert event.since_at == office.at(2 * HOUR_MIN)
    assert {shown(office, name) for name in "ABC"} == {("from B", 1)}


def test_where_the_last_writer_wins_old_versions_go_too() -> None:
    """A conflict that is kept but not shown ends at its age like any other (spec: CF-5, CF-4)."""
    office, _ = in_conflict(AGED.replace("[kim@test.test]", "[], resolve: last writer wins"))
    office.run(office.at(AROSE + AGE))
    assert len(aged(office)) == 1
    assert shown(office, "A") == ("from B", 1)


def test_a_replica_that_goes_takes_its_conflicts_with_it() -> None:
    """Deleting a folder removes its conflicts (spec: CF-5, HI-6)."""
    office, _ = in_conflict()
    office["B"].delete_folder(office.at(HOUR_MIN), "Projects")
    office.run(office.at(HOUR_MIN + 15))
    office.run(office.at(9 * AGE))
    assert aged(office) == []


@pytest.mark.long
def test_a_winner_that_could_not_be_sent_again_is_left_to_people() -> None:
    """A new version is slightly larger than the old one. A winner at the size limit stays in conflict, and nothing fails
    (spec: CF-5)."""
    office, _ = in_conflict(body="x" * ((MAX_ITEM_BYTES - ITEM_ROOM) + 1024))
    assert office["A"].messages("Projects")[0].size > MAX_ITEM_BYTES - ITEM_ROOM
    office.run(office.at(9 * AGE))
    assert aged(office) == []
    assert shown(office, "A") == ("from B", 2)


def test_a_store_without_an_agent_waits(tmp_path: Path) -> None:
    """A store without an agent cannot send the end. The age goes on, and the conflict ends once there is an agent (spec:
    CF-5, SE-1)."""
    office, _ = in_conflict(folder=tmp_path)
    for hours, replication, ends in ((1, 0, 0), (72, 1, 1)):
        office["A"].configure(office.at(hours * HOUR_MIN), {"Replication": replication})
        office["A"].abandon()
        office["A"].open(office.at(hours * HOUR_MIN))
        office.run(office.at((hours + 48) * HOUR_MIN))
        assert len(aged(office)) == ends


def test_every_holder_records_the_conflict_that_the_home_store_ends() -> None:
    """The age begins with the event by which the store records the conflict (spec: CF-5, CF-1)."""
    office, _ = in_conflict()
    office.run(office.at(AROSE + AGE))
    (event,) = aged(office)
    arose = [each for each in office.events if isinstance(each, ConflictArose) and each.node == "A"]
    assert [each.at for each in arose] == [event.since_at]
    assert arose[0].winner == event.winner


BESIDE = """
organization: Test
sites: [SEA]
servers: {A: {}, B: {settings: {Age Limit: 2 d}}, C: {}, D: {}}
folders:
  Projects: {replicas: [A, B, C, D], contacts: [kim@test.test]}
"""


def beside_an_expired_version(late: str) -> tuple[PostOffice, str, str]:
    """A's edit has expired on B when these stores' edits arrive, made without knowing A's. Return the message
    and A's change."""
    office = PostOffice(BESIDE)
    message = office["A"].post(office.at(1), "Projects", subject="one").id
    office.run(office.at(15))
    expired = office["A"].edit(office.at(16), "Projects", message, subject="from A").change
    for name in late:
        office[name].edit(office.at(17), "Projects", message, subject=f"from {name}")
    mails = {name: office.cycle(name, office.at(30)) for name in "A" + late}
    deliver_all(office, mails["A"], office.at(30), "B")
    for day in (1, 2, 3, 4):
        for minutes in (0, 15):
            office.cycle("B", office.at(day * 24 * HOUR_MIN + minutes))
    assert office["B"].messages("Projects") == []
    for name in late:
        deliver_all(office, mails[name], office.at(97 * HOUR_MIN), "B")
    return office, message, expired


def test_a_version_beside_an_expired_one_is_in_no_conflict_that_an_edit_could_end() -> None:
    """An expired version is in no conflict, so the next edit ends none (spec: CF-1, DL-3)."""
    office, message, _ = beside_an_expired_version("C")
    assert not office["B"].messages("Projects")[0].in_conflict
    office["B"].edit(office.at(98 * HOUR_MIN), "Projects", message, subject="from B")
    assert office.of_type("conflict.ended") == []


def test_an_expired_version_cannot_be_chosen() -> None:
    """A contact can choose only among the versions that still exist (spec: CF-3, DL-3)."""
    office, message, expired = beside_an_expired_version("CD")
    assert office["B"].messages("Projects")[0].in_conflict
    with pytest.raises(Misuse, match="is not a kept version"):
        office["B"].resolve(office.at(98 * HOUR_MIN), "Projects", message, expired)


# -- who notifies the contacts when the home store is silent


class Unreachable:
    """An office in which mails to some stores wait, and these stores do nothing. B and C edit a message in one interval."""

    def __init__(self, silent: str, text: str = plain("default")) -> None:
        self.office = PostOffice(text)
        message = self.office["B"].post(self.office.at(1), "Projects", subject="one").id
        self.office.run(self.office.at(15))
        self._waiting: list[tuple[str, Transmission]] = []
        self._silent = silent
        self.office["B"].edit(self.office.at(16), "Projects", message, subject="from B")
        self.office["C"].edit(self.office.at(17), "Projects", message, subject="from C")
        self._until_h = 0
        self.run(1)

    def run(self, until_h: int, silent: str | None = None) -> None:
        """Run each quarter hour until an hour of the lab."""
        self._silent = self._silent if silent is None else silent
        due, self._waiting = self._waiting, []
        for quarter in range(self._until_h * 4 + 1, until_h * 4 + 1):
            now = self.office.at(15 * quarter)
            while due or (due := self._cycle(now)):
                for mail in due:
                    if mail[1].next_hop in self._silent:
                        self._waiting.append(mail)
                    else:
                        self.office.deliver(mail, now)
                due = []
        self._until_h = until_h

    def _cycle(self, now: LabTime) -> list[tuple[str, Transmission]]:
        return [
            mail for name in self.office.running if name not in self._silent for mail in self.office.cycle(name, now)
        ]

    def notices(self) -> list[tuple[str, float]]:
        """Return who sent notices, each with the hour."""
        found = cast("list[ConflictNotice]", self.office.of_type("conflict.notice"))
        return [(each.node, (each.at - self.office.start) / (HOUR_MIN * MINUTE_US)) for each in found]


def test_the_next_holder_tells_the_contacts_if_the_home_store_stays_silent() -> None:
    """If two days after the last update the home store is not heard to have both versions, the next holder of the list sends
    the notice, once. The home store still sends its own when it has both (spec: CF-2)."""
    lab = Unreachable("A")
    lab.run(48)
    assert lab.notices() == []
    lab.run(144)
    assert lab.notices() == [("B", 60.25)]
    [notice] = lab.office["B"].mailbox()
    assert notice.recipient == "kim@test.test"
    lab.run(240, silent="")
    assert [store for store, _ in lab.notices()] == ["B", "A"]


def test_the_last_holder_tells_the_contacts_if_all_before_it_are_silent() -> None:
    """A holder tells the contacts only if no holder before it in the list is heard to have the versions (spec: CF-2)."""
    lab = Unreachable("A")
    lab.run(144, silent="AB")
    assert [store for store, _ in lab.notices()] == ["C"]


@pytest.mark.parametrize("method", ["last writer wins", "no notification"])
def test_nobody_tells_the_contacts_if_the_folder_wants_no_notices(method: str) -> None:
    """The resolve method holds for the other holders too (spec: CF-4)."""
    lab = Unreachable("A", plain(method))
    lab.run(144)
    assert lab.notices() == []


def test_a_new_home_store_tells_of_conflicts_that_nobody_reported() -> None:
    """A home store that leaves the list before it knew of a conflict leaves the notice to the next one (spec: CF-2)."""
    lab = Unreachable("A")
    lab.office["B"].change_folder(lab.office.at(HOUR_MIN), "Projects", replicas=["B", "C"])
    lab.run(144)
    assert [store for store, _ in lab.notices()] == ["B"]


def test_a_new_home_store_does_not_repeat_a_notice() -> None:
    """If the former home store was heard to have both versions, it has told the contacts (spec: CF-2)."""
    lab = Unreachable("")
    lab.run(72)
    lab.office["B"].change_folder(lab.office.at(72 * HOUR_MIN), "Projects", replicas=["B", "C"])
    lab.run(200)
    assert [store for store, _ in lab.notices()] == ["A"]


# -- two saves of one version


def opened(text: str = AGED) -> tuple[PostOffice, str, str]:
    """Every store has a message. Return the office, the message and its only version."""
    office = PostOffice(text)
    made = office["A"].post(office.at(1), "Projects", subject="one", body="draft")
    office.run(office.at(16))
    return office, made.id, made.change


def subjects(office: PostOffice, name: str, message: str) -> set[str]:
    """Return the subjects of the versions that a store keeps of a message."""
    return {version.subject for version in office[name].versions(message)}


def test_two_saves_of_one_version_are_in_conflict() -> None:
    """Two people who open a version on one server and save it make a conflict, on every holder, and the home store tells the
    contacts (CF-6, CF-1, CF-2)."""
    office, message, first = opened()
    kim = office["A"].edit(office.at(17), "Projects", message, subject="kim", based_on=[first])
    assert not office.of_type("conflict.arose")
    lee = office["A"].edit(office.at(18), "Projects", message, subject="lee", based_on=[first])
    assert subjects(office, "A", message) == {"kim", "lee"}
    (notice,) = office.of_type("conflict.notice")
    assert isinstance(notice, ConflictNotice)
    assert set(notice.versions) == {kim.change, lee.change}
    office.run(office.at(60))
    assert [shown(office, name) for name in "ABC"] == [("lee", 2)] * 3
    assert [subjects(office, name, message) for name in "BC"] == [{"kim", "lee"}] * 2
    second = office.of_type("change.made")[-1]
    assert isinstance(second, ChangeMade)
    assert (second.supersedes, second.rivals) == ((first,), (kim.change,))


def test_an_edit_of_the_newest_version_is_no_conflict() -> None:
    """An edit that is based on all versions that the store has replaces them, as an edit without a base does (CF-6, CF-3)."""
    office, message, first = opened()
    second = office["A"].edit(office.at(17), "Projects", message, subject="kim", based_on=[first])
    office["A"].edit(office.at(18), "Projects", message, subject="lee", based_on=[second.number])
    assert shown(office, "A") == ("lee", 1)
    assert not office.of_type("conflict.arose")


def test_an_edit_is_in_conflict_with_a_version_that_arrived_since() -> None:
    """An edit stays beside a version of another store that its author had not opened (CF-6)."""
    office, message, first = opened()
    office["B"].edit(office.at(17), "Projects", message, subject="kim")
    office.run(office.at(40))
    assert shown(office, "A") == ("kim", 1)
    office["A"].edit(office.at(41), "Projects", message, subject="lee", based_on=[first])
    office.run(office.at(90))
    assert [shown(office, name) for name in "ABC"] == [("lee", 2)] * 3


def test_what_is_made_from_one_save_stays_beside_the_other() -> None:
    """A store that has only one of two saves can edit it without replacing the other, which arrives later (CF-6, CN-4)."""
    office, message, first = opened()
    office["A"].edit(office.at(17), "Projects", message, subject="kim", based_on=[first])
    office.cycle("A", office.at(30))  # these mails are lost
    office["A"].edit(office.at(31), "Projects", message, subject="lee", based_on=[first])
    office.run(office.at(60))
    lee = next(version.change for version in office["B"].versions(message) if version.subject == "lee")
    office["B"].edit(office.at(61), "Projects", message, subject="lee and B", based_on=[lee])
    assert subjects(office, "B", message) == {"lee and B"}
    for hour in range(2, 20):
        office.run(office.at(hour * HOUR_MIN))
    assert [subjects(office, name, message) for name in "ABC"] == [{"kim", "lee and B"}] * 3


def test_a_resolution_covers_both_saves() -> None:
    """The resolution of a conflict of two saves replaces both on all replicas, and has no rivals (CF-6, CF-3)."""
    office, message, first = opened()
    for at_min, subject in ((17, "kim"), (18, "lee")):
        office["A"].edit(office.at(at_min), "Projects", message, subject=subject, based_on=[first])
    office.run(office.at(40))
    office["C"].edit(office.at(41), "Projects", message, subject="both")
    office.run(office.at(90))
    assert [shown(office, name) for name in "ABC"] == [("both", 1)] * 3
    resolution = office.of_type("change.made")[-1]
    assert isinstance(resolution, ChangeMade)
    assert resolution.rivals == ()


def test_what_an_edit_does_not_give_is_as_in_the_version_that_was_opened() -> None:
    """An edit keeps the body of the version that its author opened, if the store still has that version (CF-6)."""
    office, message, first = opened()
    kim = office["A"].edit(office.at(17), "Projects", message, body="of kim", based_on=[first])
    office["A"].edit(office.at(18), "Projects", message, body="of lee", based_on=[first])
    office["A"].edit(office.at(19), "Projects", message, subject="kim again", based_on=[kim.change])
    texts = {(version.subject, version.body) for version in office["A"].versions(message)}
    assert texts == {("one", "of lee"), ("kim again", "of kim")}


def test_associated_messages_have_no_conflict_of_two_saves() -> None:
    """The later one of two saves of an associated message replaces the earlier one (CF-6, CN-9)."""
    office = PostOffice(AGED)
    made = office["A"].post(office.at(1), "Projects", subject="view", associated=True)
    for subject in ("kim", "lee"):
        office["A"].edit(office.at(2), "Projects", made.id, subject=subject, based_on=[made.change])
    assert subjects(office, "A", made.id) == {"lee"}


def test_a_base_is_a_version_of_the_message() -> None:
    """An edit that is based on something else is refused with the versions that the store knows, and nothing changes (CF-6)."""
    office, message, _ = opened()
    other = office["A"].post(office.at(17), "Projects", subject="other")
    with pytest.raises(
        MessageUnknown, match=r"A-2 is not a version of the message; the versions that A knows are: A-1"
    ):
        office["A"].edit(office.at(18), "Projects", message, subject="x", based_on=[other.number])
    assert subjects(office, "A", message) == {"one"}
