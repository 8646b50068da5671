"""The verb `folder`: list, create, change, rename, move and delete folders of a running lab."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final

from typer import Argument, Option

from pflab.cli.actions import verb_with_actions
from pflab.cli.options import OnServer
from pflab.cli.output import Json, changed_folder_lines, print_change, print_json, print_lines, print_result
from pflab.cli.property_options import names_in, with_properties
from pflab.cli.running_lab import Lab, client_of
from pflab.terms.verdict import ExitCode

FolderPath = Annotated[str, Argument(metavar="FOLDER", help="The folder's path.")]

_PROPERTIES: Final = {
    "replicas": Option(help="The servers that hold the folder, such as A,B."),
    "schedule": Option(help="The replication schedule, such as always, never, or every 4 h."),
    "contacts": Option(help="The mail addresses of the people who get notices of conflicts."),
    "priority": Option(help="The priority of the folder's replication mails: urgent, normal or not urgent."),
    "alias": Option(help="The part of the folder's mail address before the @."),
    "age_limit": Option(help="The age at which messages of the folder expire, such as 30 d; or none."),
    "warning_limit": Option(
        help="While the folder is larger than this, its contacts get a warning each day. Write a size such as 8 MB, or none."
    ),
    "post_limit": Option(
        help="While the folder is larger than this, it accepts no posts. Write a size such as 10 MB, or none."
    ),
    "item_limit": Option(help="The largest size of a new message, such as 300 KB; or none."),
    "resolve": Option(help="How conflicts are shown and reported: default, last writer wins, or no notification."),
    "description": Option(metavar="WORDS", help="What the folder is for; '' for no description."),
}
"""The option of each property of a folder."""


folder = verb_with_actions(
    """List, create, change or delete folders in a running lab; propagate properties.

    Without an action, the verb lists the folders of a server.
    """
)


@folder.command("list")
def list_folders(
    path: Annotated[str | None, Argument(metavar="[FOLDER]", help="Only this folder: its path.")] = None,
    *,
    node: Annotated[str, Option("--node", "--server", "--on", help="The server whose folders are listed.")],
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """List the folders that a server knows, with their replicas and properties.

    Example: pflab folder list --node A
    """
    with client_of(lab) as client:
        folders = [view for view in client.folders(node) if path in {None, view["path"]}]
    if as_json:
        print_json(folders)
        return ExitCode.GOOD
    rows = [(view["path"], ", ".join(view["replicas"]), ", ".join(_properties(view))) for view in folders]
    widths = [max((len(row[column]) for row in rows), default=0) for column in (0, 1)]
    print_lines([f"{name:{widths[0]}}  {holders:{widths[1]}}  {words}" for name, holders, words in rows])
    return ExitCode.GOOD


def _properties(folder: Mapping[str, Any]) -> list[str]:
    """Return the schedule of a folder, and its properties that differ from the default."""
    words = [folder["schedule"] or "schedule of each store"]
    if folder["priority"] != "normal":
        words.append(folder["priority"])
    limits = {
        "age_limit": "age limit",
        "warning_limit": "warning limit",
        "post_limit": "post limit",
        "item_limit": "item limit",
    }
    words += [f"{name} {folder[key]}" for key, name in limits.items() if folder[key] is not None]
    if folder["resolve"] != "default":
        words.append(folder["resolve"])
    if folder["contacts"]:
        words.append(f"contacts {' '.join(folder['contacts'])}")
    if folder["description"]:
        words.append(f"'{folder['description']}'")
    return words


@folder.command()
@with_properties(_PROPERTIES, lists=("replicas", "contacts"))
def create(path: FolderPath, *, node: OnServer, lab: Lab = None, as_json: Json = False, **properties: Any) -> int:
    """Create a folder.

    The verb prints the number of the change.

    Example: pflab folder create Projects/2003 --node A --replicas A,B --schedule "every 1 h"
    """
    with client_of(lab) as client:
        return print_change(client.create_folder(node, path, **properties), as_json)


@folder.command()
@with_properties(_PROPERTIES, lists=("replicas", "contacts"))
def change(
    path: FolderPath,
    *,
    node: OnServer,
    name: Annotated[str | None, Option("--rename", hidden=True)] = None,  # 0.1; now pflab folder rename
    parent: Annotated[str | None, Option("--move-to", hidden=True)] = None,  # 0.1; now pflab folder move
    lab: Lab = None,
    as_json: Json = False,
    **properties: Any,
) -> int:
    """Change properties of a folder.

    Properties for which you give no option stay as they are. The verb prints the number of the change.

    Example: pflab folder change Projects --node A --replicas A,B
    """
    if name is not None:
        properties["rename"] = name
    if parent is not None:
        properties["move_to"] = parent
    with client_of(lab) as client:
        return print_change(client.change_folder(node, path, **properties), as_json)


@folder.command()
def rename(
    path: FolderPath,
    name: Annotated[str, Argument(metavar="NAME", help="The new name, without the path.")],
    *,
    node: OnServer,
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """Give a folder a new name.

    The verb prints the number of the change.

    Example: pflab folder rename Projects/2003 Archive --node A
    """
    with client_of(lab) as client:
        return print_change(client.change_folder(node, path, rename=name), as_json)


@folder.command()
def move(
    path: FolderPath,
    parent: Annotated[str, Argument(metavar="PARENT", help="The path of the new parent folder; '' for the top level.")],
    *,
    node: OnServer,
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """Move a folder below another folder.

    The verb prints the number of the change.

    Example: pflab folder move Projects/Archive "" --node A
    """
    with client_of(lab) as client:
        return print_change(client.change_folder(node, path, move_to=parent), as_json)


@folder.command()
def delete(path: FolderPath, *, node: OnServer, lab: Lab = None, as_json: Json = False) -> int:
    """Delete a folder with its subfolders and messages.

    Example: pflab folder delete Archive --node A
    """
    with client_of(lab) as client:
        deletion = client.delete_folder(node, path)
    if as_json:
        print_json(deletion)
    return ExitCode.GOOD


@folder.command()
def propagate(
    path: FolderPath,
    *,
    node: OnServer,
    properties: Annotated[
        str,
        Option(
            metavar="PROPERTY,...",
            help="Which properties: replicas, schedule, contacts, priority, age_limit, warning_limit, post_limit, item_limit "
            "or resolve.",
        ),
    ],
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """Give all subfolders of a folder the folder's properties.

    The verb prints each changed folder with the number of its change.

    Example: pflab folder propagate Projects --node A --properties schedule,contacts
    """
    with client_of(lab) as client:
        changes = client.propagate(node, path, names_in(properties))
    return print_result(changes, changed_folder_lines(changes), as_json)
