"""Bad and hostile mail is set aside and reported, and changes nothing (spec: IN-5, ML-6)."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from node.agent import incoming
from node.codec.items import ROOT
from node.codec.replication_message import P_SECTIONS, P_STORE, MessageType, ReplicationMail, Section, decode, encode
from node.codec.signing import LabAuthority, Verifier
from node.errors import BadMail, MailRefused
from node.tracking.change_number import ChangeNumber
from node.tracking.cnset import CNSet
from node.tracking.number_sets import NumberSets
from tests.support.forged_mail import HEADERS, HOP, altered, message_in, wrapped
from tests.support.post_office import AUTHORITY, PostOffice, mails_to
from traces.events import MailReceived
from transport.envelope import IncomingHop
from transport.errors import CodecError
from transport.mapi.item import decode_item, encode_item
from transport.mapi.property_tags import PR_DISPLAY_NAME
from transport.mime.headers import incoming_mail
from transport.mime.message import BodyForm, build_mail, parse_mail, system_body
from transport.protocol.hop_headers import hop_line, take_hop_line


@contextmanager
def at_most(seconds: int) -> Iterator[None]:
    """Fail if the block takes longer than this."""

    def ring(_signum: int, _frame: object) -> None:
        raise AssertionError(f"took longer than {seconds} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def genuine(office: PostOffice) -> bytes:
    """A real content mail from A to B."""
    office["A"].post(office.at(1), "Projects", subject="real")
    return next(mail for _, mail in office.cycle("A", office.at(15)) if mail.next_hop == "B").content


def altered_item(content: bytes) -> bytes:
    message = message_in(content)
    part = message.parts[0]
    return wrapped(replace(message, parts=(replace(part, item=part.item[:-3] + b"\0\0\0"),)))


def altered_control(content: bytes) -> bytes:
    message = message_in(content)
    return wrapped(replace(message, props={**message.props, P_STORE: "C"}))


def unsigned(content: bytes) -> bytes:
    message = message_in(content)
    return wrapped(replace(message, props={tag: value for tag, value in message.props.items() if tag != 0x671B0102}))


def without_sections(content: bytes) -> bytes:
    message = message_in(content)
    return wrapped(replace(message, props={tag: value for tag, value in message.props.items() if tag != P_SECTIONS}))


def truncated(content: bytes) -> bytes:
    return content[: len(content) * 2 // 3] + b"\r\n"


def truncated_tnef(content: bytes) -> bytes:
    body = parse_mail(content).body
    assert body is not None
    return build_mail(HEADERS, BodyForm.TNEF, body[: len(body) // 2])


def ordinary(content: bytes) -> bytes:
    del content
    return b"From: a@b.test\r\nTo: B-IS@contoso.test\r\nSubject: Folder Content\r\n\r\nHello\r\n"


def signed_by_a_foreign_key(content: bytes) -> bytes:
    """A mail signed with a key that another lab's authority issued."""
    del content
    mail = ReplicationMail(
        type=MessageType.STATUS,
        store="A",
        replica_guid=b"g" * 16,
        sent_at=0,
        number=1,
        lamport=1,
        message_id="x@y.test",
        sections=(Section(ROOT, NumberSets.EMPTY),),
    )
    return wrapped(encode(mail, LabAuthority(b"another authority").identity("A")))


BAD = [
    altered_item,
    altered_control,
    unsigned,
    without_sections,
    truncated,
    truncated_tnef,
    ordinary,
    signed_by_a_foreign_key,
]


@pytest.mark.parametrize("spoil", BAD)
def test_bad_mail_is_set_aside_and_harms_nothing(spoil: Callable[[bytes], bytes]) -> None:
    """A mail that cannot be decoded or verified becomes bad mail and an event; a good mail still works afterwards (spec:
    IN-5, ML-6)."""
    office = PostOffice()
    good = genuine(office)
    before = [office["B"].knowledge(path) for path in ("1-1", "Projects")]
    office["B"].mail_in(office.at(15), HOP, incoming_mail("A-IS@contoso.test", ["B-IS@contoso.test"], spoil(good)))
    (bad,) = office["B"].bad_mail()
    assert bad.reason
    assert len(office.of_type("mail.bad")) == 1
    assert [office["B"].knowledge(path) for path in ("1-1", "Projects")] == before
    assert office["B"].backfill() == []
    office["B"].mail_in(office.at(16), HOP, incoming_mail("A-IS@contoso.test", ["B-IS@contoso.test"], good))
    assert [message.subject for message in office["B"].messages("Projects")] == ["real"]


