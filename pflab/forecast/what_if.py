"""Changes on trial: the steps of a scenario, played on a copy of a lab.

A step is written as in a scenario: `{stop: B}`, `{lose: {from: A, to: B, count: 1}}`, `{advance: 15 min}`. Steps that wait,
check or narrate are refused, because a forecast has its own end.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from operator import mul
from typing import Any, Final

from node.errors import NodeError
from pflab.errors import LabError
from pflab.forecast.fork import Fork
from pflab.scenario.load import ScenarioError, Step, steps_from_text
from pflab.scenario.model import VERBS, Mail, Post, Posts, Restore
from pflab.scenario.session import Play, StepFailed
from pflab.scenario.steps import STEPS
from topology.problems import did_you_mean, quoted
from topology.quantities import MEGABYTE, format_size

_NO_CHANGES: Final = frozenset({"say", "quiz", "reveal", "checkpoint", "until", "expect"})

CHANGES: Final = tuple(verb for verb in VERBS if verb not in _NO_CHANGES)
"""The verbs of steps that a forecast takes."""

MOST_POSTS: Final = 1_000
MOST_POSTED: Final = 16 * MEGABYTE
"""The largest number of posts of a forecast and their size together, because a copy is in memory."""


def read_steps(mappings: Sequence[Mapping[str, Any]]) -> tuple[Step, ...]:
    """Return the steps that these mappings describe. Raises LabError with all mistakes."""
    try:
        steps = steps_from_text(json.dumps({"steps": mappings}), "the forecast")
    except RecursionError:
        raise LabError("the steps are nested too deeply; a step has one verb and its arguments") from None
    except ScenarioError as error:
        words = (f"{problem.path}: {problem.what}; {problem.would_be_right}" for problem in error.problems)
        raise LabError(" and ".join(words)) from error
    for step in steps:
        if step.verb not in CHANGES:
            raise LabError(f"step {step.number}: a forecast does not take {step.verb}; it takes {', '.join(CHANGES)}")
    posts = [step.args for step in steps if isinstance(step.args, Post | Posts | Mail)]
    counts = [getattr(post, "count", 1) for post in posts]
    sizes = [
        (getattr(post, "letters", None) or len(post.body)) + (getattr(post, "attachment", None) or 0) for post in posts
    ]
    if sum(counts) > MOST_POSTS or sum(map(mul, counts, sizes)) > MOST_POSTED:
        raise LabError(f"a forecast takes at most {MOST_POSTS:,} posts, and {format_size(MOST_POSTED)} together")
    return steps


async def play(fork: Fork, steps: Sequence[Step]) -> None:
    """Play steps on a copy of a lab. Raises LabError if a step fails."""
    names = Play(fork)
    names.backups = {backup: (owner, backup) for backup, owner in fork.backups.items()}
    for step in steps:
        names.faults |= {fault.id: fault.id for fault in fork.faults.active()}  # an earlier step can have named none
        try:
            if step.verb == "heal":
                _check_known("fault", "in force", step.args, [*names.faults, "all"])
            if isinstance(step.args, Restore):
                _check_known("backup", "in this lab", [step.args.backup], names.backups)
            if step.at_us is not None:
                await fork.advance(max(fork.now, fork.began_at + step.at_us))
            await STEPS[step.verb](names, step.args)
        except StepFailed as failed:
            raise LabError(
                f"step {step.number}, {step.verb}: expected {'; '.join(failed.expected)}; {'; '.join(failed.found)}"
            ) from None
        except (NodeError, LabError) as error:
            raise LabError(f"step {step.number}, {step.verb}: {error}") from error


def _check_known(kind: str, where: str, names: Sequence[str], known: Collection[str]) -> None:
    """Raise LabError for the name of a thing that neither the lab nor an earlier step has."""
    unknown = [name for name in names if name not in known]
    if unknown:
        hint = did_you_mean(unknown[0], [*known]) if known else "there is none"
        raise LabError(f"there is no {kind} {quoted(unknown[0])} {where}; {hint}")
