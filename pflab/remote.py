"""A node in another process, seen from the lab: `RemoteNode` has the face of `node.core.Node` for those who use and read
one, `RemoteHost` the face that a coordinator leads (`pflab.coordinator.Timed`).

A `RemoteNode` blocks while it asks; the node never needs an answer of ours to answer. A `RemoteHost` remembers what its
node said last, and asks again when it is told to look.
"""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final, TypeVar

import msgspec

from node import errors
from node.asks import Address, HttpLine, Unanswered
from node.errors import NodeError, NotRunning
from node.views import (
    BadMailView,
    EntryView,
    FolderView,
    Knowledge,
    LogView,
    MessageView,
    NoticeView,
    Post,
    QueueView,
    StateView,
)
from pflab.client import Client, ClientError, quoted
from traces.labtime import LabTime, parse_instant

T = TypeVar("T")

STEP_S: Final = 2.0
"""A node that is silent for so long counts as stopped until it answers (real time)."""

LOST_S: Final = 8.0
"""One that is there and has said nothing for so long is not waited for in the midst of a mail any more (real time)."""

MOST_LISTED: Final = 10_000
"""Messages that a node lists at once."""

PROBE_S: Final = 0.5
"""How often, in real seconds, a silent node is asked whether it is back."""

_ERRORS: Final[Mapping[str, type[NodeError]]] = {
    name: kind for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, NodeError)
}


