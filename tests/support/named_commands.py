"""Whether a command that a document names exists, and the examples in the help of the commands."""

from __future__ import annotations

import shlex
from typing import Any, Final, cast

import typer

from pflab.cli.actions import WITHOUT_ACTION, commands_in
from pflab.cli.app import VERBS, app

_GROUP: Any = typer.main.get_command(app)
_USAGE_ERROR = cast(type[Exception], typer.BadParameter.__base__)

WITHOUT_FUNCTION: Final = {"node"}
"""The verb with a parser of its own."""


def commands_of(verb: str) -> dict[str, Any]:
    """Return the command of a verb and those of its actions, by their words, such as `clock advance`."""
    return {
        words: command for words, command in commands_in(verb, _GROUP.get_command(None, verb)) if not command.hidden
    }


def examples_of(verb: str) -> list[list[str]]:
    """Return the examples in the help of a verb and of its actions, as arguments."""
    helps = [command.help for command in commands_of(verb).values()]
    return [shlex.split(text.partition("Example: pflab ")[2].partition(">")[0]) for text in helps if "Example:" in text]


def mistake_in(command: str) -> str | None:
    """Return what is wrong with a command: an unknown verb, action or option, or too many arguments. It may be incomplete."""
    verb, *args = shlex.split(command)[1:]
    if verb in WITHOUT_FUNCTION or verb.startswith("-"):  # the options of node are those of python -m node
        return None
    if verb not in VERBS:
        return f"no verb {verb}"
    commands, words = commands_of(verb), verb
    while actions := getattr(commands[words], "commands", {}):
        if args and args[0] in actions:
            words = f"{words} {args.pop(0)}"
        elif args and args[0].islower() and not args[0].startswith("-"):
            return f"pflab {words} has no action {args[0]}"
        elif defaults := [name for name in WITHOUT_ACTION if name in actions]:
            words = f"{words} {defaults[0]}"
        else:
            return None
    try:
        commands[words].make_context(words, args)
    except (typer.BadParameter, typer.Exit):
        return None  # a value is missing, or is a word that stands for one; or the command asks for help
    except _USAGE_ERROR as error:
        text = str(error.format_message())  # type: ignore[attr-defined]  # of click's errors
        return None if "requires an argument" in text else text
    return None
