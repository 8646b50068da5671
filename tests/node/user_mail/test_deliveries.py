"""Ordinary mail and folders: a mail becomes one post at one holder, notices reach people, and no mail loops."""

from __future__ import annotations

import email
import email.policy
from email.message import EmailMessage

import pytest

from node.errors import MailRefused, Misuse
from node.state.addresses import alias_of
from node.user_mail.deliveries import MAILBOX_KEPT
from tests.support.post_office import PostOffice
from tests.support.real_world_mails import HAND_MADE, cpython_mails
from traces.events import MailboxDelivered, MailNotPosted, MailPosted
from transport.envelope import IncomingHop
from transport.mime.headers import incoming_mail

OUTSIDE = IncomingHop("mail.outside.test", None, 0)

TWO_SITES = """
organization: Test
domain: x.test
sites: [SEA, NYC]
connectors:
  - {between: [SEA, NYC], cost: 10}
servers: {A: {site: SEA}, B: {site: SEA}, C: {site: NYC}, D: {site: NYC}}
folders:
  Projects: {replicas: [C, B], contacts: [kim@x.test]}
  Far: {replicas: [C]}
  Projects/Größe: {replicas: [A]}
  Other: {replicas: [A], alias: projects}
  Silent: {replicas: [A], alias: none}
  Own: {replicas: [A, B], contacts: [own@x.test, kim@x.test]}
"""


def mail(subject: str = "Hello", message_id: str = "1@outside.test", text: str = "text", **fields: str) -> bytes:
    made = EmailMessage()
    made["Subject"], made["From"], made["Message-ID"] = subject, "Lee <lee@outside.test>", f"<{message_id}>"
    for name, value in fields.items():
        made[name.replace("_", "-")] = value
    made.set_content(text)
    return made.as_bytes(policy=email.policy.SMTP)


def send(
    office: PostOffice, on: str, to: str, content: bytes, minutes: float = 1, sender: str = "lee@outside.test"
) -> None:
    office[on].mail_in(office.at(minutes), OUTSIDE, incoming_mail(sender, [to], content))


def subjects(office: PostOffice, on: str, folder: str = "Projects") -> list[str]:
    return sorted(each.subject for each in office[on].messages(folder))


# --- addresses


@pytest.mark.parametrize(
    ("name", "alias"),
    [
        ("Projects", "Projects"),
        ("Sales & Marketing", "SalesMarketing"),
        ("Größe", "Groe"),
        ("Émile Zola", "EmileZola"),
        ("日本語", "folder"),
        ("...", "folder"),
        (".a..b.", "a.b"),
        ("x" * 200, "x" * 48),
        ("-IS", "IS"),
    ],
)
def test_a_name_makes_an_alias(name: str, alias: str) -> None:
    """An alias drops accents and characters that an address cannot hold; if nothing remains it is `folder` (spec: ML-7)."""
    assert alias_of(name) == alias


def test_folder_addresses_are_unique_and_equal_everywhere() -> None:
    """Every store computes the same addresses; of two folders with one alias the older has it (spec: ML-7)."""
    office = PostOffice(TWO_SITES)
    seen = {name: {view.path: view.address for view in office[name].folders()} for name in "ABCD"}
    assert all(each == seen["A"] for each in seen.values())
    found = seen["A"]
    assert found["Silent"] is None
    assert (found["Far"], found["Projects"]) == ("Far@x.test", "Projects@x.test")
    assert found["Projects/Größe"] == "Groe@x.test"
    other = found["Other"]
    assert other is not None
    assert other.startswith("projects-")
    assert len({each.casefold() for each in found.values() if each}) == 5


def test_a_folder_named_like_a_store_or_postmaster_gets_its_own_address() -> None:
    """Folders called A-IS or postmaster get an address of their own (spec: ML-7)."""
    office = PostOffice()
    for name in ("A-IS", "Postmaster", "B-is"):
        office["A"].create_folder(office.at(0), name)
    addresses = {view.path: view.address for view in office["A"].folders()}
    for name in ("A-IS", "Postmaster", "B-is"):
        address = addresses[name]
        assert address is not None
        assert address.startswith(f"{name}-")
        send(office, "A", address, mail(name, name))
        assert subjects(office, "A", name) == [name]


