"""Load on a running lab: seeded requests at a given rate, and their results.

The sequence of requests depends only on the seed, so it can be repeated on another lab. Requests are paced in real
time and sent one after the other on one connection. Each has its own idempotency key.
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

MAX_WEIGHT: Final = 1_000_000

CHECK_CLOCK_S: Final = 1.0
"""Real time between two checks of whether a paused clock runs again."""

_LETTERS: Final = "etaoinshrdlu "


class Act(StrEnum):
    """An action of a user."""

    POST = "post"
    EDIT = "edit"
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class Target:
    """A folder and a server that holds it."""

    node: str
    folder: str


@dataclass(frozen=True, slots=True)
class LoadPlan:
    """The load for a lab: `count` actions, or as many as fit into `seconds` of real time.

    rate: actions per second; 0: send each request when the previous one is answered.
    batch: the number of posts in one request.
    size: the number of letters in a body.
    """

    targets: Sequence[Target]
    mix: Mapping[Act, int]
    seed: int = 1
    rate: float = 0.0
    count: int | None = None
    seconds: float | None = None
    batch: int = 1
    size: int = 1000
    while_running: bool = False
    """Wait while the lab's clock is paused or warps, and stop when the lab starts another run."""


def mix_of(text: str) -> dict[Act, int]:
    """Return the weights in `post=8,edit=1,delete=1`, or equal ones for `post,edit,delete`.

    Raises LabError for another text, or if there are no posts.
    """
    weights: dict[Act, int] = {}
    for part in text.split(","):
        name, equals, weight = part.strip().partition("=")
        wrong = LabError(
            f"{part.strip()!r} is not an action with a weight; write post,edit,delete or post=8,edit=1,delete=1"
        )
        if name not in set(Act) or (equals and not weight.isdecimal()) or len(weight) > len(str(MAX_WEIGHT)):
            raise wrong
        weights[Act(name)] = int(weight) if equals else 1
    if not weights.get(Act.POST):
        raise LabError(f"{text!r} has no posts, so there is nothing to edit or delete; add post")
    return weights


@dataclass(frozen=True, slots=True)
class Request:
    """One request: new messages, or one edit or deletion. For the latter, `pick` (0 to 1) chooses a message among those
    posted."""

    act: Act
    target: Target
    posts: tuple[tuple[str, str], ...] = ()
    pick: float = 0.0

    @property
    def size(self) -> int:
        """Return how many actions the request has."""
        return len(self.posts) or 1


def draw_requests(plan: LoadPlan) -> Iterator[Request]:
    """Yield requests drawn from the seed. While there is no message to edit or delete, a post replaces the edit or deletion."""
    random = Random(plan.seed)
    acts, weights = zip(*plan.mix.items(), strict=True)
    messages: Counter[Target] = Counter()
    number = 0
    remaining = plan.count if plan.count is not None else math.inf
    while remaining > 0:
        target = random.choice(plan.targets)
        act = random.choices(acts, weights)[0]
        if act is Act.POST or not messages[target]:
            size = int(min(plan.batch, remaining))
            posts = tuple((f"Load {number + n}", _text(random, plan.size)) for n in range(1, size + 1))
            number += size
            messages[target] += size
            request = Request(Act.POST, target, posts)
        else:
            messages[target] -= act is Act.DELETE
            request = Request(
                act, target, ((f"Load {number}", _text(random, plan.size)),) * (act is Act.EDIT), random.random()
            )
        remaining -= request.size
        yield request


def _text(random: Random, size: int) -> str:
    return "".join(random.choices(_LETTERS, k=size))


@dataclass(slots=True)
class LoadResult:
    """The results of a load, in actions; latencies are those of requests, in seconds.

    acknowledged: committed by a store.
    refused: answered with an error.
    unanswered: it is unknown whether they were carried out.
    """

    asked: int = 0
    acknowledged: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    unanswered: int = 0
    latencies_s: list[float] = field(default_factory=list)
    seconds: float = 0.0
    behind_s: float = 0.0
    """The delay of the last request against the plan."""

    def percentile_ms(self, percent: float) -> float | None:
        """Return a percentile of the latencies of answered requests, in milliseconds; None if no request was answered."""
        ordered = sorted(self.latencies_s)
        return round(1000 * ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)], 3) if ordered else None

    def as_document(self) -> dict[str, Any]:
        count = sum(self.acknowledged.values())
        return {
            "asked": self.asked,
            "acknowledged": count,
            "acts": dict(self.acknowledged),
            "refused": sum(self.refused.values()),
            "reasons": dict(self.refused),
            "unanswered": self.unanswered,
            "requests": len(self.latencies_s),
            "seconds": round(self.seconds, 3),
            "per_second": round(count / self.seconds, 1) if self.seconds else None,
            "behind_s": round(self.behind_s, 3),
            "p50_ms": self.percentile_ms(50),
            "p99_ms": self.percentile_ms(99),
        }


