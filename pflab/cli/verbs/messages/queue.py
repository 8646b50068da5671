"""The verb about the mail that servers still have to send: queue."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Final, Literal

from typer import Argument, Option

from pflab.cli.actions import verb_with_actions
from pflab.cli.options import OneServer, OnServer, RunOption
from pflab.cli.output import CommandError, Json, out, page, print_json, print_result, view_json
from pflab.cli.run_or_lab import chosen_reader, chosen_stores
from pflab.cli.running_lab import Lab, client_of
from pflab.terms.event_words import to_the_second
from pflab.terms.verdict import ExitCode, join_names
from topology.problems import counted

if TYPE_CHECKING:
    from node.views import QueueView
    from pflab.explain.fitted_table import FittedTable

Mails = Annotated[list[int] | None, Argument(metavar="[MAIL]...", help="Numbers of mails, as pflab queue shows them.")]
NextHop = Annotated[
    str | None, Option("--to", metavar="SERVER", help="All mails that this server would get next: its whole queue.")
]

queue = verb_with_actions(
    """Print the mail that the servers of a run or a running lab still have to send; freeze, delete or return it.

    Queue Viewer of 2000 and 2003, and the queue cmdlets of 2007, had these orders. A frozen mail is neither tried nor expires.
    """
)


@queue.command()
def show(run: RunOption = None, server: OneServer = None, lab: Lab = None, as_json: Json = False) -> int:
    """Print the mail that the servers of a run or a running lab still have to send.

    Each mail is shown with its number, its recipients, the server that gets it next, and the time of the next attempt.

    Example: pflab queue show --server A
    """
    queues: list[tuple[str, list[QueueView], list[str]]] = []
    with chosen_reader(run, lab) as reader:
        for store in chosen_stores(reader, server):
            with reader.reading(store) as look:
                mails = sorted(look.queue(), key=lambda mail: (mail.due_at, mail.id))
                queues.append((store, mails, look.frozen_queues()))
    if as_json:
        print_json([{"store": store, **view_json(mail)} for store, mails, _ in queues for mail in mails])
        return ExitCode.GOOD
    for store, mails, frozen in queues:
        if mails:
            page.print(_queue_table(store, mails))
            page.print()
        else:
            out.print(f"Server {store} has no mail in its queue.", markup=False)
        if frozen:
            out.print(f"On server {store} the queue for {join_names(frozen)} is frozen.", markup=False)
    return ExitCode.GOOD


@queue.command()
def freeze(
    mails: Mails = None, *, on: OnServer, next_hop: NextHop = None, lab: Lab = None, as_json: Json = False
) -> int:
    """Freeze mails, or a whole queue with the mails that come into it later.

    Example: pflab queue freeze --to B --server A
    """
    return _change("freeze", on, mails, next_hop, lab, as_json)


@queue.command()
def unfreeze(
    mails: Mails = None, *, on: OnServer, next_hop: NextHop = None, lab: Lab = None, as_json: Json = False
) -> int:
    """Let frozen mails, or a frozen queue, be sent again.

    A mail that was frozen by its number stays frozen when its queue is unfrozen.

    Example: pflab queue unfreeze --to B --server A
    """
    return _change("unfreeze", on, mails, next_hop, lab, as_json)


@queue.command()
def delete(
    mails: Mails = None, *, on: OnServer, next_hop: NextHop = None, lab: Lab = None, as_json: Json = False
) -> int:
    """Delete mails without a notice to their senders.

    To delete mails with a notice, use pflab queue return.

    Example: pflab queue delete 17 --server A
    """
    return _change("delete", on, mails, next_hop, lab, as_json)


@queue.command("return")
def return_mails(
    mails: Mails = None, *, on: OnServer, next_hop: NextHop = None, lab: Lab = None, as_json: Json = False
) -> int:
    """Send mails back to their senders with a notice of non-delivery.

    Example: pflab queue return 17 --server A
    """
    return _change("return", on, mails, next_hop, lab, as_json)


_WORDS: Final = {
    "freeze": ("freezes {mails}", "freezes its queue for {queue}, which has {mails}"),
    "unfreeze": ("unfreezes {mails}", "unfreezes its queue for {queue}, which has {mails}"),
    "delete": ("deletes {mails}", "deletes {mails} from its queue for {queue}"),
    "return": ("returns {mails} to the sender", "returns {mails} from its queue for {queue} to the sender"),
}
"""What an order does with some mails, and with a whole queue."""


def _change(
    order: Literal["freeze", "unfreeze", "delete", "return"],
    server: str,
    mails: list[int] | None,
    next_hop: str | None,
    lab: str | None,
    as_json: bool,
) -> int:
    if bool(mails) == (next_hop is not None):
        raise CommandError("give either numbers of mails, as pflab queue shows them, or --to for a whole queue")
    with client_of(lab) as client:
        changed = client.change_queue(server, order, next_hop=next_hop, mails=mails or None)
    words = _WORDS[order][next_hop is not None].format(mails=counted(len(changed["mails"]), "mail"), queue=next_hop)
    return print_result(changed, [f"{server} {words}"], as_json)


def _queue_table(store: str, mails: Sequence[QueueView]) -> FittedTable:
    from pflab.explain.fitted_table import FittedTable  # noqa: PLC0415 - only for text

    headings = ("No.", "Mail", "To", "Next hop", "Next attempt")
    table = FittedTable(f"Mail queue of Server {store}", headings, show_lines=True)
    for mail in mails:
        hop = f"{mail.next_hop} by {mail.connector}" if mail.next_hop and mail.connector else mail.next_hop
        tried = {0: "not tried yet", 1: "tried once"}.get(mail.attempts, f"tried {mail.attempts} times")
        table.add_texts(
            str(mail.id),
            f"{mail.subject}\n({counted(mail.size, 'byte')})",
            "\n".join(mail.recipients),
            hop or "no route",
            f"{'frozen' if mail.frozen else to_the_second(mail.due_at)}\n{tried}",
        )
    return table
