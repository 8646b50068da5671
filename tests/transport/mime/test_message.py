"""The MIME form: written by hand, judged by the email package, and read from any sender."""

import email
import email.policy
from datetime import UTC
from email.message import EmailMessage
from email.utils import getaddresses, parsedate_to_datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from transport.errors import CodecError
from transport.mime import message
from transport.mime.headers import MAX_FIELDS, MAX_HEADER_SIZE, decode_words, parse_addresses, parse_date
from transport.mime.message import (
    MAX_BOUNDARIES,
    MAX_DEPTH,
    MAX_MIME_PARTS,
    BodyForm,
    MailHeaders,
    build_mail,
    parse_mail,
)

AT = 1_066_695_300_000_000  # 2003-10-21T00:15:00Z
BODY = bytes(range(256)) * 41 + b"end"
HEADERS = MailHeaders(
    "1-14CE@A.contoso.test", "A-IS@contoso.test", ("B-IS@contoso.test", "C-IS@contoso.test"), "Folder Content", AT
)
subjects = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0"), max_size=120)


def seen(content: bytes) -> EmailMessage:
    """The mail in the eyes of the email package; whatever it calls a defect fails the test."""
    found = email.message_from_bytes(content, policy=email.policy.SMTP)
    assert isinstance(found, EmailMessage)
    assert found.defects == []
    return found


@pytest.mark.parametrize("form", list(BodyForm))
def test_the_email_package_reads_what_we_write(form: BodyForm) -> None:
    """Every field and the body of a mail in each form are what the email package finds. (spec: ML-2, ML-4)"""
    binary = form is BodyForm.S_TNEF
    body = b"no line ends here" if binary else BODY  # the package's own binary bodies are lines of text
    mail = seen(build_mail(HEADERS, form, body))
    assert mail["Message-ID"] == "<1-14CE@A.contoso.test>"
    assert mail["From"].addresses[0].addr_spec == "A-IS@contoso.test"
    assert [one.addr_spec for one in mail["To"].addresses] == list(HEADERS.recipients)
    assert mail["Date"].datetime.timestamp() == AT / 1_000_000
    assert mail["Subject"] == "Folder Content"
    assert mail["MIME-Version"] == "1.0"
    assert mail["Content-Identifer"] == "ExSysMessage"
    assert mail["Content-Transfer-Encoding"] == ("binary" if binary else "base64")
    assert mail.get_content_type() == (message.TYPE_MDBEF if form is BodyForm.MDBEF else message.TYPE_TNEF)
    assert mail.get_filename() == (None if form is BodyForm.MDBEF else "winmail.dat")
    assert mail.get_payload(decode=True) == body


@pytest.mark.parametrize("form", list(BodyForm))
def test_we_read_what_we_write(form: BodyForm) -> None:
    """Header and body of a mail in each form come back. (spec: ML-4)"""
    headers = MailHeaders(*[getattr(HEADERS, name) for name in HEADERS.__slots__[:5]], extra=(("X-Mark", "a; b=c"),))
    mail = parse_mail(build_mail(headers, form, BODY))
    assert (mail.message_id, mail.sender, mail.recipients) == (headers.message_id, headers.sender, headers.recipients)
    assert (mail.subject, mail.date_at, mail.form, mail.body) == (headers.subject, AT, form, BODY)
    assert ("X-Mark", "a; b=c") in mail.headers


@pytest.mark.parametrize("size", [0, 1, 2, 3, 746, 747, 748, 1494, 300_000])
def test_lines_fit_smtp_whatever_the_size(size: int) -> None:
    """For a body of any size, no line is longer than 998 characters, all end in CRLF, and the body comes back. (spec:
    ML-4)
    """
    body = bytes(size)
    content = build_mail(HEADERS, BodyForm.TNEF, body)
    lines = content.split(b"\r\n")
    assert lines.pop() == b""
    assert max(map(len, lines)) <= 998
    assert not any(b"\r" in line or b"\n" in line for line in lines)
    assert content.isascii()
    assert parse_mail(content).body == body


