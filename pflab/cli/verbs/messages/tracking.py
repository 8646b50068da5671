"""The verb `track`: what happened to a mail, on all servers."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Option

from node.views import QueueView
from pflab.cli.options import RunOption
from pflab.cli.output import CommandError, Json, out, page, print_json, print_sentences
from pflab.cli.run_or_lab import chosen_reader, events_of
from pflab.cli.running_lab import Lab
from pflab.explain.change import explain
from pflab.explain.fitted_table import FittedTable
from pflab.explain.tracking import Fate, Search, TrackedMail, tracked
from pflab.runs.traffic_sums import ORDINARY
from pflab.terms.event_words import to_the_second
from pflab.terms.mail_types import MailKind, mail_name
from pflab.terms.verdict import ExitCode
from topology.problems import counted, did_you_mean, quoted
from traces.errors import TimeTextError
from traces.labtime import DAY_US, LabTime, parse_instant

_TYPES = (*(mail_name(kind) for kind in MailKind), ORDINARY)
_STATES = tuple(fate.value for fate in Fate)


def track(
    message_id: Annotated[
        str | None, Argument(metavar="[MESSAGE-ID]", help="Only this mail, such as 4.7d1e@A.contoso.test.")
    ] = None,
    *,
    sender: Annotated[
        str | None, Option("--from", metavar="SENDER", help="A server, or a part of the sender's address.")
    ] = None,
    recipient: Annotated[
        str | None, Option("--to", metavar="RECIPIENT", help="A server, a folder, or a part of a recipient's address.")
    ] = None,
    about: Annotated[
        str | None, Option(metavar="WORDS", help="A part of the subject, or of the path of a folder.")
    ] = None,
    day: Annotated[str | None, Option(metavar="DAY", help="The day on which it was sent, such as 2003-10-21.")] = None,
    state: Annotated[
        str | None, Option(metavar="STATE", help=f"What became of one of its copies: {', '.join(_STATES)}.")
    ] = None,
    type_: Annotated[
        str | None, Option("--type", metavar="TYPE", help=f"The type of mail: {', '.join(_TYPES)}.")
    ] = None,
    limit: Annotated[int, Option(min=1, help="Print at most the last N mails.")] = 100,
    run: RunOption = None,
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """Find mails on all servers of a run or a running lab, and say what became of them.

    The verb finds replication mail and the mail of people. All options must fit. It lists each mail with the state of each
    copy: delivered, waiting, lost, returned, deleted, or unused, such as bad mail. If only one mail fits, its way follows, as
    pflab explain tells it.

    Example: pflab track --from kim@contoso.test --to Projects --day 2003-10-21
    """
    search = Search(
        message_id=(message_id or "").strip().strip("<>"),
        sender=sender or "",
        recipient=recipient or "",
        about=about or "",
        type="" if type_ is None else _one_of("--type", type_, _TYPES),
        day_at=None if day is None else _day(day),
        fate=None if state is None else Fate(_one_of("--state", state, _STATES)),
    )
    queues: dict[str, list[QueueView]] = {}
    with chosen_reader(run, lab) as reader:
        for store in reader.stores():
            with reader.reading(store) as look:
                queues[store] = look.queue()
        events = events_of(reader)
    mails = [mail for mail in tracked(events, queues) if search.fits(mail)]
    if as_json:
        print_json([mail.as_document() for mail in mails[-limit:]])
        return ExitCode.GOOD
    if not mails:
        out.print("No mail of this run fits.")
        return ExitCode.GOOD
    if len(mails) > limit:
        out.print(f"({len(mails) - limit} earlier mails left out; see --limit)", style="dim")
    page.print(_table(mails[-limit:]))
    if len(mails) == 1 and any(event.mail == mails[0].message_id for event in events.events):
        life = explain(events, mails[0].message_id)
        print_sentences([f"  {sentence}" for sentence in life.told])
    else:
        out.print(f"{counted(len(mails), 'mail')}. pflab explain MESSAGE-ID tells the way of one.")
    return ExitCode.GOOD


def _table(mails: list[TrackedMail]) -> FittedTable:
    table = FittedTable("Mails", ["Sent", "Mail", "From", "To", "State", "Message-ID"], show_lines=True)
    for mail in mails:
        table.add_texts(
            "" if mail.at is None else to_the_second(mail.at),
            "\n".join(filter(None, (mail.type, mail.about))),
            mail.sender or "nobody",
            "\n".join(mail.places),
            "\n".join(dict.fromkeys(_words(mail))),
            mail.message_id,
        )
    return table


def _words(mail: TrackedMail) -> list[str]:
    """Return what became of each copy; the recipient first, if the fates differ."""
    words = [
        f"{place.fate}{f' on {place.server}' if place.server else ''}{f': {place.why}' if place.why else ''}"
        for place in mail.places.values()
    ]
    return [f"{name}: {text}" for name, text in zip(mail.places, words, strict=True)] if len(words) > 1 else words


def _one_of(option: str, text: str, known: tuple[str, ...]) -> str:
    if text in known:
        return text
    raise CommandError(f"{option} {quoted(text)}: there is no such {option[2:]}; {did_you_mean(text, known)}")


def _day(text: str) -> LabTime:
    """Return the first instant of a day."""
    try:
        at = parse_instant(f"{text}T00:00Z")
    except TimeTextError:
        raise CommandError(f"--day {quoted(text)} is not a day; write for example 2003-10-21") from None
    return at - at % DAY_US
