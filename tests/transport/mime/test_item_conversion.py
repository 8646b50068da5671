"""Ordinary mail as items, and back: nothing of it is lost, whatever its form."""

from __future__ import annotations

import email
import email.policy
from base64 import b64encode
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.real_world_mails import HAND_MADE, cpython_mails
from transport.errors import CodecError
from transport.mapi.item import Item, decode_item, encode_item
from transport.mapi.property_tags import (
    PR_ATTACH_DATA_BIN,
    PR_ATTACH_LONG_FILENAME,
    PR_BODY,
    PR_BODY_HTML,
    PR_INTERNET_MESSAGE_ID,
    PR_SENDER_EMAIL_ADDRESS,
    PR_SENDER_NAME,
    PR_SUBJECT,
)
from transport.mime.item_conversion import (
    MAX_SHOWN_TEXT,
    PR_PFLAB_MAIL,
    PR_PFLAB_MAIL_CUTS,
    edit_mail,
    mail_of_item,
    post_of_mail,
)
from transport.mime.message import MAX_DEPTH, MAX_MIME_PARTS
from transport.mime.parts import parameters


def item_of(mail: bytes) -> Item:
    """The mail's item, once encoded and decoded as for a journey."""
    post = post_of_mail(mail)
    return decode_item(encode_item(Item(post.props, post.recipients, post.attachments)))


def back(item: Item) -> bytes:
    return mail_of_item(item, message_id="1@pflab.test", sender="folder@pflab.test")


def with_file(body: bytes, encoding: bytes = b"base64") -> bytes:
    """A mail that is one file."""
    return b"Content-Type: application/x; name=f\r\nContent-Transfer-Encoding: " + encoding + b"\r\n\r\n" + body


def names(item: Item) -> list[Any]:
    return [bag[PR_ATTACH_LONG_FILENAME] for bag in item.attachments]


def data(item: Item) -> list[Any]:
    return [bag[PR_ATTACH_DATA_BIN] for bag in item.attachments]


# --- exact


def test_cpythons_own_mails_come_out_as_they_went_in() -> None:
    """Every message of CPython's email tests is the same to the byte after it was an item (spec: ML-5)."""
    for name, mail in cpython_mails().items():
        assert back(item_of(mail)) == mail, name


@pytest.mark.parametrize("name", HAND_MADE)
def test_awkward_mail_comes_out_as_it_went_in(name: str) -> None:
    """Broken headers, unknown character sets, missing boundaries, NULs: every byte survives (spec: ML-5)."""
    assert back(item_of(HAND_MADE[name])) == HAND_MADE[name]


@given(st.binary(max_size=400), st.sampled_from(sorted(HAND_MADE)), st.integers(0, 2000))
def test_damaged_mail_comes_out_as_it_went_in(noise: bytes, name: str, at: int) -> None:
    """For any bytes in a mail, no byte is lost and nothing fails (spec: ML-5)."""
    mail = HAND_MADE[name]
    at %= len(mail) + 1
    damaged = mail[:at] + noise + mail[at:]
    assert back(item_of(damaged)) == damaged


