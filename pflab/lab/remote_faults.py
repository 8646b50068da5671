"""The faults of a lab that runs elsewhere, injected and healed over HTTP as with a `pflab.faults.fault_plan.FaultPlan`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

import msgspec

from node.errors import InternalError, NotRunning
from pflab.client import Client, ClientError
from pflab.errors import LabError
from pflab.faults.fault import Fault
from traces.labtime import LabTime

T = TypeVar("T")


class RemoteFault(NamedTuple):
    """An active fault of that lab."""

    id: str
    kind: str


class RemoteFaults:
    """The methods of a FaultPlan that scenarios call."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def active(self) -> Sequence[RemoteFault]:
        """Return the active faults."""
        return [RemoteFault(fault["id"], fault["kind"]) for fault in answer_of(self._client.faults)]

    @property
    def held_until_at(self) -> LabTime:
        """Always 0, because this side does not know which mails the faults hold. So a convergence bound may be too short: a
        correct lab can fail, but a wrong lab cannot pass."""
        return 0

    def lets_act(self, server: str) -> bool:
        """Always true: real servers do not crash within a stimulus."""
        del server
        return True

    def heal(self, fault: str | None = None) -> None:
        answer_of(lambda: self._client.heal(fault))

    def inject(self, fault: Fault) -> str:
        """Inject a fault and return its id."""
        document = msgspec.to_builtins(fault)
        return answer_of(lambda: str(self._client.json("POST", "/lab/faults", document)["id"]))


def answer_of(ask: Callable[[], T]) -> T:
    """Return the lab's answer to a request. If the lab refuses it, raises LabError, NotRunning or InternalError."""
    try:
        return ask()
    except ClientError as error:
        raise lab_error(error) from error


def lab_error(error: ClientError) -> Exception:
    """Return the exception for an error with which a lab answered."""
    if error.internal:
        return InternalError(error.detail, elsewhere=True)
    return NotRunning(error.detail) if error.kind == "NotRunning" else LabError(error.detail)
