"""A store whose registry says `Replication` = 0 (spec: SE-1, EV-1)."""

from __future__ import annotations

from tests.support.clock import HOUR_MIN, STATUS_CHECK_MIN
from tests.support.post_office import PostOffice
from tests.support.topologies import THREE_STORES_AND_CONTACT
from traces.labtime import DAY_US
from transport.mime.headers import incoming_mail

SWITCH = "Replication"


def restart(office: PostOffice, name: str, now: int) -> None:
    office[name].close(now)
    office[name].open(now)


def switch(office: PostOffice, name: str, now: int, *, on: bool) -> None:
    """Set the registry value and restart the store, which reads it at its start."""
    office[name].configure(now, {SWITCH: int(on)})
    restart(office, name, now)


def subjects(office: PostOffice, name: str) -> list[str]:
    return sorted(message.subject for message in office[name].messages("Projects"))


def test_each_start_without_an_agent_logs_3002() -> None:
    """SE-1, EV-1: the store reads the value at its start, and each start without an agent logs 3002, a warning that names the
    database."""
    office = PostOffice()
    office["A"].configure(office.at(1), {SWITCH: 0})
    assert office["A"].event_log(event=3002) == []
    for minutes in (2, 3):
        restart(office, "A", office.at(minutes))
    entries = office["A"].event_log(event=3002)
    assert [entry.text for entry in entries] == [
        'The replication agent is disabled for Public Folder Store "First Storage Group\\Public Folder Store (A)".'
    ] * 2
    switch(office, "A", office.at(4), on=True)
    assert len(office["A"].event_log(event=3002)) == 2


def test_without_an_agent_nothing_is_sent_and_no_timer_is_due() -> None:
    """SE-1: without an agent posts and folders stay in the store, no status is sent, and no replication timer comes due."""
    office = PostOffice()
    switch(office, "A", office.at(1), on=False)
    office["A"].post(office.at(2), "Projects", subject="at home")
    office["A"].create_folder(office.at(3), "New", replicas=["A", "B"])
    assert office["A"].next_due() is None
    assert office.cycle("A", office.at(STATUS_CHECK_MIN)) == []
    assert subjects(office, "A") == ["at home"]
    switch(office, "A", office.at(STATUS_CHECK_MIN + 1), on=True)
    office.run(office.at(STATUS_CHECK_MIN + 15))
    assert subjects(office, "B") == ["at home"]
    assert "New" in [view.path for view in office["B"].folders()]


def test_incoming_mail_waits_for_the_agent() -> None:
    """SE-1, IN-2: incoming replication mail is accepted and kept, also over another start without an agent. A start with the
    agent processes it in order of arrival."""
    office = PostOffice()
    switch(office, "A", office.at(1), on=False)
    office["B"].post(office.at(2), "Projects", subject="one")
    office.run(office.at(15), "BC")
    office["B"].post(office.at(16), "Projects", subject="two")
    office.run(office.at(30), "BC")
    assert subjects(office, "A") == []
    restart(office, "A", office.at(31))
    assert office.of_type("mail.received")[-1].node == "C"
    switch(office, "A", office.at(32), on=True)
    assert subjects(office, "A") == ["one", "two"]
    numbers = [event.number for event in office.of_type("mail.received") if event.node == "A"]  # type: ignore[attr-defined]
    assert numbers == sorted(numbers)
    restart(office, "A", office.at(33))
    assert len([event for event in office.of_type("mail.received") if event.node == "A"]) == 2


def test_ordinary_mail_does_not_wait_for_the_agent() -> None:
    """SE-1, ML-3: an ordinary mail to the store's address is bad mail at once, so outsiders cannot fill the queue of waiting
    mail."""
    office = PostOffice()
    office["B"].post(office.at(1), "Projects", subject="one")
    [(sender, mail)] = [each for each in office.cycle("B", office.at(15)) if each[1].next_hop == "A"]
    switch(office, "A", office.at(16), on=False)
    hop = mail.hop_from(sender, authenticated=False)
    office["A"].mail_in(office.at(17), hop, incoming_mail(mail.sender, mail.recipients, mail.content))
    assert len(office["A"].bad_mail()) == 1
    switch(office, "A", office.at(18), on=True)
    assert subjects(office, "A") == []


def test_a_replica_removed_without_an_agent_asks_to_leave_once_it_has_one() -> None:
    """SE-1, RP-2, DU-1: a store that is taken off a list while it has no agent sends its unsent changes and its request when
    the agent runs again. Then it drops the data."""
    office = PostOffice()
    switch(office, "C", office.at(1), on=False)
    office["C"].post(office.at(2), "Projects", subject="only here")
    office["C"].change_folder(office.at(3), "Projects", replicas=["A", "B"])
    assert office.cycle("C", office.at(STATUS_CHECK_MIN)) == []
    switch(office, "C", office.at(STATUS_CHECK_MIN + 1), on=True)
    for minutes in range(STATUS_CHECK_MIN + 1, STATUS_CHECK_MIN + 40):
        office.run(office.at(minutes))
    assert subjects(office, "A") == ["only here"]
    assert [event.node for event in office.of_type("replica.dropped")] == ["C"]


def test_a_replica_removed_and_added_again_without_an_agent_loses_nothing() -> None:
    """SE-1, RP-2: if a store without an agent is taken off the list and put back, its first cycle sends its unsent changes."""
    office = PostOffice()
    switch(office, "C", office.at(1), on=False)
    office["C"].post(office.at(2), "Projects", subject="kept")
    office["C"].change_folder(office.at(3), "Projects", replicas=["A", "B"])
    office["C"].change_folder(office.at(4), "Projects", replicas=["A", "B", "C"])
    switch(office, "C", office.at(5), on=True)
    office.run(office.at(15))
    office.run(office.at(30))
    assert subjects(office, "A") == subjects(office, "C") == ["kept"]
    assert office.of_type("replica.dropped") == []


def test_a_restored_store_asks_once_it_has_an_agent() -> None:
    """SE-1, RP-4: a store restored without an agent sends its status requests when it has one."""
    office = PostOffice()
    switch(office, "A", office.at(1), on=False)
    kept = office["A"].backup()
    office["B"].post(office.at(2), "Projects", subject="lost on its way")
    office.cycle("B", office.at(15))
    office["A"].abandon()
    office["A"].restore(office.at(20), kept)
    assert office.cycle("A", office.at(45)) == []
    switch(office, "A", office.at(46), on=True)
    for hours in range(1, 14):
        office.run(office.at(hours * HOUR_MIN))
    assert subjects(office, "A") == ["lost on its way"]


def test_age_limits_need_no_agent() -> None:
    """SE-1, DL-3: items expire with or without an agent; an unsent item does not expire."""
    office = PostOffice(THREE_STORES_AND_CONTACT + "settings: {Age Limit: 1 d}\n")
    office["A"].post(office.at(1), "Projects", subject="old")
    office.run(office.at(15))
    switch(office, "A", office.at(16), on=False)
    office["A"].post(office.at(17), "Projects", subject="not gone out")
    due = office["A"].next_due()
    assert due is not None
    office["A"].tick(due)
    office["A"].tick(due + 2 * DAY_US)
    assert subjects(office, "A") == ["not gone out"]
