"""The tables of a public folder store: the complete state of the replication agent.

A change number has two columns: a local replica number (`rep`, the replid that event texts print; 1 is this store) and the
counter. An object id is its 22-byte XID. A folder is a local row number, `fid`; 1 is the hierarchy.
"""

from sqlalchemy import BLOB, Column, Index, Integer, LargeBinary, MetaData, Table, Text, UniqueConstraint, text

from node.stored_values import COUNT_MESSAGES

metadata = MetaData()

store_state = Table(
    "store_state",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False),
    Column("guid", BLOB, nullable=False),
    Column("change_counter", Integer, nullable=False),  # spec: CN-1 the last counter given out; never reused
    Column("object_counter", Integer, nullable=False),
    Column("mail_number", Integer, nullable=False),
    Column("incarnation", Integer, nullable=False),
    Column("seq", Integer, nullable=False),
    Column("lamport", Integer, nullable=False),
    Column("last_at", Integer, nullable=False),
    Column(
        "begins", Text, nullable=False, server_default=text("''")
    ),  # what the next start still has to do: see Begins
    Column("expired_at", Integer),  # when the age limits were last applied (spec: DL-3)
    Column("suspended_at", Integer),  # since when content replication is suspended (spec: RP-5)
    Column("restored_at", Integer),  # when this store last started from a backup (spec: RP-4)
    Column("copy_of", Text),  # spec: RP-8 the server whose store this is, if its backup was restored here
    Column("directory_object", Integer, nullable=False, server_default=text("0")),  # spec: RP-7 as in `directory`
)

said_expired = Table(  # numbers whose items have expired at other stores, as these stores reported (spec: DL-3)
    "said_expired",
    metadata,
    Column("fid", Integer, primary_key=True),
    Column("store", Text, primary_key=True),
    Column("numbers", BLOB, nullable=False),
    Column("numbers_fai", BLOB, nullable=False),
    Column("said_at", Integer, nullable=False),  # when the store last reported
)

unsent_before = Table(  # changes that were unsent before a restore; the next start reports the lost ones
    "unsent_before",
    metadata,
    Column("folder", Text, primary_key=True),
    Column("numbers", BLOB, nullable=False),
)

replid = Table(
    "replid",
    metadata,
    Column("rep", Integer, primary_key=True),
    Column("guid", BLOB, nullable=False, unique=True),
    Column("store", Text),  # NULL until a mail has named the store
)

directory = Table(
    "directory",
    metadata,
    Column("store", Text, primary_key=True),
    Column("joined_at", Integer, nullable=False),
    Column("stamps", Text, nullable=False),  # spec: ML-1 JSON: domain and instant of each stamp
    Column("done", Integer, nullable=False),  # how many stamps have taken effect; with none the store gets no mail
    Column("object", Integer, nullable=False),  # spec: RP-7 which object of this name it is; 0: the first
    Column("linked", Integer, nullable=False),  # spec: ML-8 1: it names the tree of its store
    Column("doubled", Integer, nullable=False),  # spec: ML-8 1: there is a second object of this store
)

folder = Table(
    "folder",
    metadata,
    Column("fid", Integer, primary_key=True),
    Column("object", BLOB, nullable=False, unique=True),
    Column("rep", Integer, nullable=False),
    Column("ctr", Integer, nullable=False),
    Column("pcl", BLOB, nullable=False),
    Column("modified_at", Integer, nullable=False),
    Column("deleted", Integer, nullable=False, server_default=text("0")),
    Column("sent", Integer, nullable=False, server_default=text("1")),
    Column("supersedes", Integer, nullable=False, server_default=text("0")),
    Column("item", LargeBinary),
    Index("folder_by_number", "rep", "ctr"),
)

replica = Table(  # this store's own rows of the replication state table, one for each folder held here
    "replica",
    metadata,
    Column("fid", Integer, primary_key=True),
    Column("pending", Integer, nullable=False, server_default=text("0")),  # spec: RP-2 delete-pending
    Column("began", Integer, nullable=False),  # spec: CN-6 the counter at which this replica began
    Column("last_sent", Integer, nullable=False, server_default=text("0")),
    Column("last_sent_fai", Integer, nullable=False, server_default=text("0")),
    Column("numbers", BLOB, nullable=False),
    Column("numbers_fai", BLOB, nullable=False),
    Column("last_update_at", Integer),  # spec: ST-1
    Column("status_sent_at", Integer),
    Column(
        "fresh", Integer, nullable=False, server_default=text("0")
    ),  # 1: no backfill response has contained anything yet
)

