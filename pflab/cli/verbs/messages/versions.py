"""The verb `messages`: list messages, and show all versions of one."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from pflab.cli.actions import verb_with_actions
from pflab.cli.options import FolderOption, OneFolder, OneServer, RunOption
from pflab.cli.output import CommandError, Json, out, page, print_json, print_lines, view_json
from pflab.cli.running_lab import Lab
from pflab.terms.verdict import ExitCode
from topology.problems import counted, did_you_mean

if TYPE_CHECKING:
    from node.views import MessageView, VersionView
    from pflab.explain.fitted_table import FittedTable


messages = verb_with_actions(
    """List the messages of the stores of a run or a running lab; show all versions of one.

    Without an action, the verb lists messages.
    """
)


@messages.command("list")
def list_messages(
    folder: OneFolder = None,
    *,
    folder_option: FolderOption = None,
    server: OneServer = None,
    limit: Annotated[int, Option(min=1, help="List at most the last N messages of each folder.")] = 200,
    run: RunOption = None,
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """List the messages of each folder on each server.

    Example: pflab messages list Projects
    """
    from node.views import in_order_of_change  # noqa: PLC0415 - the reader imports it too
    from pflab.cli.run_or_lab import chosen_reader, chosen_stores  # noqa: PLC0415 - takes long to import

    folder = folder or folder_option
    replicas: list[tuple[str, str, list[MessageView]]] = []
    with chosen_reader(run, lab) as reader:
        for store in chosen_stores(reader, server):
            with reader.reading(store) as look:
                paths = [view.path for view in look.folders() if view.held_here and not view.hidden]
                replicas += [
                    (store, path, in_order_of_change(look.messages(path))) for path in paths if folder in (None, path)
                ]
        if folder is not None and not replicas:
            raise CommandError(f"{folder}: no store here holds this folder; {did_you_mean(folder, reader.folders())}")
    if as_json:
        print_json(
            [
                {"store": store, "folder": path, **view_json(view)}
                for store, path, views in replicas
                for view in views[-limit:]
            ]
        )
        return ExitCode.GOOD
    empty = 0
    for store, path, views in replicas:
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
    for view in views:
        subject = [view.subject]
        if view.in_conflict:
            subject.append(f"(in conflict with {', '.join(view.numbers[1:])})")
        if view.associated:
            subject.append("(associated)")
        table.add_texts(view.number, to_the_second(view.modified_at), view.sender, "\n".join(subject))
    return table


@messages.command()
def show(
    message: Annotated[str, Argument(help="The number of any change of the message, such as A-1.")],
    *,
    server: OneServer = None,
    properties: Annotated[bool, Option("--properties", help="Print all MAPI properties too.")] = False,
    run: RunOption = None,
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """Print all versions of a message: who made each version and when, and its text.

    A message in conflict has several versions. Servers with the same versions are shown together.

    Example: pflab messages show A-1
    """
    from node.errors import MessageUnknown  # noqa: PLC0415 - the reader imports it too
    from pflab.cli.run_or_lab import chosen_reader, chosen_stores  # noqa: PLC0415 - takes long to import

    holders: list[tuple[str, list[VersionView]]] = []
    lacking: list[tuple[str, str, set[str]]] = []  # a store without the message, why, and the folders that it holds
    with chosen_reader(run, lab) as reader:
        for store in chosen_stores(reader, server):
            with reader.reading(store) as look:
                try:
                    holders.append((store, look.versions(message)))
                except MessageUnknown as error:
                    lacking.append((store, str(error), {view.path for view in look.folders() if view.held_here}))
    if not holders:
        reason = lacking[0][1] if len(lacking) == 1 else f"no server here has the message {message}"
        raise CommandError(f"pflab messages show: {reason}; pflab messages lists the messages")
    if as_json:
        print_json(
            [{"store": store, "versions": [view_json(version) for version in versions]} for store, versions in holders]
        )
        return ExitCode.GOOD
    holders.sort(key=lambda holder: [version.change for version in holder[1]])
    for _, group in groupby(holders, key=lambda holder: holder[1]):
        same = list(group)
        _print_versions([store for store, _ in same], same[0][1], properties=properties)
    folder = holders[0][1][0].folder
    print_lines([f"Server {store}: {why}" for store, why, folders in lacking if folder in folders], style="dim")
    return ExitCode.GOOD


def _print_versions(stores: list[str], versions: list[VersionView], *, properties: bool) -> None:
    from pflab.terms.event_words import to_the_second  # noqa: PLC0415
    from pflab.terms.verdict import join_names  # noqa: PLC0415

    first = versions[0]
    servers = f"Server{'s' if len(stores) > 1 else ''} {join_names(sorted(stores))}"
    conflict = "" if len(versions) == 1 else f": {counted(len(versions), 'version')} in conflict"
    out.print(f"'{first.subject}' in {first.folder} on {servers}{conflict}", style="bold", markup=False)
    for version in versions:
        marks = [
            mark
            for mark, holds in (("shown", version.shown and len(versions) > 1), ("associated", version.associated))
            if holds
        ]
        remarks = f" ({', '.join(marks)})" if marks else ""
        print_lines([f"  {version.number}  {to_the_second(version.modified_at)}  made on {version.store}{remarks}"])
        files = ", ".join(f"{name or 'without a name'} ({counted(size, 'byte')})" for name, size in version.attachments)
        fields = {
            "From": version.sender,
            "Subject": version.subject,
            "Includes": ", ".join(version.includes),
            "Size": counted(version.size, "byte"),
            "Files": files,
        }
        print_lines([f"    {name + ':':<9} {value}" for name, value in fields.items() if value])
        print_lines([f"      {line}".rstrip() for line in version.body.splitlines()])
        if properties:
            print_lines([f"    {line}" for line in version.properties], style="dim")
    out.print()
