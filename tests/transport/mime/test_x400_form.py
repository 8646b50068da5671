"""The form of a mail that crosses an X.400 connector (RT-1, ML-4, ML-2)."""

from __future__ import annotations

import pytest

from tests.support.clock import START_AT
from transport.mapi.mdbef import decode_mdbef
from transport.mapi.system_message import Part, SystemMessage
from transport.mapi.tnef import encode_tnef
from transport.mime.message import BodyForm, MailHeaders, build_mail, is_system_mail, parse_mail
from transport.mime.x400_form import as_x400, or_address

ADDRESSES = ("/C=US/ADMD= /PRMD=Contoso/O=Exchange/S=A-IS/", "/C=US/ADMD= /PRMD=Contoso/O=Exchange/S=B-IS/")
HEADERS = MailHeaders("1@A", "A-IS@contoso.test", ("B-IS@contoso.test",), "Folder Content", START_AT)


def test_an_address_is_an_or_address() -> None:
    """A store has its name as surname; people keep their SMTP address in a domain-defined attribute."""
    assert or_address("A-IS@contoso.test", "Contoso", is_store=True) == ADDRESSES[0]
    people = or_address("kim@outside.test", "A very long organization", is_store=False)
    assert people == "/C=US/ADMD= /PRMD=A very long orga/O=Exchange/DD.RFC-822=kim(a)outside.test/"


@pytest.mark.parametrize("form", [BodyForm.TNEF, BodyForm.S_TNEF])
def test_a_replication_mail_crosses_as_mdbef(form: BodyForm) -> None:
    """The body becomes MDBEF with the same items; the header keeps its fields and names the O/R addresses."""
    message = SystemMessage({0x0037001F: "subject"}, (Part(b"not read", {}), Part(b"as it is", {})))
    content = b"Received: from A by B\r\n" + build_mail(HEADERS, form, encode_tnef(message))
    crossed = as_x400(content, ADDRESSES[0], ADDRESSES[1:])
    parsed = parse_mail(crossed)
    assert parsed.form is BodyForm.MDBEF
    assert parsed.body is not None
    assert [part.item for part in decode_mdbef(parsed.body).parts] == [b"not read", b"as it is"]
    assert (parsed.message_id, parsed.subject, parsed.recipients) == ("1@A", "Folder Content", HEADERS.recipients)
    assert dict(parsed.headers[:3]) == {
        "X400-Originator": ADDRESSES[0],
        "X400-Recipients": ADDRESSES[1],
        "X400-Content-Type": "MDBEF",
    }
    assert is_system_mail(crossed)
    assert parse_mail(as_x400(crossed, ADDRESSES[0], ADDRESSES[1:])).body == parsed.body


@pytest.mark.parametrize(
    "content",
    [
        b"From: kim@contoso.test\r\nSubject: x\r\n\r\ntext\r\n",
        build_mail(HEADERS, BodyForm.TNEF, b"damaged"),
    ],
)
def test_other_mail_keeps_its_body(content: bytes) -> None:
    """Mail of people, and a replication mail that cannot be read, only get the fields of X.400."""
    crossed = as_x400(content, ADDRESSES[0], ADDRESSES[1:])
    assert crossed.endswith(b"X400-Content-Type: P2\r\n" + content)
