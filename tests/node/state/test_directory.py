"""Which stores have mail addresses, and what a store without one does (ML-1)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from node.state.directory import AT_ONCE, FAILS, Stamp, StoreObject
from tests.support.post_office import PostOffice
from traces.labtime import HOUR_US

NEW_STORE = """
recipient_update: {update}
servers:
  A: {{version: "2003"}}
  B: {{version: "2003"}}
  E: {{version: "{version}", joins: later}}
folders:
  Projects: {{replicas: [A, B]}}
"""


def office_with(update: str, version: str = "2003") -> PostOffice:
    return PostOffice(NEW_STORE.format(update=update, version=version))


def mail_of(office: PostOffice, reader: str, store: str) -> str | None:
    return next(each.mail for each in office[reader].directory() if each.store == store)


def test_a_service_that_never_runs_stamps_no_new_store() -> None:
    """If the service never runs, a new store has no address, but the stores from the start have theirs."""
    office = office_with("never")
    office.join("E", office.at(5))
    assert [(each.store, each.mail, each.proxy_addresses) for each in office["A"].directory() if each.store == "E"] == [
        ("E", None, ())
    ]
    assert mail_of(office, "E", "A") == "A-IS@contoso.test"


def test_a_store_without_an_address_is_left_out_until_it_is_stamped() -> None:
    """Nothing is sent to such a store, and it sends nothing. When it is stamped, it sends the request that has waited."""
    office = office_with("1 h")
    office.join("E", office.at(5))
    office["A"].create_folder(office.at(6), "New", replicas=["A", "B"])
    office.run(office.at(15))
    assert "New" in [each.path for each in office["B"].folders()]
    (lacking,) = office.of_type("address.lacking")
    assert (lacking.node, lacking.stores) == ("A", ("E",))  # type: ignore[attr-defined]
    (entry,) = office["A"].event_log(event=20005)
    assert "cn=E/cn=Microsoft Public MDB" in entry.text
    assert office["E"].next_due() == office.at(60)
    office.run(office.at(60))
    assert mail_of(office, "A", "E") == "E-IS@contoso.test"
    asked = [each for each in office.of_type("mail.received") if each.sender == "E"]  # type: ignore[attr-defined]
    assert sorted((each.node, each.message_type) for each in asked) == [("A", 0x20), ("B", 0x20)]  # type: ignore[attr-defined]
    assert [each.node for each in office.of_type("mail.received") if each.message_type == 0x10] == ["E", "E"]  # type: ignore[attr-defined]


def test_a_status_that_nobody_can_be_asked_for_is_requested_later() -> None:
    """While no other holder has an address, a store cannot ask for their statuses. It asks when one has (ST-3, ML-1)."""
    office = office_with("always")
    for name in "AB":
        office[name].enter(office.at(1), "B", StoreObject(), FAILS)
    office["A"].create_folder(office.at(2), "New", replicas=["A", "B"])
    office.run(office.at(30))
    for name in "AB":
        office[name].enter(office.at(31), "B", StoreObject((Stamp("contoso.test", office.at(40)),)))
    office.run(office.at(45))
    sent = [each for each in office.of_type("mail.submitted") if (each.node, each.message_type) == ("A", 0x20)]  # type: ignore[attr-defined]
    assert [section.folder for each in sent for section in each.folders] == [office["A"].folders()[0].id]  # type: ignore[attr-defined]


def test_changes_of_a_store_without_an_address_wait_for_its_next_cycle() -> None:
    """A store that has lost its address broadcasts nothing. When it has one again, its next cycle does."""
    office = office_with("always")
    for name in "AB":
        office[name].enter(office.at(1), "B", StoreObject(), FAILS)
    office["B"].post(office.at(2), "Projects", subject="Waits")
    office.run(office.at(30))
    assert office["A"].messages("Projects") == []
    assert office["A"].event_log(event=8231)
    stamp = Stamp("contoso.test", office.at(40))
    for name in "AB":
        office[name].enter(office.at(31), "B", StoreObject((stamp,)))
    office.run(office.at(40))
    assert office["A"].messages("Projects") == []
    office.run(office.at(45))
    assert [each.subject for each in office["A"].messages("Projects")] == ["Waits"]


SITE = "Default-First-Site-Name"
GROUPS = "CN=Administrative Groups,CN=Contoso,CN=Microsoft Exchange,CN=Services,CN=Configuration,DC=contoso,DC=test"
IN_2003 = "CN=Public Folder Store (E),CN=First Storage Group"
IN_2007 = "CN=Public Folder Database,CN=Second Storage Group"


@pytest.mark.parametrize(
    ("version", "database", "group"),
    [
        ("2000", IN_2003, SITE),
        ("2003", IN_2003, SITE),
        ("2007", IN_2007, "Exchange Administrative Group (FYDIBOHF23SPDLT)"),
    ],
)
def test_a_store_of_2000_or_later_has_an_object_in_active_directory(version: str, database: str, group: str) -> None:
    """The object is in the Configuration container, and names the object of its public folder tree and its name in 5.5."""
    office = office_with("always", version)
    office.join("E", office.at(5))
    (entry,) = [entry for entry in office["E"].directory() if entry.store == "E"]
    assert entry.dn == f"{database},CN=InformationStore,CN=E,CN=Servers,CN={group},{GROUPS}"
    assert entry.object_class == "msExchPublicMDB"
    assert entry.owning_tree == f"CN=Public Folders,CN=Folder Hierarchies,CN={SITE},{GROUPS}"
    assert entry.legacy_dn == f"/o=Contoso/ou={SITE}/cn=Configuration/cn=Servers/cn=E/cn=Microsoft Public MDB"


def test_a_store_of_5_5_has_an_object_in_the_directory_of_its_own() -> None:
    """Exchange 5.5 keeps its directory itself: the name has no domain, and there is no object of a tree."""
    office = office_with("always", "5.5")
    office.join("E", office.at(5))
    (entry,) = [entry for entry in office["E"].directory() if entry.store == "E"]
    assert (entry.dn, entry.object_class, entry.owning_tree) == (entry.legacy_dn, "MHS-Public-Store", None)


def test_a_new_domain_keeps_the_old_address_as_a_secondary_one() -> None:
    """After a change of the policy mail goes to the new address, and mail to the old address still arrives."""
    office = office_with("always")
    stamps = (Stamp("contoso.test", AT_ONCE), Stamp("fabrikam.test", office.at(60)))
    for name in "AB":
        office[name].enter(office.at(1), "B", StoreObject(stamps))
    assert mail_of(office, "A", "B") == "B-IS@contoso.test"
    office["A"].post(office.at(2), "Projects", subject="Old")
    (old,) = office.cycle("A", office.at(15))
    office.run(office.at(60))
    (entry,) = [each for each in office["A"].directory() if each.store == "B"]
    assert entry.proxy_addresses == (
        "SMTP:B-IS@fabrikam.test",
        "smtp:B-IS@contoso.test",
        "X400:c=US;a= ;p=Contoso;o=Exchange;s=B-IS;",
    )
    office.deliver(old, office.at(61))
    office["A"].post(office.at(62), "Projects", subject="New")
    (new,) = office.cycle("A", office.at(75))
    assert new[1].recipients == ("B-IS@fabrikam.test",)
    office.deliver(new, office.at(75))
    assert [each.subject for each in office["B"].messages("Projects")] == ["Old", "New"]


def test_a_store_knows_the_addresses_again_after_a_restart() -> None:
    """The stamps are in the database, also those in the future."""
    office = office_with("1 h")
    office.join("E", office.at(5))
    office["A"].abandon()
    office["A"].reopen(office.at(10))
    (entry,) = [each for each in office["A"].directory() if each.store == "E"]
    assert (entry.mail, entry.stamp_due_at) == (None, office.at(60))
    office["A"].tick(office.at(0) + HOUR_US)
    assert mail_of(office, "A", "E") == "E-IS@contoso.test"


STAMPED = StoreObject((Stamp("contoso.test", AT_ONCE),))
UNLINKED_OBJECT = replace(STAMPED, linked=False)
DOUBLED_OBJECT = replace(STAMPED, doubled=True)


def enter_everywhere(office: PostOffice, minutes: float, store: str, object_: StoreObject) -> None:
    for name in office.running:
        office[name].enter(office.at(minutes), store, object_)


def test_a_holder_without_a_tree_stops_all_mail_about_its_folders() -> None:
    """ML-8: no store sends anything about a folder that such a store holds; the log has 3085. Other folders are not affected,
    and the hierarchy goes to the other stores only."""
    office = PostOffice()
    enter_everywhere(office, 1, "C", UNLINKED_OBJECT)
    office["A"].create_folder(office.at(2), "New", replicas=["A", "B"])
    office["A"].post(office.at(3), "Projects", subject="Stopped")
    office.run(office.at(15))
    office["A"].post(office.at(16), "New", subject="Sent")
    office.run(office.at(30))
    assert [message.subject for message in office["B"].messages("New")] == ["Sent"]
    assert office["B"].messages("Projects") == []
    assert "New" not in [folder.path for folder in office["C"].folders()]
    (entry,) = office["A"].event_log(event=3085)
    assert "0x8004010f" in entry.text
    assert "cn=C/cn=Microsoft Public MDB" in entry.text
    lacking = {(event.node, event.folder == "1-1", event.stores) for event in office.of_type("tree.lacking")}  # type: ignore[attr-defined]
    assert lacking == {("A", True, ("C",)), ("A", False, ("C",))}


def test_a_store_whose_object_is_damaged_sends_nothing_until_it_is_mended() -> None:
    """ML-8: a second object of a store stops its agent with event 3079 and code 0x3f0; mail that arrives is still read. What
    waits goes out when the second object is removed."""
    office = PostOffice()
    enter_everywhere(office, 1, "B", DOUBLED_OBJECT)
    office["B"].post(office.at(2), "Projects", subject="Waits")
    office["A"].post(office.at(2), "Projects", subject="Arrives")
    office.run(office.at(15))
    assert office["A"].messages("Projects")[-1].subject == "Arrives"
    assert "Arrives" in [message.subject for message in office["B"].messages("Projects")]
    (entry,) = office["B"].event_log(event=3079)
    assert "0x3f0" in entry.text
    assert "EcReplStartup" in entry.text
    assert not office["A"].event_log(event=3079)
    assert mail_of(office, "B", "B") == "B-IS@contoso.test"
    enter_everywhere(office, 20, "B", STAMPED)
    office.run(office.at(30))
    assert sorted(message.subject for message in office["A"].messages("Projects")) == ["Arrives", "Waits"]


def test_damage_is_known_again_after_a_restart() -> None:
    """ML-8: the damage of an object is in the database of each store."""
    office = PostOffice()
    enter_everywhere(office, 1, "B", replace(STAMPED, linked=False, doubled=True))
    office["A"].abandon()
    office["A"].reopen(office.at(10))
    (entry,) = [entry for entry in office["A"].directory() if entry.store == "B"]
    assert (entry.linked, entry.doubled, entry.owning_tree) == (False, True, None)
