"""The faults of a lab over HTTP: for people, who inject and heal them, and for nodes, which ask for decisions."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any, Final, NamedTuple, get_args

import msgspec
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from node.api.access import carries
from node.api.hosts import LAST_NUMBER
from node.api.routing.openapi import links
from node.api.routing.reading import Body
from node.api.routing.routes import Routes
from node.api.values import json_response, problem, shown
from pflab.errors import LabError
from pflab.faults.fault import MAIL_TYPES, REORDER_BY_US, SEPARATIONS, FaultKind, Injectable, Mails
from pflab.faults.fault_plan import FaultPlan
from pflab.faults.mail_capture import DecideNow
from pflab.lab.lab import Lab
from pflab.lab.served_lab import ServedLab
from pflab.server.changes import lab_routes
from topology.arguments import Line
from traces.labtime import LabTime, format_instant, parse_duration
from transport.protocol.fault_points import FaultPoint

Pair = Annotated[list[Line], Meta(min_length=2, max_length=2)]


class NewFault(Body, frozen=True, kw_only=True, rename={"from_": "from"}):
    """A fault. `cut` and `blackhole` need two servers or sites, or a connector. `smtp` and `hold` act on the hops from
    one server to another. `unstamp` removes the addresses of a server. The other kinds act on mails, which can be limited
    by sender, recipient, type, hop and Message-ID."""

    kind: Annotated[Injectable, Meta(extra_json_schema={"enum": list(get_args(Injectable))})]
    from_: Annotated[Line | None, Meta(examples=["A"])] = None
    to: Annotated[Line | None, Meta(examples=["B"])] = None
    type: Annotated[Line | None, Meta(examples=["content"], description=f"One of {', '.join(MAIL_TYPES)}.")] = None
    count: Annotated[Annotated[int, Meta(ge=1, le=LAST_NUMBER)] | None, Meta(examples=[1])] = None
    by: Annotated[Line | None, Meta(examples=["20 min"])] = None
    connector: Line | None = None
    link: Annotated[
        Pair | None, Meta(description="For faults on mails: only the hop from one server to the other.")
    ] = None
    mail: Annotated[Line | None, Meta(description="For faults on mails: the Message-ID of the only mail.")] = None
    between: Pair | None = None
    at: Annotated[Line | None, Meta(examples=["MAIL"], description="For smtp: the verb.")] = None
    does: Annotated[
        Line | None, Meta(examples=["451"], description="For smtp: a reply, disconnect, silence or tarpit.")
    ] = None
    server: Annotated[Line | None, Meta(examples=["B"], description="For unstamp: the server.")] = None
    lasts: Annotated[Line | None, Meta(examples=["2 h"], description="For smtp, hold and alter: for how long.")] = None


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


FAULTS: Final = lab_routes("/lab/faults", tag="faults")
"""The faults of a lab, for people."""


@FAULTS.get("")
async def faults(lab: ServedLab) -> Response:
    """Return the active faults, and how often each has acted."""
    return json_response(faults_shown(lab))


@FAULTS.get("/waiting")
async def waiting(lab: ServedLab) -> Response:
    """Return by active fault the mails that now wait in a queue and that the fault will meet if it does not end before."""
    return json_response(mails_waiting(lab))


@FAULTS.post("", status=HTTPStatus.CREATED, answers={HTTPStatus.CREATED: _INJECTED})
async def inject(lab: ServedLab, wanted: NewFault) -> Response:
    """Inject a fault; return its id."""
    return json_response({"id": _inject(lab.faults, wanted, lab.now)}, HTTPStatus.CREATED)


@FAULTS.delete("")
async def heal_all(lab: ServedLab) -> Response:
    """End all faults."""
    lab.faults.heal()
    return json_response(faults_shown(lab))


@FAULTS.delete("/{fault}")
async def heal(lab: ServedLab, fault: str) -> Response:
    """End one fault."""
    lab.faults.heal(fault)
    return json_response(faults_shown(lab))


class Decisions(NamedTuple):
    """What decides about faults for the nodes of a lab, and the token that only they know."""

    decide: DecideNow
    token: str


DECISIONS: Final = Routes[Decisions]("/lab/fault-decision", shown=False)
"""The faults of a lab, for nodes in processes of their own."""


@DECISIONS.post("")
async def decision(decisions: Decisions, request: Request) -> Response:
    if not carries(request.headers.get("authorization", ""), decisions.token):
        detail = "only the nodes of the lab may ask for fault decisions"
        return problem(HTTPStatus.UNAUTHORIZED, "Http", detail)
    return json_response(decisions.decide(msgspec.json.decode(await request.body(), type=FaultPoint)))


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
