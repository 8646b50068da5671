"""The lives of mails, entries, requests, versions, replicas and nodes, as automata: which event may follow which.

An automaton has a key (the copy of a mail in a queue, the entry of a store) and, for each state, the events that may follow.
The state is the last event with that key, with a detail where the type says too little. An event that cannot follow is a sign
that an event was removed, repeated or altered. A life may end only in certain states.

    a copy in a queue:  hop.failed -> hop.failed -> hop.sent, end
    the same without the end:  hop.failed -> hop.failed, but a copy is sent or expires

A restored store goes back to its backup, so the events that a restore undid are left out, except those of the node itself. In a
deleted store a life may stop anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from analytics.evidence.agreement.facts import COPY, REPLICATION_MAIL

END: Final = "end"
BEGIN: Final = "begin"

STATE: Final = (
    "concat_ws(' ', type, case type"
    " when 'hop.received' then if(exists(recipients, r -> r like concat(node, '-IS@%')), 'here', null)"
    " when 'hop.failed' then if(retry_at is null, 'for good', null)"
    " when 'node.started' then if(reason = 'restart', 'again', if(reason = 'restored', 'restored', null))"
    " when 'request.ended' then how"
    " when 'sources.considered' then if(size(chosen) = 0, 'in vain', null)"
    " when 'version.applied' then if(deleted, 'deletion', if(way = 'queue', 'from the queue', null))"
    " when 'change.made' then if(operation = 'delete', 'deletion', null) end)"
)
"""SQL for the state after an event: its type, and the detail that decides what may follow."""


@dataclass(frozen=True, slots=True)
class Automaton:
    """key: the field that names one life at a node, or one of DERIVED_KEYS.
    follow: each state, and what may follow it, as words.
    """

    key: str
    follow: dict[str, tuple[str, ...]]


_STARTS: Final = ("node.stopped", "node.started again", "node.started restored", "node.started")
"""What follows a start. A store that was killed has no stop; one whose backup was too old begins as new."""

_TRIES: Final = ("hop.sent", "hop.failed", "hop.failed for good", "hop.expired", "hop.deleted")
_FREEZING: Final = ("queue.frozen", "queue.unfrozen")
_ARRIVALS: Final = ("hop.received", "hop.received here", "mail.received", "mail.bad")

_ENDED: Final = tuple(f"request.ended {how}" for how in ("satisfied", "retry", "empty", "pruned", "expired"))
_CHOICE: Final = ("sources.considered", "sources.considered in vain")
_WAITS: Final = ("entry.timed_out", "entry.satisfied", "entry.pruned", *_CHOICE)
"""What may happen to an entry at any time. Sources are also chosen when a source says that the items expired there."""

_VISIBLE: Final = ("folder.shown", "folder.moved", "folder.hidden", END)
_COMES_AGAIN: Final = (
    "version.applied",
    "version.applied from the queue",
    "version.ignored",
    "version.held",
    "item.expired",
    END,
)

IN_A_QUEUE: Final = "mail"
"""The automaton that may wait in a queue for its next step."""

NODE: Final = "node"
ENTRY: Final = "directory entry"
"""The automaton that a restore does not put back."""

AUTOMATA: Final[dict[str, Automaton]] = {
    # With another route, or when a server refuses some recipients, a copy goes on under another number or without them.
    "copy of a mail": Automaton(
        "copy",
        {
            BEGIN: (*_TRIES, *_FREEZING),
            "hop.failed": (*_TRIES, *_FREEZING, END),
            "hop.failed for good": ("hop.expired", END),
            "hop.sent": (*_TRIES[1:], *_FREEZING, END),
            "hop.expired": (*_TRIES, *_FREEZING, END),
            "hop.deleted": (END,),
            "queue.frozen": ("queue.unfrozen", *_TRIES, END),
            "queue.unfrozen": ("queue.frozen", *_TRIES, END),
        },
    ),
    IN_A_QUEUE: Automaton(
        "replication_mail",
        {
            BEGIN: ("mail.submitted", "hop.received", "hop.received here"),
            "mail.submitted": _TRIES,
            "hop.received": (*_TRIES, "hop.received", "hop.received here"),
            "hop.received here": (*_TRIES, *_ARRIVALS),
            **dict.fromkeys((*_TRIES, "mail.received", "mail.bad"), (*_TRIES, *_ARRIVALS, END)),
        },
    ),
    "mail to this store": Automaton(
        "mail_here",
        {
            BEGIN: ("hop.received here",),
            "hop.received here": ("mail.received", "mail.bad"),
            "mail.received": ("hop.received here", END),
            "mail.bad": ("hop.received here", END),
        },
    ),
    "entry": Automaton(
        "entry",
        {
            BEGIN: ("entry.made",),
            "entry.made": _WAITS,
            "entry.timed_out": _CHOICE,
            "sources.considered": ("request.sent", "request.deferred"),
            "sources.considered in vain": (*_WAITS, *_ENDED),
            "request.deferred": (*_CHOICE, "entry.satisfied", "entry.pruned", *_ENDED),
            "request.sent": ("request.sent", "request.deferred", "entry.timed_out", *_CHOICE, "entry.pruned", *_ENDED),
            **dict.fromkeys(_ENDED, (*_WAITS, *_ENDED)),
            "request.ended pruned": (*_WAITS, *_ENDED, END),
            "entry.pruned": (*_WAITS, *_ENDED, END),
            "entry.satisfied": (END,),
        },
    ),
    NODE: Automaton(
        "node",
        {
            BEGIN: ("node.started",),
            "node.started": _STARTS,
            "node.started again": _STARTS,
            "node.started restored": _STARTS,
            "node.stopped": (*_STARTS[1:], END),
        },
    ),
    # A folder that is put on the replica list again while its removal is pending stays, without an event.
    "replica": Automaton(
        "folder",
        {
            BEGIN: ("replica.added", "replica.pending", "replica.dropped"),
            "replica.added": ("replica.pending", "replica.dropped", END),
            "replica.pending": ("replica.pending", "replica.dropped", END),
            "replica.dropped": ("replica.added", END),
        },
    ),
    ENTRY: Automaton(
        "store",
        {
            BEGIN: ("address.stamped", "address.missing"),
            "address.stamped": ("address.stamped", "address.missing", "store.deleted", END),
            "address.missing": ("address.stamped", "address.missing", "store.deleted", END),
            "store.deleted": ("address.stamped", "address.missing", END),
        },
    ),
    # A store that drops a folder and holds it again gets its versions again.
    "version": Automaton(
        "version",
        {
            BEGIN: (
                "change.made",
                "change.made deletion",
                "version.applied",
                "version.applied from the queue",
                "version.ignored",
                "version.held",
                "tombstone.made",
            ),
            "change.made": _COMES_AGAIN,
            "change.made deletion": ("tombstone.made",),
            "version.applied": _COMES_AGAIN,
            "version.applied from the queue": _COMES_AGAIN,
            "version.applied deletion": ("version.ignored", "tombstone.dropped", END),
            "version.ignored": (*_COMES_AGAIN, "tombstone.made", "tombstone.dropped"),
            "version.held": (
                "version.applied",
                "version.applied from the queue",
                "version.dropped",
                "version.held",
                "version.ignored",
                END,
            ),
            "version.dropped": _COMES_AGAIN,
            "tombstone.made": ("version.applied deletion", "version.ignored", "tombstone.dropped", END),
            "tombstone.dropped": ("version.ignored", "tombstone.made", END),
            "item.expired": _COMES_AGAIN,
        },
    ),
    # A folder is new where its deletion was forgotten, and then no event says that it was hidden before.
    "visible folder": Automaton(
        "folder",
        {
            BEGIN: ("folder.shown", "folder.moved", "folder.hidden"),
            "folder.shown": _VISIBLE,
            "folder.moved": _VISIBLE,
            "folder.hidden": ("folder.shown", END),
        },
    ),
    "content": Automaton(
        "node",
        {
            BEGIN: ("content.suspended",),
            "content.suspended": ("content.resumed", END),
            "content.resumed": ("content.suspended", END),
        },
    ),
    "conflict": Automaton(
        "object",
        {
            BEGIN: ("conflict.arose", "conflict.notice"),
            "conflict.arose": ("conflict.notice", "conflict.arose", "conflict.ended", END),
            "conflict.notice": ("conflict.notice", "conflict.arose", "conflict.ended", END),
            "conflict.ended": ("conflict.aged", "conflict.arose", "conflict.notice", END),
            "conflict.aged": ("conflict.arose", "conflict.notice", END),
        },
    ),
    "silent source": Automaton(
        "store",
        {BEGIN: ("source.down",), "source.down": ("source.up", "source.down", END), "source.up": ("source.down", END)},
    ),
    "link": Automaton(
        "connector",
        {BEGIN: ("link.down",), "link.down": ("link.up", "link.down", END), "link.up": ("link.down", "link.up", END)},
    ),
    "fault": Automaton(
        "fault",
        {
            BEGIN: ("fault.injected",),
            "fault.injected": ("fault.healed", "fault.altered", END),
            "fault.altered": ("fault.altered", "fault.healed", END),
            "fault.healed": ("fault.altered", END),
        },
    ),
}
"""Each automaton by the name of the thing whose life it describes."""

DERIVED_KEYS: Final = {
    "copy": COPY,
    "replication_mail": REPLICATION_MAIL,
    "mail_here": f"if(type like 'mail.%' or exists(recipients, r -> r like concat(node, '-IS@%')), {REPLICATION_MAIL}, null)",
    "version": "number",
}
"""SQL for the keys that are not fields of all events of a life. Mail of people has no event where it begins, so it has no
life."""
