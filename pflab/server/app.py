"""The HTTP server of a lab: its clock, its faults, its servers, its events, and the API of every node.

The paths are the same whichever driver runs the lab. If the nodes run in this process, the application serves them itself.
If they run in other processes, `pflab.server.proxy` forwards requests for a node to its process.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Sequence
from http import HTTPStatus
from typing import Annotated, Final

import msgspec
from fastapi import APIRouter, FastAPI, Query, Request, Response
from pydantic import Field

from node.api.app import make_app
from node.api.bodies import Body, Line
from node.api.events import ALIVE_S, EVENT_LINES, LOOK_S, STREAMED, LastEventId, seq_of, streamed
from node.api.hosts import Hosts, Number, ServedHost
from node.api.values import LINES, ServerUnknown, json_response
from node.errors import NotRunning, bug_line
from node.host.clock import ClockError
from node.seeded_ids import setup_guid
from pflab.errors import LabError, NotThere
from pflab.lab.served_lab import ServedLab
from pflab.replay.console_events import lexicon_of, with_words
from pflab.replay.replay_file import replay_file
from pflab.runs.events import RunEvents
from pflab.server.changes import lab_router
from pflab.server.clock import clock_router, clock_shown
from pflab.server.console import console_router
from pflab.server.extension import Extension
from pflab.server.faults import decisions_router, faults_router, faults_shown
from pflab.server.mails import mails_router
from pflab.server.proxy import AddressOf, Proxy, Wait
from pflab.server.traces import traces_router
from topology.file.load import topology_from_text
from topology.problems import ProblemsError
from traces.errors import TraceError
from traces.events import Event
from traces.labtime import format_instant

Words = Annotated[bool, Query(description="Add to each event the field `words`: what happened, for people.")]
_ERRORS: Final = {
    NotThere: HTTPStatus.NOT_FOUND,
    LabError: HTTPStatus.CONFLICT,
    ClockError: HTTPStatus.CONFLICT,
    TraceError: HTTPStatus.CONFLICT,
}

_SERVER = {
    "name": "A",
    "site": "SEA",
    "version": "2003",
    "status": "running",
    "smtp": "127.0.0.1:40025",
    "imap": None,
}


class BackupOf(Body):
    backup: Line


class Deletion(Body):
    """The server that makes the deletion.

    `force`: delete the store even if it still holds replicas.
    """

    on: Line
    force: bool = False


class Policy(Body):
    """recipient_update: how often the recipient update service runs (always, never, or for example 1 h).
    domain: the domain of the addresses that it gives.
    at_once: give all entries that wait their addresses now.
    """

    recipient_update: Annotated[Line | None, Field(examples=["always"])] = None
    domain: Annotated[Line | None, Field(examples=["fabrikam.test"])] = None
    at_once: bool = False


class Renewal(Body):
    """The topology of the next run, as YAML or JSON; default: the topology of this run."""

    topology: str | None = None


class Saving(Body):
    """`replace`: overwrite an existing snapshot of that name."""

    replace: bool = False


class ProxiedHosts:
    """The hosts of a lab whose nodes are in other processes. The application documents their routes; the proxy answers."""

    ending = False

    def __init__(self, lab: ServedLab) -> None:
        self._lab = lab

    @property
    def waits(self) -> str:
        return self._lab.waits

    @property
    def names(self) -> Sequence[str]:
        return ()

    def host(self, name: str) -> ServedHost:
        raise NotRunning(f"server {name} is not running")


class EmbeddedHosts:
    """The hosts of an embedded lab."""

    ending = False

    def __init__(self, lab: ServedLab, host_of: Callable[[str], ServedHost]) -> None:
        self._lab = lab
        self._host_of = host_of

    @property
    def waits(self) -> str:
        return self._lab.waits

    @property
    def names(self) -> Sequence[str]:
        return self._lab.names

    def host(self, name: str) -> ServedHost:
        if name not in self._lab.names:
            raise ServerUnknown(f"there is no server {name!r} in this lab; it has {', '.join(self._lab.names)}")
        self._lab.check_begun()
        return self._host_of(name)


def app_of_live_lab(
    lab: ServedLab, host_of: Callable[[str], ServedHost], extension: Extension | None = None
) -> FastAPI:
    """Return the application of a lab whose nodes run in this process."""
    return _app(lab, EmbeddedHosts(lab, host_of), extension)


def app_of_remote_lab(
    lab: ServedLab, address_of: AddressOf, wait: Wait, token: str, extension: Extension | None = None
) -> Proxy:
    """Return the application of a lab whose nodes run in other processes and authenticate by a token."""
    app = _app(lab, ProxiedHosts(lab), extension, decisions_router(lab.decide, token))
    return Proxy(app, address_of, wait, token)


def _app(lab: ServedLab, hosts: Hosts, extension: Extension | None, *more: APIRouter) -> FastAPI:
    routers = (
        console_router(),
        _lab_router(lab),
        clock_router(lab),
        faults_router(lab),
        mails_router(lab),
        _life_router(lab),
        _stream_router(lab),
        traces_router(lab),
    )
    app = make_app(
        hosts,
        *routers,
        *more,
        *([extension.router] if extension else []),
        title="pflab lab",
        errors={**_ERRORS, **(extension.errors if extension else {})},
    )
    if extension is not None:
        app.mount(extension.path, extension.app)
    return app


def _lab_router(lab: ServedLab) -> APIRouter:
    router = lab_router(lab, tags=["lab"])

    @router.post("/lab/recipient-policy")
    async def recipient_policy(wanted: Policy) -> Response:
        """Change the recipient policy of the organization, or its recipient update service."""  # spec: ML-1
        given = {"recipient_update": wanted.recipient_update, "domain": wanted.domain}
        await lab.set_recipient_policy(**given, at_once=wanted.at_once)
        return json_response(given)

    @router.get("/lab", responses={200: {"content": {"application/json": {"example": {"servers": [_SERVER]}}}}})
    async def the_lab() -> Response:
        """Return the run, the clock, the servers with their SMTP and IMAP addresses, the active faults, and the newest
        verdict of pflab follow, or null."""
        servers = [
            {
                "name": name,
                "site": server.site,
                "version": str(server.version),
                **_status(lab, name),
                "smtp": smtp_shown(lab, name),
                "imap": imap_shown(lab, name),
            }
            for name, server in lab.topology.servers.items()
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

    @router.get("/lab/topology")
    async def topology() -> Response:
        """Return the topology with every default filled in."""
        return json_response(lab.topology.as_document())

    @router.post("/lab/renew", status_code=HTTPStatus.ACCEPTED)
    async def renew(wanted: Renewal) -> Response:
        """End this run and begin another with a paused clock, with the same topology or a new one. All servers of a new
        topology must be servers of this lab. /readyz answers 200 when the new run has begun."""
        try:
            topology = None if wanted.topology is None else topology_from_text(wanted.topology)
        except ProblemsError as error:
            raise LabError(" ".join(str(error).split())) from error
        await lab.renew(topology)
        return json_response({"ends": lab.run}, HTTPStatus.ACCEPTED)

    @router.get("/lab/saved")
    async def saved() -> Response:
        """Return the names of the snapshots of this lab."""
        return json_response(list(lab.saved()))

    @router.put("/lab/saved/{name}")
    async def save(name: str, wanted: Saving | None = None) -> Response:
        """Save a snapshot of the lab: its time, its servers, an exact copy of every store, and the traces up to now.
        Answers 409 if the name exists, unless `replace` is true."""
        await lab.save(name, replace=wanted is not None and wanted.replace)
        return json_response({"name": name, "at": format_instant(lab.now)})

    @router.post("/lab/saved/{name}/reset", status_code=HTTPStatus.ACCEPTED)
    async def reset(name: str) -> Response:
        """Go back to a snapshot, with a paused clock and without faults. /readyz answers 200 when the lab runs again."""
        await lab.reset(name)
        return json_response({"ends": lab.history}, HTTPStatus.ACCEPTED)

    return router


def smtp_shown(lab: ServedLab, name: str) -> str | None:
    """Return the address at which a server takes mail; None if it does not run, or has no sockets."""
    address = lab.smtp_for_users(name) if lab.running(name) else None
    return None if address is None else "{}:{}".format(*address)


def imap_shown(lab: ServedLab, name: str) -> str | None:
    """Return the address at which a server serves mail programs; None if it does not run, or the lab has no IMAP."""
    address = lab.imap_of(name)
    return None if address is None else "{}:{}".format(*address)


def _status(lab: ServedLab, name: str) -> dict[str, str]:
    """Return `status`: running, not running, or failed; a server that failed also has `failure`, its internal error."""
    failure = lab.failure_of(name)
    if failure is not None:
        return {"status": "failed", "failure": bug_line(failure)}
    return {"status": "running" if lab.running(name) else "not running"}


def _life_router(lab: ServedLab) -> APIRouter:
    router = lab_router(lab, prefix="/lab/servers/{name}", tags=["servers"])

    def status_of(name: str) -> Response:
        return json_response({"name": name, **_status(lab, name)})

    @router.post("/stop")
    async def stop(name: str) -> Response:
        """Stop a server cleanly."""
        await lab.stop(name)
        return status_of(name)

    @router.post("/kill")
    async def kill(name: str) -> Response:
        """Kill a server at once, as by SIGKILL."""
        await lab.kill(name)
        return status_of(name)

    @router.post("/start")
    async def start(name: str) -> Response:
        """Start a server that was stopped or killed, or that joins later."""
        await lab.start(name)
        return status_of(name)

    @router.post("/backup")
    async def backup(name: str) -> Response:
        """Make a backup of the server's database; return its id."""
        return json_response({"name": name, "backup": await lab.backup(name)})

    @router.post("/restore")
    async def restore(name: str, wanted: BackupOf) -> Response:
        """Start the server on one of its backups."""  # spec: RP-4
        await lab.restore(name, wanted.backup)
        return status_of(name)

    @router.post("/delete")
    async def delete(name: str, wanted: Deletion) -> Response:
        """Delete a stopped server's store from the directory; it never starts again."""  # spec: RP-6
        await lab.delete_store(name, on=wanted.on, force=wanted.force)
        return status_of(name)

    @router.post("/mail", openapi_extra={"requestBody": {"content": {"message/rfc822": {}}}})
    async def mail(
        name: str,
        request: Request,
        from_: Annotated[Line, Query(alias="from", examples=["kim@outside.test"])],
        to: Annotated[list[Line], Query(examples=[["projects@contoso.test"]])],
    ) -> Response:
        """Send ordinary mail to the server by SMTP, as any mail program does. The mail is durable there when the answer
        arrives. It goes to the recipients that the server accepts; `refused` has the others, each with the server's reply. If
        the server refuses all of them, the answer is 422."""
        refused = await lab.mail(name, from_, to, await request.body())
        return json_response({"name": name, **_status(lab, name), "refused": dict(refused)})

    return router


