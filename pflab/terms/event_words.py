"""Names for the GUIDs and object ids of a run, and each event as a line of words.

A `Lexicon` learns from events which store has a GUID, which path a folder has, and which subject a message has. It uses the
trace alone and never asks a node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from typing import Any, Final

from pflab.terms import number_sets as sets
from pflab.terms.fault_words import fault_words
from pflab.terms.folder_ids import HIERARCHY, HIERARCHY_NAME
from pflab.terms.mail_types import mail_name
from pflab.terms.verdict import join_names
from topology.problems import counted
from traces.events import (
    ChangeMade,
    Event,
    FolderHidden,
    FolderMoved,
    FolderShown,
    HopSent,
    MailReceived,
    MailSubmitted,
    NodeStarted,
    QueueFrozen,
    QueueUnfrozen,
)
from traces.labtime import DAY_US, HOUR_US, MINUTE_US, SECOND_US, LabTime, format_duration, format_instant
from traces.store_names import guid_name, store_of_guid_name

END_OF_TIME: Final = 2**62

SETUP = "Setup"
"""The name shown for the GUID that numbers the folders of the topology file."""

SETUP_TOLD: Final = (
    "Setup-1, Setup-2 and so on created the folders of the topology file. Every store has them from its start, so no mail"
    " brings them."
)


class Lexicon:
    """The names that a run's events have introduced so far."""

    def __init__(self) -> None:
        self._stores: dict[str, str] = {}
        self._first_paths: dict[str, str] = {HIERARCHY: HIERARCHY_NAME}
        self._paths: dict[str, list[tuple[LabTime, str]]] = {}
        self._subjects: dict[str, str] = {}
        self._versions: dict[tuple[str, str], list[tuple[LabTime, str]]] = {}
        self._at: LabTime = END_OF_TIME

    def as_of(self, at: LabTime) -> Lexicon:
        """Return these names as they were at an instant. Both learn together."""
        then = copy(self)
        then._at = at
        return then

    def apart(self) -> Lexicon:
        """Return a copy of these names that learns by itself."""
        copy = Lexicon()
        copy._stores, copy._subjects, copy._at = dict(self._stores), dict(self._subjects), self._at
        copy._first_paths = dict(self._first_paths)
        copy._paths = {id_: [*paths] for id_, paths in self._paths.items()}
        copy._versions = {version: [*subjects] for version, subjects in self._versions.items()}
        return copy

    def learn(self, event: Event) -> None:
        if isinstance(event, NodeStarted):
            self.learn_store(event.replica_guid, event.node, again=event.reason != "restart")
        elif isinstance(event, ChangeMade):
            # A deletion has no subject; it is named after the version that it deletes.
            before = next((self.as_of(event.at)._of_version(event.object, number) for number in event.supersedes), "")
            subject = event.subject or before or self._subjects.get(event.object, "")
            self._subjects[event.object] = subject
            self._versions.setdefault((event.object, event.number), []).append((event.at, subject))
            if event.kind == "folder" and event.operation == "create" and event.parent is not None:
                at_top = event.parent == HIERARCHY or self.folder(event.parent) == event.parent
                path = event.subject if at_top else f"{self.folder(event.parent)}/{event.subject}"
                self._learn_path(event.object, event.at, path)
        elif isinstance(event, FolderShown | FolderMoved | FolderHidden):
            self._learn_path(event.folder, event.at, event.path)

    def learn_store(self, guid: str, store: str, *, again: bool = False) -> None:
        """Learn the replica GUID of a store. A restored or new store has a second GUID, shown as A.2 (RP-4, RP-7)."""
        if guid in self._stores:
            return
        earlier = sum(1 for name in self._stores.values() if store_of_guid_name(name) == store)
        self._stores[guid] = guid_name(store, earlier + 1 if again else 1)

    def stores(self) -> dict[str, str]:
        """Return each known replica GUID and the name shown for its store."""
        return dict(self._stores)

    def learn_folder(self, id_: str, path: str, *, first: bool = False) -> None:
        """Learn the path that a folder has before the first event that names it.

        `first`: the folder began with this path; if no event has renamed it, a path that is already known may be newer.
        """
        if not first or id_ in self._paths or id_ not in self._first_paths:
            self._first_paths[id_] = path

    def _learn_path(self, id_: str, at: LabTime, path: str) -> None:
        paths = self._paths.setdefault(id_, [])
        if not paths or paths[-1][1] != path:
            paths.append((at, path))

    def knows(self, guid: str) -> bool:
        """Return whether this GUID has a name."""
        return guid in self._stores

    def store_of(self, guid: str) -> str:
        """Return the name of the store with this GUID; an unknown GUID belongs to the topology file."""
        return self._stores.get(guid, SETUP)

    def shown(self, text: str) -> sets.Numbers:
        """Read a set as a store shows it. A store that does not know a GUID shows its first eight digits instead of a name."""
        names = {guid[:8]: name for guid, name in self._stores.items()}
        return sets.renamed(sets.parse_named(text), lambda name: names.get(name, name))

    def number(self, number: str) -> str:
        guid, counter = sets.split_number(number)
        return f"{self.store_of(guid)}-{counter}"

    def numbers(self, cnset: str) -> str:
        return sets.words(sets.parse_traced(cnset), self.store_of)

    def folder(self, id_: str) -> str:
        """Return the path of a folder; `the hierarchy` for 1-1; the id itself if the path is not known."""
        paths = self._paths.get(id_, ())
        first = self._first_paths.get(id_) or (paths[0][1] if paths else id_)
        return next((path for at, path in reversed(paths) if at <= self._at), first)

    def is_folder(self, id_: str, name: str) -> bool:
        """Return whether a user means this folder by its path or its id."""
        return name in (id_, self.folder(id_))

    def folder_id(self, name: str) -> str | None:
        return next((id_ for id_ in (*self._first_paths, *self._paths) if self.is_folder(id_, name)), None)

    def subject(self, object_: str, number: str = "") -> str:
        """Return the subject of the version with this change number, in quotes. Without a number, or if the trace does not
        have this change, return the last subject."""
        text = self._of_version(object_, number) or self._subjects.get(object_) or self.folder(object_)
        return repr(text) if text != object_ else self.number(object_)

    def _of_version(self, object_: str, number: str) -> str:
        """Return the subject of a version, or ''. A restored store can give a number out again (CN-1), to another subject."""
        return next((name for at, name in reversed(self._versions.get((object_, number), ())) if at <= self._at), "")

    def what(self, folder: str, object_: str, number: str = "") -> str:
        """Return the subject and the folder of a message, or the name of a folder; see `subject` for `number`."""
        subject = self.subject(object_, number)
        return f"folder {subject}" if folder == HIERARCHY else f"{subject} in {self.folder(folder)}"


