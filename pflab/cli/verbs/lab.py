"""The verb `lab`: save a running lab, reset it, take it as a file, and make it write its events."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Final

from typer import Argument, Option

from node.host.whole_files import write_whole
from pflab.cli.actions import verb_with_actions
from pflab.cli.output import CommandError, print_lines
from pflab.cli.running_lab import Lab, client_of
from pflab.client import ClientError
from pflab.terms.verdict import ExitCode
from topology.problems import counted

RESET_TIMEOUT_S: Final = 60.0
RETRY_S: Final = 0.05

Name = Annotated[str, Argument(metavar="NAME", help="The name of the saved state.")]

lab = verb_with_actions(
    """Save a lab, reset it to a saved state, take it as a file, or make it write all its events to traces.

    Without an action, the verb lists the saved states.
    """
)


@lab.command("list")
def list_saved(lab: Lab = None) -> int:
    """List the saved states of the lab.

    Example: pflab lab list
    """
    with client_of(lab) as client:
        print_lines(client.saved() or ["no saved state"])
    return ExitCode.GOOD


@lab.command()
def save(
    name: Name,
    replace: Annotated[bool, Option("--replace", help="Replace an existing state of this name.")] = False,
    lab: Lab = None,
) -> int:
    """Save the state of the lab: its time, every store, the backups, the faults and the traces.

    Example: pflab lab save start
    """
    with client_of(lab) as client:
        print_lines([f"saved as {name}, at {client.save(name, replace=replace)['at']}"])
    return ExitCode.GOOD


@lab.command()
def reset(name: Name, lab: Lab = None) -> int:
    """Go back to a saved state, and pause the clock.

    Example: pflab lab reset start
    """
    with client_of(lab) as client:
        before, began_s = client.lab()["history"], time.monotonic()
        client.reset(name)
        while time.monotonic() - began_s < RESET_TIMEOUT_S:
            time.sleep(RETRY_S)
            with suppress(ClientError):
                client.text("GET", "/readyz")
                state = client.lab()
                if state["history"] != before:
                    running = [server["name"] for server in state["servers"] if server["status"] == "running"]
                    took_s = time.monotonic() - began_s
                    now_at = state["clock"]["now_at"]
                    print_lines([f"reset to {name}, {now_at}, after {took_s:.1f} s: {', '.join(running)}"])
                    return ExitCode.GOOD
    raise CommandError(f"the lab did not come back within {RESET_TIMEOUT_S:g} s; see its output")


@lab.command()
def take(
    file: Annotated[Path, Argument(metavar="FILE", help="The file to write, such as lab.zip.")],
    force: Annotated[bool, Option("--force", help="Replace an existing file.")] = False,
    lab: Lab = None,
) -> int:
    """Write the lab as it is now into one file.

    pflab up --from FILE continues it, here or on another machine, in whatever way its servers run.

    Example: pflab lab take lab.zip
    """
    if file.exists() and not force:
        raise CommandError(f"{file}: exists already; name another file, or replace it with --force")
    with client_of(lab) as client:
        content = client.take()
    try:
        write_whole(file, content)
    except OSError as error:
        raise CommandError(
            f"{file}: {(error.strerror or str(error)).lower()}; name a file that can be written"
        ) from None
    print_lines([f"{file} has the lab, {len(content) / 1000:.0f} KB; pflab up --from {file} continues it"])
    return ExitCode.GOOD


@lab.command()
@lab.command("ship", hidden=True)  # the word for it in 0.1
def export(lab: Lab = None) -> int:
    """Make the lab write all its events to trace files, and print the name of their folder.

    A store writes its events to trace files in batches; until then they are only in its database. This action works with labs
    that pflab coordinate runs, for example in containers.

    Example: pflab lab export
    """
    with client_of(lab) as client:
        answer = client.export()
    place = "/".join(["traces", answer["traces"]] if answer["traces"] else ["traces"])
    print_lines([f"{place}: {counted(answer['events'], 'event')}, complete up to {answer['at']}"])
    if not answer["away"]:
        return ExitCode.GOOD
    print_lines([f"  without those of {', '.join(answer['away'])}, which did not answer"])
    return ExitCode.UNKNOWN
