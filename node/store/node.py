"""The node: MTA and public folder store on one database, as plain methods.

Each method that changes something is one stimulus in a transaction (`node.store.lifecycle`); when it returns, the change is
durable, unless it is one of several that share the transaction (`together`). A driver calls these methods: the live host with
sockets and a clock, the simulator with neither. No method waits, and none depends on which driver calls. The reads are
inherited from `node.store.queries.StoreQueries`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Unpack

from node.administration import folder_changes, orders, queue_orders, store_deletion, subtrees
from node.agent import agent
from node.agent.agent import timers_of
from node.backfill import suspension
from node.backfill.sources import record_ignored_setting
from node.broadcasts import cycles
from node.codec.items import Version, object_text
from node.errors import MailRefused, Misuse, NotRunning
from node.objects import conflict_age, expiry, local_changes, retention
from node.objects.apply_versions import Applied
from node.state import application_log
from node.state.context import Context
from node.state.directory import NOT_YET, StoreObject
from node.state.store_settings import clamped, config_from, read_at_once, store_settings
from node.state.timers import next_due
from node.store import mailboxes
from node.store.lifecycle import StoreLife
from node.tracking.change_number import ChangeNumber, named
from node.user_mail import conflict_notices, letters
from node.views import (
    BatchMade,
    Changed,
    Configured,
    FolderDeleted,
    FoldersChanged,
    Made,
    MailSent,
    Post,
    QueueChanged,
    Resolved,
    SentAgain,
    SomePosts,
    StatusRequested,
)
from topology.arguments import (
    BodyText,
    Days,
    Files,
    FolderChanges,
    FolderFields,
    Line,
    Names,
    SomeNames,
    SomeNumbers,
)
from topology.model import Topology
from topology.quantities import format_size
from topology.settings.catalogue import find_spec
from topology.settings.values import RawSetting
from traces.events import HopDropped, SettingValue
from traces.labtime import LabTime
from transport.envelope import IncomingHop, IncomingMail, Offers, RefusalError, SendOutcome, Transmission
from transport.errors import CodecError
from transport.mime.item_conversion import post_of_mail
from transport.mta.mta import QueueOrder
from transport.protocol.auth import Credentials
from transport.protocol.hop_headers import believed_lamport
from transport.protocol.link_state import reports_of

FREE_FOR_STORES: Final = 128 * 1024 * 1024
"""Disk space for replication mail and traces: ordinary mail is refused when less is free (decision). On a small disk, the
limit is a share of its size (FREE_SHARE)."""

FREE_SHARE: Final = 8
"""The divisor of this share: 8 means that an eighth of the disk stays free."""

WRITTEN_FACTOR: Final = 4
"""How many copies of a mail the disk may hold for a time: in SQLite's log, as an item, in the queue, in a segment."""