def tag_of(event: Event) -> str:
    """Return the type of an event as traces write it, such as `version.applied`."""
    return str(event.__struct_config__.tag)


def store_named(address: str) -> str:
    """Return the store with a mail address such as `A-IS@contoso.test`; a text without `@` is a name already."""  # spec: ML-1
    local, at, _ = address.partition("@")
    return local.removesuffix("-IS") if at else address


def line(event: Event, names: Lexicon) -> str:
    """Return an event as one line: `2003-10-21T00:15:00Z  A     makes 'Hello' in Projects as A-1`."""
    return f"{to_the_second(event.at)}  {event.node:<4}  {words(event, names)}"


def marked_name(mail: MailSubmitted | MailReceived) -> str:
    """Return the type of a mail with its marks, such as `content (resent)`."""
    marks = f" ({', '.join(mail.marks)})" if mail.marks else ""
    return f"{mail_name(mail.message_type)}{marks}"


def hours_and_minutes(span_us: int) -> str:
    """Return a duration to the nearest minute: `36 h 15 min`, `36 h` or `15 min`."""
    hours, minutes = divmod((span_us + MINUTE_US // 2) // MINUTE_US, 60)
    parts = [f"{hours} h"] if hours else []
    parts += [f"{minutes} min"] if minutes or not hours else []
    return " ".join(parts)


def roughly(span_us: int) -> str:
    """Return a rounded duration: `3 lab days`, below two days `30 lab hours`, below an hour `20 lab minutes`."""
    for unit_us, what, least in ((DAY_US, "day", 2), (HOUR_US, "hour", 1)):
        if span_us >= least * unit_us:
            return counted(round(span_us / unit_us), f"lab {what}")
    return counted(round(span_us / MINUTE_US), "lab minute")


def way_words(hop: HopSent) -> str:
    """Return how long a mail was on its way, such as ` after 1 min 28 s`; '' for less than a second."""
    way_us = 0 if hop.begun_at is None else hop.at - hop.begun_at
    return f" after {format_duration(way_us // SECOND_US * SECOND_US)}" if way_us >= SECOND_US else ""


def _beyond(recipients: Iterable[str], server: str) -> str:
    """Return for whom a hop to a server carries a mail, such as ` for B and C`; '' if only for this server."""
    stores = [store_named(address) for address in recipients]
    return "" if stores == [server] else f" for {join_names(stores)}"


def to_the_second(at: LabTime) -> str:
    """Return an instant without its fraction of a second."""
    return format_instant(at - at % SECOND_US)


def words(event: Event, names: Lexicon) -> str:
    """Return what happened, without time and server. An event type without wording shows its fields."""
    tell = _WORDS.get(tag_of(event))
    if tell is not None:
        return tell(event, names.as_of(event.at))
    fields = [f"{key}={getattr(event, key)}" for key in event.__struct_fields__ if key not in Event.__struct_fields__]
    return " ".join([tag_of(event), *fields])


def _mail(event: MailSubmitted | MailReceived, names: Lexicon) -> str:
    parts = []
    for folder in event.folders:
        numbers = sets.union([sets.parse_traced(folder.cnset), sets.parse_traced(folder.cnset_fai)])
        of = f" {sets.words(numbers, names.store_of)}" if numbers else ""
        parts.append(f"{names.folder(folder.folder)}{of}")
    return f"{marked_name(event)} about {'; '.join(parts) or 'nothing'}".replace(
        f"hierarchy about {HIERARCHY_NAME}", "hierarchy"
    )


def _submitted(event: Any, names: Lexicon) -> str:
    return f"sends to {join_names(map(store_named, event.recipients))}: {_mail(event, names)}"


def _policies(e: Any) -> str:
    if e.policy:
        entries = [f"{entry.domain}, priority {at}" for at, entry in enumerate(e.policies, 1) if entry.name == e.policy]
        default = "" if e.change == "removed" else f" (addresses of {e.domain})"
        return f"changes the recipient policies: {e.policy} is {e.change}" + (
            f" (addresses of {entries[0]})" if entries else default
        )
    return f"sets the recipient update service to {e.recipient_update} and the mail domain to {e.domain}" + (
        "; entries that wait get their addresses now" if e.at_once else ""
    )


def _unaddressed(event: Any, names: Lexicon) -> str:
    what = f"{mail_name(event.message_type)} about {_join_folders(event.folders, names)}"
    if event.node in event.stores:
        return f"sends no {what}, because it has no address itself"
    return f"leaves {join_names(event.stores)} out of its {what}, for want of an address"


def _without_tree(event: Any, names: Lexicon) -> str:
    what = f"{mail_name(event.message_type)} about {_join_folders((event.folder,), names)}"
    why = f"because the object of {join_names(event.stores)} names no public folder tree"
    if event.folder == HIERARCHY:
        return f"leaves {join_names(event.stores)} out of its {what}, {why}"
    return f"sends no {what}, {why}"


def _received(event: Any, names: Lexicon) -> str:
    return f"receives from {store_named(event.sender)}: {_mail(event, names)}"


def _change(event: Any, names: Lexicon) -> str:
    verb = {"create": "makes", "modify": "changes", "delete": "deletes"}[event.operation]
    return f"{verb} {names.what(event.folder, event.object, event.number)} as {names.number(event.number)}"


def _in_queue(event: QueueFrozen | QueueUnfrozen) -> str:
    return f"its queue for {event.next_hop}" if event.queue_id is None else "a mail in its queue"


def _version(verb: str) -> Callable[[Any, Lexicon], str]:
    def tell(event: Any, names: Lexicon) -> str:
        what = "the deletion of " if event.deleted else ""
        what += names.what(event.folder, event.object, event.number)
        return f"{verb} {names.number(event.number)}, {what} ({_why(event)})"

    return tell


def _why(event: Any) -> str:
    reason = getattr(event, "reason", "")
    return reason or event.way


def _entry(event: Any, names: Lexicon) -> str:
    numbers = sets.union([sets.parse_traced(event.cnset), sets.parse_traced(event.cnset_fai)])
    where = "in the site" if event.local else "outside the site only"
    what = f"{sets.words(numbers, names.store_of)} of {names.folder(event.folder)}"
    return f"misses {what}, known {where}; will ask at {format_instant(event.due_at)}"


def _asked(event: Any, names: Lexicon) -> str:
    numbers = sets.union([sets.parse_traced(event.cnset), sets.parse_traced(event.cnset_fai)])
    what = f"{sets.words(numbers, names.store_of)} of {names.folder(event.folder)}"
    return f"asks {event.source} for {what}; will try again at {format_instant(event.retry_at)}"


def _passed_over(event: Any) -> str:
    reasons = [f"{candidate.store}: {candidate.passed_over}" for candidate in event.candidates if candidate.passed_over]
    return f" ({'; '.join(reasons)})" if reasons else ""


def _join_folders(folders: Iterable[str], names: Lexicon) -> str:
    return join_names(names.folder(folder) for folder in folders)


_WORDS: dict[str, Callable[[Any, Lexicon], str]] = {
    "node.started": lambda e, n: {"first": "starts", "restart": "starts again", "restored": "starts from a backup"}[
        e.reason
    ],
    "node.stopped": lambda e, n: "is killed" if e.how == "kill" else "stops",
    "fault.injected": lambda e, n: f"fault {e.fault}: {fault_words(e.kind, e.details)}",
    "fault.altered": lambda e, n: (
        f"fault {e.fault} alters a mail for {join_names(map(store_named, e.recipients))} between {e.server} and {e.next_hop}"
    ),
    "fault.healed": lambda e, n: f"fault {e.fault} is over",
    "change.made": _change,
    "mail.submitted": _submitted,
    "mail.received": _received,
    "mail.bad": lambda e, n: f"keeps aside a bad mail from {e.sender}: {e.reason}",
    "mail.posted": lambda e, n: f"posts a mail from {e.sender or 'nobody'} as {n.what(e.folder, e.object)}",
    "mail.not_posted": lambda e, n: (
        f"does not post a mail from {e.sender or 'nobody'} in {n.folder(e.folder)}: {e.reason}"
    ),
    "mailbox.delivered": lambda e, n: f"has mail for {e.recipient}: {e.subject!r}",
    "hop.dropped": lambda e, n: f"loses a mail from {store_named(e.sender)} on arrival (fault {e.fault})",
    "hop.sent": lambda e, n: (
        f"passes a mail{_beyond(e.recipients, e.next_hop)} to {e.next_hop}{way_words(e)}"
        + (f", as ordinary mail: {e.ordinary}" if e.ordinary else "")
    ),
    "hop.failed": lambda e, n: f"cannot {f'reach {e.next_hop}' if e.next_hop else 'send a mail on'}: {e.reason}",
    "hop.expired": lambda e, n: f"gives up a mail for {join_names(map(store_named, e.recipients))}: {e.reason}",
    "hop.deleted": lambda e, n: f"has a mail for {join_names(map(store_named, e.recipients))} deleted from its queue",
    "queue.frozen": lambda e, n: f"has {_in_queue(e)} frozen",
    "queue.unfrozen": lambda e, n: f"has {_in_queue(e)} unfrozen",
    "version.applied": _version("applies"),
    "version.ignored": _version("ignores"),
    "version.held": _version("holds"),
    "version.dropped": _version("drops"),
    "conflict.arose": lambda e, n: (
        f"finds {n.what(e.folder, e.object, e.winner)} in conflict: {join_names(map(n.number, e.versions))}, "
        f"showing {n.number(e.winner)}"
    ),
    "conflict.ended": lambda e, n: (
        f"applies {n.number(e.number)}, which ends the conflict of {n.what(e.folder, e.object, e.number)}"
        f"{f': the contact {e.by} resolves it' if e.by else ''}"
    ),
    "conflict.aged": lambda e, n: (
        f"resolves the conflict of {n.what(e.folder, e.object, e.winner)}, {format_duration(e.at - e.since_at)} old, "
        f"with {n.number(e.number)}, which keeps {n.number(e.winner)}"
    ),
    "conflict.notice": lambda e, n: (
        f"notifies {join_names(e.contacts)} of the conflict of {n.what(e.folder, e.object, e.versions[0])}"
    ),
    "item.recovered": lambda e, n: (
        f"recovers {n.what(e.folder, e.object, e.number)} as {n.number(e.number)}: it retains what it deletes for "
        f"{format_duration(e.retention_us)}, and deleted this {format_duration(e.at - e.deleted_at)} ago"
    ),
    "tombstone.made": lambda e, n: f"keeps a tombstone of {n.what(e.folder, e.object, e.number)}, {n.number(e.number)}",
    "item.expired": lambda e, n: (
        f"expires {n.what(e.folder, e.object, e.number)}, which is older than {format_duration(e.limit_us)}"
    ),
    "expired.everywhere": lambda e, n: (
        f"stops waiting for {n.numbers(e.cnset) or n.numbers(e.cnset_fai)} of {n.folder(e.folder)}: expired at every holder"
    ),
    "content.suspended": lambda e, n: "suspends content replication",
    "content.resumed": lambda e, n: "resumes content replication",
    "request.refused": lambda e, n: (
        f"does not answer {e.requester} about {n.folder(e.folder)}: content replication is suspended"
    ),
    "store.deleted": lambda e, n: f"finds {e.store} deleted from the directory" + (" by force" if e.forced else ""),
    "setting.ignored": lambda e, n: f"ignores {e.name} = {e.value}: {e.reason}",
    "row.replaced": lambda e, n: f"notes that {e.store} has {n.numbers(e.cnset)} of {n.folder(e.folder)}",
    "entry.made": _entry,
    "entry.satisfied": lambda e, n: f"has received everything of entry {e.entry} of {n.folder(e.folder)}",
    "entry.pruned": lambda e, n: f"stops waiting for {n.numbers(e.cnset)} of {n.folder(e.folder)}: {e.reason}",
    "entry.timed_out": lambda e, n: (
        f"reaches the time-out of entry {e.entry} of {n.folder(e.folder)} (attempt {e.attempt})"
    ),
    "request.sent": _asked,
    "request.answered": lambda e, n: (
        f"answers {e.requester} about {n.folder(e.folder)} with {counted(e.mails, 'mail')}: {n.numbers(e.cnset)}"
    ),
    "request.ended": lambda e, n: f"ends its request to {e.source} about {n.folder(e.folder)}: {e.how}",
    "request.deferred": lambda e, n: (
        f"defers its request about {n.folder(e.folder)}: too many requests are outstanding"
    ),
    "sources.considered": lambda e, n: (
        f"chooses {join_names(e.chosen) if e.chosen else 'nobody'} as source for {n.folder(e.folder)}" + _passed_over(e)
    ),
    "responders.considered": lambda e, n: (
        f"wants {join_names(e.chosen) if e.chosen else 'nobody'} to answer about {n.folder(e.folder)}" + _passed_over(e)
    ),
    "folder.shown": lambda e, n: f"shows the folder {e.path}",
    "folder.moved": lambda e, n: f"shows the folder as {e.path} from now on",
    "folder.hidden": lambda e, n: f"hides the folder {e.path}",
    "post.refused": lambda e, n: f"refuses a post in {n.folder(e.folder)}: {e.reason}",
    "version.failed": lambda e, n: f"cannot read {n.number(e.number) if e.number else 'an item of a mail'}: {e.reason}",
    "tombstone.dropped": lambda e, n: f"drops the tombstone of {n.what(e.folder, e.object, e.number)}",
    "backup.made": lambda e, n: f"copies the database of {e.store} as {e.backup}",
    "backup.restored": lambda e, n: f"puts {e.backup} in the place of the database of {e.store}",
    "backup.elsewhere": lambda e, n: (
        f"puts {e.backup} of {e.of} in the place of the store of {e.store}, to be shown only"
    ),
    "store.created": lambda e, n: f"creates a new, empty store for {e.store}",
    "organization.changed": lambda e, n: f"changes the organization: {e.subject} is {e.change}",
    "organization.read": lambda e, n: (
        f"knows change {e.revision} of the organization, and its mail takes the routes of it"
    ),
    "link.down": lambda e, n: (
        f"notes that {e.by} cannot connect over {e.connector}{f': {e.reason}' if e.reason else ''}"
        f"{'; mail goes another way' if e.avoided else ''}"
    ),
    "link.up": lambda e, n: f"notes that {e.by} connects over {e.connector} again",
    "address.stamped": lambda e, n: f"finds {e.store} in the directory with the address {e.address}",
    "address.missing": lambda e, n: f"has no address of {e.store}: {e.reason}",
    "address.lacking": _unaddressed,
    "tree.linked": lambda e, n: (
        f"finds that the object of {e.store} names {'its' if e.linked else 'no'} public folder tree"
    ),
    "tree.lacking": _without_tree,
    "recipient.policy": lambda e, n: _policies(e),
    "setting.value": lambda e, n: f"runs with {e.name} = {e.value} (default {e.default})",
    "hop.received": lambda e, n: f"takes a mail{_beyond(e.recipients, e.node)} from {e.peer}",
    "clock.changed": lambda e, n: (
        f"moves the clock to {to_the_second(e.to)}"
        if e.how != "rate"
        else "pauses the clock"
        if not e.rate
        else "runs the clock in real time"
        if e.rate == 1
        else f"runs the clock at {e.rate:g} times real time"
    ),
    "run.started": lambda e, n: f"begins the run with seed {e.seed}",
    "run.ended": lambda e, n: f"ends the run: {e.verdict}",
    "source.down": lambda e, n: f"marks {e.store} as down: no answer about {n.folder(e.folder)}",
    "source.up": lambda e, n: f"marks {e.store} as up again",
    "status.due": lambda e, n: f"sends status of {_join_folders(e.folders, n)}, quiet for long enough",
    "status.missed": lambda e, n: "makes up for a status check that it missed while stopped",
    "status.ordered": lambda e, n: f"is ordered to request the status of {n.folder(e.folder)}",
    "changes.resent": lambda e, n: (
        f"is ordered to send {join_names(e.stores)} the changes of {n.folder(e.folder)} since {to_the_second(e.since_at)}: "
        + (sets.words(sets.union([sets.parse_traced(e.cnset), sets.parse_traced(e.cnset_fai)]), n.store_of) or "none")
    ),
    "replica.added": lambda e, n: f"finds {e.store} on the replica list of {n.folder(e.folder)}",
    "replica.pending": lambda e, n: f"was removed from the replica list of {n.folder(e.folder)}",
    "replica.dropped": lambda e, n: f"drops its data of {n.folder(e.folder)}",
    "loss": lambda e, n: f"reports {n.numbers(e.cnset)} of {n.folder(e.folder)} as lost: {e.reason}",
}
