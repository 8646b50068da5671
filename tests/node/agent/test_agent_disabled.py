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
    """The registry value, and the start that reads it."""
    office[name].configure(now, {SWITCH: int(on)})
    restart(office, name, now)


def subjects(office: PostOffice, name: str) -> list[str]:
    return sorted(message.subject for message in office[name].messages("Projects"))


def test_each_start_without_an_agent_is_3002() -> None:
    """SE-1, EV-1: the value is read at the start, and each start with it writes 3002, a warning that names the database."""
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


def test_nothing_goes_out_and_nothing_is_due() -> None:
    """SE-1: without an agent posts and folders stay at home, no status is sent, and no clock of replication comes due."""
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


def test_mail_that_comes_waits() -> None:
    """SE-1, IN-2: mail is taken, does nothing, outlives a further start without an agent, and is worked off by one with it,
    in the order in which it came."""
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


def test_mail_of_strangers_does_not_wait() -> None:
    """SE-1, ML-3: an ordinary mail to the store's address is bad mail at once, so that outsiders cannot fill what waits."""
    office = PostOffice()
    office["B"].post(office.at(1), "Projects", subject="one")
    [(sender, mail)] = [each for each in office.cycle("B", office.at(15)) if each[1].next_hop == "A"]
    switch(office, "A", office.at(16), on=False)
    hop = mail.hop_from(sender, authenticated=False)
    office["A"].mail_in(office.at(17), hop, incoming_mail(mail.sender, mail.recipients, mail.content))
    assert len(office["A"].bad_mail()) == 1
    switch(office, "A", office.at(18), on=True)
    assert subjects(office, "A") == []


def test_a_replica_that_leaves_meanwhile_says_so_later() -> None:
    """SE-1, RP-2, DU-1: taken off a list without an agent, a store sends what it has not sent, and its request, when it has
    one again; then its data goes."""
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


def test_a_replica_that_comes_back_meanwhile_loses_nothing() -> None:
    """SE-1, RP-2: off the list and on it again without an agent, a store's unsent changes go with its first cycle."""
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
    """SE-1, RP-4: a store restored without an agent asks around when it has one."""
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
    """SE-1, DL-3: items expire whether or not there is an agent; what has not gone out yet stays."""
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
