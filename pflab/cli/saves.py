"""The verb that keeps a running lab as it stands, and brings it back to that: lab."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Annotated, Final

import typer

from pflab.cli.lablink import Lab, client_of
from pflab.cli.output import CommandError, print_lines
from pflab.client import Client, ClientError
from pflab.verdict import ExitCode

ACTS: Final = ("save", "reset", "list")

BACK_WITHIN_S: Final = 60.0
AGAIN_S: Final = 0.05


def lab(
    act: Annotated[str, typer.Argument(metavar="save|reset|list", help="What to do.")],
    name: Annotated[str | None, typer.Argument(help="The name under which the lab is kept.")] = None,
    lab: Lab = None,
) -> int:
    """Keep a running lab in containers as it stands, or bring it back to that.

    Time, servers, every store and the traces are as they were; the clock stands and no fault is in force. A lab in
    containers can, or any that pflab coordinate leads.

    Example: pflab lab save start --lab http://127.0.0.1:8025
    """
    if act not in ACTS:
        raise CommandError(f"pflab lab {act}: write {', '.join(ACTS[:-1])} or {ACTS[-1]}")
    with client_of(lab) as client:
        if act == "list":
            print_lines(client.saved() or ["nothing was saved"])
            return ExitCode.GOOD
        if name is None:
            raise CommandError(f"pflab lab {act}: name it, as in pflab lab {act} start")
        print_lines([_saved(client, name) if act == "save" else _reset(client, name)])
    return ExitCode.GOOD


def _saved(client: Client, name: str) -> str:
    return f"saved as {name}, at {client.save(name)['at']}"


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