def test_the_header_is_the_documented_one() -> None:
    """The header of a TNEF mail is, byte for byte, the one in docs/reference/wire-format.md. (spec: ML-2)"""
    assert build_mail(HEADERS, BodyForm.TNEF, b"body") == (
        b"Message-ID: <1-14CE@A.contoso.test>\r\n"
        b"From: <A-IS@contoso.test>\r\n"
        b"To: <B-IS@contoso.test>, <C-IS@contoso.test>\r\n"
        b"Date: Tue, 21 Oct 2003 00:15:00 +0000\r\n"
        b"Subject: Folder Content\r\n"
        b"MIME-Version: 1.0\r\n"
        b"Content-Identifer: ExSysMessage\r\n"
        b'Content-Type: application/ms-tnef; name="winmail.dat"\r\n'
        b"Content-Transfer-Encoding: base64\r\n"
        b'Content-Disposition: attachment; filename="winmail.dat"\r\n'
        b"\r\n"
        b"Ym9keQ==\r\n"
    )


def with_subject(subject: str) -> MailHeaders:
    return MailHeaders("i@x", "a@x", ("b@x",), subject, AT)


@given(subjects)
@example("plain")
@example("")
@example(" blank at both ends ")
@example("looks =?utf-8?q?encoded?=")
@example("\u00fcml\u00e4ut and \U0001f4ee")
@example("=?" * 40)
@example("a" * 2000)
@example("\u2603" * 500)
def test_any_subject_comes_back(subject: str) -> None:
    """Any subject of one line comes back, in lines that SMTP allows. (spec: ML-7)"""
    content = build_mail(with_subject(subject), BodyForm.TNEF, b"")
    assert parse_mail(content).subject == subject
    assert content.isascii()
    assert max(map(len, content.split(b"\r\n"))) <= 998


@pytest.mark.parametrize("subject", ["plain text", "\u00fcml\u00e4ut \u2603", "\U0001f4ee" * 40, "a" * 1200])
def test_the_email_package_reads_our_subjects(subject: str) -> None:
    """Encoded words do not split characters, and the email package decodes the same text."""
    assert seen(build_mail(with_subject(subject), BodyForm.TNEF, b""))["Subject"] == subject


def test_many_recipients_are_folded() -> None:
    """A mail to hundreds of stores has lines of at most 78 columns, which every reader understands. (spec: OUT-5)"""
    recipients = tuple(f"server-{number}-IS@contoso.test" for number in range(500))
    content = build_mail(MailHeaders("i@x", "a@x", recipients, "s", AT), BodyForm.TNEF, b"")
    assert max(map(len, content.split(b"\r\n"))) <= 78
    assert parse_mail(content).recipients == recipients
    assert [one.addr_spec for one in seen(content)["To"].addresses] == list(recipients)


@pytest.mark.parametrize(
    "headers",
    [
        with_subject("a\r\nBcc: x@y"),
        with_subject("a\nb"),
        with_subject("a\0b"),
        with_subject("half \ud800"),
        MailHeaders("i@x>\r\nX: y", "a@x", ("b@x",), "s", AT),
        MailHeaders("two words@x", "a@x", ("b@x",), "s", AT),
        MailHeaders("", "a@x", ("b@x",), "s", AT),
        MailHeaders("i@x", "a@x\r\n", ("b@x",), "s", AT),
        MailHeaders("i@x", "a@x", ("b@x\nX: y",), "s", AT),
        MailHeaders("i@x", "a@x", ("b@x, c@x",), "s", AT),
        MailHeaders("i@x", "a@x", ("no address",), "s", AT),
        MailHeaders("i@x", "a@x", ("\u00fc@x",), "s", AT),
        MailHeaders("i@x", "a@x", ("l" * 1000 + "@x",), "s", AT),
        MailHeaders("i@x", "a@x", (), "s", AT),
        MailHeaders("i@x", "a@x", ("b@x",), "s", 1 << 62),
        MailHeaders("i@x", "a@x", ("b@x",), "s", AT, (("X-Mark", "a\r\nb"),)),
        MailHeaders("i@x", "a@x", ("b@x",), "s", AT, (("X: Mark", "a"),)),
        MailHeaders("i@x", "a@x", ("b@x",), "s", AT, (("", "a"),)),
    ],
)
def test_a_value_that_would_break_out_of_its_field_is_refused(headers: MailHeaders) -> None:
    """Line ends, NULs and malformed addresses and ids are errors; they are never repaired. (spec: ML-7)"""
    with pytest.raises(CodecError):
        build_mail(headers, BodyForm.TNEF, b"")


