"""A node in another process, with the methods of a `node.store.node.Node` that users and readers call.

Its methods block until the node answers. This cannot deadlock: a node answers without asking the lab anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec

from node import errors
from node.api.read_paths import MOST_LISTED, READS, HttpRead
from node.errors import InternalError, NodeError, NotRunning
from node.views import (
    Configured,
    Made,
    MessageView,
    Post,
)
from pflab.client import Client, ClientError, quoted
from pflab.client.requests import sent
from pflab.lab.remote_changes import RemoteChanges
from traces.labtime import LabTime, parse_instant

if TYPE_CHECKING:
    from node.state.directory import StoreObject
    from topology.model import Topology
    from topology.settings.values import RawSetting

T = TypeVar("T")

_ERRORS: Final[Mapping[str, type[NodeError]]] = {
    name: kind for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, NodeError)
}


class RemoteNode(RemoteChanges):
    """A node over HTTP. Its reads are made from the table `node.api.read_paths` at the end of this module."""

    def __init__(self, name: str, client: Client) -> None:
        self.name = name
        self._client = client
        self._base = f"/nodes/{quoted(name)}"
        self._cache: dict[str, Any] | None = None

    def keep_reads(self, keep: bool) -> None:
        """Start or stop caching answers. The caller turns this on only while nothing changes at the node."""
        self._cache = ({} if self._cache is None else self._cache) if keep else None

    def forget_reads(self) -> None:
        """Empty the cache."""
        if self._cache is not None:
            self._cache = {}

    # -- users

    def post_mail(self, now: LabTime, folder: str, content: bytes) -> Made:
        del now
        return self._change(Made, "POST", f"/messages/mail?folder={quoted(folder)}", content)

    def configure(self, now: LabTime, values: Mapping[str, RawSetting]) -> Configured:
        del now
        return self._change(Configured, "PATCH", "/settings", dict(values))

    def hop_released(self, now: LabTime, queue_id: int) -> None:
        del now
        self._send_once("/queue/released", {"row": queue_id})

    def enter(self, now: LabTime, store: str, object_: StoreObject, missing: str) -> None:
        del now
        fields = asdict(object_) | {"stamps": [stamp._asdict() for stamp in object_.stamps]}
        self._send_once("/directory", {"store": store, "missing": missing, **fields})

    def reorganize(self, now: LabTime, topology: Topology) -> None:
        del now
        self._send_once("/organization", {"topology": topology.as_json()})

    def delete_store(self, now: LabTime, store: str, *, force: bool = False) -> None:
        del now
        self._send_once("/directory/deleted", {"store": store, "force": force})

    def left(self, now: LabTime, store: str) -> None:
        del now
        self._send_once("/directory/left", {"store": store})

    # -- reads

    def messages(self, folder: str, after: str = "") -> list[MessageView]:
        views: list[MessageView] = []
        while True:
            more = _view(self._read(f"/messages?folder={quoted(folder)}&after={quoted(after)}"), list[MessageView])
            views += more
            after = views[-1].id if views else after
            if len(more) < MOST_LISTED:
                return views

    def count(self, folder: str) -> int:
        return int(self._read(f"/messages/count?folder={quoted(folder)}")["count"])

    def next_due(self) -> LabTime | None:
        """Return when the next timer or mail is due; None if there is none."""
        line = self._client.text("GET", f"{self._base}/idle?at=0").partition("\n")[0]
        due: LabTime | None = msgspec.json.decode(line)["due"]
        return due

    def backup(self) -> bytes:
        return self._bytes("/backup")

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    # -- asking

    def _answer(self, read: HttpRead, target: str) -> object:
        if read.kind in (bytes, str):
            content = self._bytes(target)
            return content if read.kind is bytes else content.decode("utf-8")
        return _view(self._read(target), read.kind)

    def _read(self, path: str) -> Any:
        if self._cache is None:
            return self._get(path)
        if path not in self._cache and path.startswith("/knowledge?"):
            self._read_all(self._cache)
        if path not in self._cache:
            self._cache[path] = self._get(path)
        return self._cache[path]

    def _read_all(self, cache: dict[str, Any]) -> None:
        """Fetch all that the node knows with one request and cache it. The oracle and the invariants read all of it."""
        reading = self._get("/reading")
        cache["/folders"], cache["/backfill"] = reading["folders"], reading["backfill"]
        for what, name in (("knowledge", "knowledge"), ("states", "state")):
            cache.update({READS[name].target(folder): value for folder, value in reading[what].items()})

    def _get(self, path: str) -> Any:
        try:
            return self._client.json("GET", self._base + path)
        except ClientError as error:
            raise _as_node_error(error) from None

    def _bytes(self, path: str) -> bytes:
        try:
            return self._client.content("GET", self._base + path)
        except ClientError as error:
            raise _as_node_error(error) from None

    def _send_once(self, path: str, body: Mapping[str, object]) -> None:
        """Send a coordinator's request on a new connection. The old one may be dead, and the request must not be repeated."""
        self.forget_reads()
        self._client.close()
        try:
            self._client.text("POST", self._base + path, body)
        except ClientError as error:
            raise _as_node_error(error) from None

    def _change(self, view: type[T], method: str, path: str, body: Mapping[str, object] | bytes | None = None) -> T:
        content = {name: _sent(value) for name, value in body.items()} if isinstance(body, Mapping) else body
        # Each change has its own key, so the client can send it again if the connection is dead.
        self.forget_reads()
        try:
            return _view(self._client.surely(method, self._base + path, content), view)
        except ClientError as error:
            raise _as_node_error(error) from None


def _over_http(read: HttpRead) -> Callable[..., object]:
    def ask(node: RemoteNode, *args: object, **named: object) -> object:
        return node._answer(read, read.target(*args, **named))

    return ask


for _read in READS.values():
    setattr(RemoteNode, _read.name, _over_http(_read))


def _as_node_error(error: ClientError) -> Exception:
    """Return the error that the node raised, found by the name of its class; NotRunning if the node did not answer."""
    if error.status == 0:
        return NotRunning(str(error))
    if error.internal:
        return InternalError(error.detail, elsewhere=True)
    return _ERRORS.get(error.kind, errors.Misuse)(error.detail)


def _sent(value: object) -> object:
    """Return an argument as JSON has it: the reverse of `node.api.changes.arguments.python_arguments`."""
    match value:
        case Post():
            return {name: sent(getattr(value, name)) for name in ("subject", "body", "sender", "attachments")}
        case list() | tuple():
            return list(map(_sent, value)) if value and isinstance(value[0], Post) else sent(value)
    return value


def _view(value: object, kind: type[T]) -> T:
    return msgspec.convert(_instants(value), kind)


def _instants(value: object) -> object:
    """Return the value with instants as numbers: the reverse of `node.api.values.plain`."""
    if isinstance(value, list):
        return [_instants(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        name: parse_instant(item) if name.endswith("_at") and isinstance(item, str) else _instants(item)
        for name, item in value.items()
    }
