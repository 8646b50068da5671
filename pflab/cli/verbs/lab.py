"""Verbs that act on a running lab: post, folder, clock, fault, events."""

from __future__ import annotations

import sys
from base64 import b64encode
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
import typer

from pflab.cli.lab_options import read_bytes
from pflab.cli.output import CommandError, Json, err, json_text, out, print_json, print_lines
from pflab.cli.running_lab import Lab, client_of, lexicon_of
from pflab.client import Client
from pflab.scenario.session import NOISE
from pflab.terms.lexicon import line, tag_of
from pflab.terms.verdict import ExitCode
from topology.problems import counted, did_you_mean
from traces.errors import TraceError
from traces.events import AnyEvent
from traces.labtime import parse_duration

BATCH: Final = 100
"""Posts of one command go in batches of so many, each durable at once."""

Node = Annotated[str, typer.Option("--node", "--server", "--on", help="The server that it happens on.")]


def post(
    folder: Annotated[str, typer.Argument(help="The folder's path.")],
    node: Node,
    subject: Annotated[str, typer.Option(help="The subject; {n} becomes the number where --count is more than 1.")],
    body: Annotated[str, typer.Option(help="The text; - reads it from stdin.")] = "",
    sender: Annotated[str, typer.Option("--from", help="Who posts it.")] = "",
    attach: Annotated[list[Path] | None, typer.Option(help="A file to attach; may be given again.")] = None,
    count: Annotated[int, typer.Option(min=1, max=1_000_000, help="So many messages.")] = 1,
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """Post a message into a folder of a running lab.

    What is answered is durable. It prints the change number, which pflab explain takes.

    Example: pflab post Projects --node A --subject Hello --body "from A"
    """
    text = sys.stdin.read() if body == "-" else body
    files = [{"name": each.name, "content": b64encode(read_bytes(each)).decode()} for each in attach or ()]
    made: list[tuple[str, str]] = []
    with client_of(lab) as client:
        numbers = range(1, count + 1)
        for first in range(0, count, BATCH):
            messages = [
                {"subject": subject.replace("{n}", str(n)), "body": text, "sender": sender, "attachments": files}
                for n in numbers[first : first + BATCH]
            ]
            made += client.post_numbered(node, folder, messages)
    if as_json:
        print_json([{"id": id_, "number": number} for id_, number in made])
    else:
        posted = made[0][1] if count == 1 else f"{counted(len(made), 'message')} posted, {made[0][1]} to {made[-1][1]}"
        print_lines([posted])
    return ExitCode.GOOD


def folder(
    act: Annotated[str, typer.Argument(metavar="list|create|change|delete", help="What to do.")],
    path: Annotated[str | None, typer.Argument(help="The folder's path.")] = None,
    *,
    node: Node,
    replicas: Annotated[str | None, typer.Option(help="The stores that hold it, as A,B.")] = None,
    schedule: Annotated[str | None, typer.Option(help="Such as always, never, every 4 h.")] = None,
    contacts: Annotated[str | None, typer.Option(help="Who is told of conflicts, joined by commas.")] = None,
    priority: Annotated[str | None, typer.Option(help="urgent, normal or not urgent.")] = None,
    alias: Annotated[str | None, typer.Option(help="The local part of its mail address.")] = None,
    age_limit: Annotated[str | None, typer.Option(help="Age at which its messages expire, as 30 d; or none.")] = None,
    resolve: Annotated[
        str | None,
        typer.Option(help="What of a conflict is shown and told: default, last writer wins, no notification."),
    ] = None,
    rename: Annotated[str | None, typer.Option(help="Of change: the new name.")] = None,
    move_to: Annotated[str | None, typer.Option(help="Of change: the path of the new parent; '' for the top.")] = None,
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """List, create, change or delete folders in a running lab.

    Example: pflab folder create Projects/2003 --node A --replicas A,B --schedule "every 1 h"
    """
    given = {
        "replicas": _split(replicas),
        "schedule": schedule,
        "contacts": _split(contacts),
        "priority": priority,
        "alias": alias,
        "age_limit": age_limit,
        "resolve": resolve,
        "rename": rename,
        "move_to": move_to,
    }
    properties = {name: value for name, value in given.items() if value is not None}
    with client_of(lab) as client:
        if act == "list":
            return _list_folders(client, node, path, as_json=as_json)
        acts: Mapping[str, Callable[[str], Any]] = {
            "create": lambda named: client.folder_made(node, named, **properties),
            "change": lambda named: client.folder_changed(node, named, **properties),
            "delete": lambda named: client.delete_folder(node, named),
        }
        if act not in acts:
            raise CommandError(f"pflab folder {act}: {did_you_mean(act, ['list', *acts])}")
        if path is None:
            raise CommandError(f"pflab folder {act}: name the folder's path")
        made = acts[act](path)
    if as_json:
        print_json(made)
    elif made is not None:
        print_lines([made["number"]])
    return ExitCode.GOOD


def _split(text: str | None) -> list[str] | None:
    return None if text is None else [each.strip() for each in text.split(",") if each.strip()]


def _list_folders(client: Client, node: str, path: str | None, *, as_json: bool) -> int:
    found = [each for each in client.folders(node) if path in {None, each["path"]}]
    if as_json:
        print_json(found)
    else:
        print_lines([f"{each['path']}  {', '.join(each['replicas'])}  {each['schedule'] or ''}" for each in found])
    return ExitCode.GOOD


def clock(
    act: Annotated[
        str, typer.Argument(metavar="[show|rate|pause|step|advance|until]", help="What to do; default: show.")
    ] = "show",
    value: Annotated[str | None, typer.Argument(help="The rate, or how far: 15 min, 2003-10-22T06:15Z.")] = None,
    *,
    converged: Annotated[str | None, typer.Option(help="Of until: the folder.")] = None,
    event: Annotated[str | None, typer.Option(help="Of until: the type of event, such as version.applied.")] = None,
    on: Annotated[str | None, typer.Option(help="Of until: the event's server.")] = None,
    within: Annotated[str, typer.Option(help="Of until: the longest wait, in lab time.")] = "7 d",
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """Show or move the clock of a running lab.

    After advance, step and until it stands. Acts: rate 3600, pause, step, advance "36 h", until --converged Projects.

    Example: pflab clock until --converged Projects --within "54 h"
    """
    with client_of(lab) as client:
        told = _moved(client, act, value, converged=converged, event=event, on=on, within=within)
    if as_json:
        print_json(told)
    else:
        rate = (
            f"{told['rate']:g} lab {'second' if told['rate'] == 1 else 'seconds'} a second"
            if told["rate"]
            else "standing"
        )
        print_lines([f"{told['now_at']}  {rate}"])
        if told.get("held") and told.get("not_asked"):
            print_lines(
                [f"{converged} has converged on its running holders; not asked: {', '.join(told['not_asked'])}"]
            )
    if told.get("held") is False:
        err.print(_not_held(told, converged, event, within), markup=False)
        return ExitCode.VIOLATION
    return ExitCode.GOOD


def _not_held(told: Mapping[str, Any], converged: str | None, event: str | None, within: str) -> str:
    if converged is None:
        return f"no {event} within {within}"
    absent = "".join(f"; {each} does not run" for each in told.get("not_asked", ()))
    return f"{converged} did not converge within {within}; pflab backfill shows what is known to be missing{absent}"


def _moved(
    client: Client,
    act: str,
    value: str | None,
    *,
    converged: str | None,
    event: str | None,
    on: str | None,
    within: str,
) -> dict[str, Any]:
    if act in {"rate", "advance"} and value is None:
        raise CommandError(f"pflab clock {act}: say {'the rate, as 3600' if act == 'rate' else 'how far, as 15 min'}")
    if act == "until" and (converged is None) == (event is None):
        raise CommandError("pflab clock until: wait for --converged FOLDER or for --event TYPE, one of the two")
    acts: Mapping[str, Callable[[], dict[str, Any]]] = {
        "show": client.clock,
        "rate": lambda: client.set_rate(_number(value)),
        "pause": client.pause,
        "step": client.step,
        "advance": lambda: client.advance(value or ""),
        "until": lambda: (
            client.until_converged(converged, within)
            if converged is not None
            else client.until_event(event or "", within, on)
        ),
    }
    if act not in acts:
        raise CommandError(f"pflab clock {act}: {did_you_mean(act, list(acts))}")
    return acts[act]()


def _number(text: str | None) -> float:
    try:
        return float(text or "")
    except ValueError:
        raise CommandError(f"pflab clock rate {text}: not a number; write 3600 for an hour a second") from None


_LIVES: Final = ("stop", "start", "kill", "backup", "restore")
_KINDS: Final = ("lose", "alter", "delay", "duplicate", "reorder", "cut", "smtp", "hold")


def fault(
    act: Annotated[
        str,
        typer.Argument(
            metavar="list|lose|alter|delay|duplicate|reorder|cut|smtp|hold|heal|stop|start|kill|backup|restore",
            help="What to do.",
        ),
    ] = "list",
    what: Annotated[
        str | None, typer.Argument(help="Of heal: the fault's id, or all; of stop and such: the server.")
    ] = None,
    *,
    from_: Annotated[
        str | None, typer.Option("--from", help="The store that sent the mail; of cut, the first end.")
    ] = None,
    to: Annotated[str | None, typer.Option(help="The store it is for; of cut, the second end.")] = None,
    kind: Annotated[str | None, typer.Option("--type", help="The kind of mail, such as content or status.")] = None,
    count: Annotated[int | None, typer.Option(min=1, help="How often; without it until healed.")] = None,
    by: Annotated[str | None, typer.Option(help="Of delay and reorder: how long.")] = None,
    connector: Annotated[str | None, typer.Option(help="The connector on which it acts.")] = None,
    at: Annotated[str | None, typer.Option(help="Of smtp: the verb, such as MAIL or end of data.")] = None,
    does: Annotated[str | None, typer.Option(help="Of smtp: a reply, disconnect, silence or tarpit.")] = None,
    lasts: Annotated[str | None, typer.Option(help="Of smtp, hold and alter: for how long, as 2 h.")] = None,
    one_way: Annotated[bool, typer.Option("--one-way", help="Of cut: only from the first end to the second.")] = False,
    backup: Annotated[str | None, typer.Option(help="Of restore: which backup.")] = None,
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """Let something go wrong in a running lab, or heal it; stop and start servers.

    Acts: lose, alter, delay, duplicate, reorder, cut, smtp, hold, heal F1; stop, start, kill, backup, restore B.

    Example: pflab fault lose --from A --to B --type content --count 1
    """
    if by is not None:
        _check_duration(by)
    if act == "cut" and connector is None and (from_ is None or to is None):
        raise CommandError("pflab fault cut: say between which: --from A --to B, or --connector NAME")
    ends = {"between": [from_, to]} if act == "cut" and not one_way and connector is None else {"from": from_, "to": to}
    asked = {
        "type": kind,
        "count": count,
        "by": by,
        "connector": connector,
        "at": at,
        "does": does,
        "lasts": lasts,
        **ends,
    }
    with client_of(lab) as client:
        if act in _KINDS:
            done: Any = client.inject(act, **asked)
        elif act in _LIVES:
            done = _life(client, act, what, backup)
        elif act == "heal":
            client.heal(None if what in {None, "all"} else what)
            done = client.faults()
        elif act == "list":
            done = client.faults()
        else:
            raise CommandError(f"pflab fault {act}: {did_you_mean(act, ['list', 'heal', *_KINDS, *_LIVES])}")
    if as_json:
        print_json(done)
    else:
        print_lines([done] if isinstance(done, str) else [_fault_line(each) for each in done] or ["no fault in force"])
    return ExitCode.GOOD


def _check_duration(text: str) -> None:
    try:
        parse_duration(text)
    except TraceError as error:
        raise CommandError(f"--by: {error}") from None


def _life(client: Client, act: str, server: str | None, backup: str | None) -> str:
    if server is None:
        raise CommandError(f"pflab fault {act}: name the server")
    if act == "backup":
        return client.backup(server)
    if act == "restore":
        if backup is None:
            raise CommandError("pflab fault restore: say which backup: --backup backup-1")
        client.restore(server, backup)
    else:
        {"stop": client.stop, "start": client.start, "kill": client.kill}[act](server)
    return f"server {server}: {act}"


_NARROWING: Final = frozenset({"from", "to", "type", "link", "connector", "between", "server"})
"""What a fault is confined to; one that names none of them is there for all mail."""


def _fault_line(fault: Mapping[str, Any]) -> str:
    details = ", ".join(f"{name} {value}" for name, value in fault.items() if name not in {"id", "kind"})
    if not _NARROWING & fault.keys():
        details = ", ".join(filter(None, ("all mail", details)))
    return f"{fault['id']}  {fault['kind']}  {details}"


def events(
    node: Annotated[str | None, typer.Option("--node", "--server", help="Only this server's.")] = None,
    kind: Annotated[str | None, typer.Option("--type", help="Only this type, such as version.applied.")] = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on with what happens now, until Ctrl-C.")] = False,
    every: Annotated[bool, typer.Option("--all", help="Also those that say little to people.")] = False,
    lab: Lab = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print each event as a line of JSON.")] = False,
) -> int:
    """What has happened in a running lab, or happens now.

    One line an event.

    Example: pflab events --node B --type version.applied
    """
    with client_of(lab) as client:
        names = lexicon_of(client)
        for told in client.events(follow=follow):
            event = msgspec.convert(told, AnyEvent)
            names.learn(event)
            unwanted = (not every and not kind and tag_of(event) in NOISE) or node not in {None, event.node}
            if unwanted or kind not in {None, tag_of(event)}:
                continue
            if as_json:
                typer.echo(json_text(told))
            else:
                out.print(line(event, names), markup=False)
    return ExitCode.GOOD
