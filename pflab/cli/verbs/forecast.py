"""The verb `what-if`: what a running lab will do, and what a change would make different."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, NamedTuple

import msgspec
from rich.text import Text
from typer import Argument, Option

from pflab.cli.options import AllEvents
from pflab.cli.output import CommandError, Json, err, out, page, print_json, print_sentences
from pflab.cli.running_lab import Lab, client_of
from pflab.explain.fitted_table import FittedTable
from pflab.runs.event_lines import NODE_COLUMNS, NOISE, style_of
from pflab.runs.traffic_sums import Carried, signed_size, summed, traffic_of
from pflab.terms.event_words import to_the_second
from pflab.terms.printable import printable
from pflab.terms.verdict import ExitCode
from topology.file.yaml_source import read_yaml
from topology.natural_order import natural_order
from topology.problems import counted, quoted
from traces.events import HopSent


class _Sign(NamedTuple):
    mark: str
    style: str


_SIGNS: Final = {"with": _Sign("+", "green"), "without": _Sign("-", "red"), None: _Sign(" ", "")}


def what_if(
    steps: Annotated[
        list[str] | None,
        Argument(metavar="STEP...", help="Changes to try, written as steps of a scenario, such as 'stop: B'."),
    ] = None,
    *,
    within: Annotated[
        str | None,
        Option(metavar="DURATION", help="How far to look ahead, in lab time. Default: 36 h, with --cost 30 d."),
    ] = None,
    converged: Annotated[
        str | None,
        Option(metavar="FOLDER", help="Look until all replicas of a folder agree; all: those of every folder."),
    ] = None,
    event: Annotated[
        str | None, Option(metavar="TYPE", help="Look until an event of this type, such as version.applied.")
    ] = None,
    mail: Annotated[str | None, Option(metavar="TYPE", help="Look until a store sends a mail of this type.")] = None,
    on: Annotated[str | None, Option(metavar="SERVER", help="With --event or --mail: only on this server.")] = None,
    every: AllEvents = False,
    cost: Annotated[
        bool,
        Option("--cost", help="Print what the changes cost: mails and bytes by connector, until all replicas agree."),
    ] = False,
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """Say what a running lab will do, or what changes would make different.

    A copy of the lab plays forward in the simulator; the lab itself does not change. Without a step, the verb prints what will
    happen. With steps, a second copy executes them first, and the verb prints how the copies differ: + marks what happens only
    with the steps, - what happens only without them. With --cost, the verb prints in place of these events how many mails and
    bytes the steps add on each connector, until all replicas agree. The exit code is 1 if what --converged, --event or --mail
    looks for does not happen.

    Example: pflab what-if 'stop: B' 'post: {on: A, folder: Projects, subject: Hello}' --within '2 d'
    """
    changes = [_step(text) for text in steps or ()]
    if cost and not changes:
        raise CommandError(
            "pflab what-if --cost: name the changes whose cost is asked, such as 'restore: {on: B, backup: backup-1}'"
        )
    if cost and not (event or mail):
        converged = converged or "all"
    wait: dict[str, Any] = {"converged": converged, "event": event, "mail": mail, "on": on}
    with client_of(lab) as client:
        forecast = client.forecast(
            within or ("30 d" if cost else "36 h"), steps=changes, compare=bool(changes) and not cost, cost=cost, **wait
        )
    converges = "all folders converge" if converged == "all" else f"{converged} converges"
    if as_json:
        print_json(forecast)
    elif cost:
        _print_cost(forecast)
        _print_end(forecast, converges if converged else f"the next {event or mail} is")
    else:
        noise = frozenset() if every else NOISE
        for row in forecast.get("differences", forecast["events"]):
            if row["type"] not in noise:
                out.print(_line(row))
        _print_traffic(forecast)
        _print_end(forecast, converges if converged else f"the next {event or mail} is")
    return ExitCode.VIOLATION if forecast["held"] is False else ExitCode.GOOD


def _step(text: str) -> Any:
    source = read_yaml(text, "STEP")
    if source.problems or not isinstance(source.data, dict):
        raise CommandError(f"pflab what-if: {quoted(text)} is not a step; write for example 'stop: B'")
    return source.data


def _line(event: Mapping[str, Any]) -> Text:
    sign = _SIGNS[event.get("only")]
    line = Text(f"{sign.mark} ", style=sign.style)
    line.append(f"{to_the_second(event['at'])}  ", style="dim")
    line.append(f"{printable(event['node']):<{NODE_COLUMNS}}  ", style="bold")
    line.append(printable(event["words"]), style=style_of(event["type"]))
    return line


def _print_traffic(forecast: dict[str, Any]) -> None:
    """Print what each connector will carry, and what it would carry without the changes, if this differs."""
    carried = _carried(forecast["events"])
    without = _carried(forecast["without"]["events"]) if "without" in forecast else None
    for connector in dict.fromkeys((*carried, *(without or ()))):
        here = carried.get(connector, Carried())
        if without is None:
            err.print(f"{connector} will carry {here}", markup=False)
        elif here != (there := without.get(connector, Carried())):
            err.print(f"{connector} would carry {here}; without the changes {there}", markup=False)


def _print_cost(forecast: dict[str, Any]) -> None:
    """Print what the changes add on each connector, of each type of mail, and how many mails servers send for them."""
    table = FittedTable(
        "What the changes add", ["Connector", "Type", "Mails", "Size", "in all"], right=("Mails", "Size", "in all")
    )
    carried = {(row["connector"], row["type"]): Carried(row["mails"], row["bytes"]) for row in forecast["traffic"]}
    without = {
        (row["connector"], row["type"]): Carried(row["mails"], row["bytes"]) for row in forecast["without"]["traffic"]
    }
    for connector, type_ in sorted({*carried, *without}, key=lambda key: (natural_order(key[0]), key[1])):
        here, there = (sums.get((connector, type_), Carried()) for sums in (carried, without))
        if here != there:
            mails, size = here.mails - there.mails, here.bytes - there.bytes
            table.add_texts(connector, type_, f"{mails:+,}", signed_size(size), str(here))
    if table.row_count:
        page.print(table)
    else:
        out.print("The changes add nothing on any connector.")
    more = forecast["mails"] - forecast["without"]["mails"]
    print_sentences(
        [f"Servers send {counted(forecast['mails'], 'mail')} in this time, {more:+,} because of the changes."]
    )


def _carried(events: Sequence[Mapping[str, Any]]) -> dict[str, Carried]:
    rows = traffic_of(
        msgspec.convert(event, HopSent) for event in events if event["type"] == HopSent.__struct_config__.tag
    )
    return summed(rows, lambda row: row.connector)


def _print_end(forecast: dict[str, Any], wait: str) -> None:
    """Print how the forecast ends: on standard error, because it is no event."""
    from_at, to_at = forecast["from_at"], forecast["to_at"]
    lacking = [f"{name} lacks {numbers}" for name, numbers in forecast.get("lacking", {}).items()]
    lacking += [f"{name} does not run" for name in forecast.get("not_asked", ())]
    if not forecast["complete"]:
        err.print(f"the forecast has so many events that it ends at {to_at}; look less far with --within")
    elif forecast["held"] is None:
        err.print(f"from {from_at} to {to_at}")
    elif forecast["held"]:
        err.print(f"{wait} at {to_at}")
    else:
        err.print("; ".join([f"{wait} not until {to_at}", *lacking]))
