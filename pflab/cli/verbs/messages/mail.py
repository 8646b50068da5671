"""Verbs about mail, in a running lab or in a run folder: export, send, mailbox, queue."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from node.reads import StoreReader
from node.views import NoticeView
from pflab.cli.actions import verb_with_actions
from pflab.cli.inputs.files import attached, body_text, shown_path
from pflab.cli.options import OneServer, RunOption
from pflab.cli.output import (
    CommandError,
    Json,
    out,
    print_json,
    print_lines,
    print_mail,
    print_result,
    progress,
    view_json,
)
from pflab.cli.run_or_lab import chosen_reader, chosen_stores
from pflab.cli.running_lab import Lab, client_of
from pflab.terms.event_words import to_the_second
from pflab.terms.verdict import ExitCode
from pflab.workload.mail_transfer import export_mbox
from topology.problems import counted, did_you_mean

if TYPE_CHECKING:
    pass


def export(
    folder: Annotated[str, Argument(help="The folder's path.")],
    run: RunOption = None,
    server: OneServer = None,
    output: Annotated[Path | None, Option("--output", "-o", help="Write into this file instead of stdout.")] = None,
    force: Annotated[bool, Option("--force", help="Replace an existing file.")] = False,
    lab: Lab = None,
) -> int:
    """Write a public folder's messages as an mbox, from a run or a running lab.

    A message that was posted as a mail is written as that mail, byte for byte. Other messages are converted to mails.

    Example: pflab export Projects --node B --output projects.mbox
    """
    if output is not None and output.is_file() and not force:
        raise CommandError(f"{output}: exists already; name another file, or replace it with --force")
    with chosen_reader(run, lab) as reader:
        for store in chosen_stores(reader, server):
            with reader.reading(store) as look:
                if any(view.path == folder and view.held_here for view in look.folders()):
                    _export(look, store, folder, output)
                    return ExitCode.GOOD
        if server is not None and folder in reader.folders():
            raise CommandError(f"server {server} holds no replica of {folder}; name a holder, or leave out the server")
        raise CommandError(f"{folder}: no store here holds it; {did_you_mean(folder, reader.folders())}")


def _export(look: StoreReader, store: str, folder: str, output: Path | None) -> None:
    count = sum(1 for view in look.messages(folder) if not view.associated)
    with progress(count, f"Reading {folder}") as bar:
        pieces = export_mbox(look, folder, lambda: bar.advance(bar.task_ids[0]))
        if output is None:
            for piece in pieces:
                print_mail(piece)
            sys.stdout.flush()
        else:
            _write(output, pieces)
    if output is not None:
        out.print(f"{folder} of {store} is in {shown_path(output)}", markup=False, style="dim")


def _write(path: Path, pieces: Iterable[bytes]) -> None:
    try:
        with path.open("wb") as file:
            file.writelines(pieces)
    except OSError as error:
        raise CommandError(
            f"{path}: {(error.strerror or str(error)).lower()}; name a file that can be written"
        ) from None


mailbox = verb_with_actions(
    """Print the mail for people that the stores of a run or a running lab keep.

    Without an action, the verb lists the mail. Stores keep four kinds of mail for people: notices of conflicts, notices of
    lost edits, mail to contacts, and non-delivery reports.
    """
)


@mailbox.command("list")
def list_mailbox(
    *,
    server: OneServer = None,
    number: Annotated[int | None, Option("--show", hidden=True)] = None,  # 0.1; now pflab mailbox show
    run: RunOption = None,
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """List the mail for people, with the text of each mail.

    Example: pflab mailbox list --server A
    """
    if number is not None:
        if server is None:
            raise CommandError("pflab mailbox show: each server numbers its mails separately; name it with --server")
        return show_mail(number, server=server, run=run, lab=lab)
    notices: list[tuple[str, NoticeView]] = []
    with chosen_reader(run, lab) as reader:
        for store in chosen_stores(reader, server):
            with reader.reading(store) as look:
                notices += [(store, notice) for notice in look.mailbox()]
    notices.sort(key=lambda entry: (entry[1].at, entry[0], entry[1].id))
    if as_json:
        print_json([{"store": store, **view_json(notice)} for store, notice in notices])
        return ExitCode.GOOD
    for store, notice in notices:
        out.print(f"{store} {notice.id}  {to_the_second(notice.at)}  to {notice.recipient}", style="bold", markup=False)
        print_lines([f"  from {notice.sender or 'nobody'}: {notice.subject} ({counted(notice.size, 'byte')})"])
        print_lines([f"    {line}" for line in notice.body.splitlines()], style="dim")
    if not notices:
        out.print("No mail to people.")
    return ExitCode.GOOD


@mailbox.command("show")
def show_mail(
    number: Annotated[int, Argument(metavar="NUMBER", help="The number of the mail, as pflab mailbox list prints it.")],
    *,
    server: Annotated[str, Option("--server", "--node", help="The server that keeps the mail.")],
    run: RunOption = None,
    lab: Lab = None,
) -> int:
    """Print a mail completely, with its header and attachments.

    Example: pflab mailbox show 1 --server A
    """
    with chosen_reader(run, lab) as reader:
        (store,) = chosen_stores(reader, server)
        with reader.reading(store) as look:
            print_mail(look.mailbox_mail(number))
            sys.stdout.flush()
    return ExitCode.GOOD


def send(
    folder: Annotated[str, Argument(help="The folder's path. The mail comes from the folder's address.")],
    node: Annotated[str, Option("--node", "--server", "--on", help="The server that sends the mail.")],
    to: Annotated[list[str], Option(metavar="ADDRESS", help="The address of a person or a folder; can be repeated.")],
    subject: Annotated[str, Option(help="The subject.")],
    body: Annotated[str, Option(help="The text of the mail; - reads it from stdin.")] = "",
    attach: Annotated[list[Path] | None, Option(help="A file to attach; can be repeated.")] = None,
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """Send a mail from a folder's address, in a running lab.

    The verb prints the Message-ID of the mail, which pflab explain accepts. pflab mailbox prints the mail that people get. If
    a server has a Smart Host, it sends such mail out of the lab instead.

    Example: pflab send Projects --node A --to kim@contoso.test --subject News
    """
    text, files = body_text(body), attached(attach)
    with client_of(lab) as client:
        mail = client.send_mail(node, folder, to=to, subject=subject, body=text, attachments=files)
    return print_result(mail, [mail["message_id"]], as_json)
