"""The changes of a node in another process, over HTTP.

Written by `make changes` from the methods of `node.store.node.Node` and the table `node.api.changes.table`. Do not edit.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, TypeVar, Unpack

from node.reads import StoreReader
from node.views import (
    BatchMade,
    Changed,
    FolderDeleted,
    FoldersChanged,
    Made,
    MailSent,
    Post,
    QueueChanged,
    Resolved,
    SentAgain,
    StatusRequested,
)
from pflab.client import quoted

if TYPE_CHECKING:
    from topology.arguments import FolderChanges, FolderFields
    from traces.labtime import LabTime

View = TypeVar("View")


class RemoteChanges(StoreReader):
    """The methods of a node that change something. They ignore the argument `now`, because the node has its own clock."""

    @abstractmethod
    def _change(self, view: type[View], method: str, path: str, body: Mapping[str, object] | None = None) -> View:
        """Request a change, and return the view that the node answers with."""

    def create_folder(self, now: LabTime, path: str, **fields: Unpack[FolderFields]) -> Made:
        del now
        return self._change(Made, "POST", "/folders", {"path": path, **fields})

    def change_folder(self, now: LabTime, path: str, **fields: Unpack[FolderChanges]) -> Changed:
        del now
        return self._change(Changed, "PATCH", f"/folders/{quoted(path)}", {**fields})

    def recover_folder(self, now: LabTime, path: str) -> Made:
        del now
        return self._change(Made, "POST", f"/folders/{quoted(path)}/recover")

    def delete_folder(self, now: LabTime, path: str) -> FolderDeleted:
        del now
        return self._change(FolderDeleted, "DELETE", f"/folders/{quoted(path)}")

    def post(
        self,
        now: LabTime,
        folder: str,
        *,
        subject: str,
        body: str = "",
        sender: str = "",
        attachments: Sequence[tuple[str, bytes]] = (),
        associated: bool = False,
    ) -> Made:
        del now
        return self._change(
            Made,
            "POST",
            "/messages",
            {
                "folder": folder,
                "subject": subject,
                "body": body,
                "sender": sender,
                "attachments": attachments,
                "associated": associated,
            },
        )

    def post_batch(self, now: LabTime, folder: str, messages: Sequence[Post]) -> BatchMade:
        del now
        return self._change(BatchMade, "POST", "/messages/batch", {"folder": folder, "messages": messages})

    def send_mail(
        self,
        now: LabTime,
        folder: str,
        *,
        to: Sequence[str],
        subject: str,
        body: str = "",
        attachments: Sequence[tuple[str, bytes]] = (),
    ) -> MailSent:
        del now
        return self._change(
            MailSent,
            "POST",
            "/messages/send",
            {"folder": folder, "to": to, "subject": subject, "body": body, "attachments": attachments},
        )

    def edit(
        self,
        now: LabTime,
        folder: str,
        message: str,
        *,
        subject: str | None = None,
        body: str | None = None,
        based_on: Sequence[str] | None = None,
    ) -> Changed:
        del now
        return self._change(
            Changed,
            "PATCH",
            f"/messages/{quoted(message)}?folder={quoted(folder)}",
            {"subject": subject, "body": body, "based_on": based_on},
        )

    def delete(self, now: LabTime, folder: str, message: str) -> Changed:
        del now
        return self._change(Changed, "DELETE", f"/messages/{quoted(message)}?folder={quoted(folder)}")

    def recover(self, now: LabTime, folder: str, message: str) -> Made:
        del now
        return self._change(Made, "POST", f"/messages/{quoted(message)}/recover?folder={quoted(folder)}")

    def resolve(self, now: LabTime, folder: str, message: str, keep: str, by: str | None = None) -> Resolved:
        del now
        return self._change(
            Resolved, "POST", f"/messages/{quoted(message)}/resolve?folder={quoted(folder)}", {"keep": keep, "by": by}
        )

    def send_again(self, now: LabTime, folder: str, *, days: int, to: Sequence[str] | None = None) -> SentAgain:
        del now
        return self._change(SentAgain, "POST", "/send", {"folder": folder, "days": days, "to": to})

    def change_replicas(
        self,
        now: LabTime,
        folder: str,
        *,
        add: Sequence[str] | None = None,
        remove: Sequence[str] | None = None,
        replace: str | None = None,
        by: str | None = None,
    ) -> FoldersChanged:
        del now
        return self._change(
            FoldersChanged,
            "POST",
            "/replicas",
            {"folder": folder, "add": add, "remove": remove, "replace": replace, "by": by},
        )

    def propagate(self, now: LabTime, folder: str, properties: Sequence[str]) -> FoldersChanged:
        del now
        return self._change(FoldersChanged, "POST", "/propagate", {"folder": folder, "properties": properties})

    def change_queue(
        self,
        now: LabTime,
        order: Literal["freeze", "unfreeze", "delete", "return"],
        *,
        next_hop: str | None = None,
        mails: Sequence[int] | None = None,
    ) -> QueueChanged:
        del now
        return self._change(QueueChanged, "POST", "/queue", {"order": order, "next_hop": next_hop, "mails": mails})

    def synchronize(self, now: LabTime, folder: str) -> StatusRequested:
        del now
        return self._change(StatusRequested, "POST", "/synchronize", {"folder": folder})
