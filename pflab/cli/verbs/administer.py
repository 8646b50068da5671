"""Verbs that administer the whole organization of a running lab: content, directory."""

from __future__ import annotations

from typing import Annotated, Any, Final

from typer import Argument, Option

from pflab.cli.output import CommandError, Json, print_json, print_lines
from pflab.cli.running_lab import Lab, client_of
from pflab.client import Client
from pflab.terms.verdict import ExitCode
from topology.problems import did_you_mean
from topology.settings.catalogue import find_spec

SUSPENDED: Final = "Content Replication Suspended"

_ACTS: Final = {"suspend": 1, "resume": 0, "show": None}
"""The value that each action sets on every server; None sets nothing."""


def content(
    act: Annotated[str, Argument(metavar="[suspend|resume|show]", help="The action; default: show.")] = "show",
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """Suspend or resume the replication of content on all servers of a running lab.

    Status mails and the hierarchy still replicate. Servers of version 5.5 and 2000 do not have this setting and
    continue to send content.

    Example: pflab content suspend
    """
    if act not in _ACTS:
        raise CommandError(f"pflab content {act}: no such action; {did_you_mean(act, list(_ACTS))}")
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
        raise CommandError(
            f"these servers do not run, so nothing changed there: {', '.join(away)}; "
            f"start them and repeat pflab content {act}"
        )
    return ExitCode.GOOD


def _content_of(client: Client, server: dict[str, Any]) -> str:
    if server["version"] not in map(str, find_spec(SUSPENDED).versions):  # spec: RP-5
        return "replicates; this version cannot suspend content"
    return "replicates" if client.settings(server["name"])["settings"][SUSPENDED] == "0" else "suspended"


def directory(
    act: Annotated[str, Argument(metavar="delete", help="The action.")],
    server: Annotated[str, Argument(help="The server whose store is deleted. This server must be stopped.")],
    on: Annotated[str, Option("--on", "--node", "--server", help="The server that makes the deletion.")],
    force: Annotated[
        bool,
        Option(
            "--force", help="Delete the store even if it holds replicas. Changes that only this store had are lost."
        ),
    ] = False,
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """Delete a store permanently from the directory of a running lab.

    The lab refuses the deletion while the store holds replicas: move the replicas first, or use --force. Servers that do
    not run learn of the deletion when they start. The server of the deleted store cannot start again.

    Example: pflab directory delete B --on A --force
    """
    if act != "delete":
        raise CommandError(f"pflab directory {act}: no such action; {did_you_mean(act, ['delete'])}")
    with client_of(lab) as client:
        client.delete_store(server, on=on, force=force)
    if as_json:
        print_json({"deleted": server, "on": on})
    else:
        print_lines([f"store {server} is deleted from the directory"])
    return ExitCode.GOOD
