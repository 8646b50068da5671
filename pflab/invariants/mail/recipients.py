"""Invariants of recipients: broadcasts, statuses and status requests go to all other holders that the sender knows. A holder
that does not answer is asked again.

One more invariant checks predecessor lists: a change covers all versions that its store kept.
"""

from __future__ import annotations

from typing import Final

from pflab.invariants.evidence import bit_sets as bits
from pflab.invariants.evidence.knowledge import stores_of
from pflab.invariants.invariant import Invariant, Witnesses
from pflab.terms.event_handlers import event_handler
from pflab.terms.folder_ids import HIERARCHY
from pflab.terms.mail_types import BROADCASTS, MailKind, Mark, mail_name
from traces.events import (
    ChangeMade,
    ChangesResent,
    ContentSuspended,
    FaultHealed,
    FaultInjected,
    HopSent,
    MailFolder,
    MailReceived,
    MailSubmitted,
    NodeStarted,
    NodeStopped,
    ReplicaAdded,
    ReplicaDropped,
    ReplicaPending,
    RespondersConsidered,
    RowReplaced,
    StatusDue,
    StatusOrdered,
    StoreDeleted,
    TombstoneDropped,
    VersionApplied,
)
from traces.labtime import MINUTE_US, LabTime, format_instant


def named(stores: frozenset[str]) -> str:
    return ", ".join(sorted(stores)) or "nobody"


class BroadcastsReachAllHolders(Invariant):
    id = "broadcasts reach all holders"
    rules = ("OUT-5", "ST-3", "RP-2")
    says = (
        "A broadcast, and a status request that is not a repeat, goes to all other holders with an address that its "
        "sender knows."
    )

    @event_handler
    def _submitted(self, event: MailSubmitted) -> Witnesses:
        to_all = event.message_type in BROADCASTS and Mark.RESENT not in event.marks
        if not to_all and (event.message_type != MailKind.STATUS_REQUEST or Mark.REPEAT in event.marks):
            return
        recipients = stores_of(event.recipients)
        for section in event.folders:
            holders = self.facts.known.reached(event.node, section.folder)
            if holders is not None and holders != recipients:
                subject = f"{event.node}'s {mail_name(event.message_type)} for {self.facts.folder(section.folder)}"
                yield f"{subject} went to {named(recipients)}; the other holders are {named(holders)}"


class OnlyAddressesGetMail(Invariant):
    id = "only addresses get mail"
    rules = ("ML-1",)
    says = "A store sends mail only if it has an address, and only to stores that have one in its directory."

    @event_handler
    def _submitted(self, event: MailSubmitted) -> Witnesses:
        stores = (stores_of(event.recipients) | {event.node}) - self.facts.known.addressed(event.node)
        if stores:
            witness = f"{event.node} sent a {mail_name(event.message_type)} to {named(stores_of(event.recipients))}"
            yield f"{witness}, but the directory has no address of {named(stores)}"


class DamageIsNoticed(Invariant):
    id = "damage is noticed"
    rules = ("ML-8",)
    says = (
        "While the directory has two objects of a store, or its object names no tree, the store sends nothing. All stores that "
        "run know which objects name no tree."
    )

    def remember(self) -> None:
        self._damaged: dict[str, tuple[str, str]] = {}
        """By fault: its kind and the store."""

    @event_handler
    def _begins(self, event: FaultInjected) -> None:
        if event.kind in ("unlink", "double"):
            self._damaged[event.fault] = (event.kind, str(event.details["server"]))

    @event_handler
    def _ends(self, event: FaultHealed) -> None:
        self._damaged.pop(event.fault, None)

    def on_quiet(self, store: str, now: LabTime) -> Witnesses:
        known = self.facts.known
        for kind, damaged in self._damaged.values():
            if damaged not in known.entries(store):
                continue
            if store == damaged and not known.is_mute(store):
                yield f"{store} can send mail at {format_instant(now)}, although its object in the directory is damaged"
            if kind == "unlink" and damaged not in known.unlinked(store):
                yield f"{store} does not know at {format_instant(now)} that the object of {damaged} names no tree"


SP4: Final = 4
"""From this service pack on, a status of 5.5 follows only changes made at its store."""


