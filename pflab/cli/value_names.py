"""How the values that verbs take are called in their help: SERVER, FOLDER, DURATION, in place of the types of a language.

What a verb names itself stays. All others are named here, by the name of the parameter, else by its type, so that one thing
has one name in all verbs.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, get_args, get_type_hints

_BY_NAME: Final = {
    **dict.fromkeys(("node", "nodes", "server", "servers", "on", "from_", "to"), "SERVER"),
    **dict.fromkeys(("folder", "folders", "path", "converged", "move_to"), "FOLDER"),
    **dict.fromkeys(("by", "within", "lasts"), "DURATION"),
    **dict.fromkeys(("since", "until"), "INSTANT"),
    **dict.fromkeys(("kind", "types"), "TYPE"),
    "age_limit": "DURATION",
    "alias": "NAME",
    "at": "VERB",
    "backup": "BACKUP",
    "connector": "CONNECTOR",
    "contacts": "ADDRESS,...",
    "does": "WHAT",
    "priority": "PRIORITY",
    "rename": "NAME",
    "replicas": "SERVER,...",
    "resolve": "METHOD",
    "schedule": "SCHEDULE",
    "sender": "ADDRESS",
    "value": "RATE|DURATION|INSTANT",
    "host": "HOST",
    "name": "SERVER",
    "what": "FAULT|SERVER",
}

_BY_TYPE: Final = {Path: "PATH", int: "N", float: "NUMBER", str: "TEXT"}

_TEXT_NAMED: Final = {"event": "TYPE"}
"""Of texts alone: `log` takes the number of an event under the same name."""


def name_values(command: Any, function: Any) -> None:
    """Gives each value of a verb, the command made of this function, the name that its help shows."""
    # Typer's parameters have their types in other places from version to version; the function has them in one.
    hints = get_type_hints(function)
    for param in command.params:
        if param.name in hints and param.metavar is None:
            param.metavar = _name_of(param.name, hints[param.name])
        if param.param_type_name == "argument":
            _show_as_named(param)


def _name_of(name: str, hint: Any) -> str | None:
    """None for a switch, which has no value."""
    of = next((each for each in (hint, *_inside(hint)) if each in _BY_TYPE), None)
    if of is None:
        return None
    return _BY_NAME.get(name) or (_TEXT_NAMED.get(name) if of is str else None) or _BY_TYPE[of]


def _show_as_named(param: Any) -> None:
    """Usage and help of an argument have its name alone, in brackets if it may be left out, without a type behind it."""
    shown = param.metavar + ("..." if param.nargs == -1 and not param.metavar.endswith("...") else "")
    if not param.required and not shown.startswith("["):
        shown = f"[{shown}]"
    param.get_usage_pieces = lambda ctx: [shown]
    param.get_help_record = lambda ctx: (shown, param.help or "")


def _inside(hint: Any) -> Iterator[Any]:
    """The types that a list or a union is of."""
    for each in get_args(hint):
        yield each
        yield from _inside(each)
