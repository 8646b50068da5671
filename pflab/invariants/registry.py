"""All invariants, in the order in which they are checked."""

from __future__ import annotations

from pflab.invariants.addresses import ADDRESSES
from pflab.invariants.backfill_array import LIVES, MISSING, SLOTS
from pflab.invariants.backfill_sources import SOURCES
from pflab.invariants.backfill_timeouts import RETRIES, TIMEOUTS
from pflab.invariants.conflicts import CONFLICTS, NOTICES
from pflab.invariants.folder_tree import TREE
from pflab.invariants.invariant import Invariant
from pflab.invariants.mail.contents import MAILING
from pflab.invariants.mail.recipients import RECIPIENTS, REPEATS
from pflab.invariants.mail.routes import ROUTES
from pflab.invariants.replica_addition import ADDITIONS
from pflab.invariants.replica_removal import EXPIRY, REMOVALS
from pflab.invariants.servers import SERVERS
from pflab.invariants.status_answers import ANSWERS, RESPONDERS
from pflab.invariants.status_rows import ROWS
from pflab.invariants.stored_state import STATE
from pflab.invariants.versions import NUMBERING, VERSIONS

INVARIANTS: tuple[type[Invariant], ...] = (
    *NUMBERING,
    *MAILING,
    *SLOTS,
    *LIVES,
    *RECIPIENTS,
    *ANSWERS,
    *MISSING,
    *ROWS,
    *VERSIONS,
    *STATE,
    *TREE,
    *ADDITIONS,
    *REMOVALS,
    *REPEATS,
    *RETRIES,
    *NOTICES,
    *CONFLICTS,
    *TIMEOUTS,
    *SOURCES,
    *RESPONDERS,
    *EXPIRY,
    *ROUTES,
    *ADDRESSES,
    *SERVERS,
)
"""The classes of all invariants; each must hold at every instant."""