class StatusesReachAll(Invariant):
    id = "statuses reach all"
    rules = ("ST-1", "OUT-5")
    says = (
        "If a check finds that a folder's status is due, the status goes at once to all other holders that its "
        "sender knows."
    )

    def remember(self) -> None:
        self._due: dict[str, dict[str, frozenset[str] | None]] = {}
        """By store: the folders whose status is due, with the other holders at that time."""

    @event_handler
    def _check(self, event: StatusDue) -> Witnesses:
        yield from self._unsent(event.node)
        reached = {folder: self.facts.known.reached(event.node, folder) for folder in event.folders}
        self._due[event.node] = {folder: holders for folder, holders in reached.items() if holders != frozenset()}

    @event_handler
    def _submitted(self, event: MailSubmitted) -> Witnesses:
        due_folders = self._due.get(event.node)
        if due_folders is None:
            return
        if event.message_type != MailKind.STATUS or any(section.folder not in due_folders for section in event.folders):
            yield from self._unsent(event.node)
            return
        recipients = stores_of(event.recipients)
        for section in event.folders:
            del due_folders[section.folder]
            holders = self.facts.known.reached(event.node, section.folder)
            if holders is not None and holders != recipients:
                folder = self.facts.folder(section.folder)
                yield f"{event.node}'s status of {folder} went to {named(recipients)}; the other holders are {named(holders)}"

    @event_handler
    def _next(self, event: MailReceived | ChangeMade | HopSent | NodeStopped | NodeStarted) -> Witnesses:
        return self._unsent(event.node)

    def _unsent(self, store: str) -> Witnesses:
        for folder, holders in self._due.pop(store, {}).items():
            if holders:
                what = f"{store} found the status of {self.facts.folder(folder)} due"
                yield f"{what}, but sent none; the other holders are {named(holders)}"


class StatusesOf55FollowOwnChanges(Invariant):
    id = "statuses of 5.5 follow own changes"
    rules = ("ST-6",)
    says = (
        "A 5.5 store with Service Pack 4 finds the status of a folder due only if it changed the folder itself since the "
        "last time, or was restored."
    )

    def remember(self) -> None:
        self._changed: dict[str, set[str]] = self.facts.backups.follow({})
        self._restored: dict[str, set[str]] = {}
        """By restored store: the folders whose status was due since."""

    @event_handler
    def _change(self, event: ChangeMade) -> None:
        self._changed.setdefault(event.node, set()).add(event.folder)

    @event_handler
    def _start(self, event: NodeStarted) -> None:
        if event.reason == "restored":
            self._restored[event.node] = set()

    @event_handler
    def _check(self, event: StatusDue) -> Witnesses:
        server = self.facts.topology.servers[event.node]
        changed, restored = self._changed.setdefault(event.node, set()), self._restored.get(event.node)
        for folder in event.folders:
            owed = folder in changed or (restored is not None and folder not in restored)
            if str(server.version) == "5.5" and server.settings.service_pack >= SP4 and not owed:
                yield f"{event.node} found the status of {self.facts.folder(folder)} due, but had not changed it"
        changed.difference_update(event.folders)
        if restored is not None:
            restored.update(event.folders)


class EachNumberIsNamedOnce(Invariant):
    id = "each number is named once"
    rules = ("CN-6", "CN-7", "CF-6")
    says = (
        "The mails of one broadcast name different numbers: no mail claims a number that a later mail brings. Versions that "
        "are in conflict may each bring the numbers that both replace."
    )

    def remember(self) -> None:
        self._named: dict[str, tuple[str, dict[bool, dict[str, int]]]] = {}

    @event_handler
    def _next(self, event: ChangeMade | NodeStarted) -> None:
        # If a new change supersedes earlier ones, the next broadcast may name their numbers again. A restored store again
        # broadcasts the changes that were unsent in its backup.
        self._named.pop(event.node, None)

    @event_handler
    def _submitted(self, event: MailSubmitted) -> Witnesses:
        if event.message_type not in BROADCASTS or Mark.RESENT in event.marks:
            return
        for section in event.folders:
            folder, claims = self._named.get(event.node, ("", {}))
            if folder != section.folder:
                claims = {}
                self._named[event.node] = (section.folder, claims)
            for text, fai in ((section.cnset, False), (section.cnset_fai, True)):
                before, numbers = claims.setdefault(fai, {}), bits.parse(text)
                twice = bits.minus(
                    bits.common(before, numbers), {} if fai else self.facts.shared.get(section.folder, {})
                )
                bits.add(before, numbers)
                if twice:
                    subject = f"{event.node}'s {mail_name(event.message_type)} for {self.facts.folder(section.folder)}"
                    yield f"{subject} names {self.facts.words(twice)}, as an earlier mail of the same broadcast does"


