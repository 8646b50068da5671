"""The verb `fault`: inject and heal faults in a running lab; stop, start, back up and restore its servers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

from typer import Argument, Option

from pflab.cli.output import CommandError, Json, err, print_json, print_lines
from pflab.cli.running_lab import Lab, client_of
from pflab.client import Client
from pflab.faults.fault import INJECTABLE, SEPARATIONS
from pflab.terms.fault_words import fault_words
from pflab.terms.verdict import ExitCode
from topology.problems import counted, did_you_mean
from traces.errors import TraceError
from traces.labtime import parse_duration

MOST_WAITING: Final = 5
"""The most mails that are listed for a fault."""

_SERVER_ACTS: Final = ("stop", "start", "kill", "backup", "restore")


def fault(
    act: Annotated[
        str,
        Argument(
            metavar="|".join(("list", *INJECTABLE, "heal", *_SERVER_ACTS)),
            help="The action; default: list.",
        ),
    ] = "list",
    what: Annotated[
        str | None,
        Argument(help="For heal: the fault's id, or all; for unstamp, stop, start, kill, backup, restore: the server."),
    ] = None,
    *,
    from_: Annotated[
        str | None, Option("--from", help="Only mail from this server; for cut and blackhole: one end.")
    ] = None,
    to: Annotated[str | None, Option(help="Only mail to this server; for cut and blackhole: the other end.")] = None,
    kind: Annotated[str | None, Option("--type", help="Only this type of mail, such as content or status.")] = None,
    count: Annotated[
        int | None, Option(min=1, help="How many times the fault acts; default: until it is healed.")
    ] = None,
    by: Annotated[str | None, Option(help="For delay and reorder: how long the mail is delayed.")] = None,
    connector: Annotated[str | None, Option(help="Only on this connector.")] = None,
    at: Annotated[
        str | None,
        Option(help="For smtp: the step of the SMTP dialogue at which the fault acts, such as MAIL or end of data."),
    ] = None,
    does: Annotated[
        str | None, Option(help="For smtp: what the server does at this step: a reply, disconnect, silence or tarpit.")
    ] = None,
    lasts: Annotated[
        str | None, Option(help="For smtp, hold and alter: how long the fault lasts, such as 2 h.")
    ] = None,
    one_way: Annotated[
        bool, Option("--one-way", help="For cut and blackhole: only connections from --from to --to.")
    ] = False,
    backup: Annotated[str | None, Option(help="For restore: the id that `pflab fault backup` printed.")] = None,
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """Inject or heal faults in a running lab; stop, start, back up and restore its servers.

    lose, alter, delay, duplicate and reorder act on mail in transit. hold keeps mail in the queue. cut refuses the
    connections of a link. blackhole drops its packets, so connections are neither accepted nor refused. smtp makes the
    receiving server misbehave. unstamp removes a server's mail addresses. heal F1 ends the fault F1, and heal all ends
    every fault. kill stops a server without warning.

    Example: pflab fault lose --from A --to B --type content --count 1
    """
    if by is not None:
        _check_duration(by)
    separates = act in {kind.value for kind in SEPARATIONS}
    if separates and connector is None and (from_ is None or to is None):
        raise CommandError(f"pflab fault {act}: give the ends of the link, --from A --to B, or --connector NAME")
    ends = {"between": [from_, to]} if separates and not one_way and connector is None else {"from": from_, "to": to}
    details = {
        "type": kind,
        "count": count,
        "by": by,
        "connector": connector,
        "at": at,
        "does": does,
        "lasts": lasts,
        "server": what if act == "unstamp" else None,
        **ends,
    }
    with client_of(lab) as client:
        if act in INJECTABLE:
            done: Any = client.inject(act, **details)
            notes = _waiting_lines(client.waiting().get(done, [])) or ["  No mail that waits now will meet it."]
        elif act in _SERVER_ACTS:
            done, notes = _control_server(client, act, what, backup), []
        elif act == "heal":
            done = client.faults()
            client.heal(None if what in {None, "all"} else what)
            left = client.faults()
        elif act == "list":
            done, met = client.faults(), client.waiting()
        else:
            raise CommandError(
                f"pflab fault {act}: no such action; {did_you_mean(act, ['list', 'heal', *INJECTABLE, *_SERVER_ACTS])}"
            )
    if as_json:
        print_json(left if act == "heal" else done)
    elif act == "heal":
        print_lines(_healed_lines(done, left))
    elif isinstance(done, str):
        print_lines([done])
        err.print("\n".join(notes), markup=False, style="dim", end="\n" if notes else "")
    else:
        listed = [line for each in done for line in (_fault_line(each), *_waiting_lines(met.get(each["id"], [])))]
        print_lines(listed or ["no active faults"])
    return ExitCode.GOOD


def _healed_lines(before: Sequence[Mapping[str, Any]], left: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a line for each fault that has ended, and for each server that is still killed: only a start heals this fault."""
    ended = [f"healed: {_fault_line(each)}" for each in before if each not in left]
    killed = [each["server"] for each in left if each["kind"] == "kill"]
    kept = [f"server {name} was killed; its start heals that: pflab fault start {name}" for name in killed]
    return [*ended, *kept] or ["nothing to heal: no fault is active"]


def _check_duration(text: str) -> None:
    try:
        parse_duration(text)
    except TraceError as error:
        raise CommandError(f"--by: {error}") from None


def _control_server(client: Client, act: str, server: str | None, backup: str | None) -> str:
    if server is None:
        raise CommandError(f"pflab fault {act}: give the name of the server")
    if act == "backup":
        return client.backup(server)
    if act == "restore":
        if backup is None:
            raise CommandError("pflab fault restore: give the id of a backup, for example --backup backup-1")
        client.restore(server, backup)
    else:
        {"stop": client.stop, "start": client.start, "kill": client.kill}[act](server)
    return f"server {server}: {act}"


def _fault_line(fault: Mapping[str, Any]) -> str:
    times = {0: "has not acted", 1: "has acted once"}.get(fault["acted"], f"has acted {fault['acted']} times")
    return f"{fault['id']}  {fault_words(fault['kind'], fault)}  ({times})"


def _waiting_lines(mails: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a line for each of the next mails that a fault will meet."""
    lines = [
        f"  will meet: {each['subject']} from {each['server']} to {each['next_hop']} at {each['due_at']}"
        for each in mails[:MOST_WAITING]
    ]
    return [*lines, f"  and {counted(len(mails) - MOST_WAITING, 'more mail')}"] if len(mails) > MOST_WAITING else lines
