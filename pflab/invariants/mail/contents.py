"""Invariants of mails: their sets, rows, bytes and requests are right, and an accepted mail is not lost."""

from __future__ import annotations

from pflab.invariants.evidence import bit_sets as bits
from pflab.invariants.invariant import Invariant, Witnesses
from pflab.terms.event_handlers import event_handler
from pflab.terms.mail_types import UPDATES, MailKind, Mark, mail_name
from traces.events import (
    ChangeMade,
    HopFailed,
    HopSent,
    MailFolder,
    MailReceived,
    MailSubmitted,
    NodeStarted,
    QueueFrozen,
    QueueUnfrozen,
    ReplicaAdded,
    ReplicaDropped,
    RequestAnswered,
    RowReplaced,
    StoreDeleted,
    TombstoneDropped,
    TombstoneMade,
    VersionApplied,
)
from traces.labtime import LabTime


class OwnRowIsTrue(Invariant):
    id = "own row is true"
    rules = ("RST-1", "CN-6", "CN-7")
    says = (
        "A store's own row claims only changes that some store has. Either the store made the change itself, or a "
        "mail brought the change."
    )

    @event_handler
    def _submitted(self, event: MailSubmitted) -> Witnesses:
        for section in event.folders:
            for text, fai in ((section.row, False), (section.row_fai, True)):
                if text:
                    yield from self._row(event, section.folder, bits.parse(text), fai)

    def _row(self, event: MailSubmitted, folder: str, row: bits.Bits, fai: bool) -> Witnesses:
        facts = self.facts
        claim = f"{event.node} claims in a {mail_name(event.message_type)}"
        beyond = facts.beyond(row, folder, fai)
        if beyond:
            yield f"{claim} {facts.words(beyond)} of {facts.folder(folder)}, above the last change of its store there"
        unheard = bits.minus(bits.minus(row, facts.can_know(event.node, folder, fai)), beyond)
        unheard = {guid: mask for guid, mask in unheard.items() if not facts.setup(guid)}
        if unheard:
            yield f"{claim} {facts.words(unheard)} of {facts.folder(folder)}, which no mail ever brought to this store"


class OwnRowGrows(Invariant):
    id = "own row grows"
    rules = ("RST-1", "OUT-9", "IN-2")
    says = "As long as its replica exists, a store continues to claim each change that it once claimed."

    def remember(self) -> None:
        self._rows: dict[tuple[str, str, bool], bits.Bits] = self.facts.backups.follow({})

    @event_handler
    def _reset(self, event: ReplicaDropped | ReplicaAdded) -> None:
        for fai in (False, True):
            self._rows.pop((event.node, event.folder, fai), None)

    @event_handler
    def _submitted(self, event: MailSubmitted) -> Witnesses:
        if Mark.NO_REPLICA in event.marks:
            return
        for section in event.folders:
            for text, fai in ((section.row, False), (section.row_fai, True)):
                place = (event.node, section.folder, fai)
                row = bits.parse(text)
                gap = bits.minus(self._rows.get(place, bits.EMPTY), row)
                self._rows[place] = row
                if gap:
                    folder, words = self.facts.folder(section.folder), self.facts.words(gap)
                    yield f"{event.node} no longer says that it has {words} of {folder}, but its replica was not dropped"


class MailsNameWhatTheSenderHas(Invariant):
    id = "mails name what the sender has"
    rules = ("OUT-4", "CN-7", "BF-1")
    says = (
        "A mail with updates names only changes that its sender's row has. A request names only changes that its "
        "sender's row lacks."
    )

    @event_handler
    def _submitted(self, event: MailSubmitted) -> Witnesses:
        for section in event.folders:
            for cnset, row in ((section.cnset, section.row), (section.cnset_fai, section.row_fai)):
                if cnset:
                    yield from self._set(event, section, bits.parse(cnset), bits.parse(row))

    def _set(self, event: MailSubmitted, section: MailFolder, cnset: bits.Bits, row: bits.Bits) -> Witnesses:
        subject = f"{event.node}'s {mail_name(event.message_type)} for {self.facts.folder(section.folder)}"
        if event.message_type in UPDATES:
            wrong = bits.minus(cnset, row)
            if wrong:
                yield f"{subject} names {self.facts.words(wrong)}, which its own row in the same mail lacks"
        elif event.message_type == MailKind.BACKFILL_REQUEST:
            wrong = bits.common(cnset, row)
            if wrong:
                yield f"{subject} asks for {self.facts.words(wrong)}, which its own row in the same mail has"