rst = Table(  # the rows of other holders: what each claimed in its last mail about the folder
    "rst",
    metadata,
    Column("fid", Integer, primary_key=True),
    Column("store", Text, primary_key=True),
    Column("numbers", BLOB, nullable=False),
    Column("numbers_fai", BLOB, nullable=False),
    Column("heard_at", Integer),
    Column("sent_at", Integer, nullable=False),
    Column("sent_number", Integer, nullable=False),
)

message = Table(
    "message",
    metadata,
    Column("mid", Integer, primary_key=True),
    Column("fid", Integer, nullable=False),
    Column("object", BLOB, nullable=False),
    Column("rep", Integer, nullable=False),
    Column("ctr", Integer, nullable=False),
    Column("pcl", BLOB, nullable=False),
    Column("modified_at", Integer, nullable=False),
    Column("fai", Integer, nullable=False),
    Column("deleted", Integer, nullable=False),
    Column("sent", Integer, nullable=False),
    Column("supersedes", Integer, nullable=False),  # 1: the table superseded has numbers of this object
    Column("shown", Integer, nullable=False),
    Column("subject", Text, nullable=False),
    Column("item", LargeBinary),  # NULL: a tombstone, or expired
    UniqueConstraint("object", "rep", "ctr"),
    Index("message_by_number", "fid", "rep", "ctr"),
)
Index("message_by_age", message.c.fid, message.c.modified_at, sqlite_where=text("deleted = 0"))
Index("message_removed", message.c.fid, message.c.deleted, message.c.modified_at, sqlite_where=text("deleted <> 0"))
Index("message_unsent", message.c.fid, message.c.ctr, message.c.rep, sqlite_where=text("sent = 0"))

message_count = Table(  # how many live messages a folder has: rows of `message` that are shown and not deleted
    "message_count",
    metadata,
    Column("fid", Integer, primary_key=True),
    Column("messages", Integer, nullable=False),
)


def _counting(name: str, change: str, difference: str) -> str:
    """Return a trigger that keeps `message_count`."""
    count = COUNT_MESSAGES.format(fid="old.fid", difference=difference)
    return f"CREATE TRIGGER {name} AFTER {change} ON message WHEN {difference} <> 0 BEGIN {count}; END"


_NEW, _OLD = (f"({row}.deleted = 0 AND {row}.shown = 1)" for row in ("new", "old"))

TRIGGERS = (
    _counting("message_removed", "DELETE", f"(-{_OLD})"),
    _counting("message_changed", "UPDATE OF deleted, shown", f"({_NEW} - {_OLD})"),
)
"""`node.objects.version_rows` counts new rows itself, because a trigger for each row would slow down large broadcasts."""

superseded = Table(  # numbers that no longer have a version, each with its object (spec: CN-7)
    "superseded",
    metadata,
    Column("rep", Integer, primary_key=True),
    Column("ctr", Integer, primary_key=True),
    Column("fid", Integer, nullable=False),
    Column("object", BLOB, nullable=False),
    Column("pcl", BLOB),  # spec: CF-6 of a version that was kept here, so that an edit may be based on it
    Index("superseded_by_object", "object"),
    Index("superseded_by_number", "fid", "rep", "ctr"),
    sqlite_with_rowid=False,
)

conflict = Table(  # the messages in conflict here: since when (spec: CF-5), and if the contacts know (spec: CF-2)
    "conflict",
    metadata,
    Column("object", BLOB, primary_key=True),
    Column("fid", Integer, nullable=False),
    Column("since_at", Integer, nullable=False),
    Column("notified", Integer, nullable=False),  # 1: this store or an earlier one in the list sent a notice
    Index("conflict_by_time", "since_at"),
    sqlite_with_rowid=False,
)