def rewrapped(form: BodyForm, body: bytes) -> bytes:
    """What a relay makes of our mail: a multipart with a text of its own and our body in 76 columns."""
    outer = EmailMessage(policy=email.policy.SMTP)
    outer["From"], outer["To"], outer["Subject"] = "A-IS@contoso.test", "B-IS@contoso.test", "Folder Content"
    outer.set_content("A footer by the relay\n")
    main, sub = (message.TYPE_MDBEF if form is BodyForm.MDBEF else message.TYPE_TNEF).split("/")
    outer.add_attachment(body, main, sub, filename="winmail.dat")
    return outer.as_bytes()


def wrapped(entity: bytes, boundary: bytes) -> bytes:
    """An entity inside one more multipart, in an unusual but lawful spelling."""
    return (
        b'From: a@x\r\ncontent-TYPE: Multipart/Mixed;\r\n\tBOUNDARY="' + boundary + b'"\r\n\r\n'
        b"preamble --" + boundary + b"\r\n--" + boundary + b" \t\r\n"
        b"Content-Type: text/plain\r\n\r\nhello\r\n--" + boundary + b"no boundary\r\n"
        b"--" + boundary + b"\r\n" + entity + b"\r\n--" + boundary + b"--\r\nepilogue\r\n"
    )


@pytest.mark.parametrize("form", [BodyForm.TNEF, BodyForm.MDBEF])
@pytest.mark.parametrize("depth", [0, 1, 3])
def test_a_body_that_a_relay_wrapped_is_found(form: BodyForm, depth: int) -> None:
    """Our body is found in multiparts and in lines of 76 columns, with CRLF and with LF. (spec: ML-6)"""
    content = rewrapped(form, BODY)
    for level in range(depth):
        content = wrapped(content, b"out er %d" % level)
    for received in (content, content.replace(b"\r\n", b"\n")):
        mail = parse_mail(received)
        assert (mail.form, mail.body) == (form, BODY)


@pytest.mark.parametrize(
    ("part_type", "encoding", "encoded", "form"),
    [
        ("application/ms-tnef", "base64", b"Ym9k\r\neQ==\r\n", BodyForm.TNEF),
        ("APPLICATION/MS-TNEF; name=winmail.dat", "BASE64", b"Ym9k\neQ==", BodyForm.TNEF),
        ("application/vnd.ms-tnef", "base64", b"Ym9keQ==", BodyForm.TNEF),
        ("application/ms-tnef", "Quoted-Printable", b"bo=\r\n=64y", BodyForm.TNEF),
        ("application/ms-tnef", "binary", b"body", BodyForm.S_TNEF),
        ("application/ms-tnef", "8bit", b"body", BodyForm.S_TNEF),
        ("application/x-pflab-mdbef", "base64", b"Ym9keQ==", BodyForm.MDBEF),
        ("application/x-pflab-mdbef", "binary", b"body", BodyForm.MDBEF),
    ],
)
def test_every_encoding_is_read(part_type: str, encoding: str, encoded: bytes, form: BodyForm) -> None:
    """A body is decoded from every transfer encoding. (spec: ML-4)"""
    head = f"content-type: {part_type}\r\nContent-Transfer-Encoding:\r\n {encoding}\r\n\r\n".encode()
    for content in (
        head + encoded,
        b"Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n" + head + encoded + b"\r\n--b--\r\n",
        b"Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n" + head + encoded + b"\r\n--b \t\r\n\r\n--b--",
    ):
        mail = parse_mail(content)
        assert (mail.form, mail.body) == (form, b"body")


