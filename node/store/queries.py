"""The reads of a store in its database, each written once (`node.reads` says what each returns)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping

from node.administration.folder_properties import texts
from node.backfill import rows
from node.backfill.sources import in_order, leaver_claims, leavers
from node.codec.items import (
    ROOT_TEXT,
    attachments_of,
    body_of,
    digest_of,
    export_mail,
    object_from_text,
    object_text,
    sender_of,
)
from node.errors import MessageUnknown, Misuse
from node.objects.version_rows import tied_numbers
from node.reads import StoreReader
from node.state.application_log import KINDS
from node.state.context import Context
from node.state.folders import Folder
from node.state.store_settings import Config, setting_views
from node.store import mailboxes, message_versions, replication_status
from node.stored_values import EXPIRED, HIERARCHY_FID
from node.tracking.change_number import ChangeNumber, named
from node.tracking.cnset import CNSet
from node.tracking.number_sets import NumberSets
from node.views import (
    BadMailView,
    DirectoryEntryView,
    EntryView,
    FolderStatus,
    FolderView,
    InstanceView,
    Knowledge,
    LogView,
    MailboxView,
    MessageView,
    NoticeView,
    QueueView,
    RequestView,
    RetainedView,
    RowView,
    SettingView,
    SourceView,
    StateView,
    VersionView,
    number_order,
)
from topology.settings.catalogue import category_on
from topology.settings.spec import LEVEL_NAMES
from topology.settings.values import Settings
from traces.backfill_lives import EntryState
from traces.labtime import LabTime
from transport.sql import Connection, Statement

MESSAGES = Statement(
    "SELECT object, rep, ctr, modified_at, subject, item, fai FROM message WHERE fid = ? AND deleted = 0"
    " ORDER BY object, shown DESC, rep, ctr"
)
VERSIONS = (
    Statement("SELECT object, rep, ctr, deleted, shown, item FROM message WHERE fid = ? ORDER BY object, rep, ctr"),
    Statement("SELECT object, rep, ctr, deleted, 1, item FROM folder ORDER BY object, rep, ctr"),
)
"""The versions of a folder, and those of the hierarchy."""
UNSENT = (
    Statement("SELECT rep, ctr FROM message WHERE sent = 0 AND fid = ? AND fai = 0 ORDER BY rep, ctr"),
    Statement("SELECT rep, ctr FROM folder WHERE sent = 0 ORDER BY rep, ctr"),
)
"""The numbers of unsent changes of a folder, and those of the hierarchy."""
RETAINED = Statement(
    "SELECT id, folder, object, rep, ctr, deleted_at, path, subject FROM retained WHERE within = 0"
    " ORDER BY deleted_at DESC, id DESC"
)
RETAINED_WITHIN = Statement("SELECT count(*) FROM retained WHERE within = ?")
MESSAGE_COUNT = Statement("SELECT messages FROM message_count WHERE fid = ?")
SHOWN_NUMBER = Statement("SELECT rep, ctr FROM message WHERE shown = 1 AND object = ?")
SIZES = Statement(
    "SELECT fid, sum(deleted = 0 AND shown = 1 AND fai = 0), sum(deleted = 0 AND shown = 1 AND fai = 1),"
    " sum(CASE WHEN deleted = 0 THEN length(item) ELSE 0 END), max(modified_at) FROM message GROUP BY fid"
)
BAD_MAILS = Statement("SELECT id, at, sender, reason, length(content) FROM bad_mail ORDER BY id")
MAILBOX = Statement("SELECT at, recipient, subject, body, sender, id, length(content) FROM mailbox ORDER BY id")
MAILBOX_CONTENT = Statement("SELECT content FROM mailbox WHERE id = ?")
SHOWN_ITEM = Statement("SELECT item FROM message WHERE object = ? AND +fid = ? AND shown = 1 AND deleted = 0")


class StoreQueries(StoreReader):
    """The reads of a database."""

    @abstractmethod
    def _opened(self) -> tuple[Context, Connection]:
        """Return the store's state and a connection that sees only committed data. Raises NotRunning if it is stopped."""

    @property
    def last_at(self) -> LabTime:
        return self._opened()[0].store.last_at

    def folders(self) -> list[FolderView]:
        ctx, _ = self._opened()
        version = ctx.folders.arranged, ctx.rst.served_fids()
        if ctx.folder_views is None or ctx.folder_views[0] != version:
            live = [folder for folder in ctx.folders.all() if folder.props is not None]
            live.sort(key=lambda folder: (folder.hidden, folder.path, folder.object))
            ctx.folder_views = version, [_folder(ctx, folder) for folder in live]
        return list(ctx.folder_views[1])

    def holds(self, folder: str) -> bool:
        ctx, _ = self._opened()
        own = ctx.rst.own(_fid_of(ctx, folder))
        return own is not None and not own.pending

    def messages(self, folder: str, after: str = "") -> list[MessageView]:
        ctx, conn = self._opened()
        fid = _fid_of(ctx, folder)
        props = None if fid == HIERARCHY_FID else ctx.folders.at(fid).props
        shows_conflicts = props is None or props.shows_conflicts
        by_object: dict[bytes, list[tuple[ChangeNumber, LabTime, str, bytes, bool]]] = {}
        for object_id, rep, ctr, at, subject, item, fai in conn.exec_driver_sql(
            MESSAGES,
            (fid,),
        ):
            by_object.setdefault(object_id, []).append((ctx.store.number(rep, ctr), at, subject, item, bool(fai)))
        names = ctx.store.names()
        places = {object_id: number_order(named(ChangeNumber.from_xid(object_id), names)) for object_id in by_object}
        if after:
            last = number_order(named(ChangeNumber.from_xid(_object_id(after)), names))
            places = {object_id: place for object_id, place in places.items() if place > last}
        views = []
        for object_id in sorted(places, key=places.__getitem__):
            winner, *losers = by_object[object_id]
            losers.sort(key=lambda row: (row[1], number_order(named(row[0], names))))
            number, at, subject, item, fai = winner
            versions = [number, *(row[0] for row in losers)]
            views.append(
                MessageView(
                    id=object_text(object_id),
                    subject=subject,
                    sender=sender_of(item),
                    number=named(number, names),
                    change=number.text,
                    modified_at=at,
                    in_conflict=shows_conflicts and len(versions) > 1,
                    versions=tuple(version.text for version in versions),
                    size=len(item),
                    associated=fai,
                    numbers=tuple(named(version, names) for version in versions),
                )
            )
        return views

    def versions(self, message: str) -> list[VersionView]:
        ctx, conn = self._opened()
        return message_versions.versions(ctx, conn, ctx.store.names(), message)

    def retained(self) -> list[RetainedView]:
        ctx, conn = self._opened()
        names = ctx.store.names()
        views = []
        for id_, folder, object_id, rep, ctr, deleted_at, path, subject in conn.exec_driver_sql(RETAINED).all():
            fid = ctx.folders.fid_of(folder)
            within = conn.exec_driver_sql(RETAINED_WITHIN, (id_,)).scalar_one()
            number = ctx.store.number(rep, ctr)
            predecessors = tied_numbers(ctx, conn, object_id).numbers()
            views.append(
                RetainedView(
                    folder=path or (ctx.folders.path_of(fid) if fid is not None else ""),
                    message=None if path else object_text(object_id),
                    subject=subject,
                    number=named(number, names),
                    numbers=tuple(named(older_number, names) for older_number in sorted({number, *predecessors})),
                    messages=within,
                    deleted_at=deleted_at,
                    until_at=deleted_at + ctx.config.settings.item_retention_us,
                )
            )
        return views

    def count(self, folder: str) -> int:
        ctx, conn = self._opened()
        number: int | None = conn.exec_driver_sql(MESSAGE_COUNT, (_fid_of(ctx, folder),)).scalar()
        return number or 0

    def shown_change(self, message: str) -> str:
        ctx, conn = self._opened()
        row = conn.exec_driver_sql(SHOWN_NUMBER, (_object_id(message),)).first()
        if row is None:
            raise MessageUnknown(f"this store has no message {message}")
        return ctx.store.number(*row).text

    def body(self, folder: str, message: str) -> str:
        ctx, conn = self._opened()
        return body_of(_shown_item(ctx, conn, folder, message))

    def mail(self, folder: str, message: str) -> bytes:
        # spec: ML-5
        ctx, conn = self._opened()
        item = _shown_item(ctx, conn, folder, message)
        address = ctx.directory.sender(ctx.name)
        guid, _, counter = message.partition(":")
        row = ctx.folders.at(_fid_of(ctx, folder))
        sender = ctx.book.address_of(row) or address
        return export_mail(item, message_id=f"{counter}.{guid}@{address.rpartition('@')[2]}", sender=sender)

    def numbered(self, folder: str, user: str) -> MailboxView:
        """Return a folder as a user sees it by IMAP."""
        ctx, conn = self._opened()
        return mailboxes.mailbox(ctx, conn, ctx.folders.visible(folder).fid, user)

    def attachments(self, folder: str, message: str) -> list[tuple[str, bytes]]:
        ctx, conn = self._opened()
        return attachments_of(_shown_item(ctx, conn, folder, message))

    def state(self, folder: str) -> StateView:
        # spec: RST-1, RST-2
        ctx, conn = self._opened()
        fid = _fid_of(ctx, folder)
        names = ctx.store.names()
        rows: list[RowView] = []
        own = ctx.rst.own(fid)
        if own is not None:
            last = (
                named(ChangeNumber(ctx.store.guid, own.last_sent.contents), names) if own.last_sent.contents else None
            )
            rows.append(_row(ctx.name, own.numbers, names, last_sent=last))
        rows.extend(
            _row(row.store, row.numbers, names, heard_at=row.heard_at, is_local=False) for row in ctx.rst.rows(fid)
        )
        leaver_rows = tuple(
            _row(store, leaver_claims(conn, fid, store), names, is_local=False) for store in leavers(conn, fid)
        )
        is_pending = own is not None and own.pending
        return StateView(
            ctx.folders.text_of(fid), ctx.folders.path_of(fid), ctx.name, tuple(rows), is_pending, leaver_rows
        )

    def replication_status(self, folder: str | None = None) -> list[FolderStatus]:
        # spec: RST-3
        ctx, conn = self._opened()
        fid = None if folder is None else _fid_of(ctx, folder)
        return replication_status.folder_status(ctx, conn, ctx.store.names(), fid)

    def instances(self) -> list[InstanceView]:
        # spec: AD-1
        ctx, conn = self._opened()
        sizes = {fid: numbers for fid, *numbers in conn.exec_driver_sql(SIZES)}
        views = []
        for fid in ctx.rst.held_fids():
            own = ctx.rst.own(fid)
            if fid == HIERARCHY_FID or own is None:
                continue
            items, associated, size, changed_at = sizes.get(fid, (0, 0, 0, None))
            folder, path = ctx.folders.text_of(fid), ctx.folders.path_of(fid)
            leaving = tuple(leavers(conn, fid))
            views.append(
                InstanceView(folder, path, ctx.name, own.pending, items, associated, size, changed_at, leaving)
            )
        return views

    def sources(self) -> list[SourceView]:
        # spec: BF-3, BF-4, BF-9
        ctx, conn = self._opened()
        return [
            SourceView(
                store=source.store,
                site=source.site,
                version=source.version,
                cost=source.cost,
                affinity=source.affinity,
                transit_us=source.transit_us,
                backfilled_at=source.backfilled_at or None,
                unavailable=source.down,
                preferred=source.preferred,
                addressed=not source.unreached,
            )
            for source in in_order(ctx, conn)
        ]

    def backfill(self) -> list[EntryView]:
        # spec: BF-2
        ctx, conn = self._opened()
        names = ctx.store.names()
        return [
            EntryView(
                id=entry.id,
                folder=ctx.folders.text_of(entry.fid),
                path=ctx.folders.path_of(entry.fid),
                missing=entry.numbers.contents.named(names),
                missing_fai=entry.numbers.associated.named(names),
                made_at=entry.made_at,
                due_at=entry.due_at,
                attempts=entry.attempts,
                local=entry.local,
                waiting_for_slot=entry.state is EntryState.DEFERRED,
                requests=tuple(
                    RequestView(
                        request.source, request.numbers.merged().named(names), request.sent_at, request.retry_at
                    )
                    for request in rows.requests(conn, entry=entry.id)
                ),
                **entry.numbers.texts(),
            )
            for entry in rows.entries(conn)
        ]

    def queue(self) -> list[QueueView]:
        ctx, conn = self._opened()
        return [
            QueueView(
                id=mail.queue_id,
                next_hop=mail.next_hop or "",
                connector=mail.connector,
                recipients=mail.recipients,
                subject=mail.subject,
                due_at=mail.due_at,
                attempts=mail.attempts,
                size=mail.size,
                sender=mail.sender,
                message_id=mail.message_id,
                frozen=mail.frozen != 0,
            )
            for mail in ctx.mta.queued(conn)
        ]

    def frozen_queues(self) -> list[str]:
        # spec: RT-5
        ctx, conn = self._opened()
        return ctx.mta.frozen_queues(conn)

    def queued_mail(self, row: int) -> bytes:
        ctx, conn = self._opened()
        content = ctx.mta.content(conn, row)
        if content is None:
            raise MessageUnknown(f"no mail {row} in the queue; it may have been sent")
        return content

    def bad_mail(self) -> list[BadMailView]:
        # spec: IN-5
        _, conn = self._opened()
        return [BadMailView(*row) for row in conn.exec_driver_sql(BAD_MAILS)]

    def mailbox(self) -> list[NoticeView]:
        _, conn = self._opened()
        return [NoticeView(*row) for row in conn.exec_driver_sql(MAILBOX)]

    def mailbox_mail(self, notice: int) -> bytes:
        _, conn = self._opened()
        content: bytes | None = conn.exec_driver_sql(MAILBOX_CONTENT, (notice,)).scalar()
        if content is None:
            raise MessageUnknown(f"no mail {notice} in the mailbox")
        return content

    def event_log(self, *, after: int = 0, limit: int = 200, event: int | None = None) -> list[LogView]:
        # spec: EV-1
        ctx, conn = self._opened()
        condition, values = ("AND event = ?", (event,)) if event is not None else ("", ())
        rows = conn.exec_driver_sql(
            f"SELECT id, at, event, text FROM log WHERE id > ? {condition} ORDER BY id DESC LIMIT ?",
            (after, *values, limit),
        ).all()
        return [_entry(ctx.config, *row) for row in reversed(rows)]

    def directory(self) -> list[DirectoryEntryView]:
        # spec: ML-1
        ctx, _ = self._opened()
        return ctx.directory.view()

    def knowledge(self, folder: str) -> Knowledge:
        # spec: CV-1
        ctx, conn = self._opened()
        fid = _fid_of(ctx, folder)
        own = ctx.rst.own(fid)
        hierarchy = fid == HIERARCHY_FID
        versions: dict[str, list[tuple[str, str]]] = {}
        shown_changes: dict[str, str] = {}
        tombstones: list[str] = []
        expired: list[str] = []
        for object_id, rep, ctr, deleted, is_shown, item in conn.exec_driver_sql(
            VERSIONS[hierarchy], () if hierarchy else (fid,)
        ):
            text = object_text(object_id)
            if deleted:
                (expired if deleted == EXPIRED else tombstones).append(text)
                continue
            change = ctx.store.number(rep, ctr).text
            versions.setdefault(text, []).append((change, digest_of(item)))
            if is_shown:
                shown_changes[text] = change
        unsent = _unsent(ctx, conn, fid)
        return Knowledge(
            folder=ctx.folders.path_of(fid),
            holds=own is not None and not own.pending,
            **((own.numbers if own else NumberSets.EMPTY) | NumberSets(unsent)).texts("numbers"),
            versions={text: tuple(sorted(pairs)) for text, pairs in sorted(versions.items())},
            shown=shown_changes,
            tombstones=tuple(sorted(tombstones)),
            expired=tuple(sorted(set(expired))),
        )

    def setting_views(self) -> list[SettingView]:
        # spec: SE-1
        ctx, conn = self._opened()
        return setting_views(conn, ctx.config.settings, ctx.name, ctx.store.guid)

    def settings(self) -> Settings:
        return self._opened()[0].config.settings