@given(st.binary(max_size=3000), st.sampled_from([4, 60, 72, 76, 996]), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_any_base64_comes_out_as_it_went_in(file: bytes, columns: int, line_end: str, ended: bool) -> None:
    """An attachment's base64 in lines of any length comes back to the byte, and its data is decoded."""
    text = b64encode(file).decode()
    lines = [text[at : at + columns] for at in range(0, len(text), columns)]
    body = line_end.join(lines) + (line_end if ended else "")
    head = f'Content-Type: application/x; name="f"{line_end}Content-Transfer-Encoding: base64{line_end}{line_end}'
    mail = (head + body).encode()
    item = item_of(mail)
    assert back(item) == mail
    assert data(item) == [file]


def test_a_large_attachment_is_kept_once() -> None:
    """An item with a mail of 3 MB is not much larger than the decoded attachment: nothing is kept twice."""
    file = bytes(range(256)) * 8192
    mail = email.message.EmailMessage()
    mail["Subject"] = "large"
    mail.set_content("see the file")
    mail.add_attachment(file, "application", "octet-stream", filename="f.bin")
    content = mail.as_bytes(policy=email.policy.SMTP)
    post = post_of_mail(content)
    assert len(encode_item(Item(post.props, post.recipients, post.attachments))) < len(file) + 10_000 < len(content)
    assert back(item_of(content)) == content


# --- what people see


def test_cpythons_attachments_are_those_that_its_email_package_finds() -> None:
    """In valid multipart mails, each part that is not shown as the text is an attachment with the decoded data."""
    mails = cpython_mails()
    for name in ("msg_04.txt", "msg_07.txt", "msg_13.txt", "msg_22.txt", "msg_26.txt", "msg_36.txt", "msg_45.txt"):
        parsed = email.message_from_bytes(mails[name])
        files = [part for part in parsed.walk() if part.get_filename() is not None and not part.is_multipart()]
        item = item_of(mails[name])
        found = dict(zip(names(item), data(item), strict=True))
        for part in files:
            assert found[part.get_filename()] == part.get_payload(decode=True), name


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("rfc 2231 name", ["Grö%C3 staysße.bin"]),
        ("rfc 2047 name", ["Größe.bin"]),
        ("broken name", ["no end; ="]),
        ("name with a path", ["../../etc/passwd"]),
        ("nested message", ["part-2.eml"]),
        ("digest", ["part-1.eml", "part-2.eml"]),
        ("text as attachment", ["part-1.txt"]),
    ],
)
def test_attachments_have_the_names_that_they_came_with(name: str, shown: list[str]) -> None:
    """Names by RFC 2231 and 2047 are decoded, malformed ones as far as possible; missing ones are generated."""
    assert names(item_of(HAND_MADE[name])) == shown


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("raw 8-bit header", "x\n"),
        ("untrue charset", "äö\n"),
        ("unknown charset", "\\xe4\\xf6\n"),
        ("shift_jis", "日本語"),
        ("koi8", "привет"),
        ("nul bytes", "before\0after\0"),
        ("multipart without boundary", ""),
        ("no header", "only a body\n"),
    ],
)
def test_text_is_shown_in_whatever_charset_it_came(name: str, text: str) -> None:
    """The text is decoded by the mail's charset, or by the likeliest one if that is wrong."""
    assert item_of(HAND_MADE[name]).props[PR_BODY] == text


def test_of_alternatives_text_and_html_are_shown() -> None:
    """Text and HTML of a multipart/alternative become the two bodies, not attachments."""
    item = item_of(HAND_MADE["alternative"])
    assert (item.props[PR_BODY], item.props[PR_BODY_HTML], item.attachments) == ("plain", b"<p>html</p>", ())


@pytest.mark.parametrize(
    ("name", "subject", "sender"),
    [
        ("raw 8-bit header", "Größe €", "Jürgen"),
        ("raw latin-1 header", "Größe", "Jürgen"),
        ("iso-2022-jp", "日本語", ""),
        ("nul bytes", "a b", ""),
        ("twice the same field", "one", ""),
    ],
)
def test_headers_are_shown_decoded(name: str, subject: str, sender: str) -> None:
    """Subjects and senders are decoded as far as possible, and are one line each."""
    props = item_of(HAND_MADE[name]).props
    assert (props[PR_SUBJECT], props[PR_SENDER_NAME]) == (subject, sender)


def test_a_long_text_is_shown_in_part_and_kept_whole() -> None:
    """PR_BODY has the beginning of a huge text; PFLAB_MAIL has all of it."""
    mail = b"Subject: long\r\n\r\n" + b"x" * (MAX_SHOWN_TEXT + 5)
    item = item_of(mail)
    assert item.props[PR_BODY] == "x" * MAX_SHOWN_TEXT
    assert back(item) == mail


def test_parameters_are_read_linearly() -> None:
    """Header values that are made to be slow are read in linear time."""
    for hostile in (";" * 200_000, ';a="' * 50_000, "; a" + " " * 200_000, ';a*0="x"' * 30_000):
        assert len(parameters(hostile)) <= 100


# --- limits


@pytest.mark.parametrize(
    ("mail", "said"),
    [
        (b"".join(b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (n, n) for n in range(50)), "nested"),
        (b"Content-Type: multipart/mixed; boundary=b\n\n" + b"--b\n\nx\n" * (MAX_MIME_PARTS + 1), "MIME parts"),
        (b"X: y\n" * 2000 + b"\n", "fields; at most"),
        (b"X" * 300_000, "header has more than"),
    ],
)
def test_hostile_mail_gives_one_clear_error(mail: bytes, said: str) -> None:
    """Nesting, parts and headers beyond their limits are one CodecError (spec: ML-7)."""
    with pytest.raises(CodecError, match=said):
        post_of_mail(mail)
    assert MAX_DEPTH < 50


@pytest.mark.parametrize(
    "cuts", [(1,), (0, 5, 0, 0), (10**6, 0, 0, 0), (0, 0, 3, 0), (0, 0, 4, 9), (-1, 0, 0, 0), (9, 0, 0, 0, 0, 0, 0, 0)]
)
def test_cuts_that_do_not_fit_are_one_error(cuts: tuple[int, ...]) -> None:
    """If PFLAB_MAIL and PFLAB_MAIL_CUTS do not match, the export of that item raises CodecError."""
    item = item_of(HAND_MADE["8-bit attachment"])
    with pytest.raises(CodecError):
        back(Item({**item.props, PR_PFLAB_MAIL_CUTS: cuts}, (), item.attachments))


