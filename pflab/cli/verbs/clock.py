"""The verb `clock`: show, set and advance the clock of a running lab."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from typer import Argument, Context, Option

from pflab.cli.actions import verb_with_actions
from pflab.cli.options import rate_of
from pflab.cli.output import CommandError, Json, err, print_json, print_lines
from pflab.cli.running_lab import Lab, client_of
from pflab.terms.verdict import ExitCode

Within = Annotated[str, Option(help="The longest wait, in lab time.")]

WITHIN = "7 d"

clock = verb_with_actions(
    """Show, set or advance the clock of a running lab.

    Without an action, the verb shows the clock. After step, advance and until the clock is paused.
    """
)


@clock.command()
def show(lab: Lab = None, as_json: Json = False) -> int:
    """Print the lab time and the rate of the clock.

    Example: pflab clock show
    """
    with client_of(lab) as client:
        return _print_clock(client.clock(), as_json)


@clock.command()
def rate(
    value: Annotated[
        str, Argument(metavar="RATE", help="Lab seconds for each real second; the word real means 1, and 0 pauses.")
    ],
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """Set how fast the clock runs.

    Example: pflab clock rate 3600
    """
    with client_of(lab) as client:
        return _print_clock(client.set_rate(rate_of(value, "pflab clock rate")), as_json)


@clock.command()
def pause(lab: Lab = None, as_json: Json = False) -> int:
    """Stop the clock.

    Example: pflab clock pause
    """
    with client_of(lab) as client:
        return _print_clock(client.pause(), as_json)


@clock.command()
def step(lab: Lab = None, as_json: Json = False) -> int:
    """Advance to the next instant at which a server has something to do.

    Example: pflab clock step
    """
    with client_of(lab) as client:
        return _print_clock(client.step(), as_json)


@clock.command()
def advance(
    to: Annotated[
        str,
        Argument(metavar="DURATION|INSTANT", help='How far, such as "36 h"; or to when, such as 2003-10-22T06:15Z.'),
    ],
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """Advance by a duration, or to an instant.

    Example: pflab clock advance "36 h"
    """
    with client_of(lab) as client:
        return _print_clock(client.advance(to), as_json)


until = verb_with_actions(
    """Advance until replicas agree, or until an event happens.

    The exit code is 1 if this does not happen within the longest wait.
    """
)
clock.add_typer(until, name="until")


@until.callback(invoke_without_command=True)
def until_option(
    ctx: Context,
    *,
    converged: Annotated[str | None, Option(hidden=True)] = None,
    event: Annotated[str | None, Option(hidden=True)] = None,
    mail: Annotated[str | None, Option(hidden=True)] = None,
    on: Annotated[str | None, Option(hidden=True)] = None,
    within: Annotated[str, Option(hidden=True)] = WITHIN,
    lab: Annotated[str | None, Option(hidden=True)] = None,
    as_json: Annotated[bool, Option("--json", hidden=True)] = False,
) -> int:
    """Accept the spelling of pflab 0.1, such as `until --converged Projects`. The next release removes it."""
    if ctx.invoked_subcommand is not None:
        return ExitCode.GOOD
    if sum(option is not None for option in (converged, event, mail)) != 1:
        raise CommandError("pflab clock until: write converged FOLDER, event TYPE or mail TYPE")
    if converged is not None:
        return until_converged(converged, within, lab, as_json)
    if mail is not None:
        return until_mail(mail, on, within, lab, as_json)
    return until_event(event or "", on, within, lab, as_json)


@until.command("converged")
def until_converged(
    folder: Annotated[str, Argument(help="The folder's path.")],
    within: Within = WITHIN,
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """Advance until all replicas of a folder agree.

    Example: pflab clock until converged Projects --within "54 h"
    """
    with client_of(lab) as client:
        state = client.until_converged(folder, within)
    stopped = "".join(f"; {name} does not run" for name in state.get("not_asked", ()))
    lacking = "".join(f"; {name} lacks {numbers}" for name, numbers in state.get("lacking", {}).items())
    never = (
        f"{folder} did not converge within {within}{lacking}{stopped}; pflab backfill shows what stores know of this"
    )
    return _print_clock(state, as_json, never)


@until.command("event")
def until_event(
    kind: Annotated[str, Argument(metavar="TYPE", help="The type of the event, such as version.applied.")],
    on: Annotated[str | None, Option(help="Only an event on this server.")] = None,
    within: Within = WITHIN,
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """Advance until the next event of a type.

    Example: pflab clock until event mail.submitted --on A
    """
    with client_of(lab) as client:
        return _print_clock(client.until_event(kind, within, on), as_json, f"no {kind} within {within}")


@until.command("mail")
def until_mail(
    kind: Annotated[str, Argument(metavar="TYPE", help="The type of the mail, such as status.")],
    on: Annotated[str | None, Option(help="Only a mail that this server sends.")] = None,
    within: Within = WITHIN,
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """Advance until a server sends a replication mail of a type.

    Example: pflab clock until mail status --on A
    """
    with client_of(lab) as client:
        return _print_clock(client.until_mail(kind, within, on), as_json, f"no {kind} mail within {within}")


def _print_clock(state: Mapping[str, Any], as_json: bool, never: str = "") -> int:
    """Print the clock, and `never` on stderr if the lab waited in vain. Return the exit code."""
    if as_json:
        print_json(state)
    else:
        seconds = "second" if state["rate"] == 1 else "seconds"
        speed = f"{state['rate']:g} lab {seconds} per second" if state["rate"] else "paused"
        print_lines([f"{state['now_at']}  {speed}"])
        for name, why in state["passed_over"].items():
            err.print(f"warning: lab time goes on without server {name}: {why}", markup=False)
    if state.get("held") is False:
        err.print(never, markup=False)
        return ExitCode.VIOLATION
    return ExitCode.GOOD