def test_an_alias_is_set_and_removed_by_a_hierarchy_change() -> None:
    """An administrator's alias reaches every store; a folder without one takes no mail."""
    office = PostOffice(TWO_SITES)
    office["A"].change_folder(office.at(0), "Far", alias="distant")
    office.run(office.at(16))
    assert {view.path: view.address for view in office["D"].folders()}["Far"] == "distant@x.test"
    office["A"].change_folder(office.at(17), "Far", alias="none")
    with pytest.raises(MailRefused, match="no such address"):
        office["A"].check_recipient("distant@x.test")
    with pytest.raises(Misuse, match="not an alias"):
        office["A"].change_folder(office.at(17), "Far", alias="a b@c")


# --- posting


def test_mail_to_a_folder_becomes_a_post_once() -> None:
    """A mail to a folder's address becomes a post; a second one with the same Message-ID within 24 hours does not (spec:
    ML-5)."""
    office = PostOffice()
    for minutes in (1, 2, 24 * 60):
        send(office, "A", "projects@contoso.test", mail(), minutes)
    assert subjects(office, "A") == ["Hello"]
    assert len(office.of_type("mail.posted")) == 1
    send(office, "A", "projects@contoso.test", mail(), 24 * 60 + 2)
    assert subjects(office, "A") == ["Hello", "Hello"]


def test_a_post_that_came_by_replication_is_not_posted_again() -> None:
    """A mail that another holder posted and replicated counts as a repetition here too (spec: ML-5)."""
    office = PostOffice()
    send(office, "A", "projects@contoso.test", mail())
    office.run(office.at(16))
    send(office, "B", "projects@contoso.test", mail(), 17)
    assert subjects(office, "B") == ["Hello"]
    [event] = [each for each in office.events if isinstance(each, MailNotPosted)]
    assert "24 hours" in event.reason


def test_mail_is_routed_to_the_nearest_holder() -> None:
    """A store without a replica forwards the mail to a holder in its site, or else to the cheapest one (spec: ML-5)."""
    office = PostOffice(TWO_SITES)
    for on, holder in (("A", "B"), ("D", "C"), ("B", "B"), ("C", "C")):
        send(office, on, "Projects@x.test", mail(f"from {on}", f"{on}@outside.test"))
        office.run(office.at(1))
        posted = [each for each in office.events if isinstance(each, MailPosted)][-1]
        assert (posted.node, posted.mail) == (holder, f"{on}@outside.test")
    send(office, "A", "far@x.test", mail("over the connector", "9@outside.test"))
    office.run(office.at(2))
    assert subjects(office, "C", "Far") == ["over the connector"]
    office.run(office.at(16))
    assert subjects(office, "B") == subjects(office, "C") == [f"from {on}" for on in "ABCD"]


def test_awkward_mail_is_the_same_at_every_replica() -> None:
    """A mail posted at one store is exported byte for byte at another (spec: ML-5)."""
    office = PostOffice()
    mails = {**cpython_mails(), **HAND_MADE}
    made = {office["A"].post_mail(office.at(1), "Projects", content).id: content for content in mails.values()}
    office.run(office.at(16))
    for name in "BC":
        assert {each.id for each in office[name].messages("Projects")} == set(made)
        for object_id, content in made.items():
            assert office[name].mail("Projects", object_id) == content


def test_mail_beyond_a_limit_goes_back_to_its_sender() -> None:
    """A mail nested too deep is not posted; the lab's mailbox gets a report to its sender, and nothing else happens."""
    office = PostOffice()
    deep = b"".join(b"Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n" % (n, n) for n in range(50))
    send(office, "A", "projects@contoso.test", deep)
    assert subjects(office, "A") == []
    [notice] = office["A"].mailbox()
    assert notice.recipient == "lee@outside.test"
    assert "nested more than" in notice.body
    send(office, "A", "projects@contoso.test", deep, 2, sender="")
    assert len(office["A"].mailbox()) == 1