class RowsOfOthersAreTheirs(Invariant):
    id = "rows of others are theirs"
    rules = ("RST-2", "RST-4", "ML-6")
    says = "A store records the numbers and the row of a mail exactly as the sender put them into that mail."

    def remember(self) -> None:
        self._rows: dict[tuple[str, str], dict[str, tuple[int, int]]] = self.facts.backups.follow({})

    @event_handler
    def _maybe_another_list(self, event: VersionApplied | ChangeMade) -> None:
        """Forget the rows of a folder. Its replica list may have changed, and the first row of a store that returns need not be
        newer than its last row."""
        if event.kind == "folder":
            self._rows.pop((event.node, event.object), None)

    @event_handler
    def _dropped(self, event: ReplicaDropped) -> None:
        self._rows.pop((event.node, event.folder), None)

    @event_handler
    def _store_deleted(self, event: StoreDeleted) -> None:
        for (node, _), rows in self._rows.items():
            if node == event.node:
                rows.pop(event.store, None)

    @event_handler
    def _received(self, event: MailReceived) -> Witnesses:
        mail = self.facts.mails.get(event.mail or "")
        if mail is None or mail.node != event.sender:
            yield f"{event.node} took mail {event.mail} as {event.sender}'s, which {event.sender} never sent"
        elif (mail.folders, mail.number, mail.message_type) != (event.folders, event.number, event.message_type):
            yield f"{event.node} read in mail {event.mail} other data than {event.sender} had written"

    @event_handler
    def _replaced(self, event: RowReplaced) -> Witnesses:
        mail = self.facts.mails.get(event.mail or "")
        is_claimed = mail is not None and mail.node == event.store and mail.number == event.sent_number
        sections = (
            []
            if mail is None or not is_claimed
            else [section for section in mail.folders if section.folder == event.folder]
        )
        row_name = f"{event.node}'s row for {event.store} in {self.facts.folder(event.folder)}"
        if not any((section.row, section.row_fai) == (event.cnset, event.cnset_fai) for section in sections):
            row = self.facts.words(bits.parse(event.cnset))
            yield f"{row_name} is now {row}, which {event.store} did not send in mail {event.mail}"
        rows = self._rows.setdefault((event.node, event.folder), {})
        before = rows.get(event.store, (0, 0))
        rows[event.store] = (event.sent_at, event.sent_number)
        if rows[event.store] <= before:
            yield f"{row_name} is now from mail number {event.sent_number}, but was from mail number {before[1]} before"


class SameBytesEverywhere(Invariant):
    id = "same bytes everywhere"
    rules = ("HI-2", "ML-2", "DU-1")
    says = "A store applies only versions that some store made, each with exactly the bytes that the maker wrote."

    @event_handler
    def _applied(self, event: VersionApplied) -> Witnesses:
        change = self.facts.changes.get(event.number)
        if change is None:
            if not self.facts.setup(bits.split(event.number)[0]):
                yield f"{event.node} applied {self.facts.shown(event.number)}, which nobody made"
        elif (change.object, change.digest, change.folder) != (event.object, event.digest, event.folder):
            yield f"{event.node} applied {self.facts.what(change)} with other bytes than its author's"