History = Annotated[str, Query(max_length=1000, description="The run history that `after` belongs to.")]


def _stream_router(lab: ServedLab) -> APIRouter:
    router = lab_router(lab, tags=["events"])

    @router.get("/lab/stream", responses=STREAMED)
    async def stream(
        after: Annotated[Number | None, Query(description="Begin after this id; default: now.")] = None,
        last: LastEventId = None,
        words: Words = False,
        history: History = "",
    ) -> Response:
        """Stream the events of all servers and of the lab itself in order, as server-sent events. An id is the number of the
        event in its run history, and that history, as `12@up/2026-11-26T101500Z`. With `words`, the events have no names, so a
        browser gets them all with one handler. Answers 409 if the Last-Event-ID or `history` is of another run history."""
        number, _, known = (last or "").partition("@")
        _check_history(lab, known or history)
        resumed = seq_of(number)
        begins = after if resumed is None else resumed
        answer = streamed(_followed(lab, lab.record.count if begins is None else begins, words=words))
        answer.headers["Pflab-History"] = lab.history
        return answer

    @router.get("/lab/events", responses=EVENT_LINES)
    async def events(
        after: Number = 0,
        limit: Annotated[int, Query(ge=1, le=100_000)] = 10_000,
        last: Annotated[int | None, Query(ge=1, le=100_000, description="Only this many events, the newest.")] = None,
        words: Words = False,
        history: History = "",
    ) -> Response:
        """Return the events of all servers and of the lab itself in order, as JSON lines, without the first `after` of them.

        The headers Pflab-Next and Pflab-History are the values of `after` and `history` for the next request. A reset begins
        another history, whose events may have other numbers; with `history`, the next request then gets 409. If a lab has run
        for long, only its newest events are here; its traces have the older ones.
        """
        await lab.catch_up()
        _check_history(lab, history)
        if last is not None:
            after = max(after, lab.record.count - last)
        encode = _encoder(lab, after) if words else msgspec.json.encode
        found = lab.events(after)[:limit]
        lines = b"".join(encode(event) + b"\n" for event in found)
        asked_next = str(max(after, lab.record.first) + len(found))
        headers = {"Pflab-Next": asked_next, "Pflab-History": lab.history}
        return Response(lines, media_type=LINES, headers=headers)

    @router.get("/lab/replay", responses={200: {"content": {"text/html": {}}}})
    async def replay() -> Response:
        """Return the run so far as one HTML file that shows it in a browser without a server, as pflab replay writes it. If a
        lab has run for long, the file begins with the oldest event that is still in memory."""
        await lab.catch_up()
        organization = lab.topology.as_json()
        events, title = lab.events(), f"{lab.folder.name}: a run of pflab"
        page = await asyncio.to_thread(
            lambda: replay_file(RunEvents.of(lab.folder, events, organization=organization), title=title)
        )
        organization_name = re.sub(r"[^A-Za-z0-9]+", "-", lab.topology.organization).strip("-") or "run"
        name = f"{organization_name}-{format_instant(lab.now)[:10]}.html"
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        return Response(page, media_type="text/html; charset=utf-8", headers=headers)

    return router


