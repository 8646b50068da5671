"""What nodes in other processes ask of their lab: whether a fault meets a mail (see node.process.fault_client)."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any, TypeVar

import msgspec
from fastapi import APIRouter, Depends, HTTPException, Request, Response

from node.api.access import carries
from node.api.values import json_response
from node.process.fault_client import AfterSend, Arrival, AtVerb, BeforeSend, Lost
from pflab.faults.fault_plan import FaultPlan
from pflab.faults.mail_capture import HopGate

T = TypeVar("T")


def asks_router(faults: FaultPlan, gate: HopGate, token: str) -> APIRouter:
    """The routes /lab/asks/..., for nodes and nobody else: they know the token."""

    async def known(request: Request) -> None:
        if not carries(request.headers.get("authorization", ""), token):
            raise HTTPException(HTTPStatus.UNAUTHORIZED, "this is for the lab's own nodes")

    router = APIRouter(prefix="/lab/asks", include_in_schema=False, dependencies=[Depends(known)])

    @router.post("/before-send")
    async def before_send(request: Request) -> Response:
        asked = await _asked(request, BeforeSend)
        return json_response(gate.before_send(asked.server, asked.transmission, asked.now))

    @router.post("/after-send")
    async def after_send(request: Request) -> Response:
        told = await _asked(request, AfterSend)
        gate.after_send(told.server, told.transmission, told.delivered)
        return json_response({})

    @router.post("/at-verb")
    async def at_verb(request: Request) -> Response:
        asked = await _asked(request, AtVerb)
        return json_response(gate.at_verb(asked.peer, asked.node, asked.verb, asked.now))

    @router.post("/arrival")
    async def arrival(request: Request) -> Response:
        asked = await _asked(request, Arrival)
        fault = faults.on_arrival(
            node=asked.node, sender=asked.sender, recipients=asked.recipients, subject=asked.subject, now=asked.now
        )
        return json_response(Lost(fault))

    return router


async def _asked(request: Request, kind: type[T]) -> T:
    content: Any = await request.body()
    return msgspec.json.decode(content, type=kind)
