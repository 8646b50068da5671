"""The servers of a lab over HTTP: they stop, start, are killed, saved, restored, deleted and created again, and take mail from
outside."""

from __future__ import annotations

from typing import Annotated, Final

from msgspec import Meta

from node.api.asgi import Request, Response
from node.api.routing.reading import Body
from node.api.values import json_response
from node.errors import bug_line
from pflab.lab.served_lab import ServedLab
from pflab.server.present_lab import lab_routes
from topology.arguments import Line

SERVERS: Final = lab_routes("/lab/servers/{name}", tag="servers")
"""One server of a lab."""


class BackupOf(Body, frozen=True, kw_only=True):
    backup: Line


class Deletion(Body, frozen=True, kw_only=True):
    """The server that makes the deletion.

    `force`: delete the store even if it still holds replicas.
    """

    on: Line
    force: bool = False


def smtp_shown(lab: ServedLab, name: str) -> str | None:
    """Return the address at which a server takes mail; None if it does not run, or has no sockets."""
    address = lab.smtp_for_users(name) if lab.running(name) else None
    return None if address is None else "{}:{}".format(*address)


def imap_shown(lab: ServedLab, name: str) -> str | None:
    """Return the address at which a server serves mail programs; None if it does not run, or the lab has no IMAP."""
    address = lab.imap_of(name)
    return None if address is None else "{}:{}".format(*address)


def status_shown(lab: ServedLab, name: str) -> dict[str, str]:
    """Return `status`: running, not running, failed, or, for a server without a store, not started or store deleted. A server
    that failed also has `failure`, its internal error."""
    failure = lab.failure_of(name)
    if failure is not None:
        return {"status": "failed", "failure": bug_line(failure)}
    return {"status": "running" if lab.running(name) else lab.without_store(name) or "not running"}


def _status_of(lab: ServedLab, name: str) -> Response:
    return json_response({"name": name, **status_shown(lab, name)})


@SERVERS.post("/stop")
async def stop(lab: ServedLab, name: str) -> Response:
    """Stop a server cleanly."""
    await lab.stop(name)
    return _status_of(lab, name)


@SERVERS.post("/kill")
async def kill(lab: ServedLab, name: str) -> Response:
    """Kill a server at once, as by SIGKILL."""
    await lab.kill(name)
    return _status_of(lab, name)


@SERVERS.post("/start")
async def start(lab: ServedLab, name: str) -> Response:
    """Start a server that was stopped or killed, or that joins later."""
    await lab.start(name)
    return _status_of(lab, name)


@SERVERS.post("/backup")
async def backup(lab: ServedLab, name: str) -> Response:
    """Make a backup of the server's database; return its id."""
    return json_response({"name": name, "backup": await lab.backup(name)})


@SERVERS.post("/restore")
async def restore(lab: ServedLab, name: str, body: BackupOf) -> Response:
    """Start the server on one of its backups. On the backup of another server, it only shows that store."""  # spec: RP-4, RP-8
    await lab.restore(name, body.backup)
    return _status_of(lab, name)


@SERVERS.post("/delete")
async def delete(lab: ServedLab, name: str, body: Deletion) -> Response:
    """Delete a stopped server's store from the directory; it never starts again."""  # spec: RP-6
    await lab.delete_store(name, on=body.on, force=body.force)
    return _status_of(lab, name)


@SERVERS.post("/create")
async def create(lab: ServedLab, name: str) -> Response:
    """Create a new, empty store for a server whose store was deleted from the directory, and start it."""  # spec: RP-7
    await lab.create_store(name)
    return _status_of(lab, name)


@SERVERS.post("/mail", body={"content": {"message/rfc822": {}}})
async def mail(
    lab: ServedLab,
    name: str,
    request: Request,
    from_: Annotated[Line, Meta(examples=["kim@outside.test"])],
    to: Annotated[list[Line], Meta(examples=[["projects@contoso.test"]])],
) -> Response:
    """Send ordinary mail to the server by SMTP, as any mail program does. The mail is durable there when the answer
    arrives. It goes to the recipients that the server accepts; `refused` has the others, each with the server's reply. If
    the server refuses all of them, the answer is 422."""
    refused = await lab.mail(name, from_, to, await request.body())
    return json_response({"name": name, **status_shown(lab, name), "refused": dict(refused)})