def test_a_replayed_mail_changes_nothing_that_is_newer() -> None:
    """A captured mail sent again later changes nothing (spec: IN-3, RST-4)."""
    office = PostOffice()
    first = genuine(office)
    office["B"].mail_in(office.at(15), HOP, incoming_mail("A-IS@contoso.test", ["B-IS@contoso.test"], first))
    message = office["B"].messages("Projects")[0].id
    office["B"].edit(office.at(16), "Projects", message, subject="newer")
    office.run(office.at(30))
    rows = office["B"].state("Projects").rows
    office["B"].mail_in(office.at(31), HOP, incoming_mail("A-IS@contoso.test", ["B-IS@contoso.test"], first))
    assert office["B"].messages("Projects")[0].subject == "newer"
    assert office["B"].state("Projects").rows == rows


def signed_by_a(office: PostOffice, section: Section, kind: MessageType = MessageType.STATUS) -> bytes:
    mail = ReplicationMail(
        type=kind,
        store="A",
        replica_guid=b"g" * 16,
        sent_at=office.at(15),
        number=99,
        lamport=1,
        message_id="x@y.test",
        sections=(section,),
    )
    return wrapped(encode(mail, LabAuthority(b"office of the tests").identity("A")))


def test_absurd_ranges_cost_nothing_and_break_nothing() -> None:
    """A claim of every possible number makes an ordinary entry (spec: CN-5)."""
    office = PostOffice()
    folder = ChangeNumber.parse(office["A"].folders()[0].id).to_xid()
    absurd = CNSet.from_ranges({bytes([guid]) * 16: [(1, 2**48 - 1)] for guid in range(1, 200)})
    office["B"].mail_in(
        office.at(15),
        HOP,
        incoming_mail("", ["B-IS@contoso.test"], signed_by_a(office, Section(folder, NumberSets(absurd)))),
    )
    assert len(office["B"].backfill()) <= 1
    office["B"].post(office.at(16), "Projects", subject="goes on")
    office.run(office.at(30))
    assert office["C"].messages("Projects")[0].subject == "goes on"


def test_an_unknown_folder_in_a_status_or_request_changes_nothing() -> None:
    """A section about a folder that this store does not know changes nothing; a request for it gets an empty answer (spec:
    RP-2)."""
    office = PostOffice()
    section = Section(ChangeNumber(b"n" * 16, 7).to_xid(), NumberSets(CNSet.span(b"n" * 16, 1, 5)))
    for kind in (MessageType.STATUS, MessageType.STATUS_REQUEST, MessageType.BACKFILL_REQUEST):
        office["B"].mail_in(
            office.at(15), HOP, incoming_mail("", ["B-IS@contoso.test"], signed_by_a(office, section, kind))
        )
    assert office["B"].bad_mail() == []
    (answer,) = office.take("B", office.at(15))
    mail = decode(message_in(answer[1].content), office["A"]._present().verifier)
    assert (mail.type, mail.sections[0].marks.name) == (MessageType.CONTENT_RESPONSE, "NO_REPLICA")


def test_mail_to_a_recipient_outside_the_organization_is_refused() -> None:
    """No open relay: mail to a recipient outside the organization is refused and changes nothing (spec: ML-7)."""
    office = PostOffice()
    with pytest.raises(MailRefused) as refused:
        office["B"].mail_in(
            office.at(1), HOP, incoming_mail("x@y.test", ["someone@elsewhere.test"], b"Subject: x\r\n\r\nx\r\n")
        )
    assert refused.value.code == 550
    office["B"].post(office.at(2), "Projects", subject="still alive")


