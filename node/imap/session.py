"""Log-in and sessions. Users log in with a name of their choice and the token, by LOGIN or SASL PLAIN.

The name says whose flags are read and set. The token is the same for all users, as over HTTP (`node.api.access.tokens`).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Final, NoReturn

from pymap.backend.mailbox import MailboxDataInterface
from pymap.backend.session import BaseSession
from pymap.config import IMAPConfig
from pymap.context import socket_info
from pymap.exceptions import AuthorizationFailure, InvalidAuth, MailboxReadOnly, NotSupportedError
from pymap.flags import FlagOp
from pymap.imap.state import ConnectionState
from pymap.interfaces.login import IdentityInterface, LoginInterface
from pymap.interfaces.token import TokensInterface
from pymap.parsing.command.select import CloseCommand, SearchCommand
from pymap.parsing.response import CommandResponse, ResponseCode, ResponseNo, ResponseOk
from pymap.parsing.response.code import CopyUid
from pymap.parsing.specials import Flag, SequenceSet
from pymap.parsing.specials.flag import Seen
from pymap.selected import SelectedMailbox
from pymap.token import AllTokens
from pymap.user import UserMetadata
from pysasl.creds.server import ServerCredentials
from pysasl.identity import Identity

from node.api.access.tokens import Tokens, TooManyTokens
from node.imap.mailboxes import Mailbox, MailboxSet, Reader
from node.imap.messages import Message

if TYPE_CHECKING:
    from node.api.hosts import ServedHost

MAX_NAME: Final = 64
"""The largest number of characters of a user's name."""


class Session(BaseSession[Message]):
    """The commands of one connection after log-in."""

    def __init__(self, reader: Reader, config: IMAPConfig) -> None:
        super().__init__(reader.user)
        self._config = config
        self._mailboxes = MailboxSet(reader)

    @property
    def config(self) -> IMAPConfig:
        return self._config

    @property
    def mailbox_set(self) -> MailboxSet:
        return self._mailboxes

    @classmethod
    def _pick_selected(cls, selected: SelectedMailbox | None, mbx: MailboxDataInterface[Message]) -> None:
        """Return no session in which a new message is recent; see `node.imap.mailboxes.Mailbox.selected_set`."""

    # pymap would change the flags of each message by itself, and ask for the UID of each copy. In a large folder that takes
    # quadratic time.

    async def copy_messages(
        self, selected: SelectedMailbox, sequence_set: SequenceSet, mailbox: str
    ) -> tuple[CopyUid | None, SelectedMailbox]:
        return await self._copy(selected, sequence_set, mailbox, moves=False)

    async def move_messages(
        self, selected: SelectedMailbox, sequence_set: SequenceSet, mailbox: str
    ) -> tuple[CopyUid | None, SelectedMailbox]:
        if selected.readonly:
            raise MailboxReadOnly
        return await self._copy(selected, sequence_set, mailbox, moves=True)

    async def _copy(
        self, selected: SelectedMailbox, sequence_set: SequenceSet, name: str, *, moves: bool
    ) -> tuple[CopyUid | None, SelectedMailbox]:
        source, destination = await self._mailbox(selected.lookup), await self._mailbox(name)
        selection = [uid for _, uid in selected.messages.get_uids(sequence_set)]
        copied = await source.copy_all(selection, destination, moves=moves)
        uids = CopyUid(destination.uid_validity, copied) if copied else None
        return uids, await source.update_selected(selected)

    # pymap merges all answers for one number into one, also if an EXPUNGE between them has moved the numbers. So the answers to
    # FETCH and STORE have no EXPUNGE, also with UID; the next other command has it.

    async def fetch_messages(
        self, selected: SelectedMailbox, sequence_set: SequenceSet, set_seen: bool
    ) -> tuple[Iterable[tuple[int, Message]], SelectedMailbox]:
        selected.hide_expunged = True
        if set_seen:
            await self._flag(selected, sequence_set, frozenset({Seen}), FlagOp.ADD)
        return await super().fetch_messages(selected, sequence_set, False)

    async def update_flags(
        self,
        selected: SelectedMailbox,
        sequence_set: SequenceSet,
        flag_set: frozenset[Flag],
        mode: FlagOp = FlagOp.REPLACE,
    ) -> tuple[Iterable[tuple[int, Message]], SelectedMailbox]:
        if selected.readonly:
            raise MailboxReadOnly
        selected.hide_expunged = True
        mailbox = await self._flag(selected, sequence_set, selected.permanent_flags & flag_set, mode)
        messages = [
            (place, await mailbox.get(message.uid, message))
            for place, message in selected.messages.get_all(sequence_set)
        ]
        return messages, await mailbox.update_selected(selected)

    async def _flag(
        self, selected: SelectedMailbox, sequence_set: SequenceSet, flags: frozenset[Flag], mode: FlagOp
    ) -> Mailbox:
        mailbox = await self._mailbox(selected.lookup)
        mailbox.flag([uid for _, uid in selected.messages.get_uids(sequence_set)], flags, mode)
        return mailbox

    async def _mailbox(self, name: str) -> Mailbox:
        mailbox = await self._get_mailbox(name)
        assert isinstance(mailbox, Mailbox)
        return mailbox


