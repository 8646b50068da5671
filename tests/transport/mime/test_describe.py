"""A mail explained: every property by name, nothing an error, nothing that a terminal would obey."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.property_bags import embedded_attachment
from transport.errors import CodecError
from transport.mapi import property_tags
from transport.mapi.item import Item, encode_item, file_attachment
from transport.mapi.mdbef import encode_mdbef
from transport.mapi.properties import NamedTag, PropType, Value, filetime
from transport.mapi.property_tags import (
    PR_CHANGE_KEY,
    PR_CNSET_SEEN,
    PR_DISPLAY_NAME,
    PR_LAST_MODIFICATION_TIME,
    PR_SUBJECT,
    TAG_NAMES,
    tag_name,
)
from transport.mapi.system_message import Part, RawAttribute, SystemMessage
from transport.mapi.tnef import encode_tnef
from transport.mime.describe import (
    MAX_TEXT,
    Branch,
    describe_bag,
    describe_mail,
    outline,
    property_label,
    safe_text,
    value_text,
)
from transport.mime.message import BodyForm, MailHeaders, build_mail

AT = 1_066_695_300_000_000
HEADERS = MailHeaders("i@x", "a@x", ("b@x",), "Folder \u0007Content", AT)
INNER = encode_item(Item({PR_SUBJECT: "inside"}))
ITEM = encode_item(
    Item(
        {PR_SUBJECT: "Hello", PR_LAST_MODIFICATION_TIME: filetime(AT)},
        ({PR_DISPLAY_NAME: "Bob"},),
        (file_attachment("a.txt", b"text"), embedded_attachment(INNER)),
    )
)
MESSAGE = SystemMessage(
    {PR_CNSET_SEEN: b"\1\2"},
    (Part(ITEM, {PR_CHANGE_KEY: b"key"}), Part(b"broken", {})),
    (RawAttribute(0x0006FE01, b"new"),),
)


def lines(content: bytes) -> list[str]:
    """The tree as text, two blanks a level."""
    return ["  " * depth + line for depth, line in outline(describe_mail(content))]


@pytest.mark.parametrize("form", list(BodyForm))
def test_a_mail_is_shown_down_to_each_property(form: BodyForm) -> None:
    """Headers, control properties, parts, recipients, attachments and embedded messages are shown. (spec: ML-2)"""
    body = encode_mdbef(MESSAGE) if form is BodyForm.MDBEF else encode_tnef(MESSAGE)
    shown = lines(build_mail(HEADERS, form, body))
    assert shown[shown.index(f"  body: {form}, {len(body)} bytes") + 1 :] == [
        "    control properties: 1",
        "      PR_CNSET_SEEN 0x67960102: 0102 (2 bytes)",
        "    unknown TNEF attribute 0x0006fe01: 6e6577 (3 bytes)",
        "    parts: 2",
        f"      part 1: {len(ITEM)} bytes",
        "        beside the item: 1 property",
        "          PR_CHANGE_KEY 0x65E20102: 6b6579 (3 bytes)",
        "        item: 2 properties",
        '          PR_SUBJECT 0x0037001F: "Hello"',
        "          PR_LAST_MODIFICATION_TIME 0x30080040: 2003-10-21T00:15:00Z",
        "          recipient 1",
        '            PR_DISPLAY_NAME 0x3001001F: "Bob"',
        "          attachment 1",
        "            PR_ATTACH_METHOD 0x37050003: 1 (0x1)",
        '            PR_ATTACH_LONG_FILENAME 0x3707001F: "a.txt"',
        "            PR_ATTACH_DATA_BIN 0x37010102: 74657874 (4 bytes)",
        "          attachment 2",
        "            PR_ATTACH_METHOD 0x37050003: 5 (0x5)",
        "            embedded message: 1 property",
        '              PR_SUBJECT 0x0037001F: "inside"',
        "      part 2: 6 bytes",
        "        beside the item: 0 properties",
        "        item: damaged: not a TNEF stream: it starts with 62726f6b, not 789f3e22",
    ]
    assert "    Message-ID: <i@x>" in shown


def test_interpreters_replace_raw_values() -> None:
    """The text of an interpreter replaces the raw value; if the interpreter fails, the value stays. (spec: ML-2)"""

    def broken(_: Value) -> str:
        raise CodecError("no set")

    bag = {PR_CNSET_SEEN: b"\1", PR_CHANGE_KEY: b"\2"}
    shown = describe_bag(bag, {PR_CNSET_SEEN: lambda value: f"{value!r} = A-1..5", PR_CHANGE_KEY: broken})
    assert [one.text for one in shown] == ["b'\\x01' = A-1..5", "02 (1 bytes) (not understood: no set)"]


def test_other_mail_is_described_too() -> None:
    """Ordinary mail, a foreign winmail.dat and garbage are described, not refused."""
    assert "  body: ordinary mail, no system message" in lines(b"From: a@x\r\n\r\nhello")
    foreign = encode_item(Item({PR_SUBJECT: "theirs"}, (), (file_attachment("a.txt", b"x"),)))
    shown = lines(build_mail(HEADERS, BodyForm.TNEF, foreign))
    assert '      PR_SUBJECT 0x0037001F: "theirs"' in shown
    assert any("no system message" in line for line in lines(build_mail(HEADERS, BodyForm.MDBEF, b"garbage")))
    assert any("damaged" in line for line in lines(build_mail(HEADERS, BodyForm.TNEF, b"garbage")))


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        (PropType.BOOLEAN, True, "true"),
        (PropType.LONG, -16, "-16 (-0x10)"),
        (PropType.DOUBLE, 0.5, "0.5"),
        (PropType.NULL, None, "null"),
        (PropType.STRING8, b"caf\xe9", '"caf\u00e9"'),
        (PropType.SYSTIME, 1 << 63, f"{1 << 63} (FILETIME of no year that has four digits)"),
        (PropType.BINARY, bytes(49), "00" * 48 + "... (49 bytes)"),
        (PropType.LONG | 0x1000, (1, 2), "[1 (0x1), 2 (0x2)]"),
        (PropType.BOOLEAN | 0x1000, (True,) * 21, "[" + ", ".join(["true"] * 20) + ", ... (21 values)]"),
    ],
)
def test_every_type_has_its_text(kind: int, value: Value, text: str) -> None:
    """A value is shown by its type, and cut if it is long."""
    assert value_text(kind, value) == text


@given(st.text(max_size=MAX_TEXT))
def test_no_control_character_reaches_the_terminal(text: str) -> None:
    """Control characters, line ends and direction marks of a mail are escaped. (spec: ML-7)"""
    assert safe_text(text).isprintable()
    assert safe_text("\x1b[2J\u202e\n") == "\\x1b[2J\\u202e\\n"
    assert safe_text("x" * (MAX_TEXT + 1)).endswith(f"... ({MAX_TEXT + 1} characters)")


def test_names_of_further_tags_can_be_passed() -> None:
    """Tags without a name get the one that is passed, also in branches of interpreters; header fields do not."""
    own = 0x67110003

    def explain(_: Value) -> tuple[Branch, ...]:
        return describe_bag({own: 2}, {})

    mail = build_mail(HEADERS, BodyForm.TNEF, encode_tnef(SystemMessage({own: 1, PR_CNSET_SEEN: b""})))
    tree = describe_mail(b"0x67110003: theirs\r\n" + mail, {PR_CNSET_SEEN: explain}, {own: "OUR_TYPE"})
    shown = [line.strip() for _, line in outline(tree)]
    assert [line for line in shown if "0x67110003" in line] == [
        "0x67110003: theirs",
        "OUR_TYPE 0x67110003: 1 (0x1)",
        "OUR_TYPE 0x67110003: 2 (0x2)",
    ]


@pytest.mark.parametrize("content", [b"", b"\r\n", b"# A page\n", b"title: x\nsteps: []\n", bytes(range(256))])
def test_what_is_no_mail_is_an_error(content: bytes) -> None:
    """A file without any field that mails have is not described as a mail."""
    with pytest.raises(CodecError, match="not a mail"):
        describe_mail(content)


def test_tags_have_names() -> None:
    """Known tags have names, 8-bit strings those of the Unicode tags; unknown and named tags are shown by their values."""
    assert property_label(PR_SUBJECT) == "PR_SUBJECT 0x0037001F"
    assert property_label(0x0037001E) == "PR_SUBJECT 0x0037001E"
    assert property_label(0x12340003) == "0x12340003"
    assert property_label(NamedTag(3, bytes(16), "Hue")) == "00000000000000000000000000000000/'Hue':0x0003"
    assert tag_name(0x001A001E) == "PR_MESSAGE_CLASS"
    assert len(TAG_NAMES) == sum(name.startswith("PR_") for name in vars(property_tags))