class RemoteNode:
    """The methods of a node that users and readers call. The `now` of a change is the node's own."""

    def __init__(self, name: str, client: Client) -> None:
        self.name = name
        self._client = client
        self._base = f"/nodes/{quoted(name)}"
        self._kept: dict[str, Any] | None = None

    def keep_reads(self, keep: bool) -> None:
        """While nothing changes at the node, what was read once need not be asked again."""
        self._kept = ({} if self._kept is None else self._kept) if keep else None

    def forget_reads(self) -> None:
        if self._kept is not None:
            self._kept = {}

    # -- users

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
    ) -> str:
        del now
        message = _message(Post(subject, body, sender, tuple(attachments)))
        made = self._change("POST", "/messages", {"folder": folder, "associated": associated, **message})
        return str(made["id"])

    def post_batch(self, now: LabTime, folder: str, posts: Sequence[Post]) -> list[str]:
        del now
        made = self._change(
            "POST", "/messages/batch", {"folder": folder, "messages": [_message(each) for each in posts]}
        )
        return list(made["ids"])

    def post_mail(self, now: LabTime, folder: str, content: bytes) -> str:
        del now
        self.forget_reads()
        path = f"{self._base}/messages/mail?folder={quoted(folder)}"
        try:
            return str(self._client.surely("POST", path, content)["id"])
        except ClientError as error:
            raise _as_node_error(error) from None

    def edit(
        self, now: LabTime, folder: str, message: str, *, subject: str | None = None, body: str | None = None
    ) -> str:
        del now
        path = f"/messages/{quoted(message)}?folder={quoted(folder)}"
        return str(self._change("PATCH", path, {"subject": subject, "body": body})["change"])

    def delete(self, now: LabTime, folder: str, message: str) -> str:
        del now
        return str(self._change("DELETE", f"/messages/{quoted(message)}?folder={quoted(folder)}")["change"])

    def resolve(self, now: LabTime, folder: str, message: str, keep: str) -> list[str]:
        del now
        path = f"/messages/{quoted(message)}/resolve?folder={quoted(folder)}"
        return list(self._change("POST", path, {"keep": keep})["changes"])

    def create_folder(self, now: LabTime, path: str, **given: Any) -> str:
        del now
        return str(self._change("POST", "/folders", {"path": path, **_listed(given)})["id"])

    def change_folder(self, now: LabTime, path: str, **given: Any) -> str:
        del now
        return str(self._change("PATCH", f"/folders/{quoted(path)}", _listed(given))["change"])

    def delete_folder(self, now: LabTime, path: str) -> None:
        del now
        self._change("DELETE", f"/folders/{quoted(path)}")

    def configure(self, now: LabTime, values: Mapping[str, Any]) -> None:
        del now
        self._change("PATCH", "/settings", dict(values))

    def join(self, now: LabTime, store: str) -> None:
        del now
        self._tell("/directory", {"store": store})

    def delete_store(self, now: LabTime, store: str, *, force: bool = False) -> None:
        del now
        self._tell("/directory/deleted", {"store": store, "force": force})

    def left(self, now: LabTime, store: str) -> None:
        del now
        self._tell("/directory/left", {"store": store})

    # -- reads

    def folders(self) -> list[FolderView]:
        return self._views("/folders", FolderView)

    def messages(self, folder: str) -> list[MessageView]:
        found: list[MessageView] = []
        while True:
            after = f"&after={quoted(found[-1].id)}" if found else ""
            more = self._views(f"/messages?folder={quoted(folder)}{after}", MessageView)
            found += more
            if len(more) < MOST_LISTED:
                return found

    def count(self, folder: str) -> int:
        return int(self._read(f"/messages/count?folder={quoted(folder)}")["count"])

    def body(self, folder: str, message: str) -> str:
        return self._bytes(f"/messages/{quoted(message)}/body?folder={quoted(folder)}").decode("utf-8")

    def state(self, folder: str) -> StateView:
        return _view(self._read(f"/state?folder={quoted(folder)}"), StateView)

    def backfill(self) -> list[EntryView]:
        return self._views("/backfill", EntryView)

    def queue(self) -> list[QueueView]:
        return self._views("/queue", QueueView)

    def bad_mail(self) -> list[BadMailView]:
        return self._views("/bad-mail", BadMailView)

    def mailbox(self) -> list[NoticeView]:
        return self._views("/mailbox", NoticeView)

    def mail(self, folder: str, message: str) -> bytes:
        return self._bytes(f"/messages/{quoted(message)}/mail?folder={quoted(folder)}")

    def mailbox_mail(self, notice: int) -> bytes:
        return self._bytes(f"/mailbox/{notice}")

    def event_log(self, *, after: int = 0, limit: int = 200, event: int | None = None) -> list[LogView]:
        only = "" if event is None else f"&event={event}"
        return self._views(f"/log?after={after}&limit={limit}{only}", LogView)

    def knowledge(self, folder: str) -> Knowledge:
        return _view(self._read(f"/knowledge?folder={quoted(folder)}"), Knowledge)

    def next_due(self) -> LabTime | None:
        """When the node has something to do; None if never."""
        line = self._client.text("GET", f"{self._base}/idle?at=0").partition("\n")[0]
        due: LabTime | None = msgspec.json.decode(line)["due"]
        return due

    def backup(self) -> bytes:
        return self._bytes("/backup")

    def close(self) -> None:
        """Hang up."""
        self._client.close()

    # -- asking

    def _read(self, path: str) -> Any:
        if self._kept is None:
            return self._asked(path)
        if path not in self._kept and path.startswith("/knowledge?"):
            self._read_all(self._kept)
        if path not in self._kept:
            self._kept[path] = self._asked(path)
        return self._kept[path]

    def _read_all(self, kept: dict[str, Any]) -> None:
        """Whoever judges a lab reads all that a node knows: in one question."""
        found = self._asked("/reading")
        kept["/folders"], kept["/backfill"] = found["folders"], found["backfill"]
        for what, path in (("knowledge", "knowledge"), ("states", "state")):
            kept.update({f"/{path}?folder={quoted(folder)}": each for folder, each in found[what].items()})

    def _asked(self, path: str) -> Any:
        try:
            return self._client.json("GET", self._base + path)
        except ClientError as error:
            raise _as_node_error(error) from None

    def _bytes(self, path: str) -> bytes:
        try:
            return self._client.content("GET", self._base + path)
        except ClientError as error:
            raise _as_node_error(error) from None

    def _views(self, path: str, kind: type[T]) -> list[T]:
        return [_view(each, kind) for each in self._read(path)]

    def _tell(self, path: str, body: Mapping[str, Any]) -> None:
        """Something that this node's coordinator alone says. It is said once, so a connection that may have died while days
        went by in the lab is not trusted with it."""
        self.forget_reads()
        self._client.close()
        try:
            self._client.text("POST", self._base + path, body)
        except ClientError as error:
            raise _as_node_error(error) from None

    def _change(self, method: str, path: str, body: Any = None) -> Any:
        # A connection may have died unnoticed: each change has a key of its own and is asked for again.
        self.forget_reads()
        try:
            return self._client.surely(method, self._base + path, body)
        except ClientError as error:
            raise _as_node_error(error) from None


def _as_node_error(error: ClientError) -> NodeError:
    """The error that the node raised, by the name of its class; NotRunning if it did not answer."""
    if error.status == 0:
        return NotRunning(str(error))
    return _ERRORS.get(error.kind, errors.Misuse)(error.detail)


def _message(post: Post) -> dict[str, Any]:
    files = [{"name": name, "content": b64encode(content).decode("ascii")} for name, content in post.attachments]
    return {"subject": post.subject, "body": post.body, "sender": post.sender, "attachments": files}


def _listed(given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in given.items()}


def _view(value: Any, kind: type[T]) -> T:
    return msgspec.convert(_instants(value), kind)


