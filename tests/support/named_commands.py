"""Whether a command that a document names exists."""

from __future__ import annotations

import shlex
from typing import Any, cast

import typer

from pflab.cli.app import VERBS, app

_GROUP: Any = typer.main.get_command(app)
_USAGE_ERROR = cast(type[Exception], typer.BadParameter.__base__)


def mistake_in(command: str) -> str | None:
    """Return what is wrong with a command: an unknown verb, action or option, or too many arguments. It may be incomplete."""
    verb, *args = shlex.split(command)[1:]
    if verb == "node" or verb.startswith("-"):  # the options of node are those of python -m node
        return None
    if verb not in VERBS:
        return f"no verb {verb}"
    command_of = _GROUP.get_command(None, verb)
    acts: list[str] = next(
        (each.metavar.strip("[]").split("|") for each in command_of.params if each.name == "act"), []
    )
    if acts and args and args[0].islower() and args[0] not in acts:
        return f"pflab {verb} has no action {args[0]}"
    try:
        command_of.make_context(verb, args)
    except typer.BadParameter:
        return None  # a value is missing, or is a word that stands for one
    except _USAGE_ERROR as error:
        text = str(error.format_message())  # type: ignore[attr-defined]  # of click's errors
        return None if "requires an argument" in text else text
    return None
