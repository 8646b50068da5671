"""A lab as a whole over HTTP: what it is, its topology, its next run, and its saved labs."""

from __future__ import annotations

from http import HTTPStatus
from typing import Final

from node.api.asgi import Response
from node.api.routing.reading import Body
from node.api.values import json_response
from node.seeded_ids import setup_guid
from pflab.errors import LabError
from pflab.lab.served_lab import ServedLab
from pflab.server.clock import clock_shown
from pflab.server.faults import faults_shown
from pflab.server.present_lab import lab_routes
from pflab.server.servers import imap_shown, smtp_shown, status_shown
from topology.file.load import topology_from_text
from topology.problems import ProblemsError
from traces.labtime import format_instant

_SERVER = {
    "name": "A",
    "site": "SEA",
    "version": "2003",
    "status": "running",
    "smtp": "127.0.0.1:40025",
    "imap": None,
}


class Renewal(Body, frozen=True, kw_only=True):
    """The topology of the next run, as YAML or JSON; default: the topology of this run."""

    topology: str | None = None


class Saving(Body, frozen=True, kw_only=True):
    """`replace`: overwrite an existing saved lab of that name."""

    replace: bool = False


ARCHIVE: Final = "application/zip"

LAB: Final = lab_routes("/lab", tag="lab")
"""A lab as a whole."""


@LAB.get("", answers={200: {"content": {"application/json": {"example": {"servers": [_SERVER]}}}}})
async def the_lab(lab: ServedLab) -> Response:
    """Return the run, the clock, the servers with their SMTP and IMAP addresses, the active faults, and the newest
    verdict of pflab follow, or null."""
    servers = [
        {
            "name": name,
            "site": server.site,
            "version": str(server.version),
            **status_shown(lab, name),
            "smtp": smtp_shown(lab, name),
            "imap": imap_shown(lab, name),
        }
        for name, server in lab.organization.servers.items()
    ]
    return json_response(
        {
            "run": lab.run,
            "history": lab.history,
            "folder": str(lab.folder),
            "organization": lab.topology.organization,
            "setup": setup_guid(lab.topology.organization).hex(),
            "clock": clock_shown(lab),
            "servers": servers,
            "folders": list(lab.topology.folders),
            "replicas": dict(lab.record.replicas),
            "faults": faults_shown(lab),
            "verdict": lab.kept_verdict(),
        }
    )


@LAB.get("/topology")
async def topology(lab: ServedLab) -> Response:
    """Return the organization as it is now, as a topology with every default filled in."""
    return json_response(lab.organization.as_document())


@LAB.get("/file", answers={200: {"description": "The lab as one file.", "content": {ARCHIVE: {}}}})
async def lab_file(lab: ServedLab) -> Response:
    """Return the lab as it is at this instant, as one file: its time, its servers, every store, backups, faults, and the
    traces. `pflab up --from FILE` continues it, in any driver. It has no key: those of a lab in containers stay there."""
    lab.check_begun()
    async with lab.copying:
        content = await lab.as_file()
    return Response(content, media_type=ARCHIVE, headers={"Content-Disposition": 'attachment; filename="lab.zip"'})


@LAB.post("/renew", status=HTTPStatus.ACCEPTED)
async def renew(lab: ServedLab, body: Renewal) -> Response:
    """End this run and begin another with a paused clock, with the same topology or a new one. All servers of a new
    topology must be servers of this lab. /readyz answers 200 when the new run has begun."""
    try:
        topology = None if body.topology is None else topology_from_text(body.topology)
    except ProblemsError as error:
        raise LabError(" ".join(str(error).split())) from error
    await lab.renew(topology)
    return json_response({"ends": lab.run}, HTTPStatus.ACCEPTED)


@LAB.get("/saved")
async def saved(lab: ServedLab) -> Response:
    """Return the names under which this lab was saved."""
    return json_response(list(lab.saved()))


@LAB.put("/saved/{name}")
async def save(lab: ServedLab, name: str, body: Saving | None = None) -> Response:
    """Save the lab: its time, its servers, an exact copy of every store, backups, faults, and the traces up to now.
    Answers 409 if the name exists, unless `replace` is true."""
    await lab.save(name, replace=body is not None and body.replace)
    return json_response({"name": name, "at": format_instant(lab.now)})


@LAB.post("/saved/{name}/reset", status=HTTPStatus.ACCEPTED)
async def reset(lab: ServedLab, name: str) -> Response:
    """Go back to a saved lab, with a paused clock. /readyz answers 200 when the lab runs again."""
    await lab.reset(name)
    return json_response({"ends": lab.history}, HTTPStatus.ACCEPTED)