class Node(StoreLife):
    """One server of the organization."""

    # -- users

    def post(
        self,
        now: LabTime,
        folder: Line,
        *,
        subject: Line,
        body: BodyText = "",
        sender: Line = "",
        attachments: Files = (),
        associated: bool = False,
    ) -> Made:
        """Post a message. It is durable when the answer arrives."""  # spec: CN-2
        posted = Post(subject, body, sender, tuple(attachments))
        with self._stimulus(now) as (ctx, s):
            (version,) = local_changes.post(ctx, s, folder, [posted], fai=associated)
            return _made(ctx, version)

    def post_batch(self, now: LabTime, folder: Line, messages: SomePosts) -> BatchMade:
        """Post messages in one transaction, all of them or none."""
        with self._stimulus(now) as (ctx, s):
            versions = local_changes.post(ctx, s, folder, messages)
            ids = [object_text(version.object) for version in versions]
            return BatchMade(ids, *_numbered(ctx, [version.number for version in versions]))

    def post_mail(self, now: LabTime, folder: str, content: bytes) -> Made:
        """Post a mail as a message. The same mail can be read back, byte for byte (spec: ML-5).

        Raises Misuse if the mail exceeds a limit.
        """
        try:
            mail = post_of_mail(content)
        except CodecError as error:
            raise Misuse(f"the mail cannot be posted: {error}") from None
        with self._stimulus(now) as (ctx, s):
            return _made(ctx, local_changes.post_mail(ctx, s, ctx.folders.visible(folder), mail))

    def send_mail(
        self,
        now: LabTime,
        folder: Line,
        *,
        to: SomeNames,
        subject: Line,
        body: BodyText = "",
        attachments: Files = (),
    ) -> MailSent:
        """Send a mail from a folder's address to people or folders."""  # spec: ML-5
        with self._stimulus(now) as (ctx, s):
            return MailSent(
                letters.send_from_folder(ctx, s, folder, to=to, subject=subject, body=body, attachments=attachments)
            )

    def edit(
        self,
        now: LabTime,
        folder: Line,
        message: Line,
        *,
        subject: Line | None = None,
        body: BodyText | None = None,
        based_on: SomeNames | None = None,
    ) -> Changed:
        """Make a new version of a message, which replaces all kept versions. What is not given stays as it is.

        based_on: the change numbers of the versions that the user opened. If others were made or have arrived since, the new
            version replaces only those that were opened, and is in conflict with the others.
        """
        # spec: CF-3, CF-6
        with self._stimulus(now) as (ctx, s):
            number, joined = local_changes.edit(ctx, s, folder, message, subject=subject, body=body, based_on=based_on)
            if joined is not None:
                place = ctx.folders.visible(folder)
                conflict_notices.notify_contacts(ctx, s, place.fid, Applied(conflicts=(joined,)))
                conflict_age.schedule(ctx, s, place)
            return _changed(ctx, number)

    def delete(self, now: LabTime, folder: Line, message: Line) -> Changed:
        """Delete a message."""  # spec: DL-1
        with self._stimulus(now) as (ctx, s):
            return _changed(ctx, local_changes.delete(ctx, s, folder, message))

    def resolve(self, now: LabTime, folder: Line, message: Line, keep: Line, by: Line | None = None) -> Resolved:
        """End a conflict, as a contact of the folder does. Other people are refused.

        keep: the change number of the version to keep, or `all`.
        by: the address of the contact who decides; default: the folder's first contact.
        """
        # spec: CF-3
        with self._stimulus(now) as (ctx, s):
            return Resolved(*_numbered(ctx, local_changes.resolve(ctx, s, folder, message, keep, by)))

    def recover(self, now: LabTime, folder: Line, message: Line) -> Made:
        """Recover a deleted message as a new one."""  # spec: DL-5
        with self._stimulus(now) as (ctx, s):
            return _made(ctx, local_changes.recover(ctx, s, folder, message))

    def recover_folder(self, now: LabTime, path: Line) -> Made:
        """Recover a deleted folder with its subfolders and messages, all as new ones."""  # spec: DL-5
        with self._stimulus(now) as (ctx, s):
            return _made(ctx, folder_changes.recover(ctx, s, path))

    def number_messages(self, now: LabTime, folder: str, validity: int) -> None:
        """Give UIDs to the new messages of a folder.

        validity: UIDVALIDITY, if the folder has no UIDs yet.
        """
        with self._stimulus(now) as (ctx, s):
            mailboxes.number(ctx, s.conn, ctx.folders.visible(folder).fid, validity)

    def flag_messages(self, now: LabTime, folder: str, user: str, flags: Mapping[int, int]) -> None:
        """Set a user's flags on messages of a folder, given by their UIDs."""
        with self._stimulus(now) as (ctx, s):
            mailboxes.flag(s.conn, ctx.folders.visible(folder).fid, user, flags)

    def create_folder(self, now: LabTime, path: Line, **fields: Unpack[FolderFields]) -> Made:
        """Create a folder. A property that is not given has its default."""
        with self._stimulus(now) as (ctx, s):
            return _made(ctx, folder_changes.create(ctx, s, path, fields))

    def change_folder(self, now: LabTime, path: Line, **fields: Unpack[FolderChanges]) -> Changed:
        """Change properties of a folder, which include its replica list, its name (`rename`) and its parent (`move_to`: a
        path, '' for the top). What is not given stays as it is."""
        with self._stimulus(now) as (ctx, s):
            return _changed(ctx, folder_changes.change(ctx, s, path, fields))

    def delete_folder(self, now: LabTime, path: Line) -> FolderDeleted:
        """Delete a folder and everything below it."""  # spec: HI-6
        with self._stimulus(now) as (ctx, s):
            folder_changes.delete(ctx, s, path)
        return FolderDeleted(path)

    def configure(self, now: LabTime, values: Mapping[str, RawSetting]) -> Configured:
        """Change settings: directory values apply at once, registry values from the next start on (spec: SE-1)."""
        with self._stimulus(now) as (ctx, s):
            store_settings(s.conn, values)
            settings = self._config.settings.changed(read_at_once(values, self._config.settings.version))
            config = config_from(self.name, self._config.profile, settings)
            ctx.config, ctx.mta.policy = config, config.mail_policy
            suspension.apply_setting(ctx, s)
            for fid in ctx.rst.held_fids():  # pending broadcasts follow the new schedules
                cycles.reschedule(ctx, s, fid)
            for name in values:
                spec = find_spec(name)
                value, default = settings.text(name), settings.default_text(name)
                s.trace.record(SettingValue, name=spec.name, value=value, default=default)
            record_ignored_setting(ctx, s)
            expiry.plan(ctx, s)
            retention.plan(ctx, s)
        self._config = config
        return Configured(list(values), clamped(values))

    def send_again(self, now: LabTime, folder: Line, *, days: Days, to: SomeNames | None = None) -> SentAgain:
        """Send the changes of the last days again: Send Hierarchy (folder 1-1) or Send Contents.

        to: the stores that get them; default: all other holders.
        """
        # spec: AD-1
        with self._stimulus(now) as (ctx, s):
            stores, numbers = orders.send_again(ctx, s, folder, days=days, to=to)
            return SentAgain(folder, stores, numbers.merged().named(ctx.store.names()))

    def synchronize(self, now: LabTime, folder: Line) -> StatusRequested:
        """Request the status of a folder now: Synchronize Hierarchy (folder 1-1) or Synchronize Content."""  # spec: AD-1
        with self._stimulus(now) as (ctx, s):
            return StatusRequested(folder, orders.synchronize(ctx, s, folder))

    def change_replicas(
        self,
        now: LabTime,
        folder: Line,
        *,
        add: Names | None = None,
        remove: Names | None = None,
        replace: Line | None = None,
        by: Line | None = None,
    ) -> FoldersChanged:
        """Add, remove or replace replicas of a folder and all its subfolders; folder 1-1: of all folders.

        add, remove: stores.
        replace, by: a store, and the one that takes its place.
        """
        # spec: AD-1
        with self._stimulus(now) as (ctx, s):
            return subtrees.change_replicas(ctx, s, folder, subtrees.ReplicaOrder(add, remove, replace, by))

    def propagate(self, now: LabTime, folder: Line, properties: SomeNames) -> FoldersChanged:
        """Give all subfolders of a folder its values of some properties: replicas, schedule, contacts, priority, age_limit,
        warning_limit, post_limit, item_limit, resolve."""
        # spec: AD-1
        with self._stimulus(now) as (ctx, s):
            return subtrees.propagate(ctx, s, folder, properties)

    def change_queue(
        self, now: LabTime, order: QueueOrder, *, next_hop: Line | None = None, mails: SomeNumbers | None = None
    ) -> QueueChanged:
        """Freeze, unfreeze, delete or return mails that wait to be sent. A frozen mail is neither tried nor expires. A mail
        that is returned goes back to its sender with a notice, and one that is deleted does not.

        next_hop: a server, for all mails that it would get next; its queue itself is frozen too.
        mails: ids of mails in the queue, in place of `next_hop`.
        """
        # spec: RT-5
        with self._stimulus(now) as (ctx, s):
            ids, local = queue_orders.change_queue(ctx, s, order, next_hop=next_hop, mails=mails)
            agent.deliver(ctx, s, local)
        return QueueChanged(order, ids)

    def enter(self, now: LabTime, store: str, object_: StoreObject, missing: str = NOT_YET) -> None:
        """Add a store to the directory, or replace the object of its entry (spec: RP-3, ML-1, ML-8). An entry with an object of
        a smaller number is that of a deleted store (spec: RP-7).

        missing: why the object has no address, if it has none now.
        """
        with self._stimulus(now) as (ctx, s):
            store_deletion.forget_predecessor(ctx, s, store, object_.number)
            agent.entered(ctx, s, store, object_, missing)

    def reorganize(self, now: LabTime, topology: Topology) -> None:
        """Read the organization as it is after a change: mail takes its routes from now on. If the server of a store was
        removed, its store was deleted before (spec: RT-6, RP-9)."""
        with self._stimulus(now) as (ctx, s):
            if ctx.directory.reorganize(s, topology):
                for store in ctx.directory.outdated():
                    store_deletion.forget_store(ctx, s, store, forced=False)
                agent.deliver(ctx, s, ctx.mta.reorganize(s, ctx.directory.routing))

    def delete_store(self, now: LabTime, store: str, *, force: bool = False) -> None:
        """Delete a store from the directory. Raises Misuse if it still holds replicas, unless forced (spec: RP-6)."""
        with self._stimulus(now) as (ctx, s):
            store_deletion.delete(ctx, s, store, force=force)

    def left(self, now: LabTime, store: str) -> None:
        """Remove a store that was deleted from the directory at another store."""
        with self._stimulus(now) as (ctx, s):
            store_deletion.forget_store(ctx, s, store, forced=False)

    # -- drivers

    def mail_in(self, now: LabTime, hop: IncomingHop, mail: IncomingMail, lost_by: str | None = None) -> None:
        """Receive a mail from SMTP, and return when it is durable here (spec: IN-2). Raise MailRefused if it is not
        accepted.

        lost_by: the fault that loses the mail here. Then the node only records the event hop.dropped.
        """
        try:
            with self._stimulus(now) as (ctx, s):
                if lost_by is not None:
                    s.trace.lamport_seen(believed_lamport(hop, s.trace.lamport))
                    s.trace.record(
                        HopDropped,
                        mail=mail.header.message_id,
                        fault=lost_by,
                        sender=mail.sender,
                        recipients=mail.recipients,
                    )
                    return
                application_log.command_refused(ctx, s, 7010, hop.peer, hop.refused)
                agent.deliver(ctx, s, ctx.mta.accept(s, hop, mail))
        except RefusalError as error:
            raise MailRefused(error.code, error.text) from error

    def link_state(self, now: LabTime, peer: str, lines: Sequence[str]) -> None:
        """Apply reports on links from the store `peer`, which has authenticated (spec: RT-2)."""
        with self._stimulus(now) as (ctx, s):
            agent.deliver(ctx, s, ctx.mta.receive_link_reports(s, peer, reports_of(lines)))

    def check_recipient(self, address: str) -> None:
        """Raise MailRefused if the organization has no such address (spec: ML-7)."""
        ctx = self._present()
        try:
            ctx.mta.check_recipient(address)
        except RefusalError as error:
            raise MailRefused(error.code, error.text) from error

    def check_room(self, size: int) -> None:
        """Raise MailRefused (452) if there is no room for `size` bytes of ordinary mail.

        Replication mail is not checked: it is accepted as long as it can be written.
        """
        # spec: ML-7
        limit = self._config.settings.store_size_bytes
        if self._database.size_bytes() + size > limit:
            raise MailRefused(452, f"4.3.1 this store is full (Store Size Limit {format_size(limit)}), try again later")
        disk = self._database.disk_bytes()
        if disk is not None:
            total, free = disk
            if free - WRITTEN_FACTOR * size < min(FREE_FOR_STORES, total // FREE_SHARE):
                raise MailRefused(452, "4.3.1 no room on the disk of this server, try again later")

    def offers(self) -> Offers:
        """Return the SMTP extensions that this server offers (spec: ML-3, ML-4)."""
        return self._present().mta.policy.offers

    @property
    def credentials(self) -> Credentials:
        """The certificate and signing key with which this store authenticates to others (spec: ML-3)."""
        return Credentials(self.name, self._identity.certificate, self._identity.sign)

    def verify_peer(self, store: str, certificate: bytes, signature: bytes, data: bytes) -> bool:
        """Return whether `store` is in the directory and has signed the data (spec: ML-3)."""
        try:
            ctx = self._present()
        except NotRunning:
            return False
        return ctx.directory.get(store) is not None and ctx.verifier.verify(store, certificate, signature, data)

    def tick(self, now: LabTime) -> bool:
        """Do what is due at `now`. Return True if a part of it is left for the next tick."""
        with self._stimulus(now) as (ctx, s):
            agent.deliver(ctx, s, ctx.mta.tick(s))
            return agent.tick(ctx, s) or s.enough

    def catch_up(self, now: LabTime) -> LabTime:
        """Do what the timers made due before `now`, each at its own time. Return the time of the next stimulus (spec: TM-1).

        This is `now`, or an earlier time at which a part of a long cycle is left for the next tick.
        """
        while True:
            ctx, conn = self._opened()
            due_at = next_due(conn, timers_of(ctx))
            if due_at is None or due_at >= now:
                return now
            at = max(due_at, ctx.store.last_at)
            if self.tick(at):
                return at

    def outgoing(
        self, now: LabTime, limit: int = 100, busy: frozenset[int] = frozenset(), crowded: frozenset[str] = frozenset()
    ) -> list[Transmission]:
        """Return the mails that are due for their next server.

        busy: queue ids that the driver is sending already.
        crowded: servers that get no further mail for now.
        """
        ctx, conn = self._opened()
        due_at = self._mail_due_at(ctx, conn)
        return ctx.mta.ready(conn, now, limit, busy, crowded) if due_at is not None and due_at <= now else []

    def hops_concluded(self, now: LabTime, ended: Sequence[tuple[int, SendOutcome]]) -> None:
        """Record the outcomes of attempts, by queue id. Recipients of one mail can have different outcomes."""
        with self._stimulus(now) as (ctx, s):
            for queue_id, outcome in ended:
                if outcome.refused is not None:
                    application_log.command_refused(ctx, s, 7004, ctx.mta.next_hop(s, queue_id), outcome.refused)
                agent.deliver(ctx, s, ctx.mta.concluded(s, queue_id, outcome))

    def hop_concluded(self, now: LabTime, queue_id: int, outcome: SendOutcome) -> None:
        """Record the outcome of one attempt."""
        self.hops_concluded(now, [(queue_id, outcome)])

    def hop_held(self, now: LabTime, queue_id: int, until_at: LabTime) -> None:
        """Keep a mail in the queue until `until_at`, because of a fault."""
        with self._stimulus(now) as (ctx, s):
            ctx.mta.hold(s, queue_id, until_at)

    def hop_released(self, now: LabTime, queue_id: int) -> None:
        """Let a mail that a fault holds leave now, or when its connector opens."""
        with self._stimulus(now) as (ctx, s):
            ctx.mta.release(s, queue_id)

    def hop_divided(self, now: LabTime, queue_id: int, recipients: Sequence[str]) -> None:
        """Give some recipients of a mail a separate mail in the queue, because of a fault."""
        with self._stimulus(now) as (ctx, s):
            ctx.mta.divide(s, queue_id, recipients)

    def next_due(self) -> LabTime | None:
        """Return when the next timer or mail is due; None if there is none."""
        ctx, conn = self._opened()
        due = [at for at in (next_due(conn, timers_of(ctx)), self._mail_due_at(ctx, conn)) if at is not None]
        return min(due, default=None)

    def log(self, now: LabTime, event: int, **values: object) -> None:
        """Write an entry into the application log about an event that only the driver sees, such as 7004 (spec: EV-1).

        `application_log.KINDS` lists the values that each event id needs.
        """
        with self._stimulus(now) as (ctx, s):
            application_log.write(ctx.config, s.conn, s.now, event, values)


def _numbered(ctx: Context, numbers: Sequence[ChangeNumber]) -> tuple[list[str], list[str]]:
    """Return change numbers as people see them, and as traces write them."""
    names = ctx.store.names()
    return [named(number, names) for number in numbers], [number.text for number in numbers]


def _changed(ctx: Context, number: ChangeNumber) -> Changed:
    return Changed(named(number, ctx.store.names()), number.text)


def _made(ctx: Context, version: Version) -> Made:
    number = version.number
    return Made(object_text(version.object), named(number, ctx.store.names()), number.text)
