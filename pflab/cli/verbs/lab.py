"""Verbs that act on a running lab: post, folder, clock, events, lab."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Annotated, Any, Final

from typer import Argument, Option

from pflab.cli.output import CommandError, Json, changed_folder_lines, print_json, print_lines
from pflab.cli.running_lab import Lab, client_of
from pflab.client import Client, ClientError
from pflab.terms.verdict import ExitCode
from topology.problems import counted, did_you_mean


def folder(
    act: Annotated[str, Argument(metavar="list|create|change|delete|propagate", help="The action.")],
    path: Annotated[str | None, Argument(help="The folder's path.")] = None,
    *,
    node: Annotated[str, Option("--node", "--server", "--on", help="The server that makes the change.")],
    replicas: Annotated[str | None, Option(help="The servers that hold the folder, such as A,B.")] = None,
    schedule: Annotated[
        str | None, Option(help="The replication schedule, such as always, never, or every 4 h.")
    ] = None,
    contacts: Annotated[str | None, Option(help="The addresses that get notices of conflicts.")] = None,
    priority: Annotated[
        str | None, Option(help="The priority of the folder's replication mails: urgent, normal or not urgent.")
    ] = None,
    alias: Annotated[str | None, Option(help="The part of the folder's mail address before the @.")] = None,
    age_limit: Annotated[
        str | None, Option(help="The age at which the folder's messages expire, such as 30 d; or none.")
    ] = None,
    warning_limit: Annotated[
        str | None, Option(help="The size from which the contacts get a warning each day, such as 8 MB; or none.")
    ] = None,
    post_limit: Annotated[
        str | None, Option(help="The size from which the folder accepts no posts, such as 10 MB; or none.")
    ] = None,
    item_limit: Annotated[
        str | None, Option(help="The largest size of a new message, such as 300 KB; or none.")
    ] = None,
    resolve: Annotated[
        str | None, Option(help="How conflicts are shown and reported: default, last writer wins, or no notification.")
    ] = None,
    rename: Annotated[str | None, Option(help="For change: the new name.")] = None,
    move_to: Annotated[str | None, Option(help="For change: the path of the new parent; '' for the root.")] = None,
    properties: Annotated[
        str | None,
        Option(
            metavar="PROPERTY,...",
            help="For propagate: which properties all subfolders get, of replicas, schedule, contacts, priority, age_limit, "
            "warning_limit, post_limit, item_limit and resolve.",
        ),
    ] = None,
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """List, create, change or delete folders in a running lab; propagate properties.

    Example: pflab folder create Projects/2003 --node A --replicas A,B --schedule "every 1 h"
    """
    given = {
        "replicas": _split(replicas),
        "schedule": schedule,
        "contacts": _split(contacts),
        "priority": priority,
        "alias": alias,
        "age_limit": age_limit,
        "warning_limit": warning_limit,
        "post_limit": post_limit,
        "item_limit": item_limit,
        "resolve": resolve,
        "rename": rename,
        "move_to": move_to,
    }
    changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    with client_of(lab) as client:
        if act == "list":
            return _list_folders(client, node, path, as_json=as_json)
        acts: Mapping[str, Callable[[str], Any]] = {
            "create": lambda path: client.create_folder(node, path, **changes),
            "change": lambda path: client.change_folder(node, path, **changes),
            "delete": lambda path: client.delete_folder(node, path),
            "propagate": lambda path: client.propagate(node, path, _split(properties) or []),
        }
        if act not in acts:
            raise CommandError(f"pflab folder {act}: no such action; {did_you_mean(act, ['list', *acts])}")
        if path is None:
            raise CommandError(f"pflab folder {act}: give the path of the folder")
        made = acts[act](path)
    if as_json:
        print_json(made)
    elif act == "propagate":
        print_lines(changed_folder_lines(made))
    elif act != "delete":
        print_lines([made["number"]])
    return ExitCode.GOOD


def _split(text: str | None) -> list[str] | None:
    return None if text is None else [each.strip() for each in text.split(",") if each.strip()]


def _list_folders(client: Client, node: str, path: str | None, *, as_json: bool) -> int:
    found = [each for each in client.folders(node) if path in {None, each["path"]}]
    if as_json:
        print_json(found)
    else:
        rows = [(each["path"], ", ".join(each["replicas"]), ", ".join(_folder_words(each))) for each in found]
        widths = [max((len(row[column]) for row in rows), default=0) for column in (0, 1)]
        print_lines([f"{path:{widths[0]}}  {held:{widths[1]}}  {words}" for path, held, words in rows])
    return ExitCode.GOOD


def _folder_words(folder: Mapping[str, Any]) -> list[str]:
    """Return the schedule of a folder, and its properties that differ from the default."""
    words = [folder["schedule"] or "schedule of each store"]
    if folder["priority"] != "normal":
        words.append(folder["priority"])
    limits = {
        "age_limit": "age limit",
        "warning_limit": "warning limit",
        "post_limit": "post limit",
        "item_limit": "item limit",
    }
    words += [f"{name} {folder[key]}" for key, name in limits.items() if folder[key] is not None]
    if folder["resolve"] != "default":
        words.append(folder["resolve"])
    if folder["contacts"]:
        words.append(f"contacts {' '.join(folder['contacts'])}")
    return words


# --- saved labs

_SAVED_ACTS: Final = ("save", "reset", "list", "export")

RESET_TIMEOUT_S: Final = 60.0
RETRY_S: Final = 0.05


def lab(
    act: Annotated[str, Argument(metavar="save|reset|list|export", help="The action.")],
    name: Annotated[str | None, Argument(metavar="NAME", help="The name of the saved state.")] = None,
    replace: Annotated[bool, Option("--replace", help="For save: replace an existing state of that name.")] = False,
    lab: Lab = None,
) -> int:
    """Save a lab, reset it to a saved state, or make it write all its events to traces.

    This verb works with a lab of pflab up, with a lab in containers, and with any other lab that pflab coordinate runs.
    export does not work with a lab of pflab up.

    save keeps the lab's time, every store, the backups, the faults and the traces. reset restores them and pauses the clock.
    export makes the lab write all its events to trace files, which you can then copy.

    Example: pflab lab save start --lab http://127.0.0.1:8025
    """
    act = "export" if act == "ship" else act  # the word for it before 0.2
    if act not in _SAVED_ACTS:
        raise CommandError(f"pflab lab {act}: no such action; write {', '.join(_SAVED_ACTS[:-1])} or {_SAVED_ACTS[-1]}")
    with client_of(lab) as client:
        if act == "list":
            print_lines(client.saved() or ["no saved state"])
            return ExitCode.GOOD
        if act == "export":
            return _write_traces(client)
        if not name:
            raise CommandError(f"pflab lab {act}: give a name, for example pflab lab {act} start")
        print_lines([_saved(client, name, replace=replace) if act == "save" else _reset(client, name)])
    return ExitCode.GOOD


def _saved(client: Client, name: str, *, replace: bool) -> str:
    return f"saved as {name}, at {client.save(name, replace=replace)['at']}"


def _write_traces(client: Client) -> int:
    written = client.export()
    place = "/".join(["traces", written["traces"]] if written["traces"] else ["traces"])
    print_lines([f"{place}: {counted(written['events'], 'event')}, complete up to {written['at']}"])
    if not written["away"]:
        return ExitCode.GOOD
    print_lines([f"  without those of {', '.join(written['away'])}, which did not answer"])
    return ExitCode.UNKNOWN


def _reset(client: Client, name: str) -> str:
    before, began_s = client.lab()["history"], time.monotonic()
    client.reset(name)
    while time.monotonic() - began_s < RESET_TIMEOUT_S:
        time.sleep(RETRY_S)
        with suppress(ClientError):
            client.text("GET", "/readyz")
            found = client.lab()
            if found["history"] != before:
                running = [each["name"] for each in found["servers"] if each["status"] == "running"]
                took_s = time.monotonic() - began_s
                return f"reset to {name}, {found['clock']['now_at']}, after {took_s:.1f} s: {', '.join(running)}"
    raise CommandError(f"the lab did not come back within {RESET_TIMEOUT_S:g} s; see its output")