def test_an_item_that_cannot_be_decoded_is_set_aside_alone() -> None:
    """One bad item does not spoil its mail; its number stays missing (spec: IN-5, CN-7)."""
    office = PostOffice()
    for index in range(3):
        office["A"].post(office.at(1), "Projects", subject=f"post {index}")
    content = next(mail for _, mail in office.cycle("A", office.at(15)) if mail.next_hop == "B").content
    message = message_in(content)
    verifier = office["A"]._present().verifier
    mail = decode(message, verifier)
    spoiled = mail.updates[1].version
    broken = replace(mail.updates[1], version=replace(spoiled, item=b"\x78\x9f\x3e\x22 not an item"))
    again = replace(mail, updates=(mail.updates[0], broken, mail.updates[2]))
    signed = wrapped(encode(again, LabAuthority(b"office of the tests").identity("A")))
    office["B"].mail_in(office.at(15), HOP, incoming_mail("", ["B-IS@contoso.test"], signed))
    assert [each.subject for each in office["B"].messages("Projects")] == ["post 0", "post 2"]
    assert len(office.of_type("version.failed")) == 1
    (received,) = office.of_type("mail.received")
    assert isinstance(received, MailReceived)
    assert received.folders[0].updates == 3  # what the sender put in
    (entry,) = office["B"].backfill()
    assert entry.missing == "A-2"


def test_a_folder_that_cannot_be_decoded_stays_missing() -> None:
    """A store does not claim the numbers of an update that it cannot decode (spec: CN-7, IN-5)."""

    def nameless(mail: ReplicationMail) -> ReplicationMail:
        (update,) = mail.updates
        assert update.version.item is not None
        item = decode_item(update.version.item)
        props = {tag: value for tag, value in item.props.items() if tag != PR_DISPLAY_NAME}
        return replace(
            mail,
            updates=(replace(update, version=replace(update.version, item=encode_item(replace(item, props=props)))),),
        )

    office = PostOffice()
    office["A"].create_folder(office.at(1), "News", replicas=["A", "B", "C"])
    content = mails_to(office.cycle("A", office.at(15)), "B")[0][1].content
    office["B"].mail_in(
        office.at(15), HOP, incoming_mail("", ["B-IS@contoso.test"], altered(office, content, nameless))
    )
    assert len(office.of_type("version.failed")) == 1
    assert office["B"].state("1-1").rows[0].numbers == "Setup-1"
    assert [entry.missing for entry in office["B"].backfill()] == ["A-1"]


def test_an_update_that_claims_to_supersede_everything_is_refused_quickly() -> None:
    """Malformed input gives one clear error, never a crash or a hang (spec: CN-5, IN-5)."""
    office = PostOffice()
    office["A"].post(office.at(1), "Projects", subject="real")
    content = mails_to(office.cycle("A", office.at(15)), "B")[0][1].content
    everything = CNSet.span(b"g" * 16, 1, 2**40)
    greedy = altered(
        office, content, lambda mail: replace(mail, updates=(replace(mail.updates[0], stands_for=everything),))
    )
    with at_most(2):
        office["B"].mail_in(office.at(15), HOP, incoming_mail("", ["B-IS@contoso.test"], greedy))


def test_an_outsiders_hop_line_does_not_spoil_those_of_this_server() -> None:
    """Nothing that an outsider says changes what servers tell each other: mail keeps its priority (spec: ML-6, OUT-8)."""
    line = b"X-Pflab-Hop: server=x; sent=1; lamport=999999999999999\r\n"
    hop, _ = take_hop_line(incoming_mail("", (), line + b"Subject: hi\r\n\r\nx\r\n"))
    assert hop is not None
    office = PostOffice()
    office["B"].mail_in(
        office.at(1), hop, incoming_mail("x@y.test", ["B-IS@contoso.test"], b"Subject: hi\r\n\r\nx\r\n")
    )
    office["B"].post(office.at(2), "Projects", subject="x")
    mail = office.cycle("B", office.at(15))[0][1]
    line = hop_line("B", mail.sent_at, mail.lamport, mail.priority)
    assert take_hop_line(incoming_mail("", (), line + mail.content))[0] == mail.hop_from("B")


def test_outsiders_cannot_fill_the_disk_with_bad_mail_between_two_checks() -> None:
    """The limit on stored bad mail holds at any time (spec: ML-7, IN-5)."""
    office = PostOffice()
    for index in range(incoming.BAD_MAIL_KEPT + 10):
        content = b"Subject: %d\r\n\r\nx\r\n" % index
        office["B"].mail_in(office.at(1), HOP, incoming_mail("x@y.test", ["B-IS@contoso.test"], content))
    assert len(office["B"].bad_mail()) <= incoming.BAD_MAIL_KEPT