class State(ConnectionState):
    """A connection's state. It answers two commands differently from pymap."""

    async def do_close(self, cmd: CloseCommand) -> tuple[CommandResponse, None]:
        """Leave a mailbox that was opened by EXAMINE without deleting anything (RFC 3501, 6.4.2)."""
        if not self.selected.readonly:
            await self.session.expunge_mailbox(self.selected)
        self._selected = None
        return ResponseOk(cmd.tag, cmd.command + b" completed."), None

    async def do_search(self, cmd: SearchCommand) -> tuple[CommandResponse, SelectedMailbox | None]:
        """Refuse names of header fields that are not ASCII, which pymap encodes only now."""
        try:
            return await super().do_search(cmd)
        except UnicodeError:
            return ResponseNo(cmd.tag, b"the names of header fields are ASCII", ResponseCode.of(b"CANNOT")), None


class User(IdentityInterface):
    """A user who has logged in. Users are not stored, so the other operations of pymap's users are refused."""

    def __init__(self, name: str, host: ServedHost, config: IMAPConfig) -> None:
        self._name = name
        self._host = host
        self._config = config

    @property
    def name(self) -> str:
        return self._name

    @property
    def roles(self) -> frozenset[str]:
        return frozenset()

    @asynccontextmanager
    async def new_session(self) -> AsyncIterator[Session]:
        yield Session(Reader(self._host, self._name), self._config)

    async def new_token(self, *, expiration: datetime | None = None) -> str | None:
        return None

    async def get(self) -> NoReturn:
        raise NotSupportedError

    async def set(self, metadata: UserMetadata) -> NoReturn:
        raise NotSupportedError

    async def delete(self) -> NoReturn:
        raise NotSupportedError


class _Anybody(Identity):
    """The user whom a client names, for pysasl: the secret is the token."""

    def __init__(self, name: str, tokens: Tokens) -> None:
        self._name = name
        self._tokens = tokens

    @property
    def authcid(self) -> str:
        return self._name

    def compare_authcid(self, authcid: str) -> bool:
        return authcid == self._name

    def compare_secret(self, value: str) -> bool:
        # A password that is not UTF-8 has surrogates, which are not printable.
        return value.isprintable() and self._tokens.right_of(value, str(socket_info.get().peername_ip)) is not None

    def get_clear_secret(self) -> None:
        return None


class Login(LoginInterface):
    """Checks names and tokens."""

    def __init__(self, host: ServedHost, tokens: Tokens, config: IMAPConfig) -> None:
        self._host = host
        self._known = tokens
        self._config = config

    @property
    def tokens(self) -> TokensInterface:
        return AllTokens(self._config)

    async def authenticate(self, credentials: ServerCredentials) -> User:
        name = credentials.authcid
        if not (name.isprintable() and 0 < len(name) <= MAX_NAME):
            raise InvalidAuth(f"a user's name has 1 to {MAX_NAME} printable characters")
        try:
            right = credentials.verify(_Anybody(name, self._known))
        except TooManyTokens as error:
            raise InvalidAuth(str(error)) from None
        if not right:
            raise InvalidAuth("the password is the token that pflab up has printed")
        return User(name, self._host, self._config)

    async def authorize(self, authenticated: IdentityInterface, authzid: str) -> IdentityInterface:
        if authzid != authenticated.name:
            raise AuthorizationFailure
        return authenticated
