"""Body forms of mails on their way: what only BDAT carries, and the same mail for DATA."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transport.errors import CodecError
from transport.mime.headers import header_size
from transport.mime.message import (
    BodyForm,
    MailHeaders,
    as_seven_bit,
    build_mail,
    far_size,
    is_binary,
    parse_mail,
    system_body,
)

HEADERS = MailHeaders("1@a.test", "A-IS@contoso.test", ("B-IS@contoso.test",), "Folder Content", 1_066_694_400_000_000)
RECEIVED = b"Received: from A by B with ESMTP; Tue, 21 Oct 2003 00:15:00 +0000\r\n"


@given(st.binary(max_size=4000))
def test_a_bridgehead_changes_the_form_and_not_the_bytes(body: bytes) -> None:
    """ML-4: S-TNEF in base64 is the same TNEF below the same header lines; its length is the predicted one."""
    binary = RECEIVED + build_mail(HEADERS, BodyForm.S_TNEF, body)
    written = as_seven_bit(binary)
    assert is_binary(binary) and not is_binary(written)
    assert written == RECEIVED + build_mail(HEADERS, BodyForm.TNEF, body)
    assert len(written) == far_size(binary, header_size(binary))
    assert system_body(binary) == (BodyForm.S_TNEF, body)
    assert system_body(written) == (BodyForm.TNEF, body)
    assert parse_mail(binary).body == body


@pytest.mark.parametrize("form", [BodyForm.TNEF, BodyForm.MDBEF])
def test_a_mail_that_data_can_carry_is_not_changed(form: BodyForm) -> None:
    """ML-4: a mail keeps its form if the next hop accepts it."""
    mail = build_mail(HEADERS, form, b"\0\n\r" * 100)
    assert as_seven_bit(mail) is mail
    assert far_size(mail, header_size(mail)) == len(mail)


def test_binary_mail_of_another_program_is_refused() -> None:
    """ML-4: a binary body that is not S-TNEF of ours cannot be encoded again: CodecError."""
    mail = b"Subject: a\r\nContent-Transfer-Encoding: Binary\r\n\r\n\0\n"
    assert is_binary(mail) and far_size(mail, header_size(mail)) == len(mail)
    with pytest.raises(CodecError, match="not an S-TNEF"):
        as_seven_bit(mail)