def _instants(value: Any) -> Any:
    """Instants as numbers again (node.api_values.plain)."""
    if isinstance(value, list):
        return [_instants(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        name: parse_instant(each) if name.endswith("_at") and isinstance(each, str) else _instants(each)
        for name, each in value.items()
    }


class _Status(msgspec.Struct):
    """What a node's process says of itself."""

    now: LabTime
    rate: float
    activity: int
    failure: str | None
    busy: str
    due: LabTime | None
    seq: int


class RemoteFailure(NodeError):
    """A node that failed in its process, in its words."""


class RemoteHost:
    """One node's process as the coordinator leads it.

    events: given lines of events, some of which may be known; answers with the number of the last one known.
    `silent` since it did not answer; until it does it takes no part.
    """

    def __init__(
        self, name: str, address: Address, *, token: str | None, seq: int, events: Callable[[str, list[bytes]], int]
    ) -> None:
        self.name = name
        self.address = address
        self.silent = False
        self.seq = seq
        self.changed = True
        self._line = HttpLine(address, token)
        self._base = f"/nodes/{quoted(name)}"
        self._events = events
        self._status = _Status(0, 0.0, 0, None, "it has not been asked yet", None, 0)
        self._lost_s = 0.0
        self._probed_s = 0.0
        self._probe: asyncio.Future[bool] | None = None

    @property
    def activity(self) -> int:
        return self._status.activity

    @property
    def failure(self) -> Exception | None:
        return None if self._status.failure is None else RemoteFailure(self._status.failure)

    @property
    def lost(self) -> bool:
        """Whether nobody need wait for it in the midst of a mail: its process is gone, or has been silent for long."""
        return self.silent and asyncio.get_running_loop().time() >= self._lost_s

    def next_due(self) -> LabTime | None:
        return self._status.due

    def busy(self, at: LabTime) -> str:
        """As of the last look, but for rows whose time has come since."""
        due = self._status.due
        if not self._status.busy and due is not None and due <= at:
            return "a row is due"
        return self._status.busy

    async def look(self, at: LabTime, wait_s: float = 0.0) -> None:
        """Ask how it stands at `at` and what has happened. A busy node answers after `wait_s` at the latest."""
        await self._said(f"/idle?at={at}&after={self.seq}&wait_s={wait_s}", "GET", b"", STEP_S + wait_s)

    async def hold(self) -> LabTime:
        # A clock that stands shows what it showed; setting it holds the node first.
        if self._status.rate or not self._status.now:
            await self._said("/clock/hold")
        return 0 if self.silent else self._status.now

    async def set_clock(self, at: LabTime, rate: float) -> None:
        await self._said("/clock/set", "POST", msgspec.json.encode({"at": at, "rate": rate}))

    async def go(self) -> None:
        await self._said("/clock/go")

    async def meet(self, peers: Mapping[str, Any]) -> None:
        """Where the others are, and whether to ask about faults."""
        await self._said("/peers", "PUT", msgspec.json.encode(peers))

    async def back(self) -> bool:
        """Whether a silent node answers again; asked at most every PROBE_S, and its answer is waited for by nobody."""
        now_s = asyncio.get_running_loop().time()
        if self._probe is None:
            if now_s - self._probed_s >= PROBE_S:
                self._probed_s = now_s
                self._probe = asyncio.ensure_future(self._answers())
            return False
        if not self._probe.done():
            return False
        probe, self._probe = self._probe, None
        if probe.result():
            self.silent = False
            await self.look(0)
        return not self.silent

    async def _answers(self) -> bool:
        try:
            status, _ = await self._line.ask("GET", f"{self._base}/idle?at=0", timeout_s=STEP_S)
        except Unanswered:
            return False
        return status == HTTPStatus.OK

    def close(self) -> None:
        if self._probe is not None:
            self._probe.cancel()
        self._line.close()

    async def _said(self, path: str, method: str = "POST", body: bytes = b"", timeout_s: float = STEP_S) -> None:
        if self.silent:
            return
        lost_after_s = 0.0
        try:
            status, answer = await self._line.ask(method, self._base + path, body, timeout_s=timeout_s)
        except Unanswered as error:
            status, answer = HTTPStatus.SERVICE_UNAVAILABLE, b""
            if isinstance(error.__cause__, TimeoutError):  # somebody is there, and may be long at one thing
                lost_after_s = LOST_S - timeout_s
        if status == HTTPStatus.SERVICE_UNAVAILABLE:  # nobody is there, or a process whose store does not run
            self.silent = True
            self._lost_s = asyncio.get_running_loop().time() + lost_after_s
            self._status.busy, self._status.due = "", None
            return
        if status != HTTPStatus.OK:
            raise NodeError(f"server {self.name}: {answer.decode('utf-8', 'replace').strip()}")
        first, *lines = answer.splitlines()
        before = self._status
        self._status = msgspec.json.decode(first, type=_Status)
        self.changed = self.changed or before.activity != self._status.activity
        if lines:
            self.seq = self._events(self.name, lines)
