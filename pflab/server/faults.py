"""The faults of a lab over HTTP: for people, who inject and heal them, and for nodes, which ask for decisions."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any, Final

import msgspec
from fastapi import APIRouter, Depends, HTTPException, Request, Response
from pydantic import Field

from node.api.access import carries
from node.api.answers import links
from node.api.bodies import Body, Line
from node.api.hosts import LAST_NUMBER
from node.api.values import json_response, shown
from pflab.errors import LabError
from pflab.faults.fault import MAIL_TYPES, REORDER_BY_US, SEPARATIONS, FaultKind, Injectable, Mails
from pflab.faults.fault_plan import FaultPlan
from pflab.faults.mail_capture import DecideNow
from pflab.lab.lab import Lab
from pflab.lab.served_lab import ServedLab
from pflab.server.changes import lab_router
from traces.labtime import LabTime, format_instant, parse_duration
from transport.protocol.fault_points import FaultPoint


class NewFault(Body):
    """A fault. `cut` and `blackhole` need two servers or sites, or a connector. `smtp` and `hold` act on the hops from
    one server to another. `unstamp` removes the addresses of a server. The other kinds act on mails, which can be limited
    by sender, recipient, type, hop and Message-ID."""

    kind: Injectable
    from_: Annotated[Line | None, Field(alias="from", examples=["A"])] = None
    to: Annotated[Line | None, Field(examples=["B"])] = None
    type: Annotated[Line | None, Field(examples=["content"], description=f"One of {', '.join(MAIL_TYPES)}.")] = None
    count: Annotated[int | None, Field(ge=1, le=LAST_NUMBER, examples=[1])] = None
    by: Annotated[Line | None, Field(examples=["20 min"])] = None
    connector: Line | None = None
    link: Annotated[
        list[Line] | None,
        Field(
            min_length=2, max_length=2, description="For faults on mails: only the hop from one server to the other."
        ),
    ] = None
    mail: Annotated[Line | None, Field(description="For faults on mails: the Message-ID of the only mail.")] = None
    between: Annotated[list[Line] | None, Field(min_length=2, max_length=2)] = None
    at: Annotated[Line | None, Field(examples=["MAIL"], description="For smtp: the verb.")] = None
    does: Annotated[
        Line | None, Field(examples=["451"], description="For smtp: a reply, disconnect, silence or tarpit.")
    ] = None
    server: Annotated[Line | None, Field(examples=["B"], description="For unstamp: the server.")] = None
    lasts: Annotated[Line | None, Field(examples=["2 h"], description="For smtp, hold and alter: for how long.")] = None


_INJECTED: Final[dict[str, Any]] = {
    **shown(dict[str, str], {"id": "lose-1"}, "The id of the fault."),
    "links": links({"fault": "$response.body#/id"}, "DELETE /lab/faults/{fault}"),
}


def faults_shown(lab: Lab) -> list[dict[str, str | int]]:
    """Return the active faults, and how often each has acted."""
    return [
        {"id": each.id, "kind": each.kind.value, **each.details(), "acted": each.acted} for each in lab.faults.active()
    ]


def mails_waiting(lab: ServedLab) -> dict[str, list[dict[str, object]]]:
    """Return by fault the mails in the queues of the running servers that the fault will meet, the next one first."""
    queues = {name: lab.read(name, lambda node: node.queue()) for name in lab.names if lab.running(name)}
    found: dict[str, list[dict[str, object]]] = {}
    for fault in lab.faults.active():
        met = [
            (name, mail) for name, mails in queues.items() for mail in mails if lab.faults.will_meet(fault, name, mail)
        ]
        found[fault.id] = [
            {
                "server": name,
                "id": mail.id,
                "subject": mail.subject,
                "recipients": list(mail.recipients),
                "next_hop": mail.next_hop,
                "due_at": format_instant(mail.due_at),
            }
            for name, mail in sorted(met, key=lambda each: (each[1].due_at, each[0], each[1].id))
        ]
    return found


def faults_router(lab: ServedLab) -> APIRouter:
    router = lab_router(lab, prefix="/lab/faults", tags=["faults"])

    @router.get("")
    async def faults() -> Response:
        """Return the active faults, and how often each has acted."""
        return json_response(faults_shown(lab))

    @router.get("/waiting")
    async def waiting() -> Response:
        """Return by active fault the mails that now wait in a queue and that the fault will meet if it does not end before."""
        return json_response(mails_waiting(lab))

    @router.post("", status_code=HTTPStatus.CREATED, responses={HTTPStatus.CREATED: _INJECTED})
    async def inject(wanted: NewFault) -> Response:
        """Inject a fault; return its id."""
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


def decisions_router(decide: DecideNow, token: str) -> APIRouter:
    """Return the route /lab/fault-decision, for nodes in processes of their own; only they know the token."""

    async def known(request: Request) -> None:
        if not carries(request.headers.get("authorization", ""), token):
            raise HTTPException(HTTPStatus.UNAUTHORIZED, "only the nodes of the lab may ask for fault decisions")

    router = APIRouter(prefix="/lab/fault-decision", include_in_schema=False, dependencies=[Depends(known)])

    @router.post("")
    async def decision(request: Request) -> Response:
        return json_response(decide(msgspec.json.decode(await request.body(), type=FaultPoint)))

    return router


def _inject(plan: FaultPlan, wanted: NewFault, now: LabTime) -> str:
    kind = FaultKind(wanted.kind)
    if kind in SEPARATIONS:
        if wanted.connector is not None:
            return plan.separate(kind, wanted.connector)
        if wanted.between is not None:
            return plan.separate(kind, (wanted.between[0], wanted.between[1]))
        if wanted.from_ is None or wanted.to is None:
            raise LabError(f'a {kind.value} needs two ends; give "between", or both "from" and "to", or "connector"')
        return plan.separate(kind, (wanted.from_, wanted.to), one_way=True)
    if wanted.kind in {"smtp", "hold"}:
        return _inject_on_link(plan, wanted, now)
    if wanted.kind == "unstamp":
        if wanted.server is None:
            raise LabError('this fault needs a server; give "server", for example B')
        return plan.unstamp(wanted.server)
    link = None if wanted.link is None else (wanted.link[0], wanted.link[1])
    return plan.inject(
        kind,
        Mails(wanted.from_, wanted.to, wanted.type, link=link, connector=wanted.connector, mail=wanted.mail),
        count=1 if wanted.count is None and kind is FaultKind.REORDER else wanted.count,
        by_us=REORDER_BY_US if wanted.by is None else parse_duration(wanted.by),
        until_at=_end_at(wanted, now) if kind is FaultKind.ALTER else None,
    )


def _inject_on_link(plan: FaultPlan, wanted: NewFault, now: LabTime) -> str:
    until_at = _end_at(wanted, now)
    link = {"from_": wanted.from_, "to": wanted.to, "connector": wanted.connector}
    if wanted.kind == "hold":
        if until_at is None:
            raise LabError('a hold needs a duration; give "lasts", for example 2 h')
        return plan.hold(until_at=until_at, **link)
    by_us = 0 if wanted.by is None else parse_duration(wanted.by)
    return plan.smtp(wanted.at or "", wanted.does or "", count=wanted.count, by_us=by_us, until_at=until_at, **link)


def _end_at(wanted: NewFault, now: LabTime) -> LabTime | None:
    """Return when the fault ends by itself; None if it does not."""
    if wanted.lasts is None:
        return None
    lasts_us = parse_duration(wanted.lasts)
    if lasts_us <= 0:
        raise LabError(f"a fault cannot last {wanted.lasts}; write for example lasts: 2 h")
    return now + lasts_us