def run_load(
    client: Client,
    plan: LoadPlan,
    report: Callable[[LoadResult], None] = lambda _: None,
    *,
    monotonic: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> LoadResult:
    """Send the requests of the plan and return the results; call `report` after each request.

    Requests that are refused or not answered are counted, and the load continues. Raises ClientError for an internal
    error.
    """
    result, message_ids = LoadResult(), dict[Target, list[str]]()
    began_s = monotonic()
    gate = _ClockGate(client, sleep) if plan.while_running else None
    for request in draw_requests(plan):
        due_s = began_s + (result.asked / plan.rate if plan.rate else 0.0)
        if plan.seconds is not None and max(due_s, monotonic()) - began_s >= plan.seconds:
            break
        if due_s > monotonic():
            sleep(due_s - monotonic())
        if gate is not None:
            gate_s = monotonic()
            if not gate.wait():
                break
            waited_s = monotonic() - gate_s
            began_s, due_s = began_s + waited_s, due_s + waited_s
        asked_s = monotonic()
        result.behind_s = max(0.0, asked_s - due_s) if plan.rate else 0.0
        result.asked += request.size
        try:
            act = _do(client, request, message_ids.setdefault(request.target, []))
            result.acknowledged[act] += request.size
            result.latencies_s.append(monotonic() - asked_s)
        except ClientError as error:
            if error.internal:
                raise
            if error.status == 0 or error.kind == "Silence":
                result.unanswered += request.size
            else:
                result.refused[error.kind] += request.size
                result.latencies_s.append(monotonic() - asked_s)
        result.seconds = monotonic() - began_s
        report(result)
    return result


class _ClockGate:
    """Waits while the lab's clock is paused, or while a warp, for example of a scenario, moves it."""

    def __init__(self, client: Client, sleep: Callable[[float], None]) -> None:
        self._client = client
        self._sleep = sleep
        self._run = client.lab()["run"]

    def wait(self) -> bool:
        """Return True when the clock runs; False if the lab has started another run, which can have other servers and
        folders."""
        while True:
            try:
                state = self._client.lab()
            except ClientError:  # the lab may be restarting
                state = None
            if state is not None:
                if state["run"] != self._run:
                    return False
                if state["clock"]["rate"] and not state["clock"]["warping"]:
                    return True
            self._sleep(CHECK_CLOCK_S)


def _do(client: Client, request: Request, message_ids: list[str]) -> Act:
    """Send one request and return what it did. `message_ids` has the messages that can be edited or deleted. If all posts were
    refused, it is empty, and the request becomes a post."""
    node, folder = request.target.node, request.target.folder
    if request.act is Act.POST or not message_ids:
        posts = request.posts or (("Load", ""),)
        mails = [{"subject": subject, "body": body} for subject, body in posts]
        message_ids += client.post_batch(node, folder, mails)["ids"]
        return Act.POST
    at = int(request.pick * len(message_ids))
    path = f"/nodes/{quoted(node)}/messages/{quoted(message_ids[at])}?folder={quoted(folder)}"
    if request.act is Act.EDIT:
        client.surely("PATCH", path, {"body": request.posts[0][1]})
    else:
        client.surely("DELETE", path, None)
        message_ids.pop(at)
    return request.act


def targets_of(client: Client) -> list[Target]:
    """Return each folder with each running server that holds it."""
    targets = []
    for server in client.lab()["servers"]:
        name = server["name"]
        if server["status"] == "running":
            paths = [view["path"] for view in client.folders(name) if view["held_here"] and not view["hidden"]]
            targets += [Target(name, path) for path in paths if path != ROOT_TEXT]
    return targets
