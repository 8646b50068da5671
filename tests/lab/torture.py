"""A hard test of a lab of processes: posts by the API while two of three stores are killed at random, again and again.

    python -m tests.lab.torture --posts 5000 --kills 50 --seed 1

Every post has an Idempotency-Key and is asked for until it is answered, as a careful client does. In the end no post
is lost, none is there twice, every id that was answered is there, and all stores have equal digests.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from pflab.client import Client, ClientError
from pflab.oracle_judge import Observer
from pflab.processes import ProcessLab
from pflab.runfolder import RunFolder
from pflab.verdict import Judgement
from topology import topology_from_text
from traces.labtime import DAY_US

ORGANIZATION = """
servers: {A: , B: , C: }
folders:
  Projects: {replicas: [A, B, C]}
"""
FOLDER = "Projects"
STORES = ("A", "B", "C")
VICTIMS = ("A", "B")

RATE = 600.0
"""Ten lab minutes a second: an interval of 15 minutes is a second and a half."""

LARGEST_BATCH = 10
AGAIN_S = 0.02
PATIENCE_S = 60.0
AHEAD = 30
"""So many posts may one store be ahead of the slowest, that kills meet all of them."""

WITHIN_US = 4 * DAY_US


@dataclass(slots=True)
class Tally:
    """What was posted, by store; `retries` are requests that had to be put again."""

    wanted: int
    done: dict[str, int] = field(default_factory=lambda: dict.fromkeys(STORES, 0))
    ids: dict[str, str] = field(default_factory=dict)
    retries: int = 0
    kills: int = 0

    @property
    def total(self) -> int:
        return sum(self.done.values())


class TortureFailed(AssertionError):
    """What was promised did not hold."""


async def torture(lab: ProcessLab, *, posts: int, kills: int, seed: int) -> Tally:
    """Run it on a lab that is up. Raises TortureFailed."""
    tally = Tally(posts)
    await lab.coordinator.set_rate(RATE)
    shares = {store: posts // len(STORES) + (index < posts % len(STORES)) for index, store in enumerate(STORES)}
    posting = [
        asyncio.to_thread(_post_all, lab.url, store, count, random.Random(f"{seed} {store}"), tally)
        for store, count in shares.items()
    ]
    await asyncio.gather(_kill_all(lab, kills, random.Random(seed), tally), *posting)
    await lab.coordinator.pause()
    await _check(lab, tally)
    return tally


def _post_all(url: str, store: str, count: int, chance: random.Random, tally: Tally) -> None:
    with Client(url) as client:
        number = 0
        while number < count:
            while tally.done[store] > min(tally.done.values()) + AHEAD and tally.total < tally.wanted - AHEAD:
                time.sleep(AGAIN_S)
            size = min(chance.choice((1, 1, 1, LARGEST_BATCH)), count - number)
            subjects = [f"{store} {number + each}" for each in range(size)]
            messages = [{"subject": subject, "body": subject * 20} for subject in subjects]
            key = f"{store}-{number}"
            made = _surely(
                lambda key=key, messages=messages: client.post_batch(store, FOLDER, messages, key=key), tally
            )  # type: ignore[misc]
            tally.ids.update(zip(subjects, made, strict=True))
            number += size
            tally.done[store] = number


def _surely(ask: Callable[[], list[str]], tally: Tally) -> list[str]:
    give_up_s = time.monotonic() + PATIENCE_S
    while True:
        try:
            return ask()
        except ClientError as error:
            if error.status not in {0, 502, 503} or time.monotonic() > give_up_s:
                raise
            tally.retries += 1
            time.sleep(AGAIN_S)


async def _kill_all(lab: ProcessLab, kills: int, chance: random.Random, tally: Tally) -> None:
    moments = sorted(chance.sample(range(max(1, tally.wanted * 9 // 10)), kills))
    for moment in moments:
        while tally.total < moment:  # noqa: ASYNC110 - the posters are threads
            await asyncio.sleep(AGAIN_S)
        await asyncio.sleep(chance.random() * 0.2)
        victim = chance.choice(VICTIMS)
        await lab.kill(victim)
        tally.kills += 1
        await asyncio.sleep(chance.random() * 0.5)
        await lab.start(victim)


async def _check(lab: ProcessLab, tally: Tally) -> None:
    clients = {store: Client(lab.url_of(store)) for store in STORES}

    def alike() -> bool:
        digests = [clients[store].digests(store)[FOLDER] for store in STORES]
        counts = [lab.read(store, lambda node: node.count(FOLDER)) for store in STORES]
        return all(each == digests[0] for each in digests) and set(counts) == {tally.wanted}

    together = await lab.until(alike, lab.now + WITHIN_US)
    for store in STORES:
        found = lab.read(store, lambda node: node.messages(FOLDER))
        subjects = sorted(each.subject for each in found)
        doubled = sorted({each for each in subjects if subjects.count(each) > 1}) if len(found) > tally.wanted else []
        lost = sorted(set(tally.ids) - set(subjects))
        if doubled or lost or {each.subject: each.id for each in found} != tally.ids:
            raise TortureFailed(f"store {store}: {len(lost)} lost {lost[:5]}, {len(doubled)} doubled {doubled[:5]}")
    if not together:
        raise TortureFailed(f"the stores' digests are not equal after {WITHIN_US // DAY_US} lab days")
    for client in clients.values():
        client.close()
    observer = Observer(lab)
    observer.observe()
    verdict = observer.judge().verdict(at_rest=False)
    if verdict.judgement is not Judgement.CONVERGED:
        raise TortureFailed(f"the oracle says {verdict.judgement}: {verdict.as_document()}")


async def _campaign(posts: int, kills: int, seed: int, folder: Path) -> Tally:
    lab = ProcessLab(topology_from_text(ORGANIZATION), seed=seed, folder=RunFolder.create(folder, "torture"))
    async with lab:
        return await torture(lab, posts=posts, kills=kills, seed=seed)


def main() -> int:
    parser = argparse.ArgumentParser(description="Posts by the API while stores are killed.")
    parser.add_argument("--posts", type=int, default=5000)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=Path, help="keep the run below this folder")
    given = parser.parse_args()
    began_s = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        try:
            tally = asyncio.run(_campaign(given.posts, given.kills, given.seed, given.runs or Path(scratch)))
        except TortureFailed as failed:
            print(f"seed {given.seed}: {failed}", file=sys.stderr)
            return 1
    took_s = time.monotonic() - began_s
    print(
        f"{tally.total} posts, {tally.kills} kills, {tally.retries} requests put again: none lost, none doubled,"
        f" all digests equal ({took_s:.0f} s)"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