def test_ordinary_mail_has_no_form() -> None:
    """A mail without a body of ours is ordinary mail; its header is read as far as possible. (spec: ML-5)"""
    content = (
        b'From: "Kim, Lee" (work) <kim@contoso.test>\nTO: Team: a@x, "b, c" <b@x>;, (hidden <no@x>) c@x\n'
        b"Cc: d@x\nsubject: =?iso-8859-1?Q?caf=E9?=\n =?utf-8?b?4piD?= ok\nDate: Tue, 21 Oct 2003 02:15 +0200 (CEST)\n"
        b"no field at all\nMessage-Id:  <id@x> \n\nhello\n"
    )
    mail = parse_mail(content)
    assert (mail.form, mail.body) == (None, None)
    assert mail.sender == "kim@contoso.test"
    assert mail.recipients == ("a@x", "b@x", "c@x", "d@x")
    assert mail.subject == "caf\u00e9\u2603 ok"
    assert mail.message_id == "id@x"
    assert mail.date_at == AT
    assert [name for name, _ in mail.headers] == ["From", "TO", "Cc", "subject", "Date", "Message-Id"]


@pytest.mark.parametrize("content", [b"", b"\r\n", b"\n", b"no header", b"A: b", b"\r\nbody", b"\xff\xfe: \xff\n\n"])
def test_a_mail_of_almost_nothing_is_ordinary(content: bytes) -> None:
    """Missing fields are empty, not errors."""
    mail = parse_mail(content)
    assert (mail.message_id, mail.sender, mail.recipients, mail.date_at, mail.form) == ("", "", (), None, None)


@pytest.mark.parametrize(
    ("value", "addresses"),
    [
        ("", ()),
        ("a@x", ("a@x",)),
        ("<a@x>,<b@y>", ("a@x", "b@y")),
        ('"quoted, name" <a@x>, b@y', ("a@x", "b@y")),
        ('"a \\" b" <a@x>', ("a@x",)),
        ("a@x (comment, with (nested) b@y)", ("a@x",)),
        ("undisclosed-recipients:;", ()),
        ("<a@x", ("a@x",)),
        ("no address", ()),
        ("(" * 5000, ()),
        ('"' * 5000, ()),
    ],
)
def test_addresses_are_found_in_any_field(value: str, addresses: tuple[str, ...]) -> None:
    """Display names, comments, groups and malformed syntax are removed; the bare addresses remain."""
    assert parse_addresses(value) == addresses


@given(st.lists(st.tuples(st.from_regex(r"[a-z][a-z0-9.-]{0,8}@[a-z]{1,8}", fullmatch=True), subjects), max_size=5))
def test_addresses_agree_with_the_email_package(pairs: list[tuple[str, str]]) -> None:
    """After any quoted display name the address is the one that the email package finds."""
    value = ", ".join(f'"{name.translate({34: None, 92: None})}" <{address}>' for address, name in pairs)
    assert list(parse_addresses(value)) == [address for _, address in getaddresses([value]) if address]


