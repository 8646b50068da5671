"""The HTTP server of a lab: its clock, its faults, its servers, its events, and the API of every node.

The paths are the same whichever driver runs the lab. If the nodes run in this process, the application serves them itself.
If they run in other processes, it passes requests for a node on to the node's process (`pflab.server.proxy`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from http import HTTPStatus
from typing import Final

from node.api.app import OF_ONE_NODE, Api, routes_of
from node.api.events import STREAM
from node.api.health import HEALTH
from node.api.routing.routes import Served
from node.host.clock import ClockError
from pflab.errors import LabError, NotThere
from pflab.lab.served_lab import InProcessLab, ServedLab
from pflab.server.clock import CLOCK, ClockDoor
from pflab.server.console import CONSOLE_FILES, CONSOLE_PAGE
from pflab.server.events import EVENTS_OF_LABS, LAB_EVENTS, LabAt
from pflab.server.extension import Extension
from pflab.server.faults import DECISIONS, FAULTS, Decisions
from pflab.server.forecast import FORECASTS
from pflab.server.lab import LAB
from pflab.server.mails import MAILS
from pflab.server.organization import CONNECTORS, NEW_SERVERS, POLICIES, POLICY, SITES
from pflab.server.present_lab import EmbeddedHosts, LabNow, ProxiedHosts
from pflab.server.proxy import METRICS_OF_PROCESSES, Processes, Proxy
from pflab.server.servers import SERVERS
from pflab.server.traces import TRACES
from traces.errors import TraceError

_ERRORS: Final[Mapping[type[Exception], int]] = {
    NotThere: HTTPStatus.NOT_FOUND,
    LabError: HTTPStatus.CONFLICT,
    ClockError: HTTPStatus.CONFLICT,
    TraceError: HTTPStatus.CONFLICT,
}
"""The statuses of errors of a lab."""

_OF_A_LAB: Final = (LAB, SITES, CONNECTORS, NEW_SERVERS, POLICY, POLICIES, FAULTS, FORECASTS, MAILS, SERVERS, TRACES)


def app_of_live_lab(lab_now: Callable[[], InProcessLab], extension: Extension | None = None) -> Api:
    """Return the application of a lab whose nodes run in this process."""
    return _app(lab_now, routes_of(EmbeddedHosts(lab_now)), extension)


def app_of_remote_lab(lab: ServedLab, proxy: Proxy, token: str, extension: Extension | None = None) -> Api:
    """Return the application of a lab whose nodes run in other processes.

    proxy: passes requests on to them.
    token: authenticates the nodes to the lab.
    """
    hosts, decisions = ProxiedHosts(lambda: lab), Decisions(lab.decide, token)
    processes = Processes(proxy, lambda: lab.names)
    served = HEALTH.serving(lambda: hosts) + STREAM.serving(lambda: hosts) + DECISIONS.serving(lambda: decisions)
    served += METRICS_OF_PROCESSES.serving(lambda: processes)
    for routes in OF_ONE_NODE:
        served += routes.forwarded(proxy)
    return _app(lambda: lab, served, extension)


def _app(lab_now: LabNow, of_nodes: list[Served], extension: Extension | None) -> Api:
    door = ClockDoor(lab_now)
    served = [*of_nodes, *CONSOLE_PAGE.serving(lambda: None), *CONSOLE_FILES.serving(lambda: None)]
    for routes in _OF_A_LAB:
        served += routes.serving(lab_now)
    served += CLOCK.serving(lambda: door) + LAB_EVENTS.serving(lambda: lab_now)
    lab_at = _labs_of(lab_now, extension)
    served += EVENTS_OF_LABS.serving(lambda: lab_at)
    if extension is None:
        return Api(served, title="pflab lab", errors=_ERRORS)
    served += extension.routes
    errors, mounts = {**_ERRORS, **extension.errors}, {extension.path: extension.app}
    return Api(served, title="pflab lab", errors=errors, mounts=mounts)


def _labs_of(lab_now: LabNow, extension: Extension | None) -> LabAt:
    """Return what gives the labs of a server: its own has the empty path."""

    def lab_at(path: str) -> AbstractContextManager[Callable[[], ServedLab | None]]:
        if not path:
            return nullcontext(lab_now)
        return extension.lab_at(path) if extension is not None else nullcontext(lambda: None)

    return lab_at