def _check_history(lab: ServedLab, history: str) -> None:
    """Raise LabError if a reader of events knows another run history; its numbers of events are not those of this one."""
    if history not in {"", lab.history}:
        raise LabError(
            f"the lab was replaced or reset; its run history is now {lab.history}. Read its events from the first on"
        )


def _encoder(lab: ServedLab, after: int) -> Callable[[Event], bytes]:
    """Return a function that encodes the events after the first `after` ones, with words."""
    names = lexicon_of(lab.topology)
    for event in lab.events()[: max(0, after - lab.record.first)]:
        names.learn(event)
    return lambda event: with_words(event, names)


async def _followed(lab: ServedLab, seen: int, *, words: bool) -> AsyncIterator[bytes]:
    yield b": pflab\n\n"
    silent_s = 0.0
    encode = _encoder(lab, seen) if words else msgspec.json.encode
    history = lab.history
    while lab.history == history:  # after a reset, the ids of events begin again
        await lab.catch_up()
        seen = max(seen, lab.record.first)
        fresh = lab.events(seen)
        for event in fresh:
            seen += 1
            name = b"" if words else b"event: %b\n" % str(event.__struct_config__.tag).encode()
            yield b"id: %d@%b\n%bdata: %b\n\n" % (seen, history.encode(), name, encode(event))
        silent_s = 0.0 if fresh else silent_s + LOOK_S
        if silent_s >= ALIVE_S:
            silent_s = 0.0
            yield b": alive\n\n"
        await asyncio.sleep(0 if fresh else LOOK_S)
