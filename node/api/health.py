"""Health checks and metrics: /livez, /readyz, /metrics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from http import HTTPStatus
from typing import Final

from node.api.asgi import Response
from node.api.hosts import Hosts, ServedHost
from node.api.routing.openapi import refusals
from node.api.routing.routes import Routes
from node.api.values import ServerUnknown, json_response, problem
from node.errors import NodeError, NotRunning, bug_line
from traces.labtime import SECOND_US
from transport.resources import peak_memory_bytes

_METRICS = (
    ("pflab_up", "gauge", "1 if the store runs"),
    ("pflab_lab_time_seconds", "gauge", "Lab time, seconds since 1970"),
    ("pflab_lab_rate", "gauge", "Lab seconds per real second"),
    ("pflab_stimuli_total", "counter", "Stimuli since the process started"),
    ("pflab_events_total", "counter", "Events since the store's first start"),
    ("pflab_queue_mails", "gauge", "Mails waiting to be sent"),
    ("pflab_backfill_entries", "gauge", "Entries of the backfill array"),
    ("pflab_bad_mails", "gauge", "Bad mails kept"),
    ("pflab_folders_held", "gauge", "Folders with a replica here"),
)

_OF_CONNECTORS = (
    ("pflab_sent_mails_total", "Mails sent over a connector since the store's process started"),
    ("pflab_sent_bytes_total", "Bytes of these mails"),
)


HEALTH: Final = Routes[Hosts](tag="health")


@HEALTH.get("/livez")
async def livez(_: Hosts) -> Response:
    """Answer 200 as long as the process answers at all."""
    return json_response({"status": "alive"})


@HEALTH.get("/readyz", answers=refusals(503))
async def readyz(hosts: Hosts) -> Response:
    """Answer 200 if every store that should run does and none has failed."""
    if hosts.waits:
        return problem(HTTPStatus.SERVICE_UNAVAILABLE, "Waiting", hosts.waits)
    for name in hosts.names:
        try:
            failure = hosts.host(name).failure
        except NotRunning:
            continue
        if failure is not None:
            return problem(HTTPStatus.SERVICE_UNAVAILABLE, "Failed", f"server {name}: {bug_line(failure)}")
    if hosts.ending:
        return problem(HTTPStatus.SERVICE_UNAVAILABLE, "Ending", "the process is about to end")
    return json_response({"status": "ready"})


@HEALTH.get("/metrics", answers={200: {"content": {"text/plain": {"example": 'pflab_up{server="A"} 1'}}}})
async def metrics(hosts: Hosts) -> Response:
    """Return metrics in the text format of Prometheus."""
    return Response("".join(_text(hosts)), media_type="text/plain; version=0.0.4; charset=utf-8")


def _text(hosts: Hosts) -> Iterator[str]:
    values = {name: _values(hosts, name) for name in hosts.names}
    for metric, kind, text in _METRICS:
        yield f"# HELP {metric} {text}\n# TYPE {metric} {kind}\n"
        for name, check in values.items():
            if metric in check:
                yield f'{metric}{{server="{name}"}} {check[metric]:.17g}\n'
    yield from _connectors(hosts)
    memory_bytes = peak_memory_bytes()
    if memory_bytes is not None:
        yield "# HELP process_resident_memory_max_bytes Peak memory\n# TYPE process_resident_memory_max_bytes gauge\n"
        yield f"process_resident_memory_max_bytes {memory_bytes}\n"


def _connectors(hosts: Hosts) -> Iterator[str]:
    """Yield what each server has sent over each connector, by type of mail. A mail counts on each connector that it crosses."""
    sent: list[tuple[str, tuple[Mapping[tuple[str, str], int], ...]]] = []
    for name in hosts.names:
        with suppress(NodeError, ServerUnknown):
            sent.append((name, hosts.host(name).read(lambda node: (node.mails_sent, node.bytes_sent))))
    for place, (metric, text) in enumerate(_OF_CONNECTORS):
        yield f"# HELP {metric} {text}\n# TYPE {metric} counter\n"
        for name, figures in sent:
            for (connector, type_), figure in figures[place].items():
                yield f'{metric}{{server="{name}",connector="{connector}",type="{type_}"}} {figure}\n'


def _values(hosts: Hosts, name: str) -> dict[str, float]:
    try:
        return _of(hosts.host(name))
    except (NodeError, ServerUnknown):
        return {"pflab_up": 0}


def _of(host: ServedHost) -> dict[str, float]:
    return {
        "pflab_up": 1,
        "pflab_lab_time_seconds": host.now / SECOND_US,
        "pflab_lab_rate": host.rate,
        "pflab_stimuli_total": host.activity,
        "pflab_events_total": host.read(lambda node: node.seq),
        "pflab_queue_mails": host.read(lambda node: len(node.queue())),
        "pflab_backfill_entries": host.read(lambda node: len(node.backfill())),
        "pflab_bad_mails": host.read(lambda node: len(node.bad_mail())),
        "pflab_folders_held": host.read(lambda node: sum(view.held_here for view in node.folders())),
    }
