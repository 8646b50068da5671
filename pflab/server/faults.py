"""The faults of a lab over HTTP."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Response
from pydantic import Field

from node.api.bodies import Body, Line
from node.api.values import json_response
from pflab.errors import LabError
from pflab.faults.fault import MAIL_TYPES, Mails
from pflab.faults.fault_plan import FaultPlan
from pflab.lab.lab import Lab
from pflab.lab.recorded_lab import FacedLab
from traces.labtime import LabTime, parse_duration

Tag = Literal["lose", "alter", "delay", "duplicate", "reorder", "cut", "smtp", "hold"]


class NewFault(Body):
    """A fault. `cut` is between two servers or sites, or a connector; `smtp` and `hold` are on the hops from one server to
    another; the others meet mail from, to, of a type."""

    kind: Tag
    from_: Annotated[Line | None, Field(alias="from", examples=["A"])] = None
    to: Annotated[Line | None, Field(examples=["B"])] = None
    type: Annotated[Line | None, Field(examples=["content"], description=f"One of {', '.join(MAIL_TYPES)}.")] = None
    count: Annotated[int | None, Field(ge=1, examples=[1])] = None
    by: Annotated[Line | None, Field(examples=["20 min"])] = None
    connector: Line | None = None
    between: Annotated[list[Line] | None, Field(min_length=2, max_length=2)] = None
    at: Annotated[Line | None, Field(examples=["MAIL"], description="Of smtp: the verb.")] = None
    does: Annotated[
        Line | None, Field(examples=["451"], description="Of smtp: a reply, disconnect, silence or tarpit.")
    ] = None
    lasts: Annotated[Line | None, Field(examples=["2 h"], description="Of smtp, hold and alter: for how long.")] = None


def faults_shown(lab: Lab) -> list[dict[str, Any]]:
    """The faults in force."""
    return [{"id": each.id, "kind": each.kind.value, **each.details()} for each in lab.faults.active()]


def faults_router(lab: FacedLab) -> APIRouter:
    router = APIRouter(prefix="/lab/faults", tags=["faults"])

    @router.get("")
    async def faults() -> Response:
        """The faults in force."""
        return json_response(faults_shown(lab))

    @router.post("", status_code=HTTPStatus.CREATED)
    async def inject(wanted: NewFault) -> Response:
        """Let something go wrong on purpose; the fault's id."""
        return json_response({"id": _inject(lab.faults, wanted, lab.now)}, HTTPStatus.CREATED)

    @router.delete("")
    async def heal_all() -> Response:
        """End all faults."""
        lab.faults.heal()
        return json_response(faults_shown(lab))

    @router.delete("/{fault}")
    async def heal(fault: str) -> Response:
        """End one fault."""
        lab.faults.heal(fault)
        return json_response(faults_shown(lab))

    return router


def _inject(plan: FaultPlan, wanted: NewFault, now: LabTime) -> str:
    if wanted.kind == "cut":
        if wanted.connector is not None:
            return plan.cut(wanted.connector)
        if wanted.between is not None:
            return plan.cut((wanted.between[0], wanted.between[1]))
        if wanted.from_ is None or wanted.to is None:
            raise LabError("a cut lies between two ends: name them as between, or from and to, or a connector")
        return plan.cut((wanted.from_, wanted.to), one_way=True)
    if wanted.kind in {"smtp", "hold"}:
        return _inject_on_link(plan, wanted, now)
    given: dict[str, Any] = {}
    if wanted.kind in {"delay", "reorder"} and wanted.by is not None:
        given["by_us"] = parse_duration(wanted.by)
    if wanted.count is not None:
        given["count"] = wanted.count
    if wanted.kind == "alter" and wanted.lasts is not None:
        given["until_at"] = now + parse_duration(wanted.lasts)
    act: Callable[..., str] = getattr(plan, wanted.kind)
    return act(Mails(wanted.from_, wanted.to, wanted.type, connector=wanted.connector), **given)


def _inject_on_link(plan: FaultPlan, wanted: NewFault, now: LabTime) -> str:
    until_at = None if wanted.lasts is None else now + parse_duration(wanted.lasts)
    link: dict[str, Any] = {"from_": wanted.from_, "to": wanted.to, "connector": wanted.connector}
    if wanted.kind == "hold":
        if until_at is None:
            raise LabError("a queue is held for a while; say how long it lasts, as 2 h")
        return plan.hold(until_at=until_at, **link)
    by_us = 0 if wanted.by is None else parse_duration(wanted.by)
    return plan.smtp(wanted.at or "", wanted.does or "", count=wanted.count, by_us=by_us, until_at=until_at, **link)