@pytest.mark.parametrize(
    "value",
    [
        "Tue, 21 Oct 2003 00:15:00 +0000",
        "21 Oct 2003 00:15:00 GMT",
        "Tue, 21 Oct 2003 02:15:00 +0200",
        "Mon, 20 Oct 2003 19:15:00 -0500 (EST)",
        "tue,  21 oct 2003 00:15 Z",
    ],
)
def test_dates_of_any_sender_are_read(value: str) -> None:
    """Zones, missing seconds, names and comments are understood."""
    assert parse_date(value) == AT
    parsed = parsedate_to_datetime(value)
    assert (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp() * 1_000_000 == AT


@pytest.mark.parametrize(
    "value", ["", "soon", "32 Oct 2003 00:00:00 +0000", "1 Foo 2003 00:00 +0000", "1 Oct 0000 00:00"]
)
def test_an_unreadable_date_is_none(value: str) -> None:
    """A malformed date is None, not an error."""
    assert parse_date(value) is None


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("=?utf-8?q?a_b=20c?=", "a b c"),
        ("x =?utf-8?b?4piD?= y", "x \u2603 y"),
        ("=?utf-8?b?4pg=?= =?utf-8?b?gw==?=", "\u2603"),
        ("=?utf-8?b?YQ0KYg==?=", "a  b"),
        ("=?iso-8859-99?q?=E9?=", "=?iso-8859-99?q?=E9?="),
        ("=?punycode?q?abc?=", "=?punycode?q?abc?="),
        ("=?utf-8?b?!!!?=", ""),
        ("=?utf-8?b?abc?=", "=?utf-8?b?abc?="),
        ("=?utf-8?x?abc?=", "=?utf-8?x?abc?="),
        ("=?utf-8*en?q?abc?=", "abc"),
    ],
)
def test_encoded_words_are_decoded_or_left(value: str, text: str) -> None:
    """Encoded words become text of one line; those that cannot be decoded stay as they are."""
    assert decode_words(value) == text


@given(st.binary(max_size=300), st.sampled_from([b"", b"Content-Type: multipart/mixed; boundary=b\n\n--b\n", b"To: "]))
def test_arbitrary_bytes_are_one_clear_error(raw: bytes, before: bytes) -> None:
    """Whatever comes in is a mail or a CodecError, and nothing else."""
    try:
        parse_mail(before + raw)
    except CodecError as wrong:
        assert "\n" not in str(wrong)


OURS = build_mail(HEADERS, BodyForm.TNEF, b"some body")


@given(st.lists(st.tuples(st.integers(0, len(OURS) - 1), st.integers(0, 255)), max_size=4), st.integers(0, len(OURS)))
def test_mutated_mails_are_one_clear_error(changes: list[tuple[int, int]], cut: int) -> None:
    """A mutated or truncated mail of ours is a mail or a CodecError, and nothing else."""
    damaged = bytearray(OURS)
    for at, byte in changes:
        damaged[at] = byte
    for content in (bytes(damaged), bytes(damaged[:cut])):
        try:
            parse_mail(content)
        except CodecError as wrong:
            assert "\n" not in str(wrong)


def nested(depth: int) -> bytes:
    """Multiparts in one another."""
    return b"".join(b"Content-Type: multipart/mixed; boundary=%d\n\n--%d\n" % (n, n) for n in range(depth))


MULTIPART = b"Content-Type: multipart/mixed; boundary=b\n\n"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"X: " + b"y" * MAX_HEADER_SIZE + b"\n\n", "header has more"),
        (b"\n".join([b"X: y"] * (MAX_FIELDS + 1)) + b"\n\n", "fields; at most"),
        (b"X:\n" + b" \n" * (MAX_HEADER_SIZE // 4), "lines; at most"),
        (nested(MAX_DEPTH + 1), "nested"),
        (MULTIPART + b"--b\n" * (MAX_MIME_PARTS + 2), "MIME parts"),
        (MULTIPART + b"--b" * (MAX_BOUNDARIES + 1), "look like a boundary"),
        (b"Content-Type: application/ms-tnef\nContent-Transfer-Encoding: base64\n\nabc", "not base64"),
        (b"Content-Type: application/ms-tnef\nContent-Transfer-Encoding: x-uue\n\nabc", "x-uue"),
    ],
)
def test_what_is_beyond_a_limit_is_refused(content: bytes, reason: str) -> None:
    """Headers, fields, parts, depth and encodings have limits, and the error names the limit. (spec: ML-7)"""
    with pytest.raises(CodecError, match=reason):
        parse_mail(content)


def test_a_mail_beyond_the_size_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mail above the size limit is refused before it is read. (spec: ML-7)"""
    monkeypatch.setattr(message, "MAX_MAIL_SIZE", len(OURS) - 1)
    with pytest.raises(CodecError, match="at most"):
        parse_mail(OURS)
