"""The MTA's tables: mail contents, queue rows, the time at which each slow link is free, and the state of links.

A mail's content is stored once; a queue row is one copy of it for one next server. Instants are lab time in microseconds.
"""

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Integer, LargeBinary, MetaData, Table, Text

metadata = MetaData()

content = Table(
    "mta_content",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("message_id", Text, nullable=False),
    Column("sender", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("priority", Integer, nullable=False),
    Column("lamport", BigInteger, nullable=False),
    Column("size", Integer, nullable=False),
    # The size on a connector. It differs from `size` for a binary body, which is encoded for the connector.
    Column("far_size", Integer, nullable=False, server_default="0"),
    # Whether it is a system message, which XEXCH50 marks on each hop.
    Column("system", Integer, nullable=False, server_default="0"),
    # This is the last column, so that reading other columns never reads the overflow pages of a large mail.
    Column("bytes", LargeBinary, nullable=False),
)

queue = Table(
    "mta_queue",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("content_id", Integer, ForeignKey(content.c.id), nullable=False),
    # NULL: there is no route at the moment.
    Column("next_hop", Text),
    Column("connector", Text),
    # One address in each line; no address contains a line end.
    Column("recipients", Text, nullable=False),
    Column("priority", Integer, nullable=False),
    Column("due_at", BigInteger, nullable=False),
    Column("expires_at", BigInteger, nullable=False),
    Column("attempts", Integer, nullable=False, server_default="0"),
    # When the copy begins to occupy its link, and for how long; NULL if it does not cross a slow link.
    Column("starts_at", BigInteger),
    Column("transfer_us", BigInteger, nullable=False, server_default="0"),
    Column("last_error", Text, nullable=False, server_default=""),
    # 0, or the sum of FROZEN_QUEUE and FROZEN_MAIL (transport.mta.queue_table).
    Column("frozen", Integer, nullable=False, server_default="0"),
    # An id is never reused, so a late report of an attempt cannot change another mail.
    sqlite_autoincrement=True,
)
Index("mta_queue_order", queue.c.priority, queue.c.due_at, queue.c.id, sqlite_where=queue.c.frozen == 0)
Index("mta_queue_content", queue.c.content_id)
Index("mta_queue_unrouted", queue.c.due_at, sqlite_where=queue.c.next_hop.is_(None) & (queue.c.frozen == 0))
Index(
    "mta_queue_link",
    queue.c.connector,
    queue.c.next_hop,
    queue.c.priority,
    queue.c.starts_at,
    sqlite_where=queue.c.starts_at.is_not(None),
)

frozen_queue = Table(
    "mta_frozen_queue",
    metadata,
    # Its mails wait until an administrator unfreezes the queue, also those that come later.
    Column("next_hop", Text, primary_key=True),
    sqlite_with_rowid=False,
)

link_free = Table(
    "mta_link_free",
    metadata,
    Column("connector", Text, primary_key=True),
    # This server is the sender, so the next hop determines the direction.
    Column("next_hop", Text, primary_key=True),
    Column("free_at", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)

link_report = Table(
    "mta_link_report",
    metadata,
    Column("connector", Text, primary_key=True),
    # The server that made the report, at one end of the connector.
    Column("server", Text, primary_key=True),
    Column("at", BigInteger, nullable=False),
    Column("down", Integer, nullable=False),
    Column("lamport", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)

link_failure = Table(
    "mta_link_failure",
    metadata,
    Column("connector", Text, primary_key=True),
    # How many attempts of this server failed in a row.
    Column("failures", Integer, nullable=False),
    Column("failed_at", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)

link_call = Table(
    "mta_link_call",
    metadata,
    # A transmission without a mail; see transport.mta.link_monitor.
    Column("id", Integer, primary_key=True),
    Column("next_hop", Text, nullable=False),
    Column("connector", Text),
    Column("due_at", BigInteger, nullable=False),
    Column("attempts", Integer, nullable=False),
    sqlite_autoincrement=True,
)
