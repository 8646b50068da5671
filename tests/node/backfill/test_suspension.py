"""Content replication suspended and resumed (spec: RP-5)."""

from __future__ import annotations

import pytest

from tests.support.clock import HOUR_MIN, STATUS_CHECK_MIN
from tests.support.post_office import (
    PostOffice,
    deliver_all,
    deliver_lost_mail_to_the_site,
    lose_mail_of_another_site,
    mails_to,
)
from tests.support.topologies import THREE_STORES_AND_CONTACT
from traces.labtime import HOUR_US

SWITCH = "Content Replication Suspended"


def suspend(office: PostOffice, now: int, on: bool = True, names: str = "ABC") -> None:
    for name in names:
        office[name].configure(now, {SWITCH: int(on)})


def logged(office: PostOffice, name: str, event: int) -> int:
    return len(office[name].event_log(event=event))


def test_content_waits_until_it_is_resumed_and_the_hierarchy_does_not() -> None:
    """While suspended a store sends no content, but hierarchy and statuses. After it resumes, the waiting content goes with
    the next cycle. Events 3118 and 3119 record both (spec: RP-5, EV-1)."""
    office = PostOffice()
    suspend(office, office.at(1))
    office["A"].post(office.at(2), "Projects", subject="waits")
    office["A"].create_folder(office.at(3), "New", replicas=["A", "B"])
    office.run(office.at(15))
    assert office["B"].messages("Projects") == []
    assert "New" in [view.path for view in office["B"].folders()]
    office.run(office.at(STATUS_CHECK_MIN))
    assert office["B"].messages("Projects") == []
    suspend(office, office.at(STATUS_CHECK_MIN + 1), on=False)
    office.run(office.at(STATUS_CHECK_MIN + 15))
    assert [message.subject for message in office["B"].messages("Projects")] == ["waits"]
    assert (logged(office, "A", 3118), logged(office, "A", 3119)) == (1, 1)


def missing_on_b() -> PostOffice:
    """A's post is lost on its way to B, and a status tells B of it."""
    office = PostOffice()
    office["A"].post(office.at(1), "Projects", subject="lost")
    deliver_all(office, office.cycle("A", office.at(15)), office.at(15), "C")
    deliver_all(office, mails_to(office.cycle("A", office.at(STATUS_CHECK_MIN)), "B"), office.at(STATUS_CHECK_MIN))
    return office


def test_suspension_pauses_the_wait_of_entries() -> None:
    """An entry's wait pauses while content is suspended, and then goes on where it stopped (spec: RP-5)."""
    office = missing_on_b()
    due = office["B"].backfill()[0].due_at
    suspend(office, due - HOUR_US)
    office.cycle("B", due + 9 * HOUR_US)
    assert office["B"].backfill()[0].requests == ()
    suspend(office, due + 9 * HOUR_US, on=False)
    assert office["B"].backfill()[0].due_at == due + 10 * HOUR_US
    office.cycle("B", due + 10 * HOUR_US - 1)
    assert office["B"].backfill()[0].requests == ()
    office.run(due + 10 * HOUR_US)
    assert len(office["B"].messages("Projects")) == 1


def test_content_that_waits_for_a_slot_does_not_hold_the_hierarchy_up() -> None:
    """A suspended content entry that waits for a slot does not keep the slot from the hierarchy, which goes on (spec: RP-5,
    BF-6)."""
    folders = "".join(f"  F{index}: {{replicas: [A, B]}}\n" for index in range(2))
    office = PostOffice(THREE_STORES_AND_CONTACT + folders + "settings: {Replication Outstanding Backfill Limit: 1}\n")
    for index in range(2):
        office["A"].post(office.at(1), f"F{index}", subject="lost")
    office.cycle("A", office.at(15))
    deliver_all(office, mails_to(office.cycle("A", office.at(STATUS_CHECK_MIN)), "B"), office.at(STATUS_CHECK_MIN))
    due = office["B"].backfill()[0].due_at
    deliver_all(office, office.cycle("B", due), due)
    suspend(office, due, names="B")
    deliver_all(office, office.take("A", due), due)
    assert [entry.waiting_for_slot for entry in office["B"].backfill()] == [True], "F1, and no request is out"
    office["A"].create_folder(due, "New", replicas=["A", "B"])
    deliver_all(office, office.cycle("A", due + HOUR_US), due + HOUR_US, "C")  # lost on its way to B
    for hours in range(2, 60):
        office.run(due + hours * HOUR_US)
    assert "New" in [view.path for view in office["B"].folders()]


