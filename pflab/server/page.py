"""The page at /: what this lab is, what it does now, and where its documentation, health and state are. It has no scripts."""

from __future__ import annotations

from html import escape
from typing import Any, Final

from fastapi import APIRouter, Response

from node.api.docs_page import POLICY, STYLE
from pflab.lab.served_lab import ServedLab
from pflab.server.faults import faults_shown
from traces.labtime import format_instant

RELOADED_S: Final = 5
"""Real time after which a browser loads the page again."""

_LINKS: Final = {
    "/docs": "every request of the HTTP API",
    "/readyz": "whether all servers are ready",
    "/livez": "whether the lab answers",
    "/lab": "this page as JSON",
    "/lab/topology": "the topology with every default",
    "/lab/events": "the events of all servers, as JSON lines",
}


def page_router(lab: ServedLab) -> APIRouter:
    router = APIRouter()

    @router.get("/", include_in_schema=False)
    async def page() -> Response:
        return Response(_page(lab), media_type="text/html; charset=utf-8", headers={"Content-Security-Policy": POLICY})

    return router


def _page(lab: ServedLab) -> str:
    title = f"pflab: {escape(lab.topology.organization)}"
    rate = lab.coordinator.rate
    clock = f"{rate:g} lab seconds for each second" if rate else "paused"
    servers = [
        (name, server.site, server.version, *_standing(lab, name)) for name, server in lab.topology.servers.items()
    ]
    faults = [
        (
            each["id"],
            each["kind"],
            ", ".join(f"{key} {value}" for key, value in each.items() if key not in {"id", "kind"}),
        )
        for each in faults_shown(lab)
    ]
    links = [f'<li><a href="{path}">{path}</a>: {what}' for path, what in _LINKS.items()]
    return "\n".join(
        [
            f'<!doctype html>\n<html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="{RELOADED_S}">'
            f"<title>{title}</title><style>{STYLE}</style>",
            f"<h1>{title}</h1>",
            "<p>A lab of public folder stores that replicate by mail.</p>",
            _table([("Lab time", format_instant(lab.now)), ("Clock", clock), ("Run", lab.folder)]),
            "<h2>Servers</h2>",
            _table([("Server", "Site", "Version", "State", "SMTP"), *servers]),
            "<h2>Folders</h2>",
            _table([(path, ", ".join(folder.replicas)) for path, folder in lab.topology.folders.items()]),
            "<h2>Faults</h2>",
            _table(faults) if faults else "<p>No fault is active.</p>",
            "<h2>More</h2>",
            f"<ul>{''.join(links)}</ul>",
            "<p>Commands: <code>pflab state</code>, <code>pflab status</code>, <code>pflab top</code>, with"
            " <code>--lab</code> and the address of this page.</p>",
            "</html>",
        ]
    )


def _standing(lab: ServedLab, name: str) -> tuple[str, str]:
    """Return whether a server runs, and where it takes mail."""
    if lab.failure_of(name) is not None:
        return "failed", ""
    if not lab.running(name):
        return "not running", ""
    return "running", "{}:{}".format(*lab.smtp_of(name))


def _table(rows: list[Any]) -> str:
    lines = ["".join(f"<td>{escape(str(each))}</td>" for each in row) for row in rows]
    return f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"
