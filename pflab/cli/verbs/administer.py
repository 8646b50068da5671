"""Verbs by which an administrator acts on the whole organization of a running lab: content, directory."""

from __future__ import annotations

from typing import Annotated, Any, Final

import typer

from pflab.cli.output import CommandError, Json, print_json, print_lines
from pflab.cli.running_lab import Lab, client_of
from pflab.client import Client
from pflab.terms.verdict import ExitCode
from topology.problems import did_you_mean
from topology.settings.catalogue import find_spec

SUSPENDED: Final = "Content Replication Suspended"

_ACTS: Final = {"suspend": 1, "resume": 0, "show": None}
"""What each act sets on every server."""


def content(
    act: Annotated[str, typer.Argument(metavar="[suspend|resume|show]", help="What to do; default: show.")] = "show",
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """Suspend or resume the replication of content in a running lab, on all its servers.

    Statuses and the folder tree go on meanwhile. Servers of 5.5 and 2000 know nothing of it and send on.

    Example: pflab content suspend
    """
    if act not in _ACTS:
        raise CommandError(f"pflab content {act}: {did_you_mean(act, list(_ACTS))}")
    with client_of(lab) as client:
        servers = client.lab()["servers"]
        running = [each for each in servers if each["standing"] == "running"]
        if (value := _ACTS[act]) is not None:
            for each in running:
                client.configure(each["name"], {SUSPENDED: value})
        found = [{"server": each["name"], "content": _content_of(client, each)} for each in running]
    if as_json:
        print_json(found)
    else:
        print_lines([f"{each['server']}  {each['content']}" for each in found])
    away = [each["name"] for each in servers if each not in running]
    if away and act != "show":
        raise CommandError(f"not told, for they do not run: {', '.join(away)}; when they do, pflab content {act} again")
    return ExitCode.GOOD


def _content_of(client: Client, server: dict[str, Any]) -> str:
    if server["version"] not in map(str, find_spec(SUSPENDED).versions):  # spec: RP-5
        return "goes on whatever is said"
    return "goes on" if client.settings(server["name"])["settings"][SUSPENDED] == "0" else "suspended"


def directory(
    act: Annotated[str, typer.Argument(metavar="delete", help="What to do.")],
    server: Annotated[str, typer.Argument(help="The server whose store is deleted; it must be stopped.")],
    on: Annotated[str, typer.Option("--on", "--node", "--server", help="The server that it is done on.")],
    force: Annotated[
        bool,
        typer.Option("--force", help="Though it holds replicas: it goes off every list, and what only it had is lost."),
    ] = False,
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """Delete a store from the directory of a running lab, for good.

    It is refused while the store holds replicas: move them first, or use --force. Servers that do not run hear of it when they
    start; the deleted one does not start again.

    Example: pflab directory delete B --on A --force
    """
    if act != "delete":
        raise CommandError(f"pflab directory {act}: {did_you_mean(act, ['delete'])}")
    with client_of(lab) as client:
        client.delete_store(server, on=on, force=force)
    if as_json:
        print_json({"deleted": server, "on": on})
    else:
        print_lines([f"store {server} is in the directory no more"])
    return ExitCode.GOOD
