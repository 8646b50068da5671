"""The tables of a public folder store: the complete state of the replication agent.

A change number has two columns: a local replica number (`rep`, the replid that event texts print; 1 is this store) and the
counter. An object id is its 22-byte XID. A folder is a local row number, `fid`; 1 is the hierarchy.
"""

from typing import Final

from node.stored_values import COUNT_MESSAGES

STATE_TABLES: Final = (
    # spec: CN-1, DL-3, RP-5, RP-4
    """
    CREATE TABLE store_state (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL,
        guid BLOB NOT NULL,
        change_counter INTEGER NOT NULL,  -- the last counter given out; never reused
        object_counter INTEGER NOT NULL,
        mail_number INTEGER NOT NULL,
        incarnation INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        lamport INTEGER NOT NULL,
        last_at INTEGER NOT NULL,
        begins TEXT NOT NULL DEFAULT '',  -- what the next start still has to do: see Begins
        expired_at INTEGER,  -- when the age limits were last applied
        suspended_at INTEGER,  -- since when content replication is suspended
        restored_at INTEGER  -- when this store last started from a backup
    )
    """,
    # Numbers whose items have expired at other stores, as these stores reported. spec: DL-3.
    """
    CREATE TABLE said_expired (
        fid INTEGER NOT NULL,
        store TEXT NOT NULL,
        numbers BLOB NOT NULL,
        numbers_fai BLOB NOT NULL,
        said_at INTEGER NOT NULL,  -- when the store last reported
        PRIMARY KEY (fid, store)
    )
    """,
    # Changes that were unsent before a restore; the next start reports the lost ones.
    """
    CREATE TABLE unsent_before (
        folder TEXT PRIMARY KEY NOT NULL,
        numbers BLOB NOT NULL
    )
    """,
    """
    CREATE TABLE replid (
        rep INTEGER PRIMARY KEY,
        guid BLOB NOT NULL UNIQUE,
        store TEXT  -- NULL until a mail has named the store
    )
    """,
    # spec: ML-1
    """
    CREATE TABLE directory (
        store TEXT PRIMARY KEY NOT NULL,
        joined_at INTEGER NOT NULL,
        stamps TEXT NOT NULL,  -- JSON: domain and instant of each stamp
        done INTEGER NOT NULL  -- how many stamps have taken effect; with none the store gets no mail
    )
    """,
    """
    CREATE TABLE folder (
        fid INTEGER PRIMARY KEY,
        object BLOB NOT NULL UNIQUE,
        rep INTEGER NOT NULL,
        ctr INTEGER NOT NULL,
        pcl BLOB NOT NULL,
        modified_at INTEGER NOT NULL,
        deleted INTEGER NOT NULL DEFAULT 0,
        sent INTEGER NOT NULL DEFAULT 1,
        supersedes INTEGER NOT NULL DEFAULT 0,
        item BLOB
    )
    """,
    "CREATE INDEX folder_by_number ON folder (rep, ctr)",
    # This store's own rows of the replication state table, one for each folder held here. spec: RP-2, CN-6, ST-1.
    """
    CREATE TABLE replica (
        fid INTEGER PRIMARY KEY,
        pending INTEGER NOT NULL DEFAULT 0,  -- delete-pending
        began INTEGER NOT NULL,  -- the counter at which this replica began
        last_sent INTEGER NOT NULL DEFAULT 0,
        last_sent_fai INTEGER NOT NULL DEFAULT 0,
        numbers BLOB NOT NULL,
        numbers_fai BLOB NOT NULL,
        last_update_at INTEGER,
        status_sent_at INTEGER,
        fresh INTEGER NOT NULL DEFAULT 0  -- 1: no backfill response has contained anything yet
    )
    """,
    # The rows of other holders: what each claimed in its last mail about the folder.
    """
    CREATE TABLE rst (
        fid INTEGER NOT NULL,
        store TEXT NOT NULL,
        numbers BLOB NOT NULL,
        numbers_fai BLOB NOT NULL,
        heard_at INTEGER,
        sent_at INTEGER NOT NULL,
        sent_number INTEGER NOT NULL,
        PRIMARY KEY (fid, store)
    )
    """,
    """
    CREATE TABLE message (
        mid INTEGER PRIMARY KEY,
        fid INTEGER NOT NULL,
        object BLOB NOT NULL,
        rep INTEGER NOT NULL,
        ctr INTEGER NOT NULL,
        pcl BLOB NOT NULL,
        modified_at INTEGER NOT NULL,
        fai INTEGER NOT NULL,
        deleted INTEGER NOT NULL,
        sent INTEGER NOT NULL,
        supersedes INTEGER NOT NULL,  -- 1: the table superseded has numbers of this object
        shown INTEGER NOT NULL,
        subject TEXT NOT NULL,
        item BLOB,  -- NULL: a tombstone, or expired
        UNIQUE (object, rep, ctr)
    )
    """,
    "CREATE INDEX message_by_age ON message (fid, modified_at) WHERE deleted = 0",
    "CREATE INDEX message_by_number ON message (fid, rep, ctr)",
    "CREATE INDEX message_removed ON message (fid, deleted, modified_at) WHERE deleted <> 0",
    "CREATE INDEX message_unsent ON message (fid, ctr, rep) WHERE sent = 0",
    # How many live messages a folder has: rows of `message` that are shown and not deleted.
    """
    CREATE TABLE message_count (
        fid INTEGER PRIMARY KEY,
        messages INTEGER NOT NULL
    )
    """,
    # Numbers that no longer have a version, each with its object. spec: CN-7.
    """
    CREATE TABLE superseded (
        rep INTEGER NOT NULL,
        ctr INTEGER NOT NULL,
        fid INTEGER NOT NULL,
        object BLOB NOT NULL,
        PRIMARY KEY (rep, ctr)
    ) WITHOUT ROWID
    """,
    "CREATE INDEX superseded_by_number ON superseded (fid, rep, ctr)",
    "CREATE INDEX superseded_by_object ON superseded (object)",
    # The messages in conflict here: since when, and if the contacts know. spec: CF-5, CF-2.
    """
    CREATE TABLE conflict (
        object BLOB PRIMARY KEY NOT NULL,
        fid INTEGER NOT NULL,
        since_at INTEGER NOT NULL,
        notified INTEGER NOT NULL  -- 1: this store or an earlier one in the list sent a notice
    ) WITHOUT ROWID
    """,
    "CREATE INDEX conflict_by_time ON conflict (since_at)",
    # Deleted messages and folders that can be recovered. spec: DL-5.
    """
    CREATE TABLE retained (
        id INTEGER PRIMARY KEY,
        folder BLOB NOT NULL,  -- the folder of a message; a folder itself
        object BLOB NOT NULL,
        rep INTEGER NOT NULL,
        ctr INTEGER NOT NULL,
        within INTEGER NOT NULL,  -- the row of the folder with which a message was deleted, or 0
        deleted_at INTEGER NOT NULL,
        path TEXT NOT NULL,  -- of a folder, '' for a message
        subject TEXT NOT NULL,
        fai INTEGER NOT NULL,
        item BLOB NOT NULL
    )
    """,
    "CREATE INDEX retained_by_object ON retained (object)",
    "CREATE INDEX retained_by_time ON retained (deleted_at)",
    "CREATE INDEX retained_folder ON retained (path) WHERE path <> ''",
    "CREATE INDEX retained_within ON retained (within)",
    # The replication message queue. spec: HI-4.
    """
    CREATE TABLE held (
        id INTEGER PRIMARY KEY,
        waits_for BLOB NOT NULL,  -- the folder whose arrival frees the row
        kind TEXT NOT NULL,  -- see node.state.held_messages
        object BLOB NOT NULL,
        numbers BLOB NOT NULL,
        until_at INTEGER NOT NULL,
        sender TEXT NOT NULL,
        payload BLOB NOT NULL
    )
    """,
    "CREATE INDEX held_by_folder ON held (waits_for)",
    "CREATE INDEX held_by_object ON held (object)",
    # The backfill array. An id is never used twice, because traces name entries by id. spec: BF-2, BF-6.
    """
    CREATE TABLE entry (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        fid INTEGER NOT NULL,
        numbers BLOB NOT NULL,
        numbers_fai BLOB NOT NULL,
        made_at INTEGER NOT NULL,
        base_at INTEGER NOT NULL,  -- the instant from which the running time-out counts
        due_at INTEGER NOT NULL,
        attempts INTEGER NOT NULL,
        local INTEGER NOT NULL,
        waiting INTEGER NOT NULL  -- 1: due, but the request limit was reached
    )
    """,
    "CREATE INDEX entry_by_folder ON entry (fid)",
    # The rest of a backfill response or of a Send Contents, until it is sent. spec: BF-5, AD-1.
    """
    CREATE TABLE response (
        id INTEGER PRIMARY KEY,
        fid INTEGER NOT NULL,
        recipients TEXT NOT NULL,  -- names of stores, separated by commas
        request_mail TEXT NOT NULL,  -- '' if no store asked
        answered BLOB NOT NULL,  -- the numbers that the whole response names
        expired TEXT NOT NULL,  -- the numbers whose items have expired, as traces write them
        numbers BLOB NOT NULL,
        numbers_fai BLOB NOT NULL,
        mails INTEGER NOT NULL  -- sent so far
    )
    """,
    # Outstanding backfill requests. spec: BF-6.
    """
    CREATE TABLE request (
        id INTEGER PRIMARY KEY,
        entry INTEGER NOT NULL,
        fid INTEGER NOT NULL,
        source TEXT NOT NULL,
        numbers BLOB NOT NULL,
        numbers_fai BLOB NOT NULL,
        sent_at INTEGER NOT NULL,
        retry_at INTEGER NOT NULL,
        answered INTEGER NOT NULL
    )
    """,
    "CREATE INDEX request_by_entry ON request (entry)",
    "CREATE INDEX request_by_folder ON request (fid)",
    # Answered requests: a request mail that arrives twice is answered once. spec: BF-5.
    """
    CREATE TABLE answered (
        mail TEXT PRIMARY KEY NOT NULL,
        at INTEGER NOT NULL
    ) WITHOUT ROWID
    """,
    # spec: BF-4, BF-9, RT-3
    """
    CREATE TABLE peer (
        store TEXT PRIMARY KEY NOT NULL,
        down INTEGER NOT NULL,
        heard_sent_at INTEGER NOT NULL,
        backfilled_at INTEGER NOT NULL,
        transit_us INTEGER
    )
    """,
    # Status requests that were not answered yet. spec: ST-7.
    """
    CREATE TABLE asked (
        fid INTEGER NOT NULL,
        responder TEXT NOT NULL,
        sent_at INTEGER NOT NULL,
        PRIMARY KEY (fid, responder)
    )
    """,
    # When a repeat status last went to a holder. spec: ST-7.
    """
    CREATE TABLE repeated (
        fid INTEGER NOT NULL,
        store TEXT NOT NULL,
        at INTEGER NOT NULL,
        PRIMARY KEY (fid, store)
    )
    """,
    # Folders whose status will be requested at the next cycle. spec: ST-3.
    """
    CREATE TABLE wanted (
        fid INTEGER PRIMARY KEY
    )
    """,
    # The delete-pending requests sent for a replica here, and the last holder to answer each. spec: RP-2.
    """
    CREATE TABLE leaving (
        mail TEXT PRIMARY KEY NOT NULL,
        fid INTEGER NOT NULL,
        answered_by TEXT
    ) WITHOUT ROWID
    """,
    # What leaving stores claim, until they are answered. spec: RP-2.
    """
    CREATE TABLE leaver (
        fid INTEGER NOT NULL,
        store TEXT NOT NULL,
        mail TEXT NOT NULL,
        numbers BLOB NOT NULL,
        numbers_fai BLOB NOT NULL,
        PRIMARY KEY (fid, store)
    )
    """,
    # Every delay of the agent is a row.
    """
    CREATE TABLE timer (
        kind TEXT NOT NULL,
        key INTEGER NOT NULL,
        due_at INTEGER NOT NULL,
        PRIMARY KEY (kind, key)
    )
    """,
    "CREATE INDEX timer_by_due ON timer (due_at, kind, key)",
    # Settings that an administrator changed since the topology was written. spec: SE-1.
    """
    CREATE TABLE setting (
        name TEXT PRIMARY KEY NOT NULL,
        value TEXT NOT NULL  -- JSON, as in a topology file
    )
    """,
    # Replication mail for a store whose agent is disabled. spec: SE-1.
    """
    CREATE TABLE waiting (
        id INTEGER PRIMARY KEY,
        sender TEXT NOT NULL,
        content BLOB NOT NULL
    )
    """,
    """
    CREATE TABLE bad_mail (
        id INTEGER PRIMARY KEY,
        at INTEGER NOT NULL,
        sender TEXT NOT NULL,
        reason TEXT NOT NULL,
        content BLOB NOT NULL
    )
    """,
    """
    CREATE TABLE mailbox (
        id INTEGER PRIMARY KEY,
        at INTEGER NOT NULL,
        recipient TEXT NOT NULL,
        sender TEXT NOT NULL,
        subject TEXT NOT NULL,
        body TEXT NOT NULL,
        content BLOB NOT NULL
    )
    """,
    # Message-IDs of recent posts, made here or replicated; they are not posted again. spec: ML-5.
    """
    CREATE TABLE posted (
        fid INTEGER NOT NULL,
        message_id TEXT NOT NULL,
        at INTEGER NOT NULL,
        PRIMARY KEY (fid, message_id)
    ) WITHOUT ROWID
    """,
    "CREATE INDEX posted_by_time ON posted (at)",
    # The application log. spec: EV-1.
    """
    CREATE TABLE log (
        id INTEGER PRIMARY KEY,  -- a client that follows the log asks for entries after an id
        at INTEGER NOT NULL,
        event INTEGER NOT NULL,
        text TEXT NOT NULL
    )
    """,
    """
    CREATE TABLE event (
        seq INTEGER PRIMARY KEY,  -- of the first event in the batch
        incarnation INTEGER NOT NULL,
        batch BLOB NOT NULL  -- JSON lines
    )
    """,
    # Requests with an Idempotency-Key: a repeated one changes nothing and gets the same answer.
    """
    CREATE TABLE request_done (
        id INTEGER PRIMARY KEY,
        key TEXT NOT NULL UNIQUE,
        request BLOB NOT NULL,  -- a digest of the request
        answer BLOB NOT NULL,
        at INTEGER NOT NULL
    )
    """,
    "CREATE INDEX request_done_by_age ON request_done (at)",
    # Folders that a mail program has opened by IMAP. A copy of the database has no rows: its UIDs begin again.
    """
    CREATE TABLE imap_mailbox (
        fid INTEGER PRIMARY KEY,
        validity INTEGER NOT NULL,  -- UIDVALIDITY
        next_uid INTEGER NOT NULL
    )
    """,
    # The UID of each shown version in these folders.
    """
    CREATE TABLE imap_message (
        fid INTEGER NOT NULL,
        uid INTEGER NOT NULL,
        object BLOB NOT NULL,
        rep INTEGER NOT NULL,
        ctr INTEGER NOT NULL,
        PRIMARY KEY (fid, uid),
        UNIQUE (object, rep, ctr)
    ) WITHOUT ROWID
    """,
    # What users have marked, by version: an edited message is unread again.
    """
    CREATE TABLE imap_flag (
        object BLOB NOT NULL,
        rep INTEGER NOT NULL,
        ctr INTEGER NOT NULL,
        user TEXT NOT NULL,
        flags INTEGER NOT NULL,  -- see node.store.mailboxes.Flags
        PRIMARY KEY (object, rep, ctr, user)
    ) WITHOUT ROWID
    """,
)


def _counting(name: str, change: str, difference: str) -> str:
    """Return a trigger that keeps `message_count`."""
    count = COUNT_MESSAGES.format(fid="old.fid", difference=difference)
    return f"CREATE TRIGGER {name} AFTER {change} ON message WHEN {difference} <> 0 BEGIN {count}; END"


_NEW, _OLD = (f"({row}.deleted = 0 AND {row}.shown = 1)" for row in ("new", "old"))

TRIGGERS: Final = (
    _counting("message_removed", "DELETE", f"(-{_OLD})"),
    _counting("message_changed", "UPDATE OF deleted, shown", f"({_NEW} - {_OLD})"),
)
"""`node.objects.version_rows` counts new rows itself, because a trigger for each row would slow down large broadcasts."""
