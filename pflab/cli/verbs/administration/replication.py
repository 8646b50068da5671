"""Verbs about the replication of folders: content, resend, replicas, synchronize."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Final

from typer import Argument, Option

from pflab.cli.actions import verb_with_actions
from pflab.cli.options import OnServer
from pflab.cli.output import CommandError, Json, changed_folder_lines, print_json, print_lines, print_result
from pflab.cli.running_lab import Lab, client_of
from pflab.client import Client
from pflab.terms.verdict import ExitCode
from topology.problems import counted
from topology.settings.catalogue import find_spec

SUSPENDED: Final = "Content Replication Suspended"

content = verb_with_actions(
    """Suspend or resume the replication of content on all servers of a running lab.

    Without an action, the verb shows which servers replicate content. Status mails and the hierarchy always replicate.
    Servers of version 5.5 and 2000 do not have this setting, so they always replicate content.
    """
)


@content.command()
def show(lab: Lab = None, as_json: Json = False) -> int:
    """Print which servers replicate content.

    Example: pflab content show
    """
    with client_of(lab) as client:
        running = [server for server in client.lab()["servers"] if server["status"] == "running"]
        return _print_content(client, running, as_json)


@content.command()
def suspend(lab: Lab = None, as_json: Json = False) -> int:
    """Suspend the replication of content on all servers.

    Example: pflab content suspend
    """
    return _set_suspended("suspend", 1, lab, as_json)


@content.command()
def resume(lab: Lab = None, as_json: Json = False) -> int:
    """Resume the replication of content on all servers.

    Example: pflab content resume
    """
    return _set_suspended("resume", 0, lab, as_json)


def _set_suspended(action: str, value: int, lab: str | None, as_json: bool) -> int:
    with client_of(lab) as client:
        servers = client.lab()["servers"]
        running = [server for server in servers if server["status"] == "running"]
        for server in running:
            client.configure(server["name"], {SUSPENDED: value})
        _print_content(client, running, as_json)
    stopped = [server["name"] for server in servers if server not in running]
    if stopped:
        raise CommandError(
            f"these servers do not run, so nothing changed there: {', '.join(stopped)}; "
            f"start them and repeat pflab content {action}"
        )
    return ExitCode.GOOD


def _print_content(client: Client, servers: Iterable[dict[str, Any]], as_json: bool) -> int:
    states = [{"server": server["name"], "content": _content_of(client, server)} for server in servers]
    return print_result(states, [f"{state['server']}  {state['content']}" for state in states], as_json)


def _content_of(client: Client, server: dict[str, Any]) -> str:
    if server["version"] not in map(str, find_spec(SUSPENDED).versions):  # spec: RP-5
        return "replicates; this version cannot suspend content"
    return "replicates" if client.settings(server["name"])["settings"][SUSPENDED] == "0" else "suspended"


def resend(
    folder: Annotated[str, Argument(help="The folder's path, or 1-1 for the hierarchy.")],
    *,
    days: Annotated[int, Option(min=1, help="Send the changes of the last N days.")],
    from_: Annotated[list[str], Option("--from", help="A server that sends its changes; can be repeated.")],
    to: Annotated[
        list[str] | None,
        Option(
            "--to",
            help="A server that receives the changes; can be repeated. Default: all other servers that hold the "
            "folder.",
        ),
    ] = None,
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """Resend the recent changes of a folder, or of the hierarchy, from chosen servers to chosen servers.

    Exchange System Manager had Send Contents and Send Hierarchy for this. The servers send the mails immediately, and the
    receivers ignore changes that they have. If the folder has the schedule "never", the mails also contain changes that have
    never been sent. Servers of version 5.5 and 2000 refuse this.

    Example: pflab resend Projects --days 7 --from A --to B
    """
    orders: list[dict[str, Any]] = []
    try:
        with client_of(lab) as client:
            orders += ({"from": sender, **client.send_again(sender, folder, days=days, to=to)} for sender in from_)
    finally:  # a server that refuses does not hide which servers have sent
        if as_json:
            print_json(orders)
        else:
            print_lines([_resent_line(order, days) for order in orders])
    return ExitCode.GOOD


def _resent_line(order: dict[str, Any], days: int) -> str:
    if not order["numbers"]:
        return f"{order['from']} has no changes of {order['folder']} of the last {counted(days, 'day')}, so it sends nothing"
    return f"{order['from']} sends {order['numbers']} of {order['folder']} to {', '.join(order['to'])}"


Subtree = Annotated[str, Argument(metavar="FOLDER", help="The path of a folder, or 1-1 for all folders.")]

replicas = verb_with_actions(
    """Add, remove or replace replicas of a folder and all its subfolders in a running lab.

    For one folder without its subfolders, use pflab folder change --replicas.
    """
)


@replicas.command()
def add(
    folder: Subtree,
    *,
    replica: Annotated[list[str], Option(metavar="SERVER", help="A server that gets replicas; can be repeated.")],
    on: OnServer,
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """Add replicas of a folder and all its subfolders.

    Example: pflab replicas add Projects --replica B --on A
    """
    with client_of(lab) as client:
        return _print_replicas(client.change_replicas(on, folder, add=replica), as_json)


@replicas.command()
def remove(
    folder: Subtree,
    *,
    replica: Annotated[
        list[str], Option(metavar="SERVER", help="A server whose replicas are removed; can be repeated.")
    ],
    on: OnServer,
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """Remove replicas of a folder and all its subfolders.

    A folder that would have no replica left stays as it is.

    Example: pflab replicas remove Projects --replica B --on A
    """
    with client_of(lab) as client:
        return _print_replicas(client.change_replicas(on, folder, remove=replica), as_json)


@replicas.command("replace")
def replace_replicas(
    folder: Subtree,
    *,
    replica: Annotated[str, Option(metavar="SERVER", help="The server whose replicas are removed.")],
    by: Annotated[str, Option(metavar="SERVER", help="The server that gets the replicas.")],
    on: OnServer,
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """Move the replicas of a server to another server.

    With 1-1 in place of a folder, all replicas of the server move. The old server keeps its data until another holder has all
    of it.

    Example: pflab replicas replace 1-1 --replica B --by A --on A
    """
    with client_of(lab) as client:
        return _print_replicas(client.change_replicas(on, folder, replace=replica, by=by), as_json)


def _print_replicas(changes: Mapping[str, Any], as_json: bool) -> int:
    return print_result(changes, changed_folder_lines(changes), as_json)


def synchronize(
    folder: Annotated[str, Argument(help="The folder's path, or 1-1 for the hierarchy.")],
    servers: Annotated[
        list[str],
        Option(
            "--server", "--node", "--on", metavar="SERVER", help="A server that requests the status; can be repeated."
        ),
    ],
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """Make servers request the status of a folder, or of the hierarchy, from all other holders now.

    Exchange System Manager had Synchronize Content and Synchronize Hierarchy for this; the Shell of 2007 had
    Update-PublicFolder and Update-PublicFolderHierarchy. A server that learns of missing changes requests them after the
    backfill time-out. Servers of version 5.5 and 2000 refuse this.

    Example: pflab synchronize Projects --server B
    """
    requests: list[dict[str, Any]] = []
    try:
        with client_of(lab) as client:
            requests += ({"server": server, "asked": client.synchronize(server, folder)["asked"]} for server in servers)
    finally:
        if as_json:
            print_json(requests)
        else:
            print_lines(
                [f"{request['server']} asks {', '.join(request['asked'])} about {folder}" for request in requests]
            )
    return ExitCode.GOOD
