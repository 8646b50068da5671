"""Load on a running lab: seeded work at a rate, and what became of it.

Which act comes next, where, and what it says is drawn from a seed alone, so that the same order is given again to another
lab. Acts are paced by the clock on the wall and asked for one after the other on one line, each under a key of its own.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from random import Random
from typing import Any, Final

from node.codec.items import ROOT_TEXT
from pflab.client import Client, ClientError, quoted
from pflab.errors import LabError

MOST_WEIGHT: Final = 1_000_000

LOOK_AGAIN_S: Final = 1.0
"""Real time between two looks at a clock that stands."""

_LETTERS: Final = "etaoinshrdlu "


class Act(StrEnum):
    """What a user does."""

    POST = "post"
    EDIT = "edit"
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class Target:
    """A folder at a server that holds it."""

    node: str
    folder: str


@dataclass(frozen=True, slots=True)
class LoadPlan:
    """What is asked of a lab. `count` posts, edits and deletes, or as many as `seconds` hold; `rate` of them a second, 0 as
    fast as they are answered; posts in batches of `batch`, with bodies of `size` letters."""

    targets: Sequence[Target]
    mix: Mapping[Act, int]
    seed: int = 1
    rate: float = 0.0
    count: int | None = None
    seconds: float | None = None
    batch: int = 1
    size: int = 1000
    while_running: bool = False
    """Only while the lab's clock runs by itself, and only in the run that it is now."""


def mix_of(text: str) -> dict[Act, int]:
    """The weights of `post,edit,delete` (alike) or `post=8,edit=1,delete=1`. Raises LabError in one line."""
    found: dict[Act, int] = {}
    for part in text.split(","):
        name, equals, weight = part.strip().partition("=")
        wrong = LabError(f"{part.strip()!r} is no part of a mix; write post,edit,delete or post=8,edit=1,delete=1")
        if name not in set(Act) or (equals and not weight.isdecimal()) or len(weight) > len(str(MOST_WEIGHT)):
            raise wrong
        found[Act(name)] = int(weight) if equals else 1
    if not found.get(Act.POST):
        raise LabError(f"{text!r} has no posts in it; there is nothing to edit or delete without them")
    return found


@dataclass(frozen=True, slots=True)
class Asked:
    """One request: `posts` new messages, or one edit or deletion; `pick` chooses among the messages made so far there."""

    act: Act
    target: Target
    posts: tuple[tuple[str, str], ...] = ()
    pick: float = 0.0

    @property
    def size(self) -> int:
        """How many acts it counts for."""
        return len(self.posts) or 1


def drawn(plan: LoadPlan) -> Iterator[Asked]:
    """Requests without end, of the seed alone. Where there is nothing to edit or delete yet, a post takes its place."""
    chance = Random(plan.seed)
    acts, weights = zip(*plan.mix.items(), strict=True)
    there: Counter[Target] = Counter()
    number = 0
    left = plan.count if plan.count is not None else math.inf
    while left > 0:
        target = chance.choice(plan.targets)
        act = chance.choices(acts, weights)[0]
        if act is Act.POST or not there[target]:
            size = int(min(plan.batch, left))
            posts = tuple((f"Load {number + n}", _text(chance, plan.size)) for n in range(1, size + 1))
            number += size
            there[target] += size
            asked = Asked(Act.POST, target, posts)
        else:
            there[target] -= act is Act.DELETE
            asked = Asked(
                act, target, ((f"Load {number}", _text(chance, plan.size)),) * (act is Act.EDIT), chance.random()
            )
        left -= asked.size
        yield asked


def _text(chance: Random, size: int) -> str:
    return "".join(chance.choices(_LETTERS, k=size))


