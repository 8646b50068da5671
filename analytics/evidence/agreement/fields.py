"""The worth of each field of each event as evidence: a table that tests compare with the events, and that
docs/reference/events/ shows.

A field is one of these:

    evidence       another event states the same, or it follows from other events: `pflab check` notices each alteration
    bounded        other events limit it: an alteration beyond the limits is noticed
    derived        other events imply it, but no check uses them
    informational  nothing else in the trace says it, and nothing depends on it
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class Worth(StrEnum):
    EVIDENCE = "evidence"
    BOUNDED = "bounded"
    DERIVED = "derived"
    INFORMATIONAL = "informational"


E, B, D, I = Worth.EVIDENCE, Worth.BOUNDED, Worth.DERIVED, Worth.INFORMATIONAL  # noqa: E741 - short in the table

Fields = Mapping[str, tuple[Worth, str]]

_VERSION: Final[Fields] = {
    "folder": (E, "change.made"),
    "object": (E, "change.made"),
    "number": (E, "change.made"),
    "kind": (E, "change.made"),
    "pcl": (E, "change.made; of a deletion, the deletions of the object"),
    "rivals": (B, "change.made, unless it is a deletion"),
    "modified_at": (E, "change.made"),
    "digest": (B, "change.made; nobody records the making of the topology's folders"),
    "deleted": (E, "change.made, by the operation"),
    "way": (E, "mail.received at that time, by the type of the mail"),
    "stands_for": (B, "the predecessor lists of the versions before it"),
}
_THING: Final[Fields] = {"folder": (E, "change.made"), "object": (E, "change.made"), "number": (E, "change.made")}
_MAIL: Final = (E, "mail.submitted, and the hops")

FIELDS: Final[Mapping[str, Fields]] = {
    "run.started": {
        "topology": (B, "the stores, folders and routes of the events"),
        "seed": (I, "the source of random choices"),
        "settings": (I, "the options of the driver"),
        "version": (I, "the version of pflab"),
    },
    "run.ended": {"verdict": (I, "the lab's own opinion, which a check must not trust")},
    "node.started": {
        "version": (E, "the topology"),
        "replica_guid": (B, "the numbers of the changes made here; a store that made none is not named elsewhere"),
        "reason": (D, "the incarnation, and backup.restored"),
    },
    "node.stopped": {"how": (I, "a stopped node records only a stop")},
    "recipient.policy": {
        "recipient_update": (I, "how the service runs"),
        "domain": (B, "address.stamped"),
        "at_once": (I, "how the service runs"),
        "policy": (I, "what was changed"),
        "change": (I, "what was changed"),
        "policies": (B, "address.stamped"),
    },
    "backup.made": {
        "store": (B, "backup.restored"),
        "backup": (B, "backup.restored"),
        "through": (B, "what the store had when it was restored"),
    },
    "backup.restored": {"store": (B, "backup.made"), "backup": (B, "backup.made")},
    "backup.elsewhere": {
        "store": (E, "the topology"),
        "backup": (B, "backup.made"),
        "of": (B, "backup.made"),
        "directory_object": (D, "store.created"),
    },
    "store.created": {
        "store": (E, "the topology"),
        "directory_object": (B, "store.deleted, if the store was deleted again"),
    },
    "organization.changed": {
        "revision": (E, "organization.read"),
        "subject": (D, "the topologies before and after the change"),
        "change": (D, "the topologies before and after the change"),
        "topology": (B, "the routes and connectors of later events"),
    },
    "organization.read": {"revision": (E, "organization.changed")},
    "setting.ignored": {
        "name": (D, "the topology"),
        "value": (D, "the topology"),
        "reason": (I, "words for people"),
    },
    "setting.value": {
        "name": (B, "the topology, and the defaults at other stores"),
        "value": (B, "the topology, until the setting is changed during the run"),
        "default": (B, "the same setting at other stores"),
    },
    "clock.changed": {
        "how": (I, "how a user moved the clock"),
        "rate": (I, "real time decides nothing"),
        "to": (B, "the times of the lab's events"),
    },
    "fault.injected": {
        "fault": (E, "fault.healed"),
        "kind": (B, "the effects of the fault"),
        "details": (B, "the effects of the fault"),
    },
    "fault.altered": {
        "fault": (E, "fault.injected"),
        "mail": (B, "mail.submitted"),
        "server": (B, "the servers of the topology"),
        "next_hop": (B, "the servers of the topology"),
        "recipients": (B, "mail.submitted"),
    },
    "fault.healed": {"fault": (E, "fault.injected")},
    "mail.submitted": {
        "mail": _MAIL,
        "message_type": (E, "mail.received, and what the mail carries"),
        "folders": (E, "mail.received"),
        "recipients": (E, "hop.sent"),
        "size": (B, "hop.sent, unless the mail is converted for the next server"),
        "number": (E, "mail.received, and the Message-ID"),
        "marks": (E, "mail.received"),
    },
    "mail.received": {
        "mail": _MAIL,
        "sender": (E, "mail.submitted"),
        "message_type": (E, "mail.submitted"),
        "folders": (E, "mail.submitted"),
        "recipients": (E, "it is read by its only recipient"),
        "size": (E, "hop.received, with the line that the server adds"),
        "number": (E, "mail.submitted"),
        "marks": (E, "mail.submitted"),
    },
    "mail.bad": {
        "mail": _MAIL,
        "sender": (B, "mail.submitted, by the server in the address"),
        "reason": (I, "words for people"),
        "size": (E, "hop.received, with the line that the server adds"),
    },
    "mail.posted": {
        "mail": (B, "hop.received, unless it was written at that server"),
        "folder": (E, "change.made"),
        "object": (E, "change.made"),
        "sender": (B, "other posts of the same mail"),
        "recipient": (D, "the recipients of hop.received"),
    },
    "mail.not_posted": {
        "mail": (B, "hop.received, unless it was written at that server"),
        "folder": (B, "the folders"),
        "sender": (B, "other posts of the same mail"),
        "reason": (I, "words for people"),
        "recipient": (D, "the recipients of hop.received"),
    },
    "mailbox.delivered": {
        "mail": (B, "hop.received, unless it was written at that server"),
        "recipient": (D, "the contacts of the folder"),
        "sender": (I, "people outside the organization record nothing"),
        "subject": (I, "words for people"),
        "size": (I, "a mail to people decides nothing"),
    },
    "hop.sent": {
        "mail": _MAIL,
        "next_hop": (E, "hop.received, or the fault that lost it"),
        "connector": (B, "the topology, and other attempts of the copy"),
        "recipients": (E, "hop.received, or hop.dropped"),
        "size": (B, "mail.submitted and hop.received, unless a fault lost it or alters mails"),
        "attempt": (D, "the failed attempts of the copy"),
        "queue_id": (B, "other attempts of the copy"),
        "ordinary": (I, "words for people"),
        "begun_at": (I, "a picture begins with it, and nothing else"),
    },
    "hop.failed": {
        "mail": (E, "the end of the copy"),
        "next_hop": (B, "the other attempts of the copy, unless links changed"),
        "connector": (B, "the topology, and the other attempts of the copy, unless links changed"),
        "reason": (I, "words for people"),
        "retry_at": (B, "the time of the next attempt"),
        "queue_id": (B, "the other attempts of the copy"),
        "begun_at": (I, "a picture begins with it, and nothing else"),
    },
    "hop.received": {
        "mail": _MAIL,
        "peer": (B, "hop.sent; a peer outside the organization records nothing"),
        "recipients": (B, "hop.sent; a peer outside the organization records nothing"),
        "size": (B, "mail.received, or hop.sent; the size of a mail to people decides nothing"),
        "authenticated": (D, "a store proves that it is one, and others do not"),
        "sender": (I, "people find their mail by it, and nothing else uses it"),
        "subject": (I, "people find their mail by it, and nothing else uses it"),
    },
    "hop.dropped": {
        "mail": _MAIL,
        "fault": (B, "fault.injected"),
        "sender": (B, "mail.submitted, by the server in the address"),
        "recipients": (E, "hop.sent"),
    },
    "hop.expired": {
        "mail": (E, "the failed attempts of the copy, or hop.received"),
        "queue_id": (B, "the failed attempts of the copy; a mail may expire or be returned without an attempt"),
        "recipients": (
            B,
            "mail.submitted or hop.received at this server; nobody records that people wrote a mail here",
        ),
        "reason": (I, "words for people"),
    },
    "hop.deleted": {
        "mail": (E, "the failed attempts of the copy, or hop.received"),
        "queue_id": (B, "the other events of the copy; a mail may be deleted without an attempt"),
        "recipients": (
            B,
            "mail.submitted or hop.received at this server; nobody records that people wrote a mail here",
        ),
    },
    "queue.frozen": {
        "mail": (B, "the other events of the copy, if there are any"),
        "next_hop": (I, "the attempts before and after it may be none"),
        "queue_id": (B, "the other events of the copy, if there are any"),
    },
    "queue.unfrozen": {
        "mail": (B, "the other events of the copy, if there are any"),
        "next_hop": (I, "the attempts before and after it may be none"),
        "queue_id": (B, "the other events of the copy, if there are any"),
    },
    "link.down": {
        "connector": (E, "the topology"),
        "by": (D, "the failed attempts of that server"),
        "reason": (I, "words for people"),
        "avoided": (D, "the routes of later copies"),
    },
    "link.up": {"connector": (E, "link.down"), "by": (D, "link.down")},
    "change.made": {
        "mail": (D, "mail.posted"),
        "folder": (B, "version.applied, where another store holds the folder"),
        "object": (B, "version.applied, where another store holds the folder"),
        "number": (E, "the numbers of the store have no gap"),
        "kind": (B, "version.applied, where another store holds the folder"),
        "operation": (E, "the versions that it replaces"),
        "modified_at": (B, "version.applied, where another store holds the folder"),
        "supersedes": (E, "change.made of the versions that it replaces, the predecessor list, and conflict.arose"),
        "pcl": (E, "the predecessor lists of the versions that it replaces"),
        "rivals": (B, "the predecessor lists of the versions that it replaces, and the versions in its store"),
        "digest": (B, "version.applied, where another store holds the folder"),
        "subject": (B, "folder.shown; the subject of a message decides nothing"),
        "replicas": (B, "replica.added, and the recipients of mails"),
        "parent": (B, "folder.shown"),
        "resolve": (B, "conflict.notice"),
    },
    "item.expired": {
        **_THING,
        "modified_at": (E, "change.made"),
        "limit_us": (B, "other items of the folder that expire here"),
    },
    "item.recovered": {
        **_THING,
        "of": (B, "tombstone.made; several objects may be deleted at the same time"),
        "deleted_at": (E, "tombstone.made"),
        "retention_us": (D, "the settings"),
    },
    "version.applied": _VERSION,
    "version.ignored": {
        **_VERSION,
        "pcl": (B, "change.made, unless it is a deletion"),
        "reason": (D, "the versions and tombstones that the store has"),
    },
    "version.held": {
        **_VERSION,
        "until_at": (B, "the settings, where they are the defaults"),
        "waits_for": (B, "the folders"),
    },
    "version.dropped": {
        **_VERSION,
        "way": (D, "version.held"),
        "reason": (I, "words for people"),
    },
    "version.failed": {
        "mail": (E, "mail.received"),
        "number": (B, "the folders of the mail"),
        "reason": (I, "words for people"),
        "folder": (D, "the mail"),
        "object": (D, "change.made"),
    },
    "conflict.aged": {
        **_THING,
        "winner": (E, "conflict.arose"),
        "since_at": (E, "conflict.arose"),
        "limit_us": (D, "the settings"),
    },
    "conflict.arose": {
        "folder": (E, "change.made"),
        "object": (E, "change.made"),
        "versions": (B, "change.made, and conflict.notice"),
        "winner": (E, "the times of the versions"),
    },
    "conflict.ended": {**_THING, "by": (B, "the contacts of the folder in the topology, until the folder is changed")},
    "conflict.notice": {
        "folder": (E, "change.made"),
        "object": (E, "change.made"),
        "contacts": (D, "the contacts of the folder"),
        "versions": (E, "conflict.arose, or change.made"),
    },
    "tombstone.made": _THING,
    "tombstone.dropped": _THING,
    "row.replaced": {
        "mail": _MAIL,
        "folder": (E, "mail.submitted"),
        "store": (E, "mail.submitted"),
        "cnset": (E, "mail.submitted"),
        "cnset_fai": (E, "mail.submitted"),
        "sent_at": (E, "mail.submitted"),
        "sent_number": (E, "mail.submitted"),
    },
    "entry.made": {
        "folder": (E, "the later events of the entry"),
        "entry": (E, "the later events of the entry"),
        "cnset": (
            B,
            "request.sent, entry.pruned and the versions; no event names a number again that arrives without a request",
        ),
        "cnset_fai": (D, "request.sent and entry.pruned"),
        "local": (B, "the rows of the stores in the site, and the time-out"),
        "parent": (D, "an earlier entry.made with these numbers"),
        "due_at": (B, "the settings, where they are the defaults"),
    },
    "entry.satisfied": {"folder": (E, "entry.made"), "entry": (E, "entry.made")},
    "entry.pruned": {
        "folder": (E, "entry.made"),
        "entry": (E, "entry.made"),
        "cnset": (E, "entry.made"),
        "cnset_fai": (D, "entry.made"),
        "reason": (I, "words for people"),
    },
    "entry.timed_out": {
        "folder": (E, "entry.made"),
        "entry": (E, "entry.made"),
        "attempt": (D, "the requests before it"),
    },
    "request.sent": {
        "folder": (E, "the mail with the request"),
        "entry": (E, "entry.made"),
        "source": (E, "the mail with the request"),
        "cnset": (E, "the mail with the request"),
        "cnset_fai": (E, "the mail with the request"),
        "retry_at": (B, "the settings, where they are the defaults"),
    },
    "request.ended": {
        "folder": (E, "request.sent"),
        "entry": (E, "entry.made"),
        "source": (E, "request.sent"),
        "how": (E, "the next event of the entry"),
    },
    "request.deferred": {"folder": (E, "entry.made"), "entry": (E, "sources.considered")},
    "content.suspended": {},
    "content.resumed": {},
    "request.refused": {
        "folder": (E, "the mail with the request"),
        "requester": (E, "the mail with the request"),
        "request_mail": (E, "the mail with the request"),
    },
    "expired.everywhere": {"folder": (E, "change.made"), "cnset": (B, "change.made"), "cnset_fai": (D, "change.made")},
    "request.answered": {
        "folder": (E, "the mail with the request"),
        "requester": (E, "the mail with the request"),
        "cnset": (B, "the mails with the response, and the request"),
        "mails": (D, "the mails with the response"),
        "request_mail": (E, "the mail with the request"),
        "expired": (D, "the mails with the response"),
    },
    "sources.considered": {
        "folder": (E, "entry.made"),
        "entry": (E, "entry.made"),
        "candidates": (B, "the topology, the rows of the stores and the mails between them"),
        "chosen": (B, "request.sent, unless the request waits"),
        "method": (D, "the version of the server"),
        "cnset": (B, "entry.made"),
        "cnset_fai": (D, "entry.made"),
        "missing": (D, "the mails that the store had received"),
        "missing_fai": (D, "the mails that the store had received"),
        "one_by_one": (D, "the requests that follow"),
    },
    "responders.considered": {
        "folder": (E, "the mail with the status request"),
        "candidates": (B, "chosen, and the order of the six steps"),
        "chosen": (E, "the mail with the status request; of six steps, the candidates that a step listed"),
        "method": (D, "the version of the server"),
        "limit": (D, "the version of the server"),
    },
    "source.down": {"store": (E, "request.ended"), "folder": (E, "request.ended")},
    "source.up": {"store": (E, "mail.received")},
    "status.due": {
        "folders": (B, "the status mails, and the folders"),
        "last_update_at": (B, "the changes in the store"),
    },
    "status.missed": {},
    "status.ordered": {"folder": (E, "the mail with the status request")},
    "changes.resent": {
        "folder": (E, "the mails that are sent again"),
        "stores": (E, "the mails that are sent again"),
        "since_at": (D, "the days of the order, and the changes that are sent again"),
        "cnset": (D, "the mails that are sent again"),
        "cnset_fai": (D, "the mails that are sent again"),
    },
    "replica.added": {"folder": (E, "change.made, by its replica list"), "store": (E, "the node itself")},
    "replica.pending": {"folder": (B, "the folders")},
    "replica.dropped": {"folder": (B, "the folders"), "cnset": (D, "the versions that the store had")},
    "address.stamped": {
        "store": (E, "the topology"),
        "address": (E, "the recipient policies of the topology or of recipient.policy"),
    },
    "address.missing": {"store": (E, "the topology"), "reason": (I, "words for people")},
    "address.lacking": {
        "message_type": (I, "the mail was not sent"),
        "folders": (B, "the folders; if there are several, one may be missing"),
        "stores": (B, "address.missing; if there are several, one may be missing"),
    },
    "tree.linked": {"store": (B, "the servers of the topology"), "linked": (B, "the mails about folders of the store")},
    "tree.lacking": {
        "message_type": (I, "the mail was not sent"),
        "folder": (B, "the folders"),
        "stores": (B, "tree.linked; if there are several, one may be missing"),
    },
    "store.deleted": {
        "store": (E, "address.stamped or address.missing"),
        "forced": (B, "the replica lists that name the store"),
        "directory_object": (B, "store.created; the first object has no such event"),
    },
    "loss": {"folder": (B, "the folders"), "cnset": (B, "change.made"), "reason": (I, "words for people")},
    "folder.shown": {
        "folder": (B, "the folders, and the subject of the folder"),
        "path": (B, "the name of the folder, and whether its parent is the top"),
    },
    "folder.moved": {
        "folder": (B, "the folders, and the subject of the folder"),
        "path": (B, "the name of the folder, and whether its parent is the top"),
    },
    "folder.hidden": {"folder": (B, "the folders, and folder.shown"), "path": (D, "folder.shown")},
    "post.refused": {"folder": (B, "the folders"), "reason": (I, "words for people")},
}
"""Each event type, and each of its fields: its worth, and what else says it, or why nothing does."""

HEADER: Final[Fields] = {
    "run": (E, "all events of the run"),
    "node": (E, "the sequence numbers of the node"),
    "incarnation": (D, "node.started"),
    "seq": (E, "the sequence numbers of the node have no gap"),
    "lamport": (
        B,
        "one more than in the event before it; where a mail arrives, larger than in the events that sent it",
    ),
    "at": (B, "the events before and after it, and the times that rules set"),
    "real": (I, "real time decides nothing"),
    "mail": (E, "the events of the same mail"),
    "v": (E, "a reader refuses lines of another major version"),
}
"""The fields of the header, which all events have."""
