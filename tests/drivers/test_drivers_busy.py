"""Whichever driver runs a lab: a node that never rests, or fails, is named. The nodes are toys here, for the real one does
neither.
"""

from __future__ import annotations

from typing import Any, cast

import pytest

from node.errors import InternalError
from node.store.node import Node
from pflab.errors import LabError
from tests.drivers.conftest import LabFactory
from tests.support.lab_actions import START_AT
from traces.labtime import HOUR_US, LabTime
from transport.envelope import Offers
from transport.protocol.auth import Credentials


class Restless:
    """A node that always has something due and never does it."""

    crash_at = None

    def __init__(self, name: str, **_: object) -> None:
        self.name = name
        self.ticks = 0

    def open(self, now: LabTime) -> None: ...
    def reopen(self, now: LabTime) -> None: ...
    def close(self, now: LabTime) -> None: ...
    def abandon(self) -> None: ...
    def export(self) -> None: ...

    def next_due(self) -> LabTime | None:
        return START_AT

    def outgoing(self, now: LabTime, limit: int = 100, busy: object = (), crowded: object = ()) -> list[object]:
        return []

    def queue(self) -> list[object]:
        return []

    def tick(self, now: LabTime) -> None:
        self.ticks += 1

    def offers(self) -> Offers:
        return Offers()

    @property
    def credentials(self) -> Credentials:
        return Credentials("A", b"", lambda data: data)

    def verify_peer(self, store: str, certificate: bytes, signature: bytes, data: bytes) -> bool:
        return False


class Broken(Restless):
    """A node whose timers fail."""

    def tick(self, now: LabTime) -> None:
        raise RuntimeError("the table is gone")


def toy(kind: type[Restless]) -> Any:
    return lambda name, **made_with: cast(Node, kind(name, **made_with))


async def test_a_server_that_never_rests_is_named(make_lab: LabFactory) -> None:
    """A wait does not last for ever: it ends with an error that names who is not idle and since when."""
    lab = make_lab("servers: {A: }", make_node=toy(Restless))
    with pytest.raises((LabError, InternalError), match=r"server A has a row due.*ticks did not take away"):
        async with lab:
            await lab.advance(START_AT + HOUR_US)
    await lab.close()


async def test_a_server_that_fails_is_named(make_lab: LabFactory) -> None:
    """An error inside a server's own work ends the wait at once, and is not swallowed."""
    lab = make_lab("servers: {A: }", make_node=toy(Broken))
    with pytest.raises(
        InternalError, match=r"server A: internal error at .*Z: RuntimeError: the table is gone"
    ) as error:
        async with lab:
            await lab.advance(START_AT + HOUR_US)
    await lab.close()
    assert isinstance(error.value.__cause__, RuntimeError)
