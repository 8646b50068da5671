"""Options that several verbs share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pflab.cli.output import CommandError
from topology.problems import did_you_mean
from traces.events import EVENT_TYPES

DEFAULT_SEED = 1


Run = Annotated[Path | None, typer.Argument(metavar="[RUN]", help="A run folder; default: runs/latest.")]


OneFolder = Annotated[str | None, typer.Option("--folder", help="Only this folder, by path, or 1-1 for the hierarchy.")]


OneServer = Annotated[str | None, typer.Option("--server", "--node", help="Only this server.")]


def check_types(types: list[str] | tuple[()]) -> None:
    """Raises CommandError for a type of events, or a beginning of types, that there is not."""
    groups = {tag.partition(".")[0] for tag in EVENT_TYPES}
    for each in types:
        if each not in EVENT_TYPES and each not in groups:
            right = did_you_mean(each, [*sorted(groups), *sorted(EVENT_TYPES)])
            raise CommandError(f"--type {each}: no such type of event; {right}")


PORT = 8025
"""Where a lab is found unless told otherwise."""


def rate_of(text: str) -> float:
    """The value of --clock."""
    if text == "real":
        return 1.0
    try:
        return float(text)
    except ValueError:
        raise CommandError(f"--clock {text}: write real, or a rate such as 60") from None