# --- edited and new


def test_a_new_subject_goes_into_the_mail() -> None:
    """After an edit of only the subject, the mail differs only in its Subject field."""
    mails = {**cpython_mails(), **HAND_MADE}
    for name, mail in mails.items():
        item = item_of(mail)
        before, props = back(item), dict(item.props)
        edit_mail(props, subject="Zwölf Größen", body=None)
        after = back(Item(props, item.recipients, item.attachments))
        again = item_of(after)
        assert again.props[PR_SUBJECT] == "Zwölf Größen", name
        if not name.startswith(("python.", "sndhdr.")):
            assert data(again) == data(item), name
            assert again.props[PR_BODY] == item.props[PR_BODY], name
        assert abs(len(after) - len(before)) < 200 + len(str(item.props[PR_SUBJECT])) * 4


def test_an_edited_text_makes_a_new_mail() -> None:
    """After an edit of the text, the export is a new mail with the same attachments, which Python's email package
    reads as we do.
    """
    for name, mail in {**cpython_mails(), **HAND_MADE}.items():
        item = item_of(mail)
        props = dict(item.props)
        edit_mail(props, subject=None, body="new")
        assert PR_PFLAB_MAIL not in props
        props[PR_BODY] = "new Größe"
        written = back(Item(props, item.recipients, item.attachments))
        again = item_of(written)
        assert (again.props[PR_BODY], data(again)) == ("new Größe", data(item)), name
        parsed = email.message_from_bytes(written, policy=email.policy.default)
        assert not parsed.defects, name
        assert [each.get_payload(decode=True) for each in parsed.iter_attachments() if not each.is_multipart()] == [
            each for each, kind in zip(data(item), _kinds(parsed), strict=True) if kind != "message/rfc822"
        ], name
        shown = [each.get_filename() for each in parsed.iter_attachments()]
        assert shown == [" ".join(str(each).split()) if each else each for each in names(item)], name


def _kinds(parsed: Any) -> list[str]:
    return [each.get_content_type() for each in parsed.iter_attachments()]


def test_a_post_that_never_was_a_mail_is_written_as_one() -> None:
    """An item with a subject, a sender and a text becomes a mail from the folder in the sender's name."""
    item = Item({PR_SUBJECT: "Größe", PR_BODY: "a\nb", PR_SENDER_NAME: "kim", PR_SENDER_EMAIL_ADDRESS: "Kim, of Sales"})
    parsed = email.message_from_bytes(back(item), policy=email.policy.default)
    assert (parsed["subject"], parsed["message-id"]) == ("Größe", "<1@pflab.test>")
    assert parsed["from"].addresses[0].addr_spec == "folder@pflab.test"
    assert parsed["from"].addresses[0].display_name == "Kim, of Sales"
    assert parsed.get_content().splitlines() == ["a", "b"]
    kept = Item({**item.props, PR_SENDER_EMAIL_ADDRESS: "kim@x.test", PR_INTERNET_MESSAGE_ID: "7@x.test"})
    assert b"From: <kim@x.test>\r\n" in back(kept)
    assert b"Message-ID: <7@x.test>\r\n" in back(kept)


# --- what cannot be decoded


@pytest.mark.parametrize("body", [b"====", b"=", b"!!!!\r\n", b"QQ", b"QUJDR", b"\xff\xfe", b"= =\r\n=="])
def test_malformed_base64_is_kept_as_it_is(body: bytes) -> None:
    """A file with unreadable base64 has the bytes as they came; it is never an empty file."""
    item = item_of(with_file(body))
    assert data(item) == [body]
    assert back(item) == with_file(body)


@pytest.mark.parametrize("body", [b"=", b"=\r\n=\r\n"])
def test_quoted_printable_without_a_result_is_kept_as_it_is(body: bytes) -> None:
    """If decoding leaves nothing, the encoded bytes are shown."""
    assert data(item_of(with_file(body, b"quoted-printable"))) == [body]


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        (b"QUI=\r\nQ0Q=\r\n", b"ABCD"),
        (b"QU\r\n\r\nI=Q0RF\r\nRg==", b"ABCDEF"),
        (b"QUI=\r\n____\r\na list's last words\r\n", b"AB"),
        (b"", b""),
        (b"\r\n", b""),
    ],
)
def test_base64_that_begins_again_is_read_to_its_end(body: bytes, shown: bytes) -> None:
    """Pieces with ends of their own are one file; the footer of a mailing list is not part of it; an empty file stays
    empty.
    """
    item = item_of(with_file(body))
    assert data(item) == [shown]
    assert back(item) == with_file(body)
