"""Health checks and metrics: /livez, /readyz, /metrics."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
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
"""Health checks."""

METRICS: Final = Routes[Hosts](tag="health")
"""The metrics of the servers of this process."""

METRICS_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

METRICS_ANSWER: Final = {200: {"content": {"text/plain": {"example": 'pflab_up{server="A"} 1'}}}}


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


@METRICS.get("/metrics", answers=METRICS_ANSWER)
async def metrics(hosts: Hosts) -> Response:
    """Return metrics in the text format of Prometheus."""
    return Response("".join([*_text(hosts), *_memory()]), media_type=METRICS_TYPE)


def merged_metrics(texts: Iterable[str]) -> str:
    """Return the metrics of several processes as one text, and this process's own memory.

    A metric has one HELP and TYPE, and all its samples follow them. Figures without a label are of a process, and left out.
    """
    heads: dict[str, list[str]] = {}
    samples: dict[str, list[str]] = {}
    for line in (line for text in texts for line in text.splitlines()):
        if line.startswith("#"):
            head = heads.setdefault(line.split(" ", 3)[2], [])
            if line not in head:
                head.append(line)
        elif "{" in line:
            samples.setdefault(line.partition("{")[0], []).append(line)
    lines = [line for metric, head in heads.items() if metric in samples for line in (*head, *samples[metric])]
    return "".join([*(f"{line}\n" for line in lines), *_memory()])


def metric_heads() -> str:
    """Return HELP and TYPE of each metric of a server, in the order in which they stand."""
    return "".join(
        [_head(metric, kind, text) for metric, kind, text in _METRICS]
        + [_head(metric, "counter", text) for metric, text in _OF_CONNECTORS]
    )


def _head(metric: str, kind: str, text: str) -> str:
    return f"# HELP {metric} {text}\n# TYPE {metric} {kind}\n"


def _text(hosts: Hosts) -> Iterator[str]:
    values = {name: _values(hosts, name) for name in hosts.names}
    for metric, kind, text in _METRICS:
        yield _head(metric, kind, text)
        for name, check in values.items():
            if metric in check:
                yield f'{metric}{{server="{name}"}} {check[metric]:.17g}\n'
    yield from _connectors(hosts)


def _memory() -> Iterator[str]:
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
        yield _head(metric, "counter", text)
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