class OrdersAreCarriedOut(Invariant):
    id = "orders are carried out"
    rules = ("AD-1", "RST-1", "CN-6")
    says = (
        "What an administrator orders to send again goes to the chosen stores, in mails that name each ordered number "
        "once. An ordered status request goes at once to all other holders that the sender knows."
    )

    def remember(self) -> None:
        self._unsent: dict[tuple[str, str], list[tuple[ChangesResent, dict[bool, bits.Bits]]]] = {}
        self._unasked: dict[str, str] = {}

    @event_handler
    def _resent(self, event: ChangesResent) -> None:
        unsent = {False: bits.parse(event.cnset), True: bits.parse(event.cnset_fai)}
        self._unsent.setdefault((event.node, event.folder), []).append((event, unsent))

    @event_handler
    def _ordered(self, event: StatusOrdered) -> None:
        self._unasked[event.node] = event.folder

    @event_handler
    def _submitted(self, event: MailSubmitted) -> Witnesses:
        folder = self._unasked.pop(event.node, None)
        if folder is not None:
            holders = self.facts.known.reached(event.node, folder)
            about = [section.folder for section in event.folders]
            if (
                event.message_type != MailKind.STATUS_REQUEST
                or about != [folder]
                or Mark.ALL_RESPOND not in event.marks
            ):
                yield f"{event.node} was ordered to request the status of {self.facts.folder(folder)}, but did not"
            elif holders is not None and holders != (recipients := stores_of(event.recipients)):
                subject = f"{event.node}'s ordered status request for {self.facts.folder(folder)}"
                yield f"{subject} went to {named(recipients)}; the other holders are {named(holders)}"
        if Mark.RESENT in event.marks:
            for section in event.folders:
                yield from self._sent(event, section)

    def _sent(self, event: MailSubmitted, section: MailFolder) -> Witnesses:
        subject = f"{event.node}'s {mail_name(event.message_type)} sent again for {self.facts.folder(section.folder)}"
        recipients = stores_of(event.recipients)
        numbers = {False: bits.parse(section.cnset), True: bits.parse(section.cnset_fai)}
        place = (event.node, section.folder)
        shared = {False: self.facts.shared.get(section.folder, {}), True: {}}
        for order, unsent in self._unsent.get(place, ()):
            if frozenset(order.stores) == recipients and all(
                not bits.minus(bits.minus(numbers[fai], unsent[fai]), shared[fai]) for fai in unsent
            ):
                for fai in unsent:
                    unsent[fai] = bits.minus(unsent[fai], numbers[fai])
                break
        else:
            words = self.facts.words(bits.union(numbers.values()))
            yield f"{subject} brings {words} to {named(recipients)}, which no order says"
        self._unsent[place] = [number for number in self._unsent.get(place, ()) if any(number[1].values())]

    @event_handler
    def _ends(self, event: ReplicaDropped | ReplicaAdded) -> None:
        self._unsent.pop((event.node, event.folder), None)

    @event_handler
    def _store_ends(self, event: ContentSuspended | NodeStarted) -> None:
        if isinstance(event, ContentSuspended) or event.reason != "restart":
            for place in [place for place in self._unsent if place[0] == event.node]:
                del self._unsent[place]

    def on_quiet(self, store: str, now: LabTime) -> Witnesses:
        del now
        for (node, folder), orders in self._unsent.items():
            unsent = [number for _, numbers in orders for number in numbers.values() if number]
            if node == store and unsent:
                subject = f"{store} was ordered to send {self.facts.folder(folder)} again"
                yield f"{subject}, but did not send {self.facts.words(bits.union(unsent))}"


RECIPIENTS: tuple[type[Invariant], ...] = (
    BroadcastsReachAllHolders,
    StatusesReachAll,
    StatusesOf55FollowOwnChanges,
    EachNumberIsNamedOnce,
    OrdersAreCarriedOut,
    OnlyAddressesGetMail,
    DamageIsNoticed,
)

OFFSET_US = 15 * MINUTE_US
"""Status checks are at a quarter past the hour, unless a skew is set (spec: ST-1)."""


