"""The facts that more than one event states: a table that `analytics.evidence.agreement.statements` evaluates.

To relate an event to others, add a line: the event, the fact, how it states the fact, the key, and the values in the order of
the fact's names. A key or a value is a field of the event, a column of DERIVED, or a part of the elements of a list in LISTS;
`-` means that the event does not state this value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class How(StrEnum):
    """How an event states a fact: first hand; repeating what another must have stated; or repeating it if another stated it."""

    FIRST = "first"
    REPEATS = "repeats"
    IF_KNOWN = "if known"


@dataclass(frozen=True, slots=True)
class Fact:
    """A kind of fact.

    values: what is said of each key, in words; '' if only that it exists.
    single: all who state it first hand must agree.
    repeated: when a run has ended, each statement has been repeated.
    """

    values: tuple[str, ...]
    single: bool = True
    repeated: bool = False


@dataclass(frozen=True, slots=True)
class States:
    """An event type states a fact.

    items: the list of LISTS of which each element is its own statement.
    often: many of these events state the same, and are united before they are compared with others.
    """

    event: str
    fact: str
    how: How
    key: str
    says: str
    items: str = ""
    often: bool = False


FIRST, REPEATS, IF_KNOWN = How.FIRST, How.REPEATS, How.IF_KNOWN

FACTS: Final[dict[str, Fact]] = {
    "mail": Fact(("sender", "type", "folders", "number", "marks", "time")),
    "recipient of a mail": Fact(("recipient",), single=False),
    "recipient of a mail of people": Fact(("recipient",), single=False),
    "arrival of a mail": Fact(("peer", "recipients"), single=False),
    "size of a mail": Fact(("size",), single=False),
    "size of a mail that was read": Fact(("size",), single=False),
    "version": Fact(("object", "folder", "kind", "predecessors", "time", "digest", "deletion")),
    "author's GUID": Fact(("store",)),
    "entry": Fact(("folder",), single=False),
    "request": Fact(("folder", "source"), single=False, repeated=True),
    "request mail": Fact(("folder", "requester"), single=False),
    "fault": Fact(("kind",)),
    "address": Fact(("name",)),
    "mail domain": Fact(("",), single=False),
    "entry without an address": Fact(("",), single=False),
    "object without a tree": Fact(("",), single=False),
    "backup": Fact(("store",)),
    "directory object": Fact(("",), single=False),
    "copy in a queue": Fact(("mail", "next hop", "connector")),
    "recipient at a server": Fact(("recipient",), single=False, repeated=True),
    "mail that is read": Fact(("folder", "way"), single=False),
    "arrived mail": Fact(("",), single=False),
    "request that is sent": Fact(("source", "numbers", "numbers of associated messages"), single=False, repeated=True),
    "numbers of an entry": Fact(("number",), single=False),
    "chosen source": Fact(("source",), single=False, repeated=True),
    "request that arrived": Fact(("requester", "folder"), single=False),
    "response": Fact(("numbers",), single=False),
    "status request": Fact(("stores",), single=False, repeated=True),
    "responder": Fact(("store",), single=False),
    "choice of responders": Fact(("",), single=False),
    "order to send again": Fact(("store",), single=False, repeated=True),
    "retried request": Fact(("",), single=False),
    "mail from a store": Fact(("",), single=False),
    "own replica": Fact(("store",)),
    "reader of a mail": Fact(("recipients",)),
    "holder": Fact(("",), single=False),
    "conflicting versions": Fact(("versions",), single=False),
    "mail to a folder": Fact(("sender",)),
    "mail from another server": Fact(("",), single=False),
    "age limit": Fact(("limit",)),
    "folder": Fact(("",), single=False),
    "server": Fact(("version",), single=False),
    "setting": Fact(("value",), single=False),
    "default of a setting": Fact(("default",)),
    "connector": Fact(("",), single=False),
    "change of the organization": Fact(("",), single=False),
}

REPLICATION_MAIL: Final = "if(mail rlike '^[0-9]+[.][0-9a-f]{12}@', mail, null)"
"""SQL for a mail that the replication agent of a store sent, as its Message-ID shows; null for mail of people and notices."""

COPY: Final = "nullif(queue_id, '0')"
"""SQL for the number of a copy in a queue. A mail that is returned before it is queued has none."""

IN_A_QUEUE: Final = "recipient at a server"
"""The fact that may wait in a queue until it is repeated."""

LINE_BYTES: Final = 65
"""The length of the line that a server puts on top of a mail that it accepts, without the names of the two servers (ML-7)."""

_STORE: Final = r"regexp_replace({}, '(-IS)?@.*$', '')"
SETTING: Final = (
    "case when {0} rlike '^[0-9]+ (s|min|h|d)$' then cast(cast(split_part({0}, ' ', 1) as bigint)"
    " * element_at(map('s', 1, 'min', 60, 'h', 3600, 'd', 86400), split_part({0}, ' ', 2)) as string)"
    " else lower(regexp_replace({0}, ' (KB|MB)$', '')) end"
)
"""SQL for the value of a setting, with durations in seconds."""

_RANGE: Final = (
    "struct(split_part(p, ':', 1) as guid,"
    " cast(split_part(i, '-', 1) as bigint) as low,"
    " cast(split_part(i, '-', -1) as bigint) as high)"
)
_RANGES: Final = (
    "flatten(transform(filter(split({0}, ';'), p -> p != ''),"
    f" p -> transform(split(split_part(p, ':', 2), ','), i -> {_RANGE})))"
)
_MOST_NUMBERS: Final = 500
_COUNT: Final = "aggregate(s, 0D, (n, r) -> n + abs(cast(r.high as double) - cast(r.low as double)) + 1)"
_EACH_NUMBER: Final = (
    "flatten(transform(s, r -> transform(sequence(r.low, r.high), n -> array(concat(r.guid, ':', n)))))"
)
_NUMBERS: Final = (
    f"transform(array({_RANGES}),"
    f" s -> if({_COUNT} > {_MOST_NUMBERS}, array(array(cast(null as string))), {_EACH_NUMBER}))[0]"
)
"""SQL for each number of a set; only one null element for a large set, which agrees with everything."""

_STORES: Final = "transform(filter(recipients, r -> r like '%-IS@%'), r -> array(" + _STORE.format("r") + "))"
_SET: Final = "transform({}, r -> array(r))"
_OF_FOLDERS: Final = "flatten(transform(folders_of_mail, f -> transform(recipient_stores, s -> array(f.folder, s))))"
_NOT_EMPTY: Final = "if(size({0}) = 0, array(array('')), transform({0}, r -> array(r)))"
"""SQL for the elements of a list that has some. Nobody states anything of the empty text in place of a missing element."""

_FROM_OUTSIDE: Final = "coalesce(type = 'hop.received' and not authenticated and agent_mail is null, false)"
_RECEIVING_STORES: Final = (
    "if(type = 'mail.received' or type = 'mail.bad', array(array(node)),"
    f" if(mail like 'notice.%' or {_FROM_OUTSIDE}, null, {_STORES}))"
)
_ONLY_SET: Final = "if(f.cnset_fai = '', f.cnset, if(f.cnset = '', f.cnset_fai, null))"
_FOLDER_NAMES: Final = "from_json(if(folders = '[]', '[\"\"]', folders), 'array<string>')"
_FOLDERS: Final = (
    "if(type like 'mail.%',"
    f" transform(folders_of_mail, f -> array(f.folder, f.cnset, f.cnset_fai, {_ONLY_SET})),"
    f" transform(filter({_FOLDER_NAMES}, f -> f != '1-1'), f -> array(f)))"
)
_WITH_RANGES: Final = "type in ('mail.submitted', 'mail.received', 'row.replaced', 'replica.dropped')"
"""The events whose numbers are ranges, in which there may be numbers of others."""

SHARED: Final[dict[str, str]] = {
    "agent_mail": REPLICATION_MAIL,
    "folders_of_mail": (
        "from_json(if(type like 'mail.%', folders, null),"
        " 'array<struct<folder: string, cnset: string, cnset_fai: string>>')"
    ),
    "recipient_stores": f"transform(recipients, r -> {_STORE.format('r')})",
}
"""Columns that several of DERIVED and LISTS use."""

DERIVED: Final[dict[str, str]] = {
    "own": "node",
    "id_number": "split_part(mail, '.', 1)",
    "sent_by": _STORE.format("sender"),
    "recipient_list": "array_join(array_sort(recipients), ' ')",
    "size_with_line": f"size + length(node) + length(coalesce(peer, next_hop)) + {LINE_BYTES}",
    "address_name": "substring_index(address, '@', 1)",
    "address_domain": "substring_index(address, '@', -1)",
    "change": "trim(both '\"' from number)",
    "deletion": "coalesce(cast(deleted as string), if(operation = 'delete', 'true', 'false'))",
    "yes": "if(type is null, null, 'true')",
    "no": "if(type is null, null, 'false')",
    "way_of_mail": (
        "case when message_type in (2, 4) then 'broadcast'"
        " when message_type in (2147483650, 2147483652) then 'backfill' end"
    ),
    "read_at": "if(way = 'queue', null, at)",
    "retried_at": "if(how = 'retry', at, null)",
    "request_at": "if(message_type = 8, at, null)",
    "request_id": "if(message_type = 8, mail, null)",
    "response_at": "if(message_type in (2147483650, 2147483652), at, null)",
    "one_response_at": "if(mails = 1, at, null)",
    "resent_at": "if(array_contains(coalesce(marks, array()), 'resent'), at, null)",
    "ordered_at": "if(concat(cnset, cnset_fai) != '', at, null)",
    "status_request_at": "if(message_type = 32, at, null)",
    "responders_at": (
        "if(message_type = 32"
        " and not arrays_overlap(coalesce(marks, array()), array('repeat', 'delete-pending')), at, null)"
    ),
    "chosen_at": "if(size(chosen) > 0, at, null)",
    "to_list": "array_join(array_sort(recipient_stores), ' ')",
    "to": "recipient_stores[0]",
    "version_list": "array_join(array_sort(versions), ' ')",
    "conflict_object": "if(size(versions) > 1, object, null)",
    "folder_object": "if(folder = '1-1', object, null)",
    "content_folder": "if(folder = '1-1', null, folder)",
    "copy": COPY,
    "mail_from_afar": "if(mail like concat('%@', node, '.%'), null, mail)",
    "people_from_afar": "if(mail like concat('%@', node, '.%') or agent_mail is not null, null, mail)",
    "sized_mail": "if(altered or array_contains(relays, connector), null, agent_mail)",
    "handed_to": "if(array_contains(relays, connector), null, next_hop)",
    "route_hop": "if(rerouted or next_hop = '', null, next_hop)",
    "route_connector": "if(rerouted or next_hop = '', null, connector)",
    "chosen_by_all": "if(method = 'all holders', array_join(array_sort(chosen), ' '), null)",
    "created_object": "nullif(directory_object, '0')",
    "setting_value": SETTING.format("value"),
    "lists": "if(deleted or operation = 'delete', null, pcl)",
}
"""Columns computed from the fields of one event, and from what the run says of all: rerouted (the routes of its node changed),
altered (a fault of the run alters mails), relays (the connectors with a foreign relay)."""

LISTS: Final[dict[str, tuple[tuple[str, ...], str]]] = {
    "recipients": (("recipient",), _NOT_EMPTY.format("recipients")),
    "stores": (("store_of",), _RECEIVING_STORES),
    "folders": (("f_folder", "f_cnset", "f_cnset_fai", "f_only"), _FOLDERS),
    "numbers": (("n",), f"if({_WITH_RANGES}, null, {_NUMBERS.format('cnset')})"),
    "policies": (("policy_domain",), "transform(policies, p -> array(p.domain))"),
    "lacking": (("lacking_store",), _NOT_EMPTY.format("stores")),
    "chosen": (("chosen_store",), _SET.format("chosen")),
    "asked": (
        ("a_folder", "a_store"),
        f"if(type = 'mail.submitted' and message_type = 32, {_OF_FOLDERS}, null)",
    ),
    "to_stores": (("r_folder", "r_store"), f"if(type = 'mail.submitted', {_OF_FOLDERS}, null)"),
    "ordered": (("ordered_store",), "if(type = 'changes.resent', transform(stores, s -> array(s)), null)"),
    "replicas": (("replica",), _SET.format("replicas")),
    "versions": (("each_version",), _NOT_EMPTY.format("versions")),
    "supersedes": (("replaced",), _SET.format("supersedes")),
    "rivals": (("rival",), _SET.format("rivals")),
}
"""Lists in events: the names of the parts of an element, and SQL for an array of elements, each an array of texts."""

_VERSION: Final = "object folder kind lists modified_at digest deletion"


def _alike(
    events: str, fact: str, how: How, key: str, says: str, *, items: str = "", often: bool = False
) -> Iterator[States]:
    """Yield a statement for each of these events, which state a fact alike."""
    return (States(event, fact, how, key, says, items, often) for event in events.split())


STATEMENTS: Final[tuple[States, ...]] = (
    States("mail.submitted", "mail", FIRST, "mail", "own message_type folders number marks at"),
    States("mail.submitted", "mail", REPEATS, "mail", "- - - id_number"),
    States("mail.received", "mail", REPEATS, "mail", "sender message_type folders number marks -"),
    States("row.replaced", "mail", REPEATS, "mail", "store - - sent_number - sent_at"),
    *_alike("mail.bad hop.dropped", "mail", IF_KNOWN, "mail", "sent_by"),
    States("mail.submitted", "recipient of a mail", FIRST, "mail", "recipient", items="recipients"),
    *_alike(
        "hop.sent hop.received hop.dropped hop.expired hop.deleted fault.altered",
        "recipient of a mail",
        IF_KNOWN,
        "mail",
        "recipient",
        items="recipients",
    ),
    States(
        "hop.received", "recipient of a mail of people", FIRST, "own people_from_afar", "recipient", items="recipients"
    ),
    *_alike(
        "hop.expired hop.deleted",
        "recipient of a mail of people",
        IF_KNOWN,
        "own people_from_afar",
        "recipient",
        items="recipients",
    ),
    # A server may accept a copy whose sender does not learn of it, and sends it again.
    States("hop.received", "arrival of a mail", FIRST, "mail own", "peer recipient_list"),
    States("hop.dropped", "arrival of a mail", FIRST, "mail own", "- recipient_list"),
    States("hop.sent", "arrival of a mail", IF_KNOWN, "mail handed_to", "own recipient_list"),
    # A server that converts a mail sends another size than it has, so a copy is as large as before or after.
    *_alike("mail.submitted hop.received", "size of a mail", FIRST, "sized_mail", "size"),
    States("hop.received", "size of a mail", FIRST, "sized_mail", "size_with_line"),
    States("hop.dropped", "size of a mail", FIRST, "sized_mail", "-"),
    States("hop.sent", "size of a mail", IF_KNOWN, "sized_mail", "size"),
    States("hop.received", "size of a mail that was read", FIRST, "mail own", "size_with_line"),
    *_alike("mail.received mail.bad", "size of a mail that was read", REPEATS, "mail own", "size"),
    States("change.made", "version", FIRST, "change", _VERSION),
    # For applied versions, which are many, a separate check compares the same ("versions are applied as their author made
    # them").
    *_alike("version.ignored version.held version.dropped", "version", REPEATS, "change", _VERSION),
    *_alike("tombstone.made tombstone.dropped", "version", REPEATS, "change", "object folder - - - - yes"),
    States("item.expired", "version", REPEATS, "change", "object folder - - modified_at - no"),
    States("item.recovered", "version", REPEATS, "change", "object folder"),
    States("conflict.arose", "version", REPEATS, "each_version", "object folder", items="versions"),
    *_alike("conflict.arose conflict.aged", "version", REPEATS, "winner", "object folder"),
    *_alike("conflict.aged conflict.ended", "version", REPEATS, "change", "object folder"),
    States("conflict.notice", "version", REPEATS, "each_version", "object folder", items="versions"),
    States("change.made", "version", REPEATS, "replaced", "object folder", items="supersedes"),
    States("change.made", "version", REPEATS, "rival", "object folder", items="rivals"),
    States("node.started", "author's GUID", FIRST, "replica_guid", "own"),
    States("entry.made", "entry", FIRST, "own entry", "folder"),
    *_alike(
        "entry.timed_out entry.satisfied entry.pruned request.sent request.ended request.deferred sources.considered",
        "entry",
        REPEATS,
        "own entry",
        "folder",
    ),
    States("request.sent", "request", FIRST, "own entry", "folder source"),
    States("request.ended", "request", REPEATS, "own entry", "folder source"),
    States("mail.submitted", "request mail", FIRST, "mail", "- own"),
    *_alike("request.answered request.refused", "request mail", REPEATS, "request_mail", "- requester"),
    States("fault.injected", "fault", FIRST, "fault", "kind"),
    *_alike("fault.healed hop.dropped fault.altered", "fault", REPEATS, "fault", "-"),
    States("address.stamped", "address", FIRST, "store", "address_name"),
    States("recipient.policy", "mail domain", FIRST, "domain", ""),
    States("recipient.policy", "mail domain", FIRST, "policy_domain", "", items="policies"),
    States("address.stamped", "mail domain", REPEATS, "address_domain", ""),
    States("address.missing", "entry without an address", FIRST, "own store", ""),
    States("address.lacking", "entry without an address", REPEATS, "own lacking_store", "", items="lacking"),
    States("tree.linked", "object without a tree", FIRST, "own store", ""),
    States("tree.lacking", "object without a tree", REPEATS, "own lacking_store", "", items="lacking"),
    States("backup.made", "backup", FIRST, "backup", "store"),
    States("backup.restored", "backup", REPEATS, "backup", "store"),
    States("backup.elsewhere", "backup", REPEATS, "backup", "of"),
    *_alike("hop.sent hop.failed", "copy in a queue", FIRST, "own copy", "mail route_hop route_connector"),
    *_alike("hop.expired hop.deleted queue.frozen queue.unfrozen", "copy in a queue", FIRST, "own copy", "mail"),
    *_alike("mail.submitted hop.received", "recipient at a server", FIRST, "mail own", "store_of", items="stores"),
    *_alike(
        "hop.sent hop.expired hop.deleted mail.received mail.bad",
        "recipient at a server",
        IF_KNOWN,
        "mail own",
        "store_of",
        items="stores",
    ),
    States("hop.failed", "recipient at a server", IF_KNOWN, "mail own", "-"),
    States("mail.received", "mail that is read", FIRST, "own at", "f_folder way_of_mail", items="folders"),
    *_alike(
        "version.applied version.ignored version.held",
        "mail that is read",
        REPEATS,
        "own read_at",
        "folder way",
        often=True,
    ),
    States("mail.received", "arrived mail", FIRST, "mail own", ""),
    States("row.replaced", "arrived mail", REPEATS, "mail own", ""),
    States("mail.received", "reader of a mail", FIRST, "own seq", "own"),
    States("mail.received", "reader of a mail", REPEATS, "own seq", "recipient_list"),
    States(
        "mail.submitted",
        "request that is sent",
        FIRST,
        "own request_at f_folder to",
        "to f_cnset f_cnset_fai",
        items="folders",
    ),
    States("request.sent", "request that is sent", REPEATS, "own at folder source", "source cnset cnset_fai"),
    States("entry.made", "numbers of an entry", FIRST, "own entry", "n", items="numbers"),
    *_alike(
        "request.sent entry.pruned sources.considered",
        "numbers of an entry",
        REPEATS,
        "own entry",
        "n",
        items="numbers",
    ),
    States("entry.made", "version", IF_KNOWN, "n", "", items="numbers"),
    States("expired.everywhere", "version", REPEATS, "n", "- folder", items="numbers"),
    # The numbers of a mail may be a range with changes of other folders in it.
    States("loss", "version", REPEATS, "n", "", items="numbers"),
    States("sources.considered", "chosen source", FIRST, "own entry at", "chosen_store", items="chosen"),
    States("request.sent", "chosen source", REPEATS, "own entry at", "source"),
    States("request.deferred", "chosen source", REPEATS, "own entry at", "-"),
    States("mail.received", "request that arrived", FIRST, "own request_id", "sender f_folder", items="folders"),
    *_alike(
        "request.answered request.refused", "request that arrived", REPEATS, "own request_mail", "requester folder"
    ),
    States("mail.submitted", "response", FIRST, "own response_at f_folder to", "f_only", items="folders"),
    States("request.answered", "response", REPEATS, "own one_response_at folder requester", "cnset"),
    States("mail.submitted", "status request", FIRST, "own responders_at f_folder", "to_list", items="folders"),
    States("responders.considered", "status request", IF_KNOWN, "own chosen_at folder", "chosen_by_all"),
    States("responders.considered", "choice of responders", FIRST, "own chosen_at folder", ""),
    States("mail.submitted", "choice of responders", REPEATS, "own responders_at f_folder", "", items="folders"),
    States("mail.submitted", "responder", FIRST, "own status_request_at a_folder", "a_store", items="asked"),
    States("responders.considered", "responder", REPEATS, "own chosen_at folder", "chosen_store", items="chosen"),
    States("status.ordered", "status request", REPEATS, "own at folder", "-"),
    States("changes.resent", "order to send again", FIRST, "own ordered_at folder", "ordered_store", items="ordered"),
    States("mail.submitted", "order to send again", REPEATS, "own resent_at r_folder", "r_store", items="to_stores"),
    States("request.ended", "retried request", FIRST, "own retried_at folder source", ""),
    States("source.down", "retried request", REPEATS, "own at folder store", ""),
    States("mail.received", "mail from a store", FIRST, "own at sender", ""),
    States("source.up", "mail from a store", REPEATS, "own at store", ""),
    States("replica.added", "own replica", FIRST, "own seq", "own"),
    States("replica.added", "own replica", REPEATS, "own seq", "store"),
    States("change.made", "holder", FIRST, "object replica", "", items="replicas"),
    States("replica.added", "holder", REPEATS, "folder store", ""),
    States("conflict.arose", "conflicting versions", FIRST, "own object", "version_list"),
    States("conflict.notice", "conflicting versions", IF_KNOWN, "own conflict_object", "version_list"),
    States("hop.received", "mail from another server", FIRST, "own mail_from_afar", ""),
    *_alike(
        "mail.posted mail.not_posted mailbox.delivered hop.expired hop.deleted",
        "mail from another server",
        REPEATS,
        "own mail_from_afar",
        "",
    ),
    *_alike("mail.posted mail.not_posted", "mail to a folder", FIRST, "mail", "sender"),
    States("item.expired", "age limit", FIRST, "own folder", "limit_us"),
    States("change.made", "folder", FIRST, "folder_object", ""),
    *_alike(
        "change.made replica.added replica.pending replica.dropped entry.made folder.shown folder.hidden folder.moved"
        " responders.considered post.refused mail.not_posted loss source.down row.replaced status.ordered"
        " changes.resent",
        "folder",
        REPEATS,
        "content_folder",
        "",
        often=True,
    ),
    *_alike("status.due address.lacking", "folder", REPEATS, "f_folder", "", items="folders"),
    States("version.held", "folder", IF_KNOWN, "waits_for", ""),
    States("node.started", "server", REPEATS, "own", "version"),
    States("hop.failed", "server", IF_KNOWN, "next_hop", ""),
    *_alike(
        "store.deleted store.created backup.elsewhere address.stamped address.missing tree.linked",
        "server",
        REPEATS,
        "store",
        "",
    ),
    States("store.created", "directory object", FIRST, "store created_object", ""),
    States("store.deleted", "directory object", REPEATS, "store created_object", ""),
    States("setting.value", "setting", IF_KNOWN, "own name at", "setting_value"),
    States("setting.value", "default of a setting", FIRST, "name", "default"),
    *_alike("hop.sent hop.failed link.down link.up", "connector", REPEATS, "connector", ""),
    States("organization.changed", "change of the organization", FIRST, "revision", ""),
    States("organization.read", "change of the organization", REPEATS, "revision", ""),
)