def test_impossible_instants_make_a_bad_mail() -> None:
    """A mail with an impossible instant is bad mail with one event, and no error (spec: IN-5, CN-5)."""
    office = PostOffice()
    office["A"].post(office.at(1), "Projects", subject="x")
    content = mails_to(office.cycle("A", office.at(15)), "B")[0][1].content
    for instant in (-(2**63), 2**63 - 1):
        odd = altered(office, content, lambda mail, instant=instant: replace(mail, sent_at=instant))  # type: ignore[misc]
        office["B"].mail_in(office.at(15), HOP, incoming_mail("", ["B-IS@contoso.test"], odd))
    assert len(office["B"].bad_mail()) == 2


def test_a_refused_mail_costs_no_more_than_one_that_is_taken() -> None:
    """Refusing a mail costs no more than accepting one, also with 1,000 folders (once it took 240 ms, 700 times as long)
    (spec: ML-7)."""
    office = PostOffice()
    before = office["B"]._ctx
    looping = b"Received: x\r\n" * 40 + b"Subject: x\r\n\r\nx\r\n"
    with pytest.raises(MailRefused):
        office["B"].mail_in(office.at(1), HOP, incoming_mail("x@y.test", ["B-IS@contoso.test"], looping))
    assert office["B"]._ctx is before


RELAY = """
sites: [SEA, NYC]
connectors: [{name: SEA-NYC, between: [SEA, NYC], cost: 1, kind: smtp-relay}]
servers: {A: {site: SEA}, B: {site: SEA}, D: {site: SEA}, C: {site: NYC}}
folders: {Projects: {replicas: [A, B, C, D]}}
"""
FROM_A_RELAY = IncomingHop("mail.contoso.test", None, 0)


@pytest.mark.parametrize("server", ["A", "B", "D"])
@pytest.mark.parametrize("store", ["A", "B", "D"])
def test_a_relay_may_hand_a_mail_to_any_server(server: str, store: str) -> None:
    """The ordinary mail server in an smtp-relay has routes of its own: wherever a mail arrives, it gets to its store, which
    reads it by its signature (spec: ML-6)."""
    office = PostOffice(RELAY)
    office["C"].post(office.at(1), "Projects", subject="x")
    ((_, sent),) = office.cycle("C", office.at(15))
    mail = incoming_mail(sent.sender, [f"{store}-IS@contoso.test"], sent.content)
    office[server].mail_in(office.at(15), FROM_A_RELAY, mail)
    office.run(office.at(15), "ABD")
    assert [message.subject for message in office[store].messages("Projects")] == ["x"]
    assert office.of_type("mail.bad") == []


def test_an_unmarked_mail_from_a_relay_is_ordinary_mail() -> None:
    """A mail that does not even claim to be a replication mail is never sent on as one (spec: ML-3, ML-6)."""
    office = PostOffice(RELAY)
    mail = incoming_mail("kim@x.test", ["D-IS@contoso.test"], b"Subject: Hello\r\n\r\nHi\r\n")
    office["B"].mail_in(office.at(1), FROM_A_RELAY, mail)
    ((_, sent),) = office.take("B", office.at(1))
    assert (sent.next_hop, sent.system) == ("D", False)


def test_without_a_relay_a_mail_without_xexch50_is_ordinary_mail() -> None:
    """No ordinary mail server is on any way here, so XEXCH50 is missing because something is wrong (spec: ML-3)."""
    office = PostOffice(RELAY.replace("smtp-relay", "routing-group"))
    office["C"].post(office.at(1), "Projects", subject="x")
    ((_, sent),) = office.cycle("C", office.at(15))
    office["B"].mail_in(office.at(15), FROM_A_RELAY, incoming_mail(sent.sender, ["B-IS@contoso.test"], sent.content))
    assert len(office["B"].bad_mail()) == 1


def test_a_mail_that_one_store_has_read_is_checked_by_a_store_of_another_lab() -> None:
    """ML-6: the stores of a process remember a decoded mail for one authority. A store of another authority refuses the same
    bytes, and each store refuses them if one differs."""
    found = system_body(genuine(PostOffice()))
    assert found is not None
    form, body = found
    ours, theirs = (
        Verifier(authority.identity("B").authority_key) for authority in (AUTHORITY, LabAuthority(bytes(16)))
    )
    assert incoming.decode_body(form, body, ours) is incoming.decode_body(form, body, ours)
    with pytest.raises(BadMail, match="signature"):
        incoming.decode_body(form, body, theirs)
    at = len(body) // 2
    with pytest.raises((BadMail, CodecError)):
        incoming.decode_body(form, body[:at] + bytes([body[at] ^ 1]) + body[at + 1 :], ours)
