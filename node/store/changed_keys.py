"""Signs the mail that is under way in a copied store again, with the keys of another authority.

The keys of a lab in containers derive from its secret, which never leaves the lab. So a copy of the lab that somebody else
continues has other keys, and its stores would put every mail aside that was under way when the lab was copied: in the queue, in
the message queue of replication, or kept for a store whose agent is disabled. `with_keys` signs these mails again.

What must never happen: a signature for a mail that its store did not sign. A forged mail waits in a queue like any other.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Final

from node.agent.incoming import DECODERS
from node.codec.replication_message import signed_again
from node.codec.signing import LabAuthority
from node.mail.send import ENCODERS
from node.state.held_messages import MAIL
from transport.errors import CodecError
from transport.mime.message import system_body, with_body
from transport.sql import Statement

MAILS: Final = (
    (
        Statement("SELECT id, bytes FROM mta_content WHERE system = 1 ORDER BY id"),
        Statement("UPDATE mta_content SET bytes = ? WHERE id = ?"),
    ),
    (
        Statement("SELECT id, content FROM waiting ORDER BY id"),
        Statement("UPDATE waiting SET content = ? WHERE id = ?"),
    ),
    (
        Statement(f"SELECT id, payload FROM held WHERE kind = '{MAIL}' ORDER BY id"),
        Statement("UPDATE held SET payload = ? WHERE id = ?"),
    ),
)
"""How to read the mails of each table, and how to replace one."""


def with_keys(database: bytes, before: LabAuthority, after: LabAuthority) -> bytes:
    """Return a copy of a store's database in which the mail under way is signed again.

    before: the authority of the lab that was copied.
    after: the authority of the lab that continues it.
    """
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as opened:
        opened.deserialize(database)
        for query, replace in MAILS:
            for row, content in opened.execute(query).fetchall():
                if (again := _signed_again(content, before, after)) is not None:
                    opened.execute(replace, (again, row))
        return bytes(opened.serialize())


def _signed_again(content: bytes, before: LabAuthority, after: LabAuthority) -> bytes | None:
    """Return a mail signed again; None if its store has not signed it, or if a foreign relay has changed its form."""
    try:
        form_and_body = system_body(content)
        if form_and_body is None:
            return None
        form, body = form_and_body
        message = DECODERS[form](body)
        signed = signed_again(message, before, after)
    except CodecError:
        return None
    return None if signed is None else with_body(content, ENCODERS[form](signed))
