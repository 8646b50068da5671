"""Replication mail that is decoded, changed and signed again, with its author's key or another."""

from __future__ import annotations

from collections.abc import Callable

from node.codec.replication_message import ReplicationMail, decode, encode
from tests.support.post_office import AUTHORITY, PostOffice
from transport.envelope import IncomingHop
from transport.mapi.system_message import SystemMessage
from transport.mapi.tnef import decode_tnef, encode_tnef
from transport.mime.message import BodyForm, MailHeaders, build_mail, parse_mail

HEADERS = MailHeaders("forged@x.test", "A-IS@contoso.test", ("B-IS@contoso.test",), "Folder Content", 0)
HOP = IncomingHop("A", None, 0, authenticated=True, system=True)


def wrapped(message: SystemMessage) -> bytes:
    return build_mail(HEADERS, BodyForm.TNEF, encode_tnef(message))


def message_in(content: bytes) -> SystemMessage:
    body = parse_mail(content).body
    assert body is not None
    return decode_tnef(body)


def altered(office: PostOffice, content: bytes, change: Callable[[ReplicationMail], ReplicationMail]) -> bytes:
    """Return a mail with other contents, signed by A."""
    mail = decode(message_in(content), office["A"]._present().verifier)
    return wrapped(encode(change(mail), AUTHORITY.identity("A")))
