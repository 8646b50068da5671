"""The verb `fault`: inject and heal faults in a running lab; stop, start, back up and restore its servers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

import msgspec
from typer import Argument, Option

from pflab.cli.actions import verb_with_actions
from pflab.cli.faults.injection import injection
from pflab.cli.output import Json, err, print_json, print_lines, print_result
from pflab.cli.running_lab import Lab, client_of
from pflab.faults.fault import INJECTABLE, KINDS, Fault, ServerFault
from pflab.terms.fault_words import fault_words
from pflab.terms.verdict import ExitCode
from topology.problems import counted

MOST_WAITING: Final = 5
"""The largest number of mails that are listed for a fault."""

Server = Annotated[str, Argument(metavar="SERVER", help="The server.")]

fault = verb_with_actions(
    """Inject or heal faults in a running lab; stop, start, back up and restore its servers.

    Without an action, the verb lists the active faults. lose, alter, delay, duplicate and reorder act on mail in transit;
    hold, cut, blackhole and smtp act on the links between servers; unstamp, unlink, double and skew act on a server.
    """
)


@fault.command("list")
def list_faults(lab: Lab = None, as_json: Json = False) -> int:
    """List the active faults, how often each has acted, and the waiting mails that it will act on.

    Example: pflab fault list
    """
    with client_of(lab) as client:
        active, waiting = client.faults(), client.waiting()
    if as_json:
        print_json(active)
    else:
        lines = [
            line for member in active for line in (_fault_line(member), *_waiting_lines(waiting.get(member["id"], [])))
        ]
        print_lines(lines or ["no active faults"])
    return ExitCode.GOOD


def _inject(fault: Fault, lab: str | None, as_json: bool) -> int:
    with client_of(lab) as client:
        id_ = client.inject(**msgspec.to_builtins(fault))
        waiting = client.waiting().get(id_, [])
    if as_json:
        print_json(id_)
    else:
        print_lines([id_])
        if not isinstance(fault, ServerFault):
            notes = _waiting_lines(waiting) or ["  No mail that waits now will meet it."]
            err.print("\n".join(notes), markup=False, style="dim")
    return ExitCode.GOOD


for _name, _kind in INJECTABLE.items():
    fault.command(_name)(injection(_name, _kind, _inject))


@fault.command()
def heal(
    which: Annotated[str, Argument(metavar="[FAULT]", help="The id of the fault; default: all faults.")] = "all",
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """End a fault, or all faults.

    This does not heal a server that was killed; pflab fault start starts it again.

    Example: pflab fault heal all
    """
    with client_of(lab) as client:
        before = client.faults()
        client.heal(None if which == "all" else which)
        remaining = client.faults()
    return print_result(remaining, _healed_lines(before, remaining), as_json)


@fault.command()
def stop(server: Server, lab: Lab = None, as_json: Json = False) -> int:
    """Stop a server cleanly.

    Example: pflab fault stop B
    """
    with client_of(lab) as client:
        client.stop(server)
    return _print_done("stop", server, as_json)


@fault.command()
def start(server: Server, lab: Lab = None, as_json: Json = False) -> int:
    """Start a server that does not run.

    Example: pflab fault start B
    """
    with client_of(lab) as client:
        client.start(server)
    return _print_done("start", server, as_json)


@fault.command()
def backup(server: Server, lab: Lab = None, as_json: Json = False) -> int:
    """Copy the database of a server, and print the id of the copy.

    Example: pflab fault backup B
    """
    with client_of(lab) as client:
        return _print_text(client.backup(server), as_json)


@fault.command()
def kill(server: Server, lab: Lab = None, as_json: Json = False) -> int:
    """Stop a server without warning, as a power failure does.

    Example: pflab fault kill B
    """
    with client_of(lab) as client:
        client.kill(server)
    return _print_done("kill", server, as_json)


@fault.command()
def restore(
    server: Server,
    backup: Annotated[str, Option(help="The id that `pflab fault backup` printed.")],
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """Start a server on a copy of its database. A server that runs is killed first.

    Example: pflab fault restore B --backup backup-1
    """
    with client_of(lab) as client:
        client.restore(server, backup)
    return _print_done("restore", server, as_json)


def _print_done(action: str, server: str, as_json: bool) -> int:
    return _print_text(f"server {server}: {action}", as_json)


def _print_text(text: str, as_json: bool) -> int:
    return print_result(text, [text], as_json)


def _healed_lines(before: Sequence[Mapping[str, Any]], remaining: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a line for each fault that has ended, and for each server that is still killed: only a start heals this fault."""
    ended = [f"healed: {_fault_line(member)}" for member in before if member not in remaining]
    killed = [member["server"] for member in remaining if member["kind"] == "kill"]
    still = [f"server {name} was killed; its start heals that: pflab fault start {name}" for name in killed]
    return [*ended, *still] or ["nothing to heal: no fault is active"]


def _fault_line(active: Mapping[str, Any]) -> str:
    words = f"{active['id']}  {fault_words(active['kind'], active)}"
    if issubclass(KINDS[active["kind"]], ServerFault):  # acts all the time
        return words
    times = {0: "has not acted", 1: "has acted once"}.get(active["acted"], f"has acted {active['acted']} times")
    return f"{words}  ({times})"


def _waiting_lines(mails: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a line for each of the next mails that a fault will act on."""
    lines = [
        f"  will meet: {mail['subject']} from {mail['server']} to {mail['next_hop']} at {mail['due_at']}"
        for mail in mails[:MOST_WAITING]
    ]
    return [*lines, f"  and {counted(len(mails) - MOST_WAITING, 'more mail')}"] if len(mails) > MOST_WAITING else lines
