"""The reads of a store: what each returns. A read is declared here once, and offered in several places.

A read is not a stimulus: it opens no transaction, records no event, moves no counter and takes no lab time. A read does not
change the run.

| class | where it reads |
|---|---|
| `node.store.node.Node` | in the database of a running store (`node.store.queries`) |
| `node.store.offline_reader.OfflineReader` | in the database file of a store that need not run (`node.store.queries`) |
| `pflab.lab.remote_node.RemoteNode` | over HTTP, by the table `node.api.read_paths` |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from node.views import (
    BadMailView,
    DirectoryEntryView,
    EntryView,
    FolderStatus,
    FolderView,
    InstanceView,
    Knowledge,
    LogView,
    MessageView,
    NoticeView,
    QueueView,
    RetainedView,
    SettingView,
    SourceView,
    StateView,
    VersionView,
)
from traces.labtime import LabTime

if TYPE_CHECKING:
    from topology.settings.values import Settings


class StoreReader:
    """The reads of a store. A folder is given by its path, by its id or as 1-1, the hierarchy.

    Every read raises NotRunning if the store is stopped, and FolderUnknown or MessageUnknown for a folder or message that the
    store does not know. A read that a class does not offer raises NotImplementedError.
    """

    @property
    def last_at(self) -> LabTime:
        """The lab time of the store's last stimulus."""
        raise NotImplementedError

    def folders(self) -> list[FolderView]:
        """Return every folder that the store knows."""
        raise NotImplementedError

    def holds(self, folder: str) -> bool:
        """Return whether this store has a replica of a folder, and is not removing it."""
        raise NotImplementedError

    def messages(self, folder: str, after: str = "") -> list[MessageView]:
        """Return the live messages of a folder in order of their ids, which are compared like the numbers A-9 and A-10.

        after: an id; return only messages whose ids come after it. A message keeps its id, so this order never changes.
        """
        raise NotImplementedError

    def versions(self, message: str) -> list[VersionView]:
        """Return the kept versions of a message, the shown one first. The message is given by its id, or by the number of any
        of its changes (A-4)."""
        raise NotImplementedError

    def retained(self) -> list[RetainedView]:
        """Return the deleted messages and folders that can be recovered on this store, the latest deletion first."""
        raise NotImplementedError

    def count(self, folder: str) -> int:
        """Return how many live messages the folder has here, without reading them."""
        raise NotImplementedError

    def shown_change(self, message: str) -> str:
        """Return the change number of a message's shown version, as traces write it."""
        raise NotImplementedError

    def body(self, folder: str, message: str) -> str:
        """Return the text of the shown version."""
        raise NotImplementedError

    def mail(self, folder: str, message: str) -> bytes:
        """Return the message as a mail. If it arrived as a mail, the bytes are exactly the same."""
        raise NotImplementedError

    def attachments(self, folder: str, message: str) -> list[tuple[str, bytes]]:
        """Return name and data of a message's attached files."""
        raise NotImplementedError

    def state(self, folder: str) -> StateView:
        """Return the folder's rows of the replication state table, this store's first."""
        raise NotImplementedError

    def replication_status(self, folder: str | None = None) -> list[FolderStatus]:
        """Return the replication status of all folders with a replica here, or of one folder: which replicas are in sync, as
        far as this store knows."""
        raise NotImplementedError

    def instances(self) -> list[InstanceView]:
        """Return the replicas of folders on this store with their statistics, also those that wait to be removed."""
        raise NotImplementedError

    def sources(self) -> list[SourceView]:
        """Return all other stores with what decides which of them is asked for missing changes, in the order in which this
        store would ask them if all had the same changes."""
        raise NotImplementedError

    def backfill(self) -> list[EntryView]:
        """Return the backfill array: what is known to be missing, and which stores were asked for it."""
        raise NotImplementedError

    def queue(self) -> list[QueueView]:
        """Return the mails that wait to be sent, and when the next attempt is due."""
        raise NotImplementedError

    def frozen_queues(self) -> list[str]:
        """Return the next hops whose queues an administrator has frozen."""
        raise NotImplementedError

    def queued_mail(self, row: int) -> bytes:
        """Return a mail that waits to be sent, by its id in the queue."""
        raise NotImplementedError

    def bad_mail(self) -> list[BadMailView]:
        """Return the mails that were not valid replication mail of this organization."""
        raise NotImplementedError

    def mailbox(self) -> list[NoticeView]:
        """Return the list of the mails to people that the store has kept for them."""
        raise NotImplementedError

    def mailbox_mail(self, notice: int) -> bytes:
        """Return a mail of the mailbox, by its id in the list."""
        raise NotImplementedError

    def event_log(self, *, after: int = 0, limit: int = 200, event: int | None = None) -> list[LogView]:
        """Return the newest entries of the store's application log, in order."""
        raise NotImplementedError

    def knowledge(self, folder: str) -> Knowledge:
        """Return what the store knows about a folder: change numbers, versions with their digests, tombstones."""
        raise NotImplementedError

    def directory(self) -> list[DirectoryEntryView]:
        """Return the directory as the store reads it: the object of each store, with its addresses."""
        raise NotImplementedError

    def settings(self) -> Settings:
        """Return the settings in force: those of the topology, and those that an administrator has changed since."""
        raise NotImplementedError

    def setting_views(self) -> list[SettingView]:
        """Return every setting with its value, its default, where Exchange keeps it and what it does."""
        raise NotImplementedError
