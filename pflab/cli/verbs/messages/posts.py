"""Verbs that change messages: post, edit, delete, recover, resolve."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from typer import Argument, Option

from pflab.cli.inputs.files import attached, body_text
from pflab.cli.options import OnServer
from pflab.cli.output import CommandError, Json, print_change, print_json, print_lines, print_result
from pflab.cli.running_lab import Lab, client_of
from pflab.terms.verdict import ExitCode
from topology.problems import counted, did_you_mean

if TYPE_CHECKING:
    from pflab.client import Client

ByChange = Annotated[str, Argument(help="The number of any change of the message, such as A-1.")]

KEEP_ALL: Final = "all"


BATCH: Final = 100
"""The largest number of posts in one request. The posts of a request are committed together."""


def post(
    folder: Annotated[str, Argument(help="The folder's path.")],
    node: Annotated[str, Option("--node", "--server", "--on", help="The server on which the message is posted.")],
    subject: Annotated[str, Option(help="The subject; with --count, {n} is replaced by the number of the message.")],
    body: Annotated[str, Option(help="The text of the message; - reads it from stdin.")] = "",
    sender: Annotated[str, Option("--from", help="The address of the sender.")] = "",
    attach: Annotated[list[Path] | None, Option(help="A file to attach; can be repeated.")] = None,
    count: Annotated[int, Option(min=1, max=1_000_000, help="The number of messages.")] = 1,
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """Post a message into a folder of a running lab.

    When the server has committed the message, the verb prints the message's change number, which pflab explain accepts.

    Example: pflab post Projects --node A --subject Hello --body "from A"
    """
    text, files = body_text(body), attached(attach)
    ids: list[str] = []
    posted: list[str] = []
    with client_of(lab) as client:
        numbers = range(1, count + 1)
        for first in range(0, count, BATCH):
            messages = [
                {"subject": subject.replace("{n}", str(n)), "body": text, "sender": sender, "attachments": files}
                for n in numbers[first : first + BATCH]
            ]
            batch = client.post_batch(node, folder, messages)
            ids += batch["ids"]
            posted += batch["numbers"]
    if as_json:
        print_json([{"id": id_, "number": number} for id_, number in zip(ids, posted, strict=True)])
    else:
        line = posted[0] if count == 1 else f"{counted(len(posted), 'message')} posted, {posted[0]} to {posted[-1]}"
        print_lines([line])
    return ExitCode.GOOD


def edit(
    message: ByChange,
    node: OnServer,
    subject: Annotated[str | None, Option(help="The new subject.")] = None,
    body: Annotated[str | None, Option(help="The new text; - reads it from stdin.")] = None,
    based_on: Annotated[
        list[str] | None,
        Option(metavar="CN", help="A version that you opened, such as A-1; can be repeated. Default: all that it has."),
    ] = None,
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """Change the subject or the body of a message in a running lab.

    The verb prints the number of the change. The new version replaces all versions that the server has. With --based-on it
    replaces only the versions that you opened, and is in conflict with what others have saved since.

    Example: pflab edit A-1 --node B --body "from B"
    """
    if subject is None and body is None:
        raise CommandError("pflab edit: give --subject, --body or both")
    text = None if body is None else body_text(body)
    with client_of(lab) as client:
        change = client.edit(
            node, *_place(client, node, message), subject=subject, body=text, based_on=based_on or None
        )
    return print_change(change, as_json)


def delete(message: ByChange, node: OnServer, lab: Lab = None, as_json: Json = False) -> int:
    """Delete a message in a running lab.

    The verb prints the number of the change.

    Example: pflab delete A-1 --node B
    """
    with client_of(lab) as client:
        change = client.delete(node, *_place(client, node, message))
    return print_change(change, as_json)


def recover(
    what: Annotated[
        str | None,
        Argument(
            metavar="[CN|FOLDER]",
            help="The number of any change of a deleted message, or the path of a deleted folder.",
        ),
    ] = None,
    *,
    node: Annotated[str, Option("--node", "--server", "--on", help="The server that still keeps it.")],
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """Recover a deleted message or folder in a running lab; without a name, list what can be recovered.

    A server keeps deleted items for the time in its setting Deleted Item Retention, which is 0 by default. A recovered
    message is a new message with a new number, and it replicates like every change. A folder comes back with its subfolders
    and messages. The verb prints the number of the change.

    Example: pflab recover --node A
    """
    with client_of(lab) as client:
        deletions = client.retained(node)
        if what is None:
            return _print_retained(node, deletions, as_json)
        matches = [
            deletion
            for deletion in deletions
            if what in deletion["numbers"] or (deletion["message"] is None and deletion["folder"] == what)
        ]
        if not matches:
            raise CommandError(
                f"pflab recover: {node} retains no {what}; without a name, pflab recover --node {node} lists what it retains"
            )
        deletion = matches[0]
        change = (
            client.recover_folder(node, deletion["folder"])
            if deletion["message"] is None
            else client.recover(node, deletion["folder"], deletion["message"])
        )
    return print_change(change, as_json)


def _print_retained(node: str, deletions: list[dict[str, Any]], as_json: bool) -> int:
    if as_json:
        print_json(deletions)
        return ExitCode.GOOD
    for deletion in deletions:
        what = (
            f"{deletion['number']}  '{deletion['subject']}' in {deletion['folder']}"
            if deletion["message"] is not None
            else f"{deletion['folder']}  a folder with {counted(deletion['messages'], 'message')}"
        )
        print_lines([f"{what}, deleted {deletion['deleted_at']}, retained until {deletion['until_at']}"])
    if not deletions:
        print_lines([f"Server {node} retains no deleted messages or folders."])
    return ExitCode.GOOD


def resolve(
    message: ByChange,
    node: OnServer,
    keep: Annotated[
        str, Option(help="The version to keep, such as B-2; or the word all, which turns each version into a message.")
    ],
    by: Annotated[
        str | None, Option(metavar="ADDRESS", help="The contact who decides; default: the folder's first contact.")
    ] = None,
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """End a conflict between versions of a message in a running lab.

    pflab messages show prints the versions. Only a contact of the folder may resolve its conflicts. This verb prints the
    numbers of the changes that end the conflict.

    Example: pflab resolve A-1 --node A --keep B-2
    """
    with client_of(lab) as client:
        versions = client.versions(node, message)
        if len(versions) == 1:
            raise CommandError(
                f"pflab resolve: {message} is not in conflict on {node}; pflab messages marks the messages in conflict"
            )
        changes = {KEEP_ALL: KEEP_ALL, **{version["number"]: version["change"] for version in versions}}
        if keep not in changes:
            raise CommandError(f"--keep {keep}: {message} has no such version on {node}; {did_you_mean(keep, changes)}")
        resolution = client.resolve(node, versions[0]["folder"], versions[0]["message"], changes[keep], by)
    return print_result(resolution, resolution["numbers"], as_json)


def _place(client: Client, node: str, message: str) -> tuple[str, str]:
    """Return the folder and the id of the message with this change number."""
    version = client.versions(node, message)[0]
    return version["folder"], version["message"]
