"""Names for the values of options and arguments in help texts: SERVER, FOLDER, DURATION instead of Python types.

A verb can choose a name itself. This module chooses the other names by the name of the parameter, or else by its type, so that
the same thing has the same name in all verbs.
"""

from __future__ import annotations

from collections.abc import Iterator
from inspect import unwrap
from pathlib import Path
from typing import Any, Final, get_args, get_type_hints

from pflab.cli.completion import offer_values

_BY_NAME: Final = {
    **dict.fromkeys(("node", "nodes", "server", "servers", "on", "from_", "to"), "SERVER"),
    **dict.fromkeys(("folder", "folders", "path", "converged"), "FOLDER"),
    **dict.fromkeys(("by", "within", "lasts"), "DURATION"),
    **dict.fromkeys(("since", "until"), "INSTANT"),
    **dict.fromkeys(("kind", "types"), "TYPE"),
    "age_limit": "DURATION",
    **dict.fromkeys(("warning_limit", "post_limit", "item_limit"), "SIZE"),
    "alias": "NAME",
    "at": "VERB",
    "backup": "BACKUP",
    "connector": "CONNECTOR",
    "contacts": "ADDRESS,...",
    "does": "WHAT",
    "priority": "PRIORITY",
    "run": "RUN",
    "replicas": "SERVER,...",
    "resolve": "METHOD",
    "schedule": "SCHEDULE",
    "sender": "ADDRESS",
    "host": "HOST",
    "keep": "CN|all",
    "message": "CN",
    "name": "SERVER",
}

_BY_TYPE: Final = {Path: "PATH", int: "N", float: "NUMBER", str: "TEXT"}

_TEXT_NAMED: Final = {"event": "TYPE"}
"""Names that only parameters of type str get. In `log`, for example, `event` is a number and gets another name."""


def name_values(command: Any) -> None:
    """Set the name of each value in the help of a command that Typer made from a function."""
    if command.callback is None:
        return  # a verb with actions, which has no values
    # Versions of Typer keep the types of parameters in different places, so take the types from the function.
    hints = get_type_hints(unwrap(command.callback))
    for param in command.params:
        if param.name in hints and param.metavar is None:
            param.metavar = _name_of(param.name, hints[param.name])
        offer_values(param)
        if param.param_type_name == "argument":
            _show_as_named(param)


def _name_of(name: str, hint: Any) -> str | None:
    """Return the name of a value; None for a flag, which has no value."""
    of = next((type_ for type_ in (hint, *_inside(hint)) if type_ in _BY_TYPE), None)
    if of is None:
        return None
    return _BY_NAME.get(name) or (_TEXT_NAMED.get(name) if of is str else None) or _BY_TYPE[of]


def _show_as_named(param: Any) -> None:
    """Show only the name of an argument in usage and help, not its type; in brackets if the argument is optional."""
    label = param.metavar + ("..." if param.nargs == -1 and not param.metavar.endswith("...") else "")
    if not param.required and not label.startswith("["):
        label = f"[{label}]"
    param.get_usage_pieces = lambda ctx: [label]
    param.get_help_record = lambda ctx: (label, param.help or "")


def _inside(hint: Any) -> Iterator[Any]:
    """Yield the types inside a list or union type, at every depth."""
    for argument in get_args(hint):
        yield argument
        yield from _inside(argument)