def test_mail_for_unknown_recipients_is_refused() -> None:
    """Mail to stores, folders and contacts is accepted; mail to outsiders, absent folders and absent stores is refused (spec:
    ML-7)."""
    office = PostOffice(TWO_SITES)
    for address in ("A-IS@x.test", "Own@x.test", "kim@x.test"):
        office["A"].check_recipient(address)
    for address in ("lee@outside.test", "nobody@x.test", "Silent@x.test", "Z-IS@x.test", "projects@outside.test"):
        with pytest.raises(MailRefused, match="no such address"):
            office["A"].check_recipient(address)
        with pytest.raises(MailRefused, match="no such address"):
            send(office, "A", address, mail())


# --- people


def test_mail_to_a_contact_lands_in_the_mailbox() -> None:
    """The lab shows mail to people in full; if there are very many, the oldest are removed."""
    office = PostOffice(TWO_SITES)
    content = mail("For Kim")
    send(office, "A", "kim@x.test", content)
    [notice] = office["A"].mailbox()
    assert (notice.recipient, notice.sender, notice.subject) == ("kim@x.test", "lee@outside.test", "For Kim")
    assert office["A"].mailbox_mail(notice.id).endswith(content)
    assert MAILBOX_KEPT > 100
    assert [each.subject for each in office.events if isinstance(each, MailboxDelivered)] == ["For Kim"]


def test_mail_is_sent_from_a_folders_address() -> None:
    """Mail in a folder's name reaches people and other folders, but never the folder itself (spec: ML-5, ML-7)."""
    office = PostOffice(TWO_SITES)
    to = ["kim@x.test", "lee@outside.test", "far@x.test", "projects@x.test"]
    office["B"].send_mail(office.at(1), "Projects", to=to, subject="News", body="all", attachments=[("f", b"\0\1")])
    office.run(office.at(1))
    assert [each.recipient for each in office["B"].mailbox()] == to[:2]
    assert subjects(office, "C", "Far") == ["News"]
    assert subjects(office, "B") == []
    [view] = office["C"].messages("Far")
    assert view.sender == "Projects@x.test"
    assert office["C"].attachments("Far", view.id) == [("f", b"\0\1")]
    for wrong in ({"to": []}, {"to": ["nobody"]}):
        with pytest.raises(Misuse, match=r"recipient|not a mail address"):
            office["B"].send_mail(office.at(1), "Projects", subject="x", **wrong)
    with pytest.raises(Misuse, match="alias"):
        office["A"].send_mail(office.at(1), "Silent", to=to, subject="x")


def conflict(office: PostOffice, one: str, other: str, folder: str, contents: tuple[bytes, ...] = ()) -> str:
    """Edit a message at two stores at once, and replicate both edits."""
    made = (
        office[one].post_mail(office.at(1), folder, contents[0])
        if contents
        else office[one].post(office.at(1), folder, subject="first", body="first")
    )
    office.run(office.at(16))
    office[one].edit(office.at(17), folder, made.id, body="by one")
    office[other].edit(office.at(18), folder, made.id, body="by other")
    office.run(office.at(31))
    return made.id


