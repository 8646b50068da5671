"""The routes by which an analysis follows a running lab: it asks for closed segments and reports its verdict."""

from __future__ import annotations

from http import HTTPStatus

from fastapi import APIRouter, Response
from pydantic import ConfigDict

from node.api.answers import refusals
from node.api.bodies import Body, Line
from node.api.values import json_response, problem
from pflab.lab.served_lab import ServedLab
from pflab.server.changes import lab_router
from traces.labtime import format_instant


class Verdict(Body):
    """A verdict on a run as `pflab check --json` prints it, and the instant up to which it holds."""

    model_config = ConfigDict(extra="allow")

    run: Line
    at: Line
    judgement: Line


def traces_router(lab: ServedLab) -> APIRouter:
    router = lab_router(lab, prefix="/lab", tags=["traces"])

    @router.post("/export")
    async def export() -> Response:
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

    @router.put("/verdict")
    async def keep(verdict: Verdict) -> Response:
        """Store a verdict on this run; it replaces an earlier one."""
        lab.keep_verdict(verdict.model_dump())
        return json_response({"run": lab.run})

    @router.get("/verdict", responses=refusals(404))
    async def verdict() -> Response:
        """Return the newest verdict on this run and the instant up to which it holds."""
        found = lab.kept_verdict()
        if found is None:
            return problem(HTTPStatus.NOT_FOUND, "NoVerdict", f"the run {lab.run} has no verdict yet")
        return json_response(dict(found))

    return router
