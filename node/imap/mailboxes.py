"""Folders as mailboxes: `#public/Projects` is the folder Projects. pymap calls this module for every command on a mailbox.

Only folders with a replica on this store are mailboxes. Every change is a stimulus of the store, the same as over HTTP: APPEND
and COPY post a mail, EXPUNGE deletes messages, and both replicate. UIDs and flags are the store's own (`node.store.mailboxes`).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterable, Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, TypeVar

from pymap.backend.mailbox import MailboxDataInterface, MailboxSetInterface
from pymap.concurrent import Event
from pymap.exceptions import NotSupportedError, ResponseError
from pymap.flags import FlagOp
from pymap.interfaces.message import CachedMessage
from pymap.listtree import ListEntry, ListTree
from pymap.mailbox import MailboxSnapshot
from pymap.parsing.message import AppendMessage
from pymap.parsing.response import ResponseCode, ResponseNo
from pymap.parsing.specials import Flag, ObjectId
from pymap.parsing.specials.flag import Seen
from pymap.selected import SelectedMailbox, SelectedSet

from node.errors import CannotWrite, NodeError, OverLimit
from node.imap.messages import FLAGS, Message, bits_of
from node.imap.names import wildcard_pattern

if TYPE_CHECKING:
    from node.api.hosts import ServedHost
    from node.store.node import Node
    from node.views import FolderView, MailboxView, NumberedMessage
    from traces.labtime import LabTime

T = TypeVar("T")

NAMESPACE: Final = "#public"
"""The mailbox above all folders. It has no messages. There is no INBOX: users have no mailboxes here (RFC 9051, 5.1)."""

DELIMITER: Final = "/"

PUSH_S: Final = 0.25
"""Real time between two looks for changes while a client waits with IDLE."""

LOOKING_SHARE: Final = 50
"""The divisor of the time that one such client may cost: after a look that took 10 ms, it waits 500 ms."""

FOR_ADMINISTRATORS: Final = "only administrators make, rename and delete folders; use pflab or the HTTP API"

_CODES: Final = {OverLimit: b"OVERQUOTA", CannotWrite: b"UNAVAILABLE"}


class Refused(ResponseError):
    """The store refuses a command. The client gets NO and the text of the store's error."""

    def __init__(self, error: NodeError) -> None:
        super().__init__(str(error))
        self._code = ResponseCode.of(_CODES.get(type(error), b"CANNOT"))

    def get_response(self, tag: bytes) -> ResponseNo:
        return ResponseNo(tag, " ".join(str(self).split()).encode("ascii", "replace"), self._code)


class Reader:
    """The store as one user sees it. Commands are frequent and stimuli are rare, so the last mailbox is kept until the store
    changes."""

    def __init__(self, host: ServedHost, user: str) -> None:
        self.host = host
        self.user = user
        self._looked: tuple[str, int] = ("", -1)
        self._view: MailboxView
        self._messages: dict[int, Message]

    def read(self, fn: Callable[[Node], T]) -> T:
        try:
            return self.host.read(fn)
        except NodeError as error:
            raise Refused(error) from error

    def do(self, fn: Callable[[Node, LabTime], T]) -> T:
        try:
            return self.host.do(fn)
        except NodeError as error:
            raise Refused(error) from error

    def folders(self) -> dict[str, FolderView]:
        """Return the folders with a replica here, by the names of their mailboxes."""
        views = self.read(lambda node: node.folders())
        return {
            f"{NAMESPACE}{DELIMITER}{folder.path}": folder for folder in views if folder.held_here and not folder.hidden
        }

    def look(self, path: str) -> tuple[MailboxView, dict[int, Message]]:
        """Return a folder as it is now, and its messages by UID. Messages that are new get their UIDs."""
        if self._looked != (path, self.host.activity):
            view = self.read(lambda node: node.numbered(path, self.user))
            if not view.complete:
                view = self.do(lambda node, now: self._numbered(node, now, path))
            self._view = view
            self._messages = {message.uid: Message(self.host, path, message) for message in view.messages}
            self._looked = (path, self.host.activity)
        return self._view, self._messages

    def post(self, path: str, content: bytes) -> str:
        """Post a mail and return its id."""
        return self.do(lambda node, now: node.post_mail(now, path, content)).id

    def flag(self, path: str, flags: Mapping[int, frozenset[Flag]]) -> None:
        """Set the user's flags on messages, given by their UIDs, in one stimulus."""
        bits = {uid: bits_of(message_flags) for uid, message_flags in flags.items()}
        if bits:
            self.do(lambda node, now: node.flag_messages(now, path, self.user, bits))

    def delete(self, path: str, view: NumberedMessage) -> None:
        """Delete a message, unless another version of it is shown by now."""

        def act(node: Node, now: LabTime) -> None:
            change = node.shown_change(view.id)
            if change == view.change:
                node.delete(now, path, view.id)

        self.do(act)

    def _numbered(self, node: Node, now: LabTime, path: str) -> MailboxView:
        node.number_messages(now, path, int(time.time()))
        return node.numbered(path, self.user)