class TombstonesStay(Invariant):
    id = "tombstones stay"
    rules = ("IN-4", "DL-2", "HI-6")
    says = "While a store keeps the tombstone of an object, it applies no version of that object."

    def remember(self) -> None:
        self._dead: dict[tuple[str, str], dict[str, str]] = self.facts.backups.follow({})

    @event_handler
    def _made(self, event: TombstoneMade) -> None:
        self._dead.setdefault((event.node, event.folder), {})[event.object] = event.number

    @event_handler
    def _dropped(self, event: TombstoneDropped) -> None:
        self._dead.get((event.node, event.folder), {}).pop(event.object, None)

    @event_handler
    def _replica_dropped(self, event: ReplicaDropped) -> None:
        self._dead.pop((event.node, event.folder), None)

    @event_handler
    def _applied(self, event: VersionApplied) -> Witnesses:
        number = self._dead.get((event.node, event.folder), {}).get(event.object)
        if number is not None and not event.deleted:
            subject = self.facts.names.what(event.folder, event.object)
            number_words = self.facts.shown(event.number)
            yield f"{event.node} applied {number_words} of {subject}, deleted there by {self.facts.shown(number)}"


class AcceptedIsDurable(Invariant):
    id = "accepted is durable"
    rules = ("IN-2", "OUT-9")
    says = "If a server accepts a mail, it also commits the mail, unless a fault loses the mail there."

    @event_handler
    def _sent(self, event: HopSent) -> Witnesses:
        if event.mail is not None and (event.next_hop, event.mail) not in self.facts.landed:
            yield f"{event.next_hop} accepted mail {event.mail} from {event.node}, but did not commit it"


class AnswersAreAsked(Invariant):
    id = "answers are asked"
    rules = ("BF-5",)
    says = "A request mail is answered once, and the answer has only requested changes."

    def remember(self) -> None:
        self._answered: set[tuple[str, str, str]] = set()

    @event_handler
    def _started(self, event: NodeStarted) -> None:
        if event.reason != "restart":
            self._answered = {place for place in self._answered if place[0] != event.node}

    @event_handler
    def _answers(self, event: RequestAnswered) -> Witnesses:
        key = (event.node, event.request_mail, event.folder)
        if key in self._answered:
            yield f"{event.node} answered the request {event.request_mail} a second time"
        self._answered.add(key)
        request = self.facts.mails.get(event.request_mail)
        requested_sets = (
            []
            if request is None
            else [bits.parse(text) for section in request.folders for text in (section.cnset, section.cnset_fai)]
        )
        extra = bits.minus(bits.parse(event.cnset), bits.union(requested_sets))
        if extra:
            yield f"{event.node} answered {event.requester} with {self.facts.words(extra)}, which was not asked for"


class FrozenMailsWait(Invariant):
    id = "frozen mails wait"
    rules = ("RT-5",)
    says = "A mail that is frozen, or whose queue is frozen, is not tried. Only an attempt that had begun goes on."

    def remember(self) -> None:
        self._queues: dict[tuple[str, str], LabTime] = self.facts.backups.follow({})
        self._mails: dict[tuple[str, int], LabTime] = self.facts.backups.follow({})

    @event_handler
    def _frozen(self, event: QueueFrozen) -> None:
        if event.queue_id is None:
            self._queues.setdefault((event.node, event.next_hop), event.at)
        else:
            self._mails.setdefault((event.node, event.queue_id), event.at)

    @event_handler
    def _unfrozen(self, event: QueueUnfrozen) -> None:
        if event.queue_id is None:
            self._queues.pop((event.node, event.next_hop), None)
        else:
            self._mails.pop((event.node, event.queue_id), None)

    @event_handler
    def _tried(self, event: HopSent | HopFailed) -> Witnesses:
        since = [self._queues.get((event.node, event.next_hop)), self._mails.get((event.node, event.queue_id))]
        begun_at = event.at if event.begun_at is None else event.begun_at
        if event.next_hop and any(frozen_at is not None and frozen_at < begun_at for frozen_at in since):
            yield f"{event.node} tried mail {event.mail} to {event.next_hop}, which is frozen"


MAILING: tuple[type[Invariant], ...] = (
    OwnRowIsTrue,
    OwnRowGrows,
    MailsNameWhatTheSenderHas,
    RowsOfOthersAreTheirs,
    SameBytesEverywhere,
    TombstonesStay,
    AcceptedIsDurable,
    AnswersAreAsked,
    FrozenMailsWait,
)