@dataclass(slots=True)
class Loaded:
    """What became of the load. Acknowledged is what was answered, and is durable; refused what the lab would not do;
    unanswered what may have happened or not. Latencies are of requests, in seconds."""

    asked: int = 0
    acknowledged: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    unanswered: int = 0
    latencies_s: list[float] = field(default_factory=list)
    seconds: float = 0.0
    behind_s: float = 0.0
    """By how much the last request was later than the rate would have it."""

    def percentile_ms(self, percent: float) -> float | None:
        """The latency that so many percent of the answered requests did not exceed; None without any."""
        ordered = sorted(self.latencies_s)
        return round(1000 * ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)], 3) if ordered else None

    def as_document(self) -> dict[str, Any]:
        done = sum(self.acknowledged.values())
        return {
            "asked": self.asked,
            "acknowledged": done,
            "acts": dict(self.acknowledged),
            "refused": sum(self.refused.values()),
            "reasons": dict(self.refused),
            "unanswered": self.unanswered,
            "requests": len(self.latencies_s),
            "seconds": round(self.seconds, 3),
            "per_second": round(done / self.seconds, 1) if self.seconds else None,
            "behind_s": round(self.behind_s, 3),
            "p50_ms": self.percentile_ms(50),
            "p99_ms": self.percentile_ms(99),
        }


def run_load(
    client: Client,
    plan: LoadPlan,
    told: Callable[[Loaded], None] = lambda _: None,
    *,
    monotonic: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Loaded:
    """Does what the plan says; `told` is called after each request. What the lab refuses, or does not answer, stops
    nothing: it is counted."""
    done, made = Loaded(), dict[Target, list[str]]()
    began_s = monotonic()
    pause = _Pause(client, sleep) if plan.while_running else None
    for asked in drawn(plan):
        due_s = began_s + (done.asked / plan.rate if plan.rate else 0.0)
        if plan.seconds is not None and max(due_s, monotonic()) - began_s >= plan.seconds:
            break
        if due_s > monotonic():
            sleep(due_s - monotonic())
        if pause is not None:
            stood_s = monotonic()
            if not pause.over():
                break
            stood_s = monotonic() - stood_s
            began_s, due_s = began_s + stood_s, due_s + stood_s
        asked_s = monotonic()
        done.behind_s = max(0.0, asked_s - due_s) if plan.rate else 0.0
        done.asked += asked.size
        try:
            act = _do(client, asked, made.setdefault(asked.target, []))
            done.acknowledged[act] += asked.size
            done.latencies_s.append(monotonic() - asked_s)
        except ClientError as error:
            if error.internal:
                raise
            if error.status == 0 or error.kind == "Silence":
                done.unanswered += asked.size
            else:
                done.refused[error.kind] += asked.size
                done.latencies_s.append(monotonic() - asked_s)
        done.seconds = monotonic() - began_s
        told(done)
    return done


class _Pause:
    """Waits while the lab's clock does not run by itself: then a scenario or a lesson moves it, or a teacher has stopped it."""

    def __init__(self, client: Client, sleep: Callable[[float], None]) -> None:
        self._client = client
        self._sleep = sleep
        self._run = client.lab()["run"]

    def over(self) -> bool:
        """True once the clock runs; False once the lab has begun anew, for its servers and folders may be others now."""
        while True:
            try:
                shown = self._client.lab()
            except ClientError:  # it may be beginning anew
                shown = None
            if shown is not None:
                if shown["run"] != self._run:
                    return False
                if shown["clock"]["rate"] and not shown["clock"]["warping"]:
                    return True
            self._sleep(LOOK_AGAIN_S)


def _do(client: Client, asked: Asked, made: list[str]) -> Act:
    """One request; `made` are the messages that are there to be edited. Posts where none is: an earlier one was refused."""
    node, folder = asked.target.node, asked.target.folder
    if asked.act is Act.POST or not made:
        posts = asked.posts or (("Load", ""),)
        made += client.post_batch(node, folder, [{"subject": subject, "body": body} for subject, body in posts])
        return Act.POST
    at = int(asked.pick * len(made))
    path = f"/nodes/{quoted(node)}/messages/{quoted(made[at])}?folder={quoted(folder)}"
    if asked.act is Act.EDIT:
        client.surely("PATCH", path, {"body": asked.posts[0][1]})
    else:
        client.surely("DELETE", path, None)
        made.pop(at)
    return asked.act


def targets_of(client: Client) -> list[Target]:
    """Every folder at each running server that holds it."""
    found = []
    for server in client.lab()["servers"]:
        name = server["name"]
        if server["standing"] == "running":
            held = [view["path"] for view in client.folders(name) if view["held_here"] and not view["hidden"]]
            found += [Target(name, path) for path in held if path != ROOT_TEXT]
    return found