class Mailbox(MailboxDataInterface[Message]):
    """A folder as one user sees it."""

    def __init__(self, reader: Reader, folder: FolderView) -> None:
        self._reader = reader
        self._path = folder.path
        self._id = folder.id

    # --- what it is

    @property
    def mailbox_id(self) -> ObjectId:
        return ObjectId(b"F" + self._id.replace(":", "-").encode())

    @property
    def readonly(self) -> bool:
        return False

    @property
    def uid_validity(self) -> int:
        return self._reader.look(self._path)[0].validity

    @property
    def permanent_flags(self) -> frozenset[Flag]:
        return FLAGS

    @property
    def session_flags(self) -> frozenset[Flag]:
        return frozenset()

    @property
    def selected_set(self) -> SelectedSet:
        return SelectedSet()  # only \Recent needs the other sessions, and no message is recent here (RFC 9051)

    async def snapshot(self) -> MailboxSnapshot:
        view, messages = self._reader.look(self._path)
        unseen = [place for place, message in enumerate(messages.values(), 1) if Seen not in message.permanent_flags]
        return MailboxSnapshot(
            self.mailbox_id,
            self.readonly,
            view.validity,
            self.permanent_flags,
            self.session_flags,
            exists=len(messages),
            recent=0,
            unseen=len(unseen),
            first_unseen=next(iter(unseen), None),
            next_uid=view.next_uid,
        )

    # --- what is in it

    async def update_selected(self, selected: SelectedMailbox, *, wait_on: Event | None = None) -> SelectedMailbox:
        """Send a session the present content of the mailbox.

        wait_on: until this event, wait for a change first.
        """
        while wait_on is not None and not wait_on.is_set():
            began_s = time.monotonic()
            if self._reader.look(self._path)[0].messages != selected.mod_sequence:
                break
            await wait_on.wait(timeout=max(PUSH_S, LOOKING_SHARE * (time.monotonic() - began_s)))
        view, messages = self._reader.look(self._path)
        selected.mod_sequence = view.messages
        selected.set_messages(list(messages.values()))
        return selected

    async def messages(self) -> AsyncIterable[Message]:
        for message in self._reader.look(self._path)[1].values():
            yield message

    async def get(self, uid: int, cached_msg: CachedMessage) -> Message:
        """Return a message. If it is gone, return the session's knowledge of it, marked as expunged."""
        message = self._reader.look(self._path)[1].get(uid)
        if message is not None:
            return message
        assert isinstance(cached_msg, Message)
        return Message(self._reader.host, self._path, cached_msg.view, expunged=True)

    # --- changes

    async def append(self, append_msg: AppendMessage, *, recent: bool = False) -> Message:
        post = self._reader.post(self._path, append_msg.literal)
        return self._added({post: append_msg.flag_set})[post]

    def _added(self, flags: Mapping[str, frozenset[Flag]]) -> dict[str, Message]:
        """Set flags on messages that were posted just now, and return them, all by their ids. Those that somebody has deleted
        meanwhile are left out."""
        uids = {
            message.view.id: uid
            for uid, message in self._reader.look(self._path)[1].items()
            if message.view.id in flags
        }
        self._reader.flag(self._path, {uid: flags[post] for post, uid in uids.items() if flags[post] & FLAGS})
        messages = self._reader.look(self._path)[1]
        return {post: messages[uid] for post, uid in uids.items()}

    async def copy_all(
        self, uids: Iterable[int], destination: Mailbox, *, moves: bool = False
    ) -> list[tuple[int, int]]:
        """Copy or move messages; return the UID of each, and that of its copy. All copies get their UIDs at once. Other clients
        work between two messages, and may delete or move some. So a message is deleted together with its copying."""
        messages = self._reader.look(self._path)[1]
        copied: dict[str, int] = {}
        for uid in uids:
            content = messages[uid].mail() if uid in messages else None
            if content is not None:
                copied[self._reader.post(destination._path, content)] = uid
                if moves:
                    self._reader.delete(self._path, messages[uid].view)
            await asyncio.sleep(0)
        copies = destination._added({post: messages[uid].permanent_flags for post, uid in copied.items()})
        return [(uid, copies[post].uid) for post, uid in copied.items() if post in copies]

    async def copy(self, uid: int, destination: Mailbox, *, recent: bool = False) -> int | None:
        return next((copy for _, copy in await self.copy_all([uid], destination)), None)

    async def move(self, uid: int, destination: Mailbox, *, recent: bool = False) -> int | None:
        return next((copy for _, copy in await self.copy_all([uid], destination, moves=True)), None)

    async def update(self, uid: int, cached_msg: CachedMessage, flag_set: frozenset[Flag], mode: FlagOp) -> Message:
        self.flag([uid], flag_set, mode)
        return await self.get(uid, cached_msg)

    def flag(self, uids: Sequence[int], flags: frozenset[Flag], mode: FlagOp) -> None:
        """Change the user's flags on messages, in one stimulus."""
        messages = self._reader.look(self._path)[1]
        before = {uid: messages[uid].permanent_flags for uid in uids if uid in messages}
        after = {uid: mode.apply(old_flags, flags) for uid, old_flags in before.items()}
        self._reader.flag(self._path, {uid: new_flags for uid, new_flags in after.items() if new_flags != before[uid]})

    async def delete(self, uids: Iterable[int]) -> None:
        messages = self._reader.look(self._path)[1]
        for uid in uids:
            if uid in messages:
                self._reader.delete(self._path, messages[uid].view)
                await asyncio.sleep(0)

    async def claim_recent(self, selected: SelectedMailbox) -> None:
        pass

    async def cleanup(self) -> None:
        pass


