"""The verb `messages`: list messages, and show all versions of one."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from pflab.cli.options import OneFolder, OneServer, RunOption
from pflab.cli.output import CommandError, Json, out, page, print_json, print_lines, view_json
from pflab.cli.running_lab import Lab
from pflab.terms.verdict import ExitCode
from topology.problems import counted, did_you_mean

if TYPE_CHECKING:
    from node.views import MessageView, VersionView
    from pflab.cli.run_or_lab import Reader
    from pflab.explain.fitted_table import FittedTable


def messages(
    act: Annotated[str, Argument(metavar="[list|show]", help="The action; default: list.")] = "list",
    message: Annotated[
        str | None, Argument(help="For show: the number of any change of the message, such as A-1.")
    ] = None,
    *,
    folder: OneFolder = None,
    server: OneServer = None,
    limit: Annotated[int, Option(min=1, help="For list: at most the last N messages of each folder.")] = 200,
    properties: Annotated[bool, Option("--properties", help="For show: print all MAPI properties too.")] = False,
    run: RunOption = None,
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """List the messages of the stores of a run or a running lab; show all versions of one.

    A message in conflict has several versions. show prints each version with the server that made it, its time, and
    its text. Servers with the same versions are shown together.

    Example: pflab messages show A-1
    """
    if act not in {"list", "show"}:
        raise CommandError(f"pflab messages {act}: no such action; {did_you_mean(act, ['list', 'show'])}")
    if (act == "show") != (message is not None):
        raise CommandError(
            "pflab messages show: give the number of a change of the message, such as A-1"
            if message is None
            else "pflab messages list: takes no message; choose a folder with --folder"
        )
    from pflab.cli.run_or_lab import chosen_reader, chosen_stores  # noqa: PLC0415 - the other verbs need no run

    with chosen_reader(run, lab) as reader:
        stores = chosen_stores(reader, server)
        if message is not None:
            return _show(reader, stores, message, properties=properties, as_json=as_json)
        return _list(reader, stores, folder, limit, as_json=as_json)


# --- list


def _list(reader: Reader, stores: list[str], folder: str | None, limit: int, *, as_json: bool) -> int:
    from node.views import in_order_of_change  # noqa: PLC0415 - the reader has imported it

    found: list[tuple[str, str, list[MessageView]]] = []
    for store in stores:
        with reader.reading(store) as look:
            held = [each.path for each in look.folders() if each.held_here and not each.hidden]
            found += [(store, path, in_order_of_change(look.messages(path))) for path in held if folder in (None, path)]
    if folder is not None and not found:
        raise CommandError(f"--folder {folder}: no store here holds it; {did_you_mean(folder, reader.folders())}")
    if as_json:
        print_json(
            [
                {"store": store, "folder": path, **view_json(each)}
                for store, path, views in found
                for each in views[-limit:]
            ]
        )
        return ExitCode.GOOD
    empty = 0
    for store, path, views in found:
        if not views and folder is None:
            empty += 1
            continue
        if not views:
            out.print(f"{path} on Server {store} has no messages.", markup=False)
            continue
        page.print(_table(f"{path} on Server {store}", views[-limit:]))
        if len(views) > limit:
            print_lines([f"({len(views) - limit} earlier messages left out; see --limit)"], style="dim")
        page.print()
    if empty:
        print_lines([f"{counted(empty, 'replica has', 'replicas have')} no messages"], style="dim")
    return ExitCode.GOOD


def _table(title: str, views: list[MessageView]) -> FittedTable:
    from pflab.explain.fitted_table import FittedTable  # noqa: PLC0415 - only for text
    from pflab.terms.event_words import to_the_second  # noqa: PLC0415

    table = FittedTable(title, ("Change", "Time", "From", "Subject"))
    for each in views:
        subject = [each.subject]
        if each.in_conflict:
            subject.append(f"(in conflict with {', '.join(each.numbers[1:])})")
        if each.associated:
            subject.append("(associated)")
        table.add_texts(each.number, to_the_second(each.modified_at), each.sender, "\n".join(subject))
    return table


# --- show


def _show(reader: Reader, stores: list[str], message: str, *, properties: bool, as_json: bool) -> int:
    from node.errors import MessageUnknown  # noqa: PLC0415 - the reader has imported it

    found: list[tuple[str, list[VersionView]]] = []
    lacking: list[tuple[str, str, set[str]]] = []  # each store without the message, why, and the folders that it holds
    for store in stores:
        with reader.reading(store) as look:
            try:
                found.append((store, look.versions(message)))
            except MessageUnknown as error:
                lacking.append((store, str(error), {each.path for each in look.folders() if each.held_here}))
    if not found:
        told = lacking[0][1] if len(lacking) == 1 else f"no server here has the message {message}"
        raise CommandError(f"pflab messages show: {told}; pflab messages lists the messages")
    if as_json:
        print_json([{"store": store, "versions": [view_json(each) for each in versions]} for store, versions in found])
        return ExitCode.GOOD
    found.sort(key=lambda each: [version.change for version in each[1]])
    for _, group in groupby(found, key=lambda each: each[1]):
        same = list(group)
        _print_versions([store for store, _ in same], same[0][1], properties=properties)
    folder = found[0][1][0].folder
    print_lines([f"Server {store}: {why}" for store, why, held in lacking if folder in held], style="dim")
    return ExitCode.GOOD


def _print_versions(stores: list[str], versions: list[VersionView], *, properties: bool) -> None:
    from pflab.terms.event_words import to_the_second  # noqa: PLC0415
    from pflab.terms.verdict import join_names  # noqa: PLC0415

    first = versions[0]
    servers = f"Server{'s' if len(stores) > 1 else ''} {join_names(sorted(stores))}"
    kept = "" if len(versions) == 1 else f": {counted(len(versions), 'version')} in conflict"
    out.print(f"'{first.subject}' in {first.folder} on {servers}{kept}", style="bold", markup=False)
    for each in versions:
        marks = [
            mark
            for mark, holds in (("shown", each.shown and len(versions) > 1), ("associated", each.associated))
            if holds
        ]
        told = f" ({', '.join(marks)})" if marks else ""
        print_lines([f"  {each.number}  {to_the_second(each.modified_at)}  made on {each.store}{told}"])
        files = ", ".join(f"{name or 'without a name'} ({counted(size, 'byte')})" for name, size in each.attachments)
        fields = {
            "From": each.sender,
            "Subject": each.subject,
            "Includes": ", ".join(each.includes),
            "Size": counted(each.size, "byte"),
            "Files": files,
        }
        print_lines([f"    {name + ':':<9} {value}" for name, value in fields.items() if value])
        print_lines([f"      {line}".rstrip() for line in each.body.splitlines()])
        if properties:
            print_lines([f"    {line}" for line in each.properties], style="dim")
    out.print()
