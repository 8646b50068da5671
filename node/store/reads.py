"""What can be read from a store while it runs."""

from __future__ import annotations

from collections.abc import Sequence

from node.store import queries
from node.store.lifecycle import StoreLife
from node.tracking.change_number import ChangeNumber, named
from node.views import (
    BadMailView,
    EntryView,
    FolderView,
    Knowledge,
    LogView,
    MessageView,
    NoticeView,
    QueueView,
    StateView,
)
from topology.settings.values import Settings


class StoreReads(StoreLife):
    """The reads of a store. NotRunning if it is stopped; FolderUnknown, MessageUnknown for what it does not know."""

    def folders(self) -> list[FolderView]:
        with self._reading() as (ctx, _):
            return queries.folders(ctx)

    def messages(self, folder: str) -> list[MessageView]:
        with self._reading() as (ctx, conn):
            return queries.messages(ctx, conn, folder)

    def count(self, folder: str) -> int:
        """How many live messages the folder has here; a query, whatever their number."""
        with self._reading() as (ctx, conn):
            return queries.count(ctx, conn, folder)

    def numbers_of(self, messages: Sequence[str]) -> list[tuple[str, str]]:
        """The change numbers of messages' shown versions: as people see them, A-100, and as traces write them."""
        with self._reading() as (ctx, conn):
            names = queries.names_of(ctx)
            found = [queries.change_of(ctx, conn, message) for message in messages]
            return [(named(each, names), each.text) for each in found]

    def shown(self, changes: Sequence[str]) -> list[str]:
        """Change numbers of traces as people see them: A-100 (spec: CN-1)."""
        with self._reading() as (ctx, _):
            names = queries.names_of(ctx)
            return [named(ChangeNumber.parse(each), names) for each in changes]

    def number_of_folder(self, path: str) -> tuple[str, str]:
        """The change number of a folder's present version, as people see it and as traces write it."""
        with self._reading() as (ctx, _):
            number = ctx.folders.visible(path).number
            return named(number, queries.names_of(ctx)), number.text

    def holds(self, folder: str) -> bool:
        """Whether this store holds a folder. FolderUnknown if it does not know it."""
        with self._reading() as (ctx, _):
            return queries.holds(ctx, folder)

    def body(self, folder: str, message: str) -> str:
        with self._reading() as (ctx, conn):
            return queries.body(ctx, conn, folder, message)

    def mail(self, folder: str, message: str) -> bytes:
        """A message as a mail; one that came as a mail is that mail, to the byte (spec: ML-5)."""
        with self._reading() as (ctx, conn):
            return queries.mail(ctx, conn, folder, message)

    def attachments(self, folder: str, message: str) -> list[tuple[str, bytes]]:
        """Name and data of a message's files."""
        with self._reading() as (ctx, conn):
            return queries.attachments(ctx, conn, folder, message)

    def state(self, folder: str) -> StateView:
        with self._reading() as (ctx, _):
            return queries.state(ctx, folder)

    def backfill(self) -> list[EntryView]:
        with self._reading() as (ctx, conn):
            return queries.backfill_array(ctx, conn)

    def queue(self) -> list[QueueView]:
        with self._reading() as (ctx, conn):
            return queries.queue(ctx, conn)

    def bad_mail(self) -> list[BadMailView]:
        with self._reading() as (_, conn):
            return queries.bad_mail(conn)

    def mailbox(self) -> list[NoticeView]:
        with self._reading() as (_, conn):
            return queries.mailbox(conn)

    def event_log(self, *, after: int = 0, limit: int = 200, event: int | None = None) -> list[LogView]:
        """The application log: the newest `limit` entries after the id `after`, in order (spec: EV-1)."""
        with self._reading() as (_, conn):
            return queries.event_log(conn, after=after, limit=limit, event=event)

    def mailbox_mail(self, notice: int) -> bytes:
        """A mail of the lab's mailbox, by the id that its view has."""
        with self._reading() as (_, conn):
            return queries.mailbox_mail(conn, notice)

    def knowledge(self, folder: str) -> Knowledge:
        with self._reading() as (ctx, conn):
            return queries.knowledge(ctx, conn, folder)

    def settings(self) -> Settings:
        """The settings in force, with those that an administrator gave since the topology was written."""
        return self._config.settings
