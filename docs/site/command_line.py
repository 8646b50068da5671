"""The page of the command line: each verb with its help, from the verbs themselves."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from contextlib import redirect_stdout, suppress
from typing import Any

import typer

from node.process.main import main as node_main
from pflab.cli.actions import commands_in
from pflab.cli.app import GROUPS, app

EVERYWHERE = {"--debug", "--help"}
"""Options that each verb has."""

HEAD = """# The command line

Each verb of `pflab` with its arguments and options, as `pflab VERB --help` prints them. Some verbs have actions, such as
`pflab clock advance`; each action has its own help. Without an action, such a verb shows or lists. Each command also has
`--help`, and `--debug`, which prints the traceback of an internal error. [Installation](../how-to/install.md#get-help) has
the exit codes.
"""


def render() -> str:
    """Return the page."""
    root: Any = typer.main.get_command(app)
    parts = [HEAD]
    for group, verbs in GROUPS.items():
        parts.append(f"\n## {group}\n")
        for verb in verbs:
            for words, command in commands_in(verb, root.get_command(None, verb)):
                parts += _command(words, command)
    return "".join(parts)


def _command(words: str, command: Any) -> Iterator[str]:
    """Yield the help of a verb or an action. A verb with actions has its own heading, and so has each action."""
    if command.hidden:
        return
    context = typer.Context(command, info_name=f"pflab {words}")
    paragraphs = [" ".join(each.split()) for each in (command.help or "").split("\n\n")]
    usage = context.get_usage().removeprefix("Usage: ").replace("\n       ", "\n")
    yield f"\n{'#' * (3 + words.count(' '))} pflab {words}\n\n"
    yield _node_help() if words == "node" else f"```\n{usage}\n```\n\n"
    for each in paragraphs:
        yield f"```\n{each.partition(': ')[2]}\n```\n\n" if each.startswith("Example: ") else f"{each}\n\n"
    shown = [
        (each.param_type_name, each.get_help_record(context))
        for each in command.params
        if not EVERYWHERE & {*each.opts}
    ]
    for title, kind in (("argument", "argument"), ("option", "option")):
        yield from _table(title, (record for name, record in shown if name == kind and record and words != "node"))


def _table(title: str, records: Iterable[tuple[str, str]]) -> Iterator[str]:
    rows = [f"| `{names}` | {_text(what)} |\n" for names, what in records]
    if rows:
        yield f"| {title} | meaning |\n|---|---|\n{''.join(rows)}\n"


def _text(what: str) -> str:
    return " ".join(what.split()).replace("|", "&#124;").replace("<", "&lt;").replace("*", "&#42;")


def _node_help() -> str:
    """Return the help of the verb node, which has its own parser."""
    printed = io.StringIO()
    with redirect_stdout(printed), suppress(SystemExit):
        node_main(["--help"])
    return f"```\n{printed.getvalue()}```\n\n"
