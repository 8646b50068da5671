"""The changes of a store, as calls of the client.

Written by `make changes` from the methods of `node.store.node.Node` and the table `node.api.changes.table`. Do not edit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict

from pflab.client.requests import Requests, quoted

__tracebackhide__ = True  # pytest shows the lines of the test that calls this module, not those in it


class Made(TypedDict):
    """A message or folder that was created by a change.

    id: of the message or folder.
    number: as people see it, such as A-100.
    change: as traces write it.
    """

    id: str
    number: str
    change: str


class Changed(TypedDict):
    """A change of a message or folder; the fields are those of Made."""

    number: str
    change: str


class FolderDeleted(TypedDict):
    """The path of a folder that was deleted with everything below it."""

    deleted: str


class BatchMade(TypedDict):
    """The messages of a batch, in order; the fields are those of Made."""

    ids: list[str]
    numbers: list[str]
    changes: list[str]


class MailSent(TypedDict):
    """The Message-ID of a mail."""

    message_id: str


class Resolved(TypedDict):
    """The changes that ended a conflict; the first one is the change that ended it. The fields are those of Made."""

    numbers: list[str]
    changes: list[str]


class SentAgain(TypedDict):
    """Changes of a folder that were sent again (spec: AD-1).

    to: the stores that get them.
    numbers: the change numbers that the mails claim, as people read them.
    """

    folder: str
    to: list[str]
    numbers: str


class FoldersChanged(TypedDict):
    """The changes that an order for many folders has made (spec: AD-1).

    folders: the paths of the changed folders.
    numbers, changes: of their changes, in the same order, as in Made.
    kept: folders that were not changed, because they would have no replica.
    """

    folders: list[str]
    numbers: list[str]
    changes: list[str]
    kept: list[str]


class QueueChanged(TypedDict):
    """What an administrator did with mails that wait to be sent (spec: RT-5).

    mails: their ids in the queue.
    """

    order: str
    mails: list[int]


class StatusRequested(TypedDict):
    """The stores that must answer a request for the status of a folder (spec: AD-1)."""

    folder: str
    asked: list[str]


class Configured(TypedDict):
    """Settings that were changed.

    configured: their names.
    notices: a line for each value that was out of range, with the value that is used instead.
    """

    configured: list[str]
    notices: list[str]


class Changes(Requests):
    """The changes of a store. If no answer comes, a request is repeated. Under the same `key` a change is made only once."""

    # --- changes

    def create_folder(
        self,
        node: str,
        path: str,
        *,
        replicas: Sequence[str] | None = None,
        description: str | None = None,
        schedule: str | None = None,
        contacts: Sequence[str] | None = None,
        priority: Literal["not urgent", "normal", "urgent"] | None = None,
        alias: str | None = None,
        age_limit: str | None = None,
        warning_limit: str | None = None,
        post_limit: str | None = None,
        item_limit: str | None = None,
        resolve: Literal["default", "last writer wins", "no notification"] | None = None,
        key: str | None = None,
    ) -> Made:
        """Create a folder. A property that is not given has its default.

        description: what the folder is for; '' for none.
        alias: the local part of its mail address, none, or default.
        age_limit: for example 30 d, or none.
        warning_limit, post_limit and item_limit: storage limits, for example 10 MB, or none.
        schedule: in a change, default means the store's schedule.
        resolve: how its conflicts are resolved, and whether contacts are notified.
        """
        answer: Made = self._change(
            "POST",
            node,
            "/folders",
            {
                "path": path,
                "replicas": replicas,
                "description": description,
                "schedule": schedule,
                "contacts": contacts,
                "priority": priority,
                "alias": alias,
                "age_limit": age_limit,
                "warning_limit": warning_limit,
                "post_limit": post_limit,
                "item_limit": item_limit,
                "resolve": resolve,
            },
            key,
        )
        return answer

    def change_folder(
        self,
        node: str,
        path: str,
        *,
        replicas: Sequence[str] | None = None,
        description: str | None = None,
        schedule: str | None = None,
        contacts: Sequence[str] | None = None,
        priority: Literal["not urgent", "normal", "urgent"] | None = None,
        alias: str | None = None,
        age_limit: str | None = None,
        warning_limit: str | None = None,
        post_limit: str | None = None,
        item_limit: str | None = None,
        resolve: Literal["default", "last writer wins", "no notification"] | None = None,
        rename: str | None = None,
        move_to: str | None = None,
        key: str | None = None,
    ) -> Changed:
        """Change properties of a folder, which include its replica list, its name (`rename`) and its parent (`move_to`: a
        path, '' for the top). What is not given stays as it is.

        description: what the folder is for; '' for none.
        alias: the local part of its mail address, none, or default.
        age_limit: for example 30 d, or none.
        warning_limit, post_limit and item_limit: storage limits, for example 10 MB, or none.
        schedule: in a change, default means the store's schedule.
        resolve: how its conflicts are resolved, and whether contacts are notified.
        """
        answer: Changed = self._change(
            "PATCH",
            node,
            f"/folders/{quoted(path)}",
            {
                "replicas": replicas,
                "description": description,
                "schedule": schedule,
                "contacts": contacts,
                "priority": priority,
                "alias": alias,
                "age_limit": age_limit,
                "warning_limit": warning_limit,
                "post_limit": post_limit,
                "item_limit": item_limit,
                "resolve": resolve,
                "rename": rename,
                "move_to": move_to,
            },
            key,
        )
        return answer

    def recover_folder(self, node: str, path: str, *, key: str | None = None) -> Made:
        """Recover a deleted folder with its subfolders and messages, all as new ones."""
        answer: Made = self._change("POST", node, f"/folders/{quoted(path)}/recover", None, key)
        return answer

    def delete_folder(self, node: str, path: str, *, key: str | None = None) -> FolderDeleted:
        """Delete a folder and everything below it."""
        answer: FolderDeleted = self._change("DELETE", node, f"/folders/{quoted(path)}", None, key)
        return answer

    def post(
        self,
        node: str,
        folder: str,
        *,
        subject: str,
        body: str = "",
        sender: str = "",
        attachments: Sequence[tuple[str, bytes]] = (),
        associated: bool = False,
        key: str | None = None,
    ) -> Made:
        """Post a message. It is durable when the answer arrives."""
        answer: Made = self._change(
            "POST",
            node,
            "/messages",
            {
                "folder": folder,
                "subject": subject,
                "body": body,
                "sender": sender,
                "attachments": attachments,
                "associated": associated,
            },
            key,
        )
        return answer

    def post_batch(
        self, node: str, folder: str, messages: Sequence[Mapping[str, Any]], *, key: str | None = None
    ) -> BatchMade:
        """Post messages in one transaction, all of them or none."""
        answer: BatchMade = self._change("POST", node, "/messages/batch", {"folder": folder, "messages": messages}, key)
        return answer

    def send_mail(
        self,
        node: str,
        folder: str,
        *,
        to: Sequence[str],
        subject: str,
        body: str = "",
        attachments: Sequence[tuple[str, bytes]] = (),
        key: str | None = None,
    ) -> MailSent:
        """Send a mail from a folder's address to people or folders."""
        answer: MailSent = self._change(
            "POST",
            node,
            "/messages/send",
            {"folder": folder, "to": to, "subject": subject, "body": body, "attachments": attachments},
            key,
        )
        return answer

    def edit(
        self,
        node: str,
        folder: str,
        message: str,
        *,
        subject: str | None = None,
        body: str | None = None,
        based_on: Sequence[str] | None = None,
        key: str | None = None,
    ) -> Changed:
        """Make a new version of a message, which replaces all kept versions. What is not given stays as it is.

        based_on: the change numbers of the versions that the user opened. If others were made or have arrived since, the new
            version replaces only those that were opened, and is in conflict with the others.
        """
        answer: Changed = self._change(
            "PATCH",
            node,
            f"/messages/{quoted(message)}?folder={quoted(folder)}",
            {"subject": subject, "body": body, "based_on": based_on},
            key,
        )
        return answer

    def delete(self, node: str, folder: str, message: str, *, key: str | None = None) -> Changed:
        """Delete a message."""
        answer: Changed = self._change(
            "DELETE", node, f"/messages/{quoted(message)}?folder={quoted(folder)}", None, key
        )
        return answer

    def recover(self, node: str, folder: str, message: str, *, key: str | None = None) -> Made:
        """Recover a deleted message as a new one."""
        answer: Made = self._change(
            "POST", node, f"/messages/{quoted(message)}/recover?folder={quoted(folder)}", None, key
        )
        return answer

    def resolve(
        self, node: str, folder: str, message: str, keep: str, by: str | None = None, *, key: str | None = None
    ) -> Resolved:
        """End a conflict, as a contact of the folder does. Other people are refused.

        keep: the change number of the version to keep, or `all`.
        by: the address of the contact who decides; default: the folder's first contact.
        """
        answer: Resolved = self._change(
            "POST", node, f"/messages/{quoted(message)}/resolve?folder={quoted(folder)}", {"keep": keep, "by": by}, key
        )
        return answer

    def send_again(
        self, node: str, folder: str, *, days: int, to: Sequence[str] | None = None, key: str | None = None
    ) -> SentAgain:
        """Send the changes of the last days again: Send Hierarchy (folder 1-1) or Send Contents.

        to: the stores that get them; default: all other holders.
        """
        answer: SentAgain = self._change("POST", node, "/send", {"folder": folder, "days": days, "to": to}, key)
        return answer

    def change_replicas(
        self,
        node: str,
        folder: str,
        *,
        add: Sequence[str] | None = None,
        remove: Sequence[str] | None = None,
        replace: str | None = None,
        by: str | None = None,
        key: str | None = None,
    ) -> FoldersChanged:
        """Add, remove or replace replicas of a folder and all its subfolders; folder 1-1: of all folders.

        add, remove: stores.
        replace, by: a store, and the one that takes its place.
        """
        answer: FoldersChanged = self._change(
            "POST",
            node,
            "/replicas",
            {"folder": folder, "add": add, "remove": remove, "replace": replace, "by": by},
            key,
        )
        return answer

    def propagate(self, node: str, folder: str, properties: Sequence[str], *, key: str | None = None) -> FoldersChanged:
        """Give all subfolders of a folder its values of some properties: replicas, schedule, contacts, priority, age_limit,
        warning_limit, post_limit, item_limit, resolve.
        """
        answer: FoldersChanged = self._change(
            "POST", node, "/propagate", {"folder": folder, "properties": properties}, key
        )
        return answer

    def change_queue(
        self,
        node: str,
        order: Literal["freeze", "unfreeze", "delete", "return"],
        *,
        next_hop: str | None = None,
        mails: Sequence[int] | None = None,
        key: str | None = None,
    ) -> QueueChanged:
        """Freeze, unfreeze, delete or return mails that wait to be sent. A frozen mail is neither tried nor expires. A mail
        that is returned goes back to its sender with a notice, and one that is deleted does not.

        next_hop: a server, for all mails that it would get next; its queue itself is frozen too.
        mails: ids of mails in the queue, in place of `next_hop`.
        """
        answer: QueueChanged = self._change(
            "POST", node, "/queue", {"order": order, "next_hop": next_hop, "mails": mails}, key
        )
        return answer

    def synchronize(self, node: str, folder: str, *, key: str | None = None) -> StatusRequested:
        """Request the status of a folder now: Synchronize Hierarchy (folder 1-1) or Synchronize Content."""
        answer: StatusRequested = self._change("POST", node, "/synchronize", {"folder": folder}, key)
        return answer
