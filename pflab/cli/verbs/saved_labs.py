"""The verb `lab`: save a running lab, reset it to a saved state, or make it write all its events to traces."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Annotated, Final

from typer import Argument, Option

from pflab.cli.output import CommandError, print_lines
from pflab.cli.running_lab import Lab, client_of
from pflab.client import Client, ClientError
from pflab.terms.verdict import ExitCode
from topology.problems import counted

ACTS: Final = ("save", "reset", "list", "ship")

RESET_TIMEOUT_S: Final = 60.0
RETRY_S: Final = 0.05


def lab(
    act: Annotated[str, Argument(metavar="save|reset|list|ship", help="The action.")],
    name: Annotated[str | None, Argument(metavar="NAME", help="The name of the saved state.")] = None,
    replace: Annotated[bool, Option("--replace", help="For save: replace an existing state of that name.")] = False,
    lab: Lab = None,
) -> int:
    """Save a lab, reset it to a saved state, or make it write all its events to traces.

    This verb works with a lab of pflab up without --processes, with a lab in containers, and with any other lab that
    pflab coordinate runs. ship does not work with a lab of pflab up.

    save keeps the lab's time, every store and the traces. reset restores them, pauses the clock and heals all faults.
    ship makes the lab write all its events to trace files, which you can then copy.

    Example: pflab lab save start --lab http://127.0.0.1:8025
    """
    if act not in ACTS:
        raise CommandError(f"pflab lab {act}: no such action; write {', '.join(ACTS[:-1])} or {ACTS[-1]}")
    with client_of(lab) as client:
        if act == "list":
            print_lines(client.saved() or ["no saved state"])
            return ExitCode.GOOD
        if act == "ship":
            return _write_traces(client)
        if not name:
            raise CommandError(f"pflab lab {act}: give a name, for example pflab lab {act} start")
        print_lines([_saved(client, name, replace=replace) if act == "save" else _reset(client, name)])
    return ExitCode.GOOD


def _saved(client: Client, name: str, *, replace: bool) -> str:
    return f"saved as {name}, at {client.save(name, replace=replace)['at']}"


def _write_traces(client: Client) -> int:
    written = client.ship()
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
                running = [each["name"] for each in found["servers"] if each["standing"] == "running"]
                took_s = time.monotonic() - began_s
                return f"reset to {name}, {found['clock']['now_at']}, after {took_s:.1f} s: {', '.join(running)}"
    raise CommandError(f"the lab did not come back within {RESET_TIMEOUT_S:g} s; see its output")
