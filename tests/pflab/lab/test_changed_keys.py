"""A lab file has no key of a lab with a secret: the mail under way is signed again with the keys of the file's seed."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing

import pytest

from node.agent.incoming import decode_body
from node.codec.signing import LabAuthority, Verifier
from node.errors import BadMail
from node.store.changed_keys import with_keys
from pflab.faults.fault import Hold
from pflab.lab.servers import authority_of
from pflab.simulation.simulator import Simulator
from tests.support.lab_files import with_database
from topology.file.load import topology_from_text
from traces.labtime import HOUR_US
from transport.mime.message import BodyForm, system_body

BEFORE, AFTER = authority_of("a secret that stays in its lab"), authority_of(1)

VERSIONS = """
sites: [SEA, NYC]
servers:
  A: {site: SEA, version: "5.5"}
  B: {site: SEA, version: "2000"}
  C: {site: NYC, version: "2003"}
  D: {site: NYC, version: "2007"}
connectors: [{between: [SEA, NYC]}]
folders: {Projects: {replicas: [A, B, C, D]}}
"""


async def databases() -> Sequence[bytes]:
    """Return the databases of a lab with a secret, in whose queues mails of all versions wait."""
    lab = Simulator(topology_from_text(VERSIONS), secret="a secret that stays in its lab")
    async with lab:
        for name in "ABCD":
            lab.faults.inject(Hold(from_=name, lasts="1 d"))
            await lab.do(name, lambda node, now: node.post(now, "Projects", subject="Hello"))
        await lab.advance(lab.now + HOUR_US)
        return [lab.read(name, lambda node: node.backup()) for name in "ABCD"]


def mails(database: bytes) -> list[bytes]:
    with closing(sqlite3.connect(":memory:")) as opened:
        opened.deserialize(database)
        return [row[0] for row in opened.execute("SELECT bytes FROM mta_content ORDER BY id")]


def is_signed(content: bytes, authority: LabAuthority) -> bool:
    found = system_body(content)
    assert found is not None
    try:
        decode_body(*found, Verifier(authority.identity("").authority_key))
    except BadMail:
        return False
    return True


async def test_mail_of_every_version_is_signed_again() -> None:
    """Each form of a replication mail is signed by the keys of the other authority, and is else the same."""
    forms = set()
    for database in await databases():
        again = with_keys(database, BEFORE, AFTER)
        for old, new in zip(mails(database), mails(again), strict=True):
            assert is_signed(old, BEFORE)
            assert not is_signed(old, AFTER)
            assert is_signed(new, AFTER)
            assert not is_signed(new, BEFORE)
            assert len(new) == len(old)
            found = system_body(new)
            assert found is not None
            forms.add(found[0])
        assert mails(with_keys(again, AFTER, BEFORE)) == mails(database)
    assert forms == {BodyForm.TNEF, BodyForm.S_TNEF, BodyForm.MDBEF}


async def test_a_forged_mail_is_not_signed() -> None:
    """A mail that a stranger put into a queue stays what it is: nobody outside of the organization can change state."""
    [database, *_] = await databases()
    strangers = with_keys(database, BEFORE, authority_of("a stranger"))
    assert mails(strangers)
    assert mails(with_keys(strangers, BEFORE, AFTER)) == mails(strangers)


@pytest.mark.parametrize(
    "content", [b"", b"Subject: x\r\n\r\ny\r\n", b"Content-Type: application/ms-tnef\r\n\r\n\xff\xff"]
)
async def test_what_is_no_replication_mail_stays(content: bytes) -> None:
    """A mail that cannot be read is left alone."""
    [database, *_] = await databases()
    other = with_database(database, lambda opened: opened.execute("UPDATE mta_content SET bytes = ?", (content,)))
    assert set(mails(with_keys(other, BEFORE, AFTER))) == {content}


async def test_held_and_kept_mails_are_signed_too() -> None:
    """Those that wait for their folder, and those of a store whose agent is disabled."""
    [database, *_] = await databases()
    [content, *_] = mails(database)

    def keep(opened: sqlite3.Connection) -> None:
        opened.execute("INSERT INTO waiting (sender, content) VALUES ('B', ?)", (content,))
        opened.execute(
            "INSERT INTO held (waits_for, kind, object, numbers, until_at, sender, payload)"
            " VALUES (x'', 'mail', x'', x'', 0, '', ?)",
            (content,),
        )

    with closing(sqlite3.connect(":memory:")) as opened:
        opened.deserialize(with_keys(with_database(database, keep), BEFORE, AFTER))
        kept = [
            opened.execute(f"SELECT {column}").fetchone()[0] for column in ("content FROM waiting", "payload FROM held")
        ]
    assert all(is_signed(each, AFTER) for each in kept)
