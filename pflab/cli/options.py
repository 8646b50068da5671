"""Options that several verbs share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from pflab.cli.output import CommandError
from topology.problems import did_you_mean
from traces.errors import TimeTextError
from traces.events import EVENT_TYPES
from traces.labtime import checked_rate

DEFAULT_SEED = 1

MAX_SEED = 10**12 - 1
"""The largest seed; pflab simulate --seeds reads 12 digits."""


def seed_option(help_: str) -> Any:
    """Return the option --seed with its bounds."""
    return Option(min=0, max=MAX_SEED, help=help_)


OneFolder = Annotated[
    str | None, Argument(metavar="[FOLDER]", help="Only this folder: its path, or 1-1 for the hierarchy.")
]


FolderOption = Annotated[str | None, Option("--folder", hidden=True)]
"""How pflab 0.1 named a folder. The next release removes it."""


OneServer = Annotated[str | None, Option("--server", "--node", help="Only this server.")]


OnServer = Annotated[str, Option("--node", "--server", "--on", help="The server that makes the change.")]


Servers = Annotated[
    list[str] | None, Option("--server", "--node", metavar="SERVER", help="Only this server; can be repeated.")
]


Types = Annotated[
    list[str] | None,
    Option(
        "--type",
        help="Only events of this type, such as version.applied, or of this group of types, such as mail; "
        "can be repeated.",
    ),
]


AllEvents = Annotated[bool, Option("--all", help="Include events that are rarely useful.")]


JsonLines = Annotated[bool, Option("--json", help="Print each event as one line of JSON.")]


RunOption = Annotated[
    Path | None,
    Option("--run", help="A run folder. Default: the lab that runs in this folder; if there is none, runs/latest."),
]


StopWithStdin = Annotated[
    bool,
    Option(
        "--stop-with-stdin",
        help="Stop the lab when its standard input is closed, as when the program that started it ends or is killed.",
    ),
]


A_TOPOLOGY = "A topology file, or the name of an example that comes with pflab"
"""Whatever reads a topology reads it with `pflab.cli.inputs.by_name`."""

TopologyFile = Annotated[Path, Argument(metavar="TOPOLOGY", help=f"{A_TOPOLOGY}.")]


Patience = Annotated[
    float,
    Option(
        "--patience",
        min=1.0,
        metavar="SECONDS",
        help="How long, in real time, the lab waits for a process that does not answer. Afterwards lab time "
        "continues without it.",
    ),
]

InTls = Annotated[
    bool,
    Option("--tls", help="The servers offer STARTTLS with certificates of the lab, and accept mail only over TLS."),
]

KeepMails = Annotated[
    bool,
    Option(
        "--keep-mails",
        help="Keep a copy of each mail, as .eml files in the folder mails/ of the run; a mail that passes "
        "two servers has two copies.",
    ),
]


def check_types(types: list[str] | tuple[()]) -> None:
    """Raise CommandError if one of the texts is neither a type of event nor a group of types."""
    groups = {tag.partition(".")[0] for tag in EVENT_TYPES}
    for name in types:
        if name not in EVENT_TYPES and name not in groups:
            right = did_you_mean(name, [*sorted(groups), *sorted(EVENT_TYPES)])
            raise CommandError(f"--type {name}: no such type of event; {right}")


PORT = 8025
"""The default port of a lab's HTTP API."""


def rate_of(text: str, option: str = "--clock") -> float:
    """Return a rate of the clock in lab seconds per real second. Raises CommandError for another text."""
    if text == "real":
        return 1.0
    try:
        rate = float(text)
    except ValueError:
        raise CommandError(
            f"{option} {text}: not a rate; write the word real, or a number such as 60 for a minute per second"
        ) from None
    try:
        return checked_rate(rate)
    except TimeTextError as error:
        raise CommandError(f"{option} {text}: {error}") from None
