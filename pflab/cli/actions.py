"""Verbs with actions, such as `pflab clock advance`: each action is its own command, with its help and options.

The module of a verb has a function of the verb's name, or, if the verb has actions, a Typer application of this name.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import typer
from typer.core import TyperGroup

from pflab.cli.output import CommandError
from topology.problems import did_you_mean

SETTINGS: Final[dict[str, Any]] = {
    "add_completion": False,
    "pretty_exceptions_enable": False,
    "rich_markup_mode": None,
    "context_settings": {"help_option_names": ["-h", "--help"]},
}
"""The settings that all commands share."""

WITHOUT_ACTION: Final = ("list", "show")
"""If the user gives no action, a verb lists, or shows if it has no list."""


class Actions(TyperGroup):
    """The actions of a verb."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the action first. It may stand after options, and may be missing (`WITHOUT_ACTION`)."""
        options_first = not args or (args[0].startswith("-") and args[0] not in ctx.help_option_names)
        if options_first and not ctx.resilient_parsing:  # a shell that completes words asks for the actions
            action = next((word for word in args if word in self.commands), None)
            if action is not None:
                args = [action, *args[: args.index(action)], *args[args.index(action) + 1 :]]
            else:
                args = [*[name for name in WITHOUT_ACTION if name in self.commands][:1], *args]
        return super().parse_args(ctx, args)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        command = super().get_command(ctx, cmd_name)
        if command is None and not ctx.resilient_parsing:
            names = [name for name, action in self.commands.items() if not action.hidden]
            raise CommandError(f"{ctx.command_path} {cmd_name}: no such action; {did_you_mean(cmd_name, names)}")
        return command

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        summaries = [
            (name, (action.help or "").partition("\n")[0])
            for name, action in self.commands.items()
            if not action.hidden
        ]
        with formatter.section("Actions"):
            formatter.write_dl(summaries)


def verb_with_actions(summary: str) -> typer.Typer:
    """Return a verb to which a module adds its actions with the decorator `command`.

    summary: the help of the verb; its first line is that of the list of verbs.
    """
    return typer.Typer(cls=Actions, help=summary, subcommand_metavar="ACTION [ARGS]...", **SETTINGS)


def one_action(verb: str, function: Any) -> typer.Typer:
    """Return a verb without actions, which does what the function does."""
    application = typer.Typer(**SETTINGS)
    application.command(verb)(function)
    return application


def commands_in(words: str, command: Any) -> Iterator[tuple[str, Any]]:
    """Yield a command and, if it has actions, the command of each action, with the words that call it: `clock advance`."""
    yield words, command
    for name, action in getattr(command, "commands", {}).items():
        yield from commands_in(f"{words} {name}", action)