def test_a_conflict_notice_has_the_messages_attached() -> None:
    """The contacts get one mail from the folder's address, with the null sender and every version attached as a mail (spec:
    CF-2). It names the message by its subject and the versions by their numbers, and says how to end
    the conflict."""
    office = PostOffice()
    conflict(office, "A", "B", "Projects")
    [notice] = office["A"].mailbox()
    assert office["B"].mailbox() == office["C"].mailbox() == []
    parsed = email.message_from_bytes(office["A"].mailbox_mail(notice.id), policy=email.policy.default)
    assert not parsed.defects
    assert parsed["from"].addresses[0].addr_spec == "Projects@contoso.test"
    assert parsed["auto-submitted"] == "auto-generated"
    body = parsed.get_body()
    assert body is not None
    said = body.get_content().strip()
    assert said.splitlines() == [
        "The message 'first' has concurrent versions: B-1, A-2 (the first is shown).",
        "",
        "A contact of the folder ends the conflict on any server that has a replica, in one of three ways:",
        "- keep one version: pflab resolve B-1 --on A --keep A-2",
        "- keep each version, as a message of its own: pflab resolve B-1 --on A --keep all",
        "- edit the message: the edit replaces all its versions",
    ]
    texts = sorted(each.get_content().get_content().strip() for each in parsed.iter_attachments())
    assert texts == ["by one", "by other"]
    assert [each.sender for each in office.events if isinstance(each, MailboxDelivered)] == [""]


def test_an_edit_that_lost_is_attached_to_its_notice() -> None:
    """The contacts get an edit that lost to a deletion in full, with its files (spec: DL-2)."""
    office = PostOffice()
    file = bytes(range(256))
    made = office["A"].post(office.at(1), "Projects", subject="first", attachments=[("f.bin", file)]).id
    office.run(office.at(16))
    office["A"].delete(office.at(17), "Projects", made)
    office["B"].edit(office.at(18), "Projects", made, body="precious")
    office.run(office.at(31))
    [notice] = [each for name in "ABC" for each in office[name].mailbox()]
    parsed = email.message_from_bytes(office["A"].mailbox_mail(notice.id), policy=email.policy.default)
    [attached] = parsed.iter_attachments()
    lost = attached.get_content()
    assert lost.get_body().get_content().strip() == "precious"
    assert [each.get_payload(decode=True) for each in lost.iter_attachments()] == [file]


def test_a_folder_that_is_its_own_contact_gets_no_notice() -> None:
    """Notices of a folder go to its other contacts only; one that is sent to the folder anyway is not posted (spec: ML-7)."""
    office = PostOffice(TWO_SITES)
    conflict(office, "A", "B", "Own")
    [notice] = office["A"].mailbox()
    assert notice.recipient == "kim@x.test"
    send(office, "A", "own@x.test", office["A"].mailbox_mail(notice.id), 40, sender="")
    assert subjects(office, "A", "Own") == ["first"]
    [event] = [each for each in office.events if isinstance(each, MailNotPosted)]
    assert "went out from this folder" in event.reason


def test_folders_that_are_each_others_contacts_make_no_mail_loop() -> None:
    """A notice to another folder becomes a post there, which causes no further notice (spec: ML-7)."""
    office = PostOffice(
        "servers: {A: , B: }\nfolders: {One: {contacts: [two@contoso.test]}, Two: {contacts: [one@contoso.test]}}"
    )
    conflict(office, "A", "B", "One")
    office.run(office.at(60))
    assert subjects(office, "A", "Two") == subjects(office, "B", "Two") == ["Conflict in One"]
    assert subjects(office, "A", "One") == ["first"]
    assert len(office.of_type("conflict.notice")) == 1


def test_a_contact_that_is_no_address_harms_nothing() -> None:
    """Mail to a contact that is not an address ends in the mailbox and disturbs no replication."""
    office = PostOffice()
    office["A"].change_folder(office.at(0), "Projects", contacts=["not an address", "a@b@c", "ü@x.test", ""])
    office.run(office.at(0))
    conflict(office, "A", "B", "Projects")
    assert [each.recipient for each in office["A"].mailbox()] == ["not an address", "a@b@c", "ü@x.test", ""]


def test_the_memory_of_posted_mails_is_bounded_by_time() -> None:
    """A store forgets a Message-ID at the next mail after 24 hours."""
    office = PostOffice()
    for number in range(5):
        send(office, "A", "projects@contoso.test", mail(message_id=f"{number}@x.test"), number)
    send(office, "A", "projects@contoso.test", mail(message_id="last@x.test"), 48 * 60)
    conn = office["A"]._database.reading()
    assert conn.exec_driver_sql("SELECT count(*) FROM posted").scalar() == 1
