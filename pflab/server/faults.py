"""The faults of a lab over HTTP: for people, who inject and heal them, and for nodes, which ask for decisions."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any, Final, NamedTuple

import msgspec

from node.api.access import carries
from node.api.asgi import Request, Response
from node.api.routing.openapi import links
from node.api.routing.parameters import JSON
from node.api.routing.routes import Routes
from node.api.values import json_response, problem, shown
from pflab.faults.fault import INJECTABLE, InjectableFault
from pflab.faults.mail_capture import DecideNow
from pflab.faults.schemas import schema_of
from pflab.lab.served_lab import ServedLab
from pflab.server.present_lab import lab_routes
from traces.labtime import format_instant
from transport.protocol.fault_points import FaultPoint, Verb

_INJECTED: Final[dict[str, Any]] = {
    **shown(dict[str, str], {"id": "lose-1"}, "The id of the fault."),
    "links": links({"fault": "$response.body#/id"}, "DELETE /lab/faults/{fault}"),
}


def faults_shown(lab: ServedLab) -> list[dict[str, str | int]]:
    """Return the active faults, and how often each has acted."""
    return [
        {"id": active.id, "kind": active.kind, **active.details(), "acted": active.acted}
        for active in lab.faults.active()
    ]


def mails_waiting(lab: ServedLab) -> dict[str, list[dict[str, object]]]:
    """Return, for each fault, the mails in the queues of the running servers that the fault will meet, the next one first."""
    queues = {name: lab.read(name, lambda node: node.queue()) for name in lab.names if lab.running(name)}
    waiting: dict[str, list[dict[str, object]]] = {}
    for active in lab.faults.active():
        met = [
            (name, mail) for name, mails in queues.items() for mail in mails if lab.faults.will_meet(active, name, mail)
        ]
        waiting[active.id] = [
            {
                "server": name,
                "id": mail.id,
                "subject": mail.subject,
                "recipients": list(mail.recipients),
                "next_hop": mail.next_hop,
                "due_at": format_instant(mail.due_at),
            }
            for name, mail in sorted(met, key=lambda entry: (entry[1].due_at, entry[0], entry[1].id))
        ]
    return waiting


FAULTS: Final = lab_routes("/lab/faults", tag="faults")
"""The faults of a lab, for people."""


@FAULTS.get("")
async def faults(lab: ServedLab) -> Response:
    """Return the active faults, and how often each has acted."""
    return json_response(faults_shown(lab))


@FAULTS.get("/waiting")
async def waiting(lab: ServedLab) -> Response:
    """Return, for each active fault, the mails that now wait in a queue and that the fault will meet unless it ends first."""
    return json_response(mails_waiting(lab))


@FAULTS.get("/kinds")
async def kinds(lab: ServedLab) -> Response:
    """Return the JSON Schema of each kind of fault, by its word."""
    schemas = {name: schema_of(kind) for name, kind in INJECTABLE.items()}
    if not lab.faults.tls:
        verb = schemas["smtp"]["properties"]["verb"]
        verb["enum"] = [name for name in verb["enum"] if name != Verb.STARTTLS.value]
    return json_response(schemas)


@FAULTS.post("", status=HTTPStatus.CREATED, answers={HTTPStatus.CREATED: _INJECTED})
async def inject(lab: ServedLab, fault: Annotated[InjectableFault, JSON]) -> Response:
    """Inject a fault; return its id."""
    id_ = lab.faults.inject(fault)
    await lab.faults_known()
    return json_response({"id": id_}, HTTPStatus.CREATED)


@FAULTS.delete("")
async def heal_all(lab: ServedLab) -> Response:
    """End all faults."""
    lab.faults.heal()
    await lab.faults_known()
    return json_response(faults_shown(lab))


@FAULTS.delete("/{fault}")
async def heal(lab: ServedLab, fault: str) -> Response:
    """End one fault."""
    lab.faults.heal(fault)
    await lab.faults_known()
    return json_response(faults_shown(lab))


class Decisions(NamedTuple):
    """The function that decides about faults for the nodes of a lab, and the token that only the nodes know."""

    decide: DecideNow
    token: str


DECISIONS: Final = Routes[Decisions]("/lab/fault-decision", shown=False)
"""The faults of a lab, for nodes in separate processes."""


@DECISIONS.post("")
async def decision(decisions: Decisions, request: Request) -> Response:
    if not carries(request.headers.get("authorization", ""), decisions.token):
        detail = "only the nodes of the lab may ask for fault decisions"
        return problem(HTTPStatus.UNAUTHORIZED, "Http", detail)
    return json_response(decisions.decide(msgspec.json.decode(await request.body(), type=FaultPoint)))
