"""Mails altered on their way so that every sum in them is right: their signature tells (spec: ML-6)."""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

import pytest

from node.codec.replication_message import decode
from node.codec.signing import Verifier
from node.errors import BadMail
from pflab.faults.fault import HeaderField
from tests.support.forged_mail import HEADERS, HOP, message_in
from tests.support.post_office import AUTHORITY, PostOffice
from transport.mapi.mdbef import decode_mdbef, encode_mdbef
from transport.mapi.system_message import SystemMessage
from transport.mapi.tnef import decode_tnef, encode_tnef
from transport.mime.headers import incoming_mail
from transport.mime.message import BodyForm, build_mail, system_body
from transport.mime.tamper import altered
from transport.protocol.fault_points import BODY


def sent_to_b(office: PostOffice, at_min: int) -> bytes:
    return next(mail for _, mail in office.cycle("A", office.at(at_min)) if mail.next_hop == "B").content


def content_mail(office: PostOffice) -> bytes:
    office["A"].post(office.at(1), "Projects", subject="real")
    return sent_to_b(office, 15)


def hierarchy_mail(office: PostOffice) -> bytes:
    office["A"].create_folder(office.at(1), "Fresh", replicas=["A", "B"])
    return sent_to_b(office, 15)


def request_mail(office: PostOffice) -> bytes:
    """A mail without items: what B would be asked."""
    whole = content_mail(office)
    message = message_in(whole)
    return build_mail(HEADERS, BodyForm.TNEF, encode_tnef(SystemMessage(message.props)))


@pytest.mark.parametrize("form", list(BodyForm))
@pytest.mark.parametrize("make", [content_mail, hierarchy_mail, request_mail])
def test_an_altered_mail_is_well_formed_but_its_signature_is_wrong(
    make: Callable[[PostOffice], bytes], form: BodyForm
) -> None:
    """In each form of body the altered mail can be decoded, and only the signature shows the alteration."""
    office = PostOffice()
    message = message_in(make(office))
    encode = encode_mdbef if form is BodyForm.MDBEF else encode_tnef
    mail = build_mail(HEADERS, form, encode(message))
    found = system_body(altered(mail))
    assert found is not None
    assert found[0] is form
    other = (decode_mdbef if form is BodyForm.MDBEF else decode_tnef)(found[1])
    assert other != message
    assert altered(mail).partition(b"\r\n\r\n")[0] == mail.partition(b"\r\n\r\n")[0]
    with pytest.raises(BadMail, match="the signature is not that of store A"):
        decode(other, Verifier(AUTHORITY.identity("").authority_key))


def test_an_altered_mail_becomes_bad_mail() -> None:
    """The store that refuses the mail records its Message-ID in the trace."""
    office = PostOffice()
    mail = content_mail(office)
    office["B"].mail_in(office.at(15), HOP, incoming_mail("A-IS@contoso.test", ["B-IS@contoso.test"], altered(mail)))
    (bad,) = office.of_type("mail.bad")
    assert bad.mail
    assert f"<{bad.mail}>".encode() in mail
    assert not office["B"].messages("Projects")


def test_any_mail_can_be_altered_and_none_is_lost() -> None:
    """In ordinary mail one letter of the text changes; a mail without text, or without an end of its header, stays as
    it is.
    """
    letter = b"Subject: Hello\r\n\r\nSee you\r\n"
    assert altered(letter) == b"Subject: Hello\r\n\r\nSee Aou\r\n"
    for nothing in (b"Subject: Hello\r\n\r\n", b"Subject: Hello", b"", b"A: b\r\n\r\n...\r\n"):
        assert altered(nothing) == nothing
    office = PostOffice()
    spoilt = content_mail(office)[:-200] + b"!" * 200
    assert altered(spoilt) != spoilt


@pytest.mark.parametrize("form", [BodyForm.TNEF, BodyForm.MDBEF])
def test_a_mail_whose_lines_end_in_lf_alone_can_be_altered(form: BodyForm) -> None:
    """The header of a mail may end in LF LF; it stays, and the body after it changes."""
    office = PostOffice()
    message = message_in(content_mail(office))
    encode = encode_mdbef if form is BodyForm.MDBEF else encode_tnef
    mail = build_mail(HEADERS, form, encode(message)).replace(b"\r\n", b"\n")
    found = system_body(altered(mail))
    assert found is not None and found != system_body(mail)
    assert altered(mail).startswith(mail.partition(b"\n\n")[0] + b"\n\n")
    assert altered(b"Subject: Hello\n\nSee you\n") == b"Subject: Hello\n\nSee Aou\n"


@pytest.mark.parametrize("name", get_args(HeaderField))
def test_a_header_field_is_altered_and_all_else_stays(name: str) -> None:
    """The first letter of the field's value becomes another, also if the value is folded; the other lines stay."""
    before = content_mail(PostOffice()).split(b"\r\n")
    after = altered(b"\r\n".join(before), (name,)).split(b"\r\n")
    ((old, new),) = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
    assert old.startswith(name.encode() + b": ")
    assert sum(a != b for a, b in zip(old, new, strict=True)) == 1
    folded = name.encode() + b":\r\n\t=value\r\nX: y\r\n\r\ntext"
    assert altered(folded, (name.lower(),)) == folded.replace(b"value", b"Aalue")


def test_a_header_field_that_is_missing_is_not_altered() -> None:
    """Neither a line of the body nor another field whose name begins alike counts; several parts change together."""
    letter = b"Subject-Line: a\r\n\r\nSubject: b\r\n"
    assert altered(letter, ("Subject",)) == letter
    assert altered(b"Date: x\r\nTo: y\r\n\r\nz", ("To", BODY)) == b"Date: x\r\nTo: A\r\n\r\nA"
