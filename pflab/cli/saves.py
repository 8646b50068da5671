"""The verb that keeps a running lab as it stands, brings it back to that, and has its traces written: lab."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Annotated, Final

import typer

from pflab.cli.lablink import Lab, client_of
from pflab.cli.output import CommandError, print_lines
from pflab.client import Client, ClientError
from pflab.verdict import ExitCode
from topology.problems import counted

ACTS: Final = ("save", "reset", "list", "ship")

BACK_WITHIN_S: Final = 60.0
AGAIN_S: Final = 0.05


def lab(
    act: Annotated[str, typer.Argument(metavar="save|reset|list|ship", help="What to do.")],
    name: Annotated[str | None, typer.Argument(help="The name under which the lab is kept.")] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Save in the place of what has that name.")] = False,
    lab: Lab = None,
) -> int:
    """Keep a running lab in containers as it stands, or bring it back to that; or write its traces up to now.

    Time, servers, every store and the traces are as they were; the clock stands and no fault is in force. A lab in
    containers can, or any that pflab coordinate leads. Shipped, all that has happened is in closed segments, to be copied.

    Example: pflab lab save start --lab http://127.0.0.1:8025
    """
    if act not in ACTS:
        raise CommandError(f"pflab lab {act}: write {', '.join(ACTS[:-1])} or {ACTS[-1]}")
    with client_of(lab) as client:
        if act == "list":
            print_lines(client.saved() or ["nothing was saved"])
            return ExitCode.GOOD
        if act == "ship":
            return _ship(client)
        if name is None:
            raise CommandError(f"pflab lab {act}: name it, as in pflab lab {act} start")
        print_lines([_saved(client, name, replace=replace) if act == "save" else _reset(client, name)])
    return ExitCode.GOOD


def _saved(client: Client, name: str, *, replace: bool) -> str:
    return f"saved as {name}, at {client.save(name, replace=replace)['at']}"


def _ship(client: Client) -> int:
    shipped = client.ship()
    place = "/".join(["traces", shipped["traces"]] if shipped["traces"] else ["traces"])
    print_lines([f"{place}: {counted(shipped['events'], 'event')}, all up to {shipped['at']}"])
    if not shipped["away"]:
        return ExitCode.GOOD
    print_lines([f"  but those of {', '.join(shipped['away'])}, from which no answer comes"])
    return ExitCode.UNKNOWN


def _reset(client: Client, name: str) -> str:
    before, began_s = client.lab()["history"], time.monotonic()
    client.reset(name)
    while time.monotonic() - began_s < BACK_WITHIN_S:
        time.sleep(AGAIN_S)
        with suppress(ClientError):
            client.text("GET", "/readyz")
            found = client.lab()
            if found["history"] != before:
                there = [each["name"] for each in found["servers"] if each["standing"] == "running"]
                took_s = time.monotonic() - began_s
                return f"back at {name}, {found['clock']['now_at']}, after {took_s:.1f} s: {', '.join(there)}"
    raise CommandError(f"the lab did not come back within {BACK_WITHIN_S:g} s; its own words may say why")