retained = Table(  # deleted messages and folders that can be recovered (spec: DL-5)
    "retained",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("folder", BLOB, nullable=False),  # the folder of a message; a folder itself
    Column("object", BLOB, nullable=False),
    Column("rep", Integer, nullable=False),
    Column("ctr", Integer, nullable=False),
    Column("within", Integer, nullable=False),  # the row of the folder with which a message was deleted, or 0
    Column("deleted_at", Integer, nullable=False),
    Column("path", Text, nullable=False),  # of a folder, '' for a message
    Column("subject", Text, nullable=False),
    Column("fai", Integer, nullable=False),
    Column("item", LargeBinary, nullable=False),
    Index("retained_by_object", "object"),
    Index("retained_by_time", "deleted_at"),
    Index("retained_within", "within"),
    Index("retained_folder", "path", sqlite_where=text("path <> ''")),
)

held = Table(  # the replication message queue (spec: HI-4)
    "held",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("waits_for", BLOB, nullable=False),  # the folder whose arrival frees the row
    Column("kind", Text, nullable=False),  # see node.state.held_messages
    Column("object", BLOB, nullable=False),
    Column("numbers", BLOB, nullable=False),
    Column("until_at", Integer, nullable=False),
    Column("sender", Text, nullable=False),
    Column("payload", BLOB, nullable=False),
    Index("held_by_folder", "waits_for"),
    Index("held_by_object", "object"),
)