class SilentHoldersAreAskedAgain(Invariant):
    id = "silent holders are asked again"
    rules = ("ST-7",)
    says = "A holder that was asked for its status and has never answered is asked again at the next check."

    def remember(self) -> None:
        self._requests: dict[str, dict[tuple[str, str], LabTime]] = {}
        self._answers: set[tuple[str, str, str]] = set()
        self._listed: dict[tuple[str, str], tuple[str, ...]] = {}
        self._started_at: dict[str, LabTime] = {}

    @event_handler
    def _considered(self, event: RespondersConsidered) -> None:
        self._listed[event.node, event.folder] = event.chosen

    @event_handler
    def _submitted(self, event: MailSubmitted) -> None:
        if event.message_type != MailKind.STATUS_REQUEST or Mark.DELETE_PENDING in event.marks or self._nightly(event):
            return
        requests = self._requests.setdefault(event.node, {})
        for store in sorted(stores_of(event.recipients)):
            for section in event.folders:
                holders = self._listed.get((event.node, section.folder))
                is_required = holders is None or store in holders or (section.folder, store) in requests
                if is_required and (event.node, section.folder, store) not in self._answers:
                    requests[section.folder, store] = event.at

    def _nightly(self, event: MailSubmitted) -> bool:
        """Return whether this is the request that a 5.5 server sends at its start and each night. The server repeats it only in
        the next night."""
        server = self.facts.topology.servers[event.node]
        if str(server.version) != "5.5" or Mark.REPEAT in event.marks:
            return False
        offset = server.settings.status_skew_us or OFFSET_US
        at_check = (event.at - offset) % server.settings.status_alignment_us == 0
        return at_check or event.at == self._started_at.get(event.node)

    @event_handler
    def _received(self, event: MailReceived) -> None:
        for section in event.folders:
            self._requests.get(event.node, {}).pop((section.folder, event.sender), None)

    @event_handler
    def _row(self, event: RowReplaced) -> None:
        self._answers.add((event.node, event.folder, event.store))

    @event_handler
    def _over(self, event: ReplicaDropped | ReplicaPending) -> None:
        requests = self._requests.get(event.node, {})
        for key in [key for key in requests if key[0] == event.folder]:
            del requests[key]

    @event_handler
    def _store_deleted(self, event: StoreDeleted) -> None:
        """Forget a deleted store: a store that is created under its name has not been asked (RP-7)."""
        requests = self._requests.get(event.node, {})
        for key in [key for key in requests if key[1] == event.store]:
            del requests[key]
        self._answers = {key for key in self._answers if (key[0], key[2]) != (event.node, event.store)}

    @event_handler
    def _started(self, event: NodeStarted) -> None:
        self._started_at[event.node] = event.at
        self._requests.pop(event.node, None)  # the store makes up for a missed check some time after its start

    def on_quiet(self, store: str, now: LabTime) -> Witnesses:
        requests = self._requests.get(store)
        settings = self.facts.topology.servers[store].settings
        if not requests or not settings.repeat_status:
            return
        offset = settings.status_skew_us or OFFSET_US
        check_at = now - (now - offset) % settings.status_alignment_us
        for (folder, holder), at in list(requests.items()):
            if at >= check_at:
                continue
            del requests[folder, holder]
            if not {store, holder} <= self.facts.known.recipients(store, folder):
                continue  # nothing can be sent (ML-1, ML-8)
            if holder in self.facts.known.holders(store, folder) and not self._had_rows_at_first(folder):
                witness = f"{holder} for the status of {self.facts.folder(folder)} at {format_instant(at)}"
                yield f"{store} asked {witness}, got no answer, and did not ask again at {format_instant(check_at)}"

    def _had_rows_at_first(self, folder: str) -> bool:
        """Return whether the folder is from the topology. Its rows exist from the start, without events."""
        return folder == HIERARCHY or self.facts.setup(bits.split(folder)[0])


class ChangesCoverWhatIsKept(Invariant):
    id = "changes cover what is kept"
    rules = ("CF-3", "CN-3", "CF-6")
    says = (
        "The predecessor list of a change covers every version of the object that the changing store kept, except its rivals, "
        "which its author had not opened."
    )

    def remember(self) -> None:
        self._versions: dict[tuple[str, str], dict[str, tuple[str, ...]]] = self.facts.backups.follow({})

    @event_handler
    def _made(self, event: ChangeMade) -> Witnesses:
        versions = self._versions.setdefault((event.node, event.folder), {})
        stay = [number for number in versions.get(event.object, ()) if not bits.covers(event.pcl, event.rivals, number)]
        for number in stay:
            if number not in event.rivals:
                yield f"{self.facts.what(event)} does not include {self.facts.shown(number)}, which {event.node} kept"
        for number in sorted(self.facts.ancestors[event.number].intersection(event.rivals)):
            yield f"{self.facts.what(event)} names {self.facts.shown(number)} as a rival, but is made from it"
        versions[event.object] = (*stay, event.number)

    @event_handler
    def _applied(self, event: VersionApplied) -> None:
        versions = self._versions.setdefault((event.node, event.folder), {})
        if event.deleted or event.kind != "message":
            versions[event.object] = (event.number,)
        else:
            stay = (
                number for number in versions.get(event.object, ()) if not bits.covers(event.pcl, event.rivals, number)
            )
            versions[event.object] = (*stay, event.number)

    @event_handler
    def _tombstone_dropped(self, event: TombstoneDropped) -> None:
        self._versions.get((event.node, event.folder), {}).pop(event.object, None)

    @event_handler
    def _dropped(self, event: ReplicaDropped) -> None:
        self._versions.pop((event.node, event.folder), None)


REPEATS: tuple[type[Invariant], ...] = (SilentHoldersAreAskedAgain, ChangesCoverWhatIsKept)
