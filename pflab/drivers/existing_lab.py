"""A lab that runs elsewhere, used over HTTP. Scenarios play on it as on a lab that they start themselves.

All requests go through `pflab.client`, one after the other, and each blocks until its answer. To wait for a condition, the
driver steps the lab from one due time to the next and evaluates the condition here at each quiet instant.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar, Unpack
from urllib.parse import urlencode

import msgspec

from node.errors import MailRefused, Misuse
from pflab.client import Client, ClientError, quoted
from pflab.errors import LabError
from pflab.lab.lab import Lab
from pflab.lab.remote_faults import RemoteFaults, answer_of, lab_error
from pflab.lab.remote_node import RemoteNode
from topology.file.load import topology_from_document
from traces.events import AnyEvent
from traces.labtime import LabTime, format_instant, parse_instant

if TYPE_CHECKING:
    from topology.arguments import ConnectorFields, PolicyFields, ServerFields
    from topology.model import Topology
    from traces.events import Event

T = TypeVar("T")

AGAIN_S: Final = 0.2
"""Real time between two checks whether the next run has begun."""

RENEWED_TRIES: Final = 600
"""After this many checks the driver stops waiting for the next run."""

_REFUSED: Final = "MailRefused"


class ExistingLab(Lab):
    """The lab that `client` reaches. The lab must have this topology and be at its start. `up` pauses its clock.

    renews: whether the lab first begins another run with this topology; only labs in containers can do this.
    """

    def __init__(self, topology: Topology, client: Client, *, renews: bool = False) -> None:
        self._renews = renews
        self.topology = topology
        self.faults = RemoteFaults(client)
        self._client = client
        self._nodes = {name: RemoteNode(name, client) for name in topology.servers}
        self._events: list[Event] = []
        self._run = ""

    # --- identity

    @property
    def now(self) -> LabTime:
        return parse_instant(self._client.now())

    @property
    def run(self) -> str:
        return self._run

    @property
    def folder(self) -> Path:
        raise LabError("this program cannot see the run folder of a lab that it did not start")

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._nodes)

    def running(self, name: str) -> bool:
        self._node(name)
        return any(
            server["name"] == name and server["status"] == "running"
            for server in answer_of(self._client.lab)["servers"]
        )

    def _node(self, name: str) -> RemoteNode:
        if name not in self._nodes:
            raise LabError(f"there is no server {name!r} in this lab; it has {', '.join(self._nodes)}")
        return self._nodes[name]

    # --- users

    async def do(self, name: str, fn: Callable[[RemoteNode, LabTime], T]) -> T:
        return fn(self._node(name), self.now)

    async def mail(self, name: str, sender: str, recipients: Sequence[str], content: bytes) -> Mapping[str, str]:
        query = urlencode([("from", sender), *(("to", recipient) for recipient in recipients)], errors="surrogatepass")
        try:
            answer = self._client.json("POST", f"/lab/servers/{quoted(name)}/mail?{query}", content)
            return dict(answer["refused"])
        except ClientError as error:
            code, _, text = error.detail.partition(" ")
            if error.kind == _REFUSED and code.isdecimal():
                raise MailRefused(int(code), text) from error
            raise lab_error(error) from error

    def read(self, name: str, fn: Callable[[RemoteNode], T]) -> T:
        return fn(self._node(name))

    # --- time

    @property
    def rate(self) -> float:
        return float(answer_of(self._client.clock)["rate"])

    async def set_rate(self, rate: float) -> None:
        answer_of(lambda: self._client.set_rate(rate))

    async def step(self, limit_at: LabTime | None = None) -> bool:
        limit = None if limit_at is None else format_instant(limit_at)
        return bool(answer_of(lambda: self._client.step(limit))["moved"])

    async def settle(self) -> None:
        answer_of(lambda: self._client.advance("0 s"))

    async def advance(self, to_at: LabTime) -> None:
        answer_of(lambda: self._client.advance(format_instant(to_at)))

    async def until(self, predicate: Callable[[], bool], limit_at: LabTime) -> bool:
        await self.settle()
        while not predicate():
            if not await self.step(limit_at):
                return predicate()
        return True

    # --- start and stop

    async def stop(self, name: str) -> None:
        answer_of(lambda: self._client.stop(name))

    async def kill(self, name: str) -> None:
        answer_of(lambda: self._client.kill(name))

    async def start(self, name: str) -> None:
        answer_of(lambda: self._client.start(name))

    async def backup(self, name: str) -> str:
        return answer_of(lambda: self._client.backup(name))

    async def restore(self, name: str, backup: str) -> None:
        answer_of(lambda: self._client.restore(name, backup))

    async def delete_store(self, name: str, *, on: str, force: bool = False) -> None:
        try:
            self._client.delete_store(name, on=on, force=force)
        except ClientError as error:
            raise (Misuse(error.detail) if error.kind == "Misuse" else lab_error(error)) from error

    async def create_store(self, name: str) -> None:
        answer_of(lambda: self._client.create_store(name))

    @property
    def organization(self) -> Topology:
        return topology_from_document(answer_of(lambda: self._client.json("GET", "/lab/topology")))

    async def add_site(self, name: str) -> None:
        answer_of(lambda: self._client.add_site(name))

    async def remove_site(self, name: str) -> None:
        answer_of(lambda: self._client.remove_site(name))

    async def add_server(self, name: str, **fields: Unpack[ServerFields]) -> None:
        answer_of(lambda: self._client.add_server(name, **fields))
        self._nodes[name] = RemoteNode(name, self._client)

    async def remove_server(self, name: str) -> None:
        answer_of(lambda: self._client.remove_server(name))
        del self._nodes[name]

    async def add_connector(self, name: str, **fields: Unpack[ConnectorFields]) -> None:
        given: dict[str, Any] = {"between": (), **fields}
        answer_of(lambda: self._client.add_connector(name, **given))

    async def change_connector(self, name: str, **fields: Unpack[ConnectorFields]) -> None:
        answer_of(lambda: self._client.change_connector(name, **fields))

    async def remove_connector(self, name: str) -> None:
        answer_of(lambda: self._client.remove_connector(name))

    async def set_recipient_policy(
        self, *, recipient_update: str | None = None, domain: str | None = None, at_once: bool = False
    ) -> None:
        answer_of(
            lambda: self._client.set_recipient_policy(recipient_update=recipient_update, domain=domain, at_once=at_once)
        )

    # --- events

    def events(self, since: int = 0) -> Sequence[Event]:
        fresh = answer_of(lambda: list(self._client.events(after=len(self._events))))
        self._events += [msgspec.convert(event, AnyEvent) for event in fresh]
        return self._events[since:]

    # --- opening and closing

    async def add_policy(self, name: str, **fields: Unpack[PolicyFields]) -> None:
        answer_of(lambda: self._client.add_policy(name, **fields))

    async def change_policy(self, name: str, **fields: Unpack[PolicyFields]) -> None:
        answer_of(lambda: self._client.change_policy(name, **fields))

    async def remove_policy(self, name: str) -> None:
        answer_of(lambda: self._client.remove_policy(name))

    async def up(self) -> None:
        """Raise LabError if the lab has another topology, or is not at its start."""
        client = self._client
        if self._renews:
            await self._renewed()
        lab = answer_of(client.lab)
        if answer_of(lambda: client.json("GET", "/lab/topology")) != self.topology.as_document():
            raise LabError(
                f"the lab at {client.url} has another topology than the scenario; start a lab with the scenario's topology"
            )
        answer_of(client.pause)
        if self.now != self.topology.start_at:
            raise LabError(
                f"the clock of the lab at {client.url} shows {format_instant(self.now)}, but the scenario begins at"
                f" {format_instant(self.topology.start_at)}; start a new lab with --clock 0"
            )
        self._run = str(lab["run"])

    async def _renewed(self) -> None:
        before = answer_of(self._client.lab)["run"]
        answer_of(lambda: self._client.renew(self.topology.as_document()))
        for _ in range(RENEWED_TRIES):
            await asyncio.sleep(AGAIN_S)
            with suppress(ClientError):
                self._client.text("GET", "/readyz")
                if self._client.lab()["run"] != before:
                    return
        raise LabError(f"the lab at {self._client.url} did not begin another run within {RENEWED_TRIES * AGAIN_S:g} s")

    async def close(self) -> None:
        """Close the client. The lab continues to run."""
        self._client.close()
