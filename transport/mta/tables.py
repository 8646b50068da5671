"""The MTA's tables: mail contents, queue rows, the time at which each slow link is free, and the state of links.

A mail's content is stored once; a queue row is one copy of it for one next server. Instants are lab time in microseconds.
"""

from typing import Final

MAIL_TABLES: Final = (
    # `bytes` is the last column, so that reading other columns never reads the overflow pages of a large mail.
    """
    CREATE TABLE mta_content (
        id INTEGER PRIMARY KEY,
        message_id TEXT NOT NULL,
        sender TEXT NOT NULL,
        subject TEXT NOT NULL,
        priority INTEGER NOT NULL,
        lamport INTEGER NOT NULL,
        size INTEGER NOT NULL,
        far_size INTEGER NOT NULL DEFAULT 0,  -- on a connector, for which a binary body is encoded
        system INTEGER NOT NULL DEFAULT 0,  -- 1: a system message, which XEXCH50 marks on each hop
        bytes BLOB NOT NULL
    )
    """,
    # An id is never reused, so a late report of an attempt cannot change another mail.
    """
    CREATE TABLE mta_queue (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        content_id INTEGER NOT NULL REFERENCES mta_content (id),
        next_hop TEXT,  -- NULL: there is no route at the moment
        connector TEXT,
        recipients TEXT NOT NULL,  -- one address in each line; no address contains a line end
        priority INTEGER NOT NULL,
        due_at INTEGER NOT NULL,
        expires_at INTEGER NOT NULL,
        attempts INTEGER NOT NULL DEFAULT 0,
        starts_at INTEGER,  -- when the copy begins to occupy its link; NULL: the link is not slow
        transfer_us INTEGER NOT NULL DEFAULT 0,  -- for how long it occupies the link
        last_error TEXT NOT NULL DEFAULT ''
    )
    """,
    "CREATE INDEX mta_queue_content ON mta_queue (content_id)",
    "CREATE INDEX mta_queue_link ON mta_queue (connector, next_hop, priority, starts_at) WHERE starts_at IS NOT NULL",
    "CREATE INDEX mta_queue_order ON mta_queue (priority, due_at, id)",
    "CREATE INDEX mta_queue_unrouted ON mta_queue (due_at) WHERE next_hop IS NULL",
    """
    CREATE TABLE mta_link_free (
        connector TEXT NOT NULL,
        next_hop TEXT NOT NULL,  -- the direction: this server is the sender
        free_at INTEGER NOT NULL,
        PRIMARY KEY (connector, next_hop)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE mta_link_report (
        connector TEXT NOT NULL,
        server TEXT NOT NULL,  -- which made the report, at one end of the connector
        at INTEGER NOT NULL,
        down INTEGER NOT NULL,
        lamport INTEGER NOT NULL,
        PRIMARY KEY (connector, server)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE mta_link_failure (
        connector TEXT PRIMARY KEY NOT NULL,
        failures INTEGER NOT NULL,  -- how many attempts of this server failed in a row
        failed_at INTEGER NOT NULL
    ) WITHOUT ROWID
    """,
    # Transmissions without a mail; see transport.mta.link_monitor.
    """
    CREATE TABLE mta_link_call (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        next_hop TEXT NOT NULL,
        connector TEXT,
        due_at INTEGER NOT NULL,
        attempts INTEGER NOT NULL
    )
    """,
)