class Names(ListTree):
    """The names of all mailboxes. pymap's own patterns need exponential time for a few wildcards."""

    def list_matching(self, ref_name: str, filter_: str) -> Iterable[ListEntry]:
        pattern = wildcard_pattern(ref_name + filter_, DELIMITER)
        return (mailbox for mailbox in self.list() if pattern.fullmatch(mailbox.name))


class MailboxSet(MailboxSetInterface[Mailbox]):
    """All mailboxes. Every user is subscribed to all of them."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    @property
    def delimiter(self) -> str:
        return DELIMITER

    async def list_mailboxes(self) -> ListTree:
        return Names(DELIMITER).update(*self._reader.folders())

    async def list_subscribed(self) -> ListTree:
        return await self.list_mailboxes()

    async def set_subscribed(self, name: str, subscribed: bool) -> None:
        if not subscribed:
            raise NotSupportedError("everybody is subscribed to all folders")

    async def get_mailbox(self, name: str) -> Mailbox:
        return Mailbox(self._reader, self._reader.folders()[name])

    async def add_mailbox(self, name: str) -> ObjectId:
        raise NotSupportedError(FOR_ADMINISTRATORS)

    async def delete_mailbox(self, name: str) -> None:
        raise NotSupportedError(FOR_ADMINISTRATORS)

    async def rename_mailbox(self, before: str, after: str) -> None:
        raise NotSupportedError(FOR_ADMINISTRATORS)
