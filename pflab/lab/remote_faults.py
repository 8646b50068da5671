"""The faults of a lab that runs elsewhere, injected and healed over HTTP as with a `pflab.faults.fault_plan.FaultPlan`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import TypeVar

from node.errors import InternalError, NotRunning
from pflab.client import Client, ClientError
from pflab.errors import LabError
from pflab.faults.fault import ALL, REORDER_BY_US, Fault, FaultKind, Mails
from traces.labtime import LabTime, format_duration

T = TypeVar("T")


class RemoteFaults:
    """The methods of a FaultPlan that scenarios call.

    now: returns the present time of that lab.
    """

    def __init__(self, client: Client, now: Callable[[], LabTime]) -> None:
        self._client = client
        self._now = now

    def active(self) -> Sequence[Fault]:
        """Return the active faults, with their ids and kinds only."""
        return [Fault(each["id"], FaultKind(each["kind"])) for each in answer_of(self._client.faults)]

    @property
    def held_until_at(self) -> LabTime:
        """Always 0, because this side does not know which mails the faults hold. So a convergence bound may be too short.
        Then a
        correct lab can fail, but a wrong lab cannot pass."""
        return 0

    def heal(self, fault: str | None = None) -> None:
        answer_of(lambda: self._client.heal(fault))

    def inject(
        self,
        kind: FaultKind,
        mails: Mails = ALL,
        *,
        count: int | None = None,
        by_us: int = REORDER_BY_US,
        until_at: LabTime | None = None,
    ) -> str:
        by = format_duration(by_us)
        return self._inject(kind.value, **asdict(mails), count=count, by=by, lasts=self._duration_to(until_at))

    def separate(self, kind: FaultKind, between: str | tuple[str, str], one_way: bool = False) -> str:
        if isinstance(between, str):
            return self._inject(kind.value, connector=between)
        if one_way:
            return self._inject(kind.value, from_=between[0], to=between[1])
        return self._inject(kind.value, between=list(between))

    def smtp(
        self, verb: str, does: str, *, count: int | None, by_us: int, until_at: LabTime | None, **link: str | None
    ) -> str:
        by = format_duration(by_us) if by_us else None
        lasts = self._duration_to(until_at)
        return self._inject("smtp", at=verb, does=does, count=count, by=by, lasts=lasts, **link)

    def hold(self, *, until_at: LabTime, **link: str | None) -> str:
        return self._inject("hold", lasts=self._duration_to(until_at), **link)

    def unstamp(self, server: str) -> str:
        return self._inject("unstamp", server=server)

    def _duration_to(self, until_at: LabTime | None) -> str | None:
        return None if until_at is None else format_duration(until_at - self._now())

    def _inject(self, kind: str, **what: object) -> str:
        given = {name: value for name, value in what.items() if value is not None}
        return answer_of(lambda: self._client.inject(kind, **given))


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
