"""The control properties of a replication mail are declared once, and a mail in which one of them is wrong is bad mail."""

from __future__ import annotations

from dataclasses import replace

import pytest

from node.codec import replication_message
from node.codec.items import ROOT
from node.codec.replication_message import (
    P_SECTIONS,
    P_SIGNATURE,
    MessageType,
    ReplicationMail,
    Section,
    decode,
    encode,
)
from node.codec.signing import Verifier
from node.errors import BadMail
from node.tracking.number_sets import NumberSets
from tests.support.post_office import AUTHORITY
from transport.mapi.properties import decode_bag, encode_bag
from transport.mapi.system_message import SystemMessage

IDENTITY = AUTHORITY.identity("A")
STATUS = ReplicationMail(
    MessageType.STATUS, "A", bytes(16), 0, 1, 1, "1@A", (Section(ROOT, NumberSets.EMPTY),), in_reply_to="2@B"
)


class Trusting(Verifier):
    """Takes every signature for valid, so that the test sees what is behind it."""

    def verify(self, store: str, certificate: bytes, signature: bytes, data: bytes) -> bool:
        return True


def read(message: SystemMessage) -> ReplicationMail:
    return decode(message, Trusting(IDENTITY.authority_key))


def test_what_is_written_is_read() -> None:
    """A mail that is encoded and decoded is the same mail, with its properties in the order of the tables."""
    message = encode(STATUS, IDENTITY)
    assert read(message) == STATUS
    assert list(message.props) == list(replication_message._MAIL)


@pytest.mark.parametrize("value", [None, 1.5])
@pytest.mark.parametrize("tag", [tag for tag in replication_message._MAIL if tag != P_SIGNATURE])
def test_a_mail_with_a_wrong_property_is_bad(tag: int, value: float | None) -> None:
    """A control property that is missing or has the wrong type makes a mail bad, and the reason names it (spec: IN-5)."""
    message = encode(STATUS, IDENTITY)
    props = {**message.props, tag: value} if value is not None else {t: v for t, v in message.props.items() if t != tag}
    with pytest.raises(BadMail, match=f"(?i)property {tag:#010x} "):
        read(replace(message, props=props))


@pytest.mark.parametrize("tag", [tag for tag, prop in replication_message._SECTION.items() if prop.default is None])
def test_a_section_with_a_missing_property_is_bad(tag: int) -> None:
    """A section that lacks a required property makes its mail bad (spec: IN-5)."""
    message = encode(STATUS, IDENTITY)
    (section,) = message.props[P_SECTIONS]  # type: ignore[misc,union-attr]
    assert isinstance(section, bytes)
    cut = {t: v for t, v in decode_bag(section).items() if t != tag}
    with pytest.raises(BadMail, match=f"{tag:#010x} is missing"):
        read(replace(message, props={**message.props, P_SECTIONS: (encode_bag(cut),)}))