def test_what_arrives_is_applied_and_a_request_is_not_answered() -> None:
    """While content is suspended a store applies content that arrives. It refuses a request for content with event 3116, and
    answers one for the hierarchy (spec: RP-5)."""
    office = missing_on_b()
    due = office["B"].backfill()[0].due_at
    suspend(office, due - 1, names="A")
    suspend(office, due - 1, names="C")
    requests = office.cycle("B", due)
    for mail in requests:
        office.deliver(mail, due)
    assert sum(logged(office, name, 3116) for name in "AC") == len(requests)
    office["B"].post(due, "Projects", subject="goes")
    deliver_all(office, office.cycle("B", due + HOUR_US), due + HOUR_US, "A")
    assert "goes" in [message.subject for message in office["A"].messages("Projects")]


@pytest.mark.parametrize(("version", "obeys"), [("5.5", False), ("2000", False), ("2003", True), ("2007", True)])
def test_5_5_and_2000_ignore_the_suspension(version: str, obeys: bool) -> None:
    """2003 and 2007 suspend content; 5.5 and 2000 go on (spec: RP-5)."""
    office = PostOffice(THREE_STORES_AND_CONTACT.replace("A: {site: SEA}", f'A: {{site: SEA, version: "{version}"}}'))
    suspend(office, office.at(1))
    office["A"].post(office.at(2), "Projects", subject="x")
    office.run(office.at(15))
    assert len(office["B"].messages("Projects")) == (not obeys)


def test_a_store_that_was_stopped_meanwhile_finds_out_at_its_start() -> None:
    """A store that was stopped when content was suspended sends no content after its start (spec: RP-5)."""
    office = PostOffice(THREE_STORES_AND_CONTACT + f"settings: {{{SWITCH}: 1}}\n")
    assert logged(office, "A", 3118) == 1
    office["A"].close(office.at(1))
    office["A"].open(office.at(2))
    assert logged(office, "A", 3118) == 1, "once"


def test_a_leaving_store_does_not_wait_for_content() -> None:
    """A replica removed while content is suspended tells all it has; the others fetch its unsent changes once content is
    resumed (spec: RP-5, RP-2, DU-1)."""
    office = PostOffice()
    suspend(office, office.at(1))
    office["C"].post(office.at(2), "Projects", subject="only here")
    office["A"].change_folder(office.at(3), "Projects", replicas=["A", "B"])
    office.run(office.at(15))
    assert office["A"].messages("Projects") == []
    suspend(office, office.at(3 * HOUR_MIN), on=False)
    for hours in range(3, 24):
        office.run(office.at(hours * HOUR_MIN))
    assert [message.subject for message in office["A"].messages("Projects")] == ["only here"]


def test_an_entry_that_becomes_local_during_a_suspension() -> None:
    """The entry is due at the earlier of its two times, and the suspension delays both equally (spec: BF-2, RP-5)."""
    office, lost = lose_mail_of_another_site()
    start = office.at(STATUS_CHECK_MIN)
    assert office["B"].backfill()[0].due_at == start + 12 * HOUR_US
    suspend(office, start + HOUR_US, names="B")
    deliver_lost_mail_to_the_site(office, lost, start + 50 * HOUR_US)
    suspend(office, start + 60 * HOUR_US, on=False, names="B")
    (entry,) = office["B"].backfill()
    assert (entry.local, entry.due_at) == (True, start + (6 + 59) * HOUR_US)


def test_what_waits_in_a_backup_goes_when_content_was_resumed_since() -> None:
    """Suspension belongs to the organization: a store restored from a backup made while content was suspended goes on with
    the others (spec: RP-4, RP-5)."""
    office = PostOffice()
    suspend(office, office.at(1))
    office["A"].post(office.at(2), "Projects", subject="waits")
    office.run(office.at(15))
    backup = office["A"].backup()
    suspend(office, office.at(20), on=False)
    office["A"].close(office.at(21))
    office["A"].restore(office.at(22), backup)
    office.run(office.at(30))
    assert [message.subject for message in office["B"].messages("Projects")] == ["waits"]
