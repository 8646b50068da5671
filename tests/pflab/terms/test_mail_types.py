"""The names of mail types and marks by which pflab judges a run are those that stores use."""

from __future__ import annotations

from node.codec.replication_message import UPDATES as SENT_UPDATES
from node.codec.replication_message import MessageType
from node.mail.send import _MARK_TEXTS
from pflab.terms.mail_types import UPDATES, MailKind, Mark, mail_name


def test_judges_know_every_type_of_mail_that_stores_send() -> None:
    """OUT-6: the types are those of replication mail, by name and number."""
    assert {kind.name: kind.value for kind in MailKind} == {kind.name: kind.value for kind in MessageType}
    assert set(UPDATES) == {int(kind) for kind in SENT_UPDATES}


def test_judges_know_every_mark_that_stores_set() -> None:
    """The marks are the words that stores record."""
    assert {mark.value for mark in Mark} == set(_MARK_TEXTS.values())


def test_types_are_named_as_scenarios_name_them() -> None:
    """A known type has its name in words, an unknown one its number."""
    assert mail_name(0x80000004) == "content response"
    assert mail_name(0x40) == "type 0x40"