entry = Table(  # the backfill array (spec: BF-2)
    "entry",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("fid", Integer, nullable=False),
    Column("numbers", BLOB, nullable=False),
    Column("numbers_fai", BLOB, nullable=False),
    Column("made_at", Integer, nullable=False),
    Column("base_at", Integer, nullable=False),  # the instant from which the running time-out counts
    Column("due_at", Integer, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("local", Integer, nullable=False),
    Column("waiting", Integer, nullable=False),  # 1: due, but the request limit was reached (spec: BF-6)
    Index("entry_by_folder", "fid"),
    sqlite_autoincrement=True,  # an id is never used twice, because traces name entries by id
)

response = Table(  # the rest of a backfill response or of a Send Contents, until it is sent (spec: BF-5, AD-1)
    "response",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("fid", Integer, nullable=False),
    Column("recipients", Text, nullable=False),  # names of stores, separated by commas
    Column("request_mail", Text, nullable=False),  # '' if no store asked
    Column("answered", BLOB, nullable=False),  # the numbers that the whole response names
    Column("expired", Text, nullable=False),  # the numbers whose items have expired, as traces write them
    Column("numbers", BLOB, nullable=False),
    Column("numbers_fai", BLOB, nullable=False),
    Column("mails", Integer, nullable=False),  # sent so far
)

request = Table(  # outstanding backfill requests (spec: BF-6)
    "request",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("entry", Integer, nullable=False),
    Column("fid", Integer, nullable=False),
    Column("source", Text, nullable=False),
    Column("numbers", BLOB, nullable=False),
    Column("numbers_fai", BLOB, nullable=False),
    Column("sent_at", Integer, nullable=False),
    Column("retry_at", Integer, nullable=False),
    Column("answered", Integer, nullable=False),
    Index("request_by_entry", "entry"),
    Index("request_by_folder", "fid"),
)

answered = Table(  # answered requests: a request mail that arrives twice is answered once (spec: BF-5)
    "answered",
    metadata,
    Column("mail", Text, primary_key=True),
    Column("at", Integer, nullable=False),
    sqlite_with_rowid=False,
)

peer = Table(
    "peer",
    metadata,
    Column("store", Text, primary_key=True),
    Column("down", Integer, nullable=False),  # spec: BF-4
    Column("heard_sent_at", Integer, nullable=False),
    Column("backfilled_at", Integer, nullable=False),  # spec: BF-9
    Column("transit_us", Integer),  # spec: RT-3
)

asked = Table(  # status requests that were not answered yet (spec: ST-7)
    "asked",
    metadata,
    Column("fid", Integer, primary_key=True),
    Column("responder", Text, primary_key=True),
    Column("sent_at", Integer, nullable=False),
)

repeated = Table(  # when a repeat status last went to a holder (spec: ST-7)
    "repeated",
    metadata,
    Column("fid", Integer, primary_key=True),
    Column("store", Text, primary_key=True),
    Column("at", Integer, nullable=False),
)

wanted = Table(  # folders whose status will be requested at the next cycle (spec: ST-3)
    "wanted",
    metadata,
    Column("fid", Integer, primary_key=True),
)

leaving = Table(  # the delete-pending requests sent for a replica here, and the last holder to answer each (spec: RP-2)
    "leaving",
    metadata,
    Column("mail", Text, primary_key=True),
    Column("fid", Integer, nullable=False),
    Column("answered_by", Text),
    sqlite_with_rowid=False,
)

leaver = Table(  # what leaving stores claim, until they are answered (spec: RP-2)
    "leaver",
    metadata,
    Column("fid", Integer, primary_key=True),
    Column("store", Text, primary_key=True),
    Column("mail", Text, nullable=False),
    Column("numbers", BLOB, nullable=False),
    Column("numbers_fai", BLOB, nullable=False),
)

timer = Table(  # every delay of the agent is a row
    "timer",
    metadata,
    Column("kind", Text, primary_key=True),
    Column("key", Integer, primary_key=True),
    Column("due_at", Integer, nullable=False),
    Index("timer_by_due", "due_at", "kind", "key"),
)

setting = Table(  # settings that an administrator changed since the topology was written (spec: SE-1)
    "setting",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", Text, nullable=False),  # JSON, as in a topology file
)

organization = Table(  # the organization after the last change that this store has read (spec: RT-6)
    "organization",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("topology", Text, nullable=False),  # JSON, as in a topology file
)

waiting = Table(  # replication mail for a store whose agent is disabled (spec: SE-1)
    "waiting",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("sender", Text, nullable=False),
    Column("content", BLOB, nullable=False),
)

bad_mail = Table(
    "bad_mail",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("at", Integer, nullable=False),
    Column("sender", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("content", BLOB, nullable=False),
)

mailbox = Table(
    "mailbox",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("at", Integer, nullable=False),
    Column("recipient", Text, nullable=False),
    Column("sender", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("content", BLOB, nullable=False),
)

posted = Table(  # Message-IDs of recent posts, made here or replicated; they are not posted again (spec: ML-5)
    "posted",
    metadata,
    Column("fid", Integer, primary_key=True),
    Column("message_id", Text, primary_key=True),
    Column("at", Integer, nullable=False),
    Index("posted_by_time", "at"),
    sqlite_with_rowid=False,
)

log = Table(  # the application log (spec: EV-1)
    "log",
    metadata,
    Column("id", Integer, primary_key=True),  # a client that follows the log asks for entries after an id
    Column("at", Integer, nullable=False),
    Column("event", Integer, nullable=False),
    Column("text", Text, nullable=False),
)

event = Table(
    "event",
    metadata,
    Column("seq", Integer, primary_key=True),  # of the first event in the batch
    Column("incarnation", Integer, nullable=False),
    Column("batch", BLOB, nullable=False),  # JSON lines
)

request_done = Table(  # requests with an Idempotency-Key: a repeated one changes nothing and gets the same answer
    "request_done",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("key", Text, nullable=False, unique=True),
    Column("request", BLOB, nullable=False),  # a digest of the request
    Column("answer", BLOB, nullable=False),
    Column("at", Integer, nullable=False),
    Index("request_done_by_age", "at"),
)

imap_mailbox = (
    Table(  # folders that a mail program has opened by IMAP. A copy of the database has no row: its UIDs begin again
        "imap_mailbox",
        metadata,
        Column("fid", Integer, primary_key=True),
        Column("validity", Integer, nullable=False),  # UIDVALIDITY
        Column("next_uid", Integer, nullable=False),
    )
)

imap_message = Table(  # the UID of each shown version in these folders
    "imap_message",
    metadata,
    Column("fid", Integer, primary_key=True),
    Column("uid", Integer, primary_key=True),
    Column("object", BLOB, nullable=False),
    Column("rep", Integer, nullable=False),
    Column("ctr", Integer, nullable=False),
    UniqueConstraint("object", "rep", "ctr"),
    sqlite_with_rowid=False,
)

imap_flag = Table(  # what users have marked, by version: an edited message is unread again
    "imap_flag",
    metadata,
    Column("object", BLOB, primary_key=True),
    Column("rep", Integer, primary_key=True),
    Column("ctr", Integer, primary_key=True),
    Column("user", Text, primary_key=True),
    Column("flags", Integer, nullable=False),  # see node.store.mailboxes.Flags
    sqlite_with_rowid=False,
)
