"""The routes by which an analysis follows a running lab: it asks for closed segments and reports its verdict."""

from __future__ import annotations

from http import HTTPStatus
from typing import Final

import msgspec

from node.api.asgi import Request, Response
from node.api.routing.openapi import refusals
from node.api.values import json_response, problem
from pflab.lab.served_lab import ServedLab
from pflab.server.present_lab import lab_routes
from topology.arguments import Line
from traces.labtime import format_instant


class Verdict(msgspec.Struct, frozen=True):
    """A verdict on a run as `pflab check --json` prints it, and the instant up to which it holds. It has more fields."""

    run: Line
    at: Line
    judgement: Line


TRACES: Final = lab_routes("/lab", tag="traces")
"""What an analysis asks of a running lab."""


@TRACES.post("/export")
async def export(lab: ServedLab) -> Response:
    """Write all events up to now into closed segments; return where they are and which servers did not answer."""
    exported = await lab.export_traces()
    return json_response(
        {
            "run": exported.run,
            "traces": exported.traces,
            "at": format_instant(exported.at),
            "events": exported.events,
            "away": list(exported.away),
        }
    )


@TRACES.put("/verdict")
async def keep(lab: ServedLab, request: Request, verdict: Verdict) -> Response:
    """Store a verdict on this run; it replaces an earlier one."""
    del verdict  # the lab keeps all fields; those of its type are checked
    lab.keep_verdict(msgspec.json.decode(await request.body()))
    return json_response({"run": lab.run})


@TRACES.get("/verdict", answers=refusals(404))
async def verdict(lab: ServedLab) -> Response:
    """Return the newest verdict on this run and the instant up to which it holds."""
    newest = lab.kept_verdict()
    if newest is None:
        return problem(HTTPStatus.NOT_FOUND, "NoVerdict", f"the run {lab.run} has no verdict yet")
    return json_response(dict(newest))
