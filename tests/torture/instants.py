"""The torture test of lab time: with a paused clock, posts are made and lab time moves from cycle to cycle.

Meanwhile hazards strike that delay no mail, such as the end of the coordinator, and the machine may be busy. Each mail still
arrives at the instant at which it arrives in the simulator.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Sequence
from functools import partial

from node.views import Post
from pflab.client import Client
from pflab.lab.lab import Lab
from pflab.simulation.simulator import Simulator
from tests.torture.hazards import strike
from tests.torture.ledger import Acknowledged
from tests.torture.machine import Machine
from tests.torture.posters import FOLDER, STORES, Tally, TortureFailed, repeat_until_answered
from topology.model import Topology
from traces.events import Event, MailReceived, VersionApplied
from traces.labtime import MINUTE_US, LabTime, format_instant

ROUNDS = 4
ROUND_US = 15 * MINUTE_US
ROUND_POSTS = 30
WHILE_POSTING = ("disk", "handles", "pause", "clock")
WHILE_MOVING = ("coordinator", "pause", "clock")
"""The hazards that delay no mail: a store that ends, or takes no mail, gets it at another lab time."""

BODY = "x" * 5000

Instants = tuple[list[tuple[LabTime, str]], list[tuple[LabTime, str, str]]]
"""When each store applied versions, and when it received mails of which sender."""


def _subjects(store: str, number: int) -> list[str]:
    return [f"{store} round {number} {each}" for each in range(ROUND_POSTS)]


async def move_in_rounds(machine: Machine, times: dict[str, int], chance: random.Random, tally: Tally) -> None:
    """Post on all stores and move lab time to the next cycle, ROUNDS times. While either goes on, a hazard of `times` strikes,
    and is subtracted from `times`."""
    for number in range(ROUNDS):
        posts = [
            asyncio.create_task(asyncio.to_thread(_post, machine.client(), store, number, tally)) for store in STORES
        ]
        await _strike_one(WHILE_POSTING, machine, times, chance, tally)
        await asyncio.gather(*posts)
        to = format_instant(machine.topology.start_at + (number + 1) * ROUND_US)
        moved = asyncio.create_task(asyncio.to_thread(_advance, machine.client(), to, tally))
        await _strike_one(WHILE_MOVING, machine, times, chance, tally)
        await moved


async def _strike_one(
    names: Sequence[str], machine: Machine, times: dict[str, int], chance: random.Random, tally: Tally
) -> None:
    found = [name for name in names if times.get(name)]
    if found:
        name = chance.choice(found)
        times[name] -= 1
        await strike(name, machine, chance, tally)


def _post(client: Client, store: str, number: int, tally: Tally) -> None:
    subjects = _subjects(store, number)
    messages = [{"subject": each, "body": BODY} for each in subjects]
    with client:
        made = repeat_until_answered(
            partial(client.post_batch, store, FOLDER, messages, key=f"{store} round {number}"), tally
        )
    tally.ledger.add(
        Acknowledged(subject, store, BODY, id=item) for subject, item in zip(subjects, made["ids"], strict=True)
    )


def _advance(client: Client, to: str, tally: Tally) -> None:
    with client:
        repeat_until_answered(partial(client.advance, to), tally)


async def simulated(topology: Topology) -> Instants:
    """Return the instants of the same posts in the simulator."""
    lab: Lab = Simulator(topology)
    async with lab:
        for number in range(ROUNDS):
            for store in STORES:
                posts = [Post(each, BODY) for each in _subjects(store, number)]
                await lab.do(store, lambda node, now, posts=posts: node.post_batch(now, FOLDER, posts))  # type: ignore[misc]
            await lab.advance(topology.start_at + (number + 1) * ROUND_US)
        return instants_of(lab.events(), lab.now)


def instants_of(events: Sequence[Event], until_at: LabTime) -> Instants:
    """Return the instants in events up to a time."""
    early = [each for each in events if each.at <= until_at]
    applied = sorted((each.at, each.node) for each in early if isinstance(each, VersionApplied))
    received = sorted((each.at, each.node, each.sender) for each in early if isinstance(each, MailReceived))
    return applied, received


async def check_instants(topology: Topology, events: list[Event]) -> None:
    """Check that the mails of the rounds arrived when they do in the simulator, and that no clock has ever gone back."""
    right = await simulated(topology)
    found = instants_of(events, topology.start_at + ROUNDS * ROUND_US)
    if found != right:
        counts = [Counter(found[of]) for of in (0, 1)], [Counter(right[of]) for of in (0, 1)]
        more, missing = ([one - other for one, other in zip(*pair, strict=True)] for pair in (counts, counts[::-1]))
        raise TortureFailed(f"the instants are not those of the simulator: too many {more}, missing {missing}")
    last: dict[str, LabTime] = {}
    for event in events:
        if event.at < last.get(event.node, event.at):
            raise TortureFailed(f"the clock of {event.node} went back to {format_instant(event.at)}: {event}")
        last[event.node] = event.at