def _fid_of(ctx: Context, folder: str) -> int:
    """Return the row id of a folder given by path, by id or as 1-1. Raises FolderUnknown if there is none."""
    if folder == ROOT_TEXT:
        return HIERARCHY_FID
    try:
        row = ctx.folders.get(object_from_text(folder))
    except ValueError:
        row = None
    return row.fid if row is not None else ctx.folders.visible(folder).fid


def _folder(ctx: Context, folder: Folder) -> FolderView:
    props = folder.props
    assert props is not None
    own = ctx.rst.own(folder.fid)
    properties = {name: text for name, text in texts(props).items() if name != "alias"}  # `address` is made from it
    return FolderView(
        id=folder.text,
        path=folder.path or props.name,
        replicas=props.replicas,
        hidden=folder.hidden,
        held_here=own is not None and not own.pending,
        address=ctx.book.address_of(folder),
        **properties,
    )


def _object_id(message: str) -> bytes:
    try:
        return object_from_text(message)
    except ValueError as error:
        raise Misuse(f"{message!r} is not a message id such as {'0' * 31}a:17: {error}") from None


def _shown_item(ctx: Context, conn: Connection, folder: str, message: str) -> bytes:
    fid = _fid_of(ctx, folder)
    object_id = _object_id(message)
    item: bytes | None = conn.exec_driver_sql(
        # +fid: without the plus, SQLite reads all messages of the folder, by the index that begins with it
        SHOWN_ITEM,
        (object_id, fid),
    ).scalar()
    if item is None:
        raise MessageUnknown(f"message {message} is not in {folder} on {ctx.name}")
    return item


def _row(
    store: str,
    numbers: NumberSets,
    names: Mapping[bytes, str],
    *,
    last_sent: str | None = None,
    heard_at: LabTime | None = None,
    is_local: bool = True,
) -> RowView:
    contents, associated = numbers.contents.named(names), numbers.associated.named(names)
    return RowView(store, is_local, contents, associated, last_sent, heard_at, **numbers.texts())


def _entry(config: Config, id_: int, at: LabTime, event: int, text: str) -> LogView:
    kind, version = KINDS[event], config.settings.version
    source = kind.source or config.profile.log.source
    logging = LEVEL_NAMES[version][kind.logging.on(version)]
    return LogView(id_, at, event, kind.level, source, category_on(version, kind.category), logging, text)


def _unsent(ctx: Context, conn: Connection, fid: int) -> CNSet:
    hierarchy = fid == HIERARCHY_FID
    return CNSet.from_numbers(
        ctx.store.number(rep, ctr) for rep, ctr in conn.exec_driver_sql(UNSENT[hierarchy], () if hierarchy else (fid,))
    )
