"""Torture test of a lab of processes: clients post by SMTP and by the API while processes are killed repeatedly.

    python -m tests.torture.torture --posts 600 --kills 20 --coordinator-kills 10 --disk 64 --busy --seed 1

| part | what happens |
|---|---|
| rounds | with a paused clock: posts on all stores, then lab time moves to the next cycle (`tests.torture.instants`) |
| posts | the clock runs; half of the posts use the API, half are mails to the folder's address |

A post by the API has an Idempotency-Key, and a mail its Message-ID, always to the same store; clients repeat both until they
are answered. Meanwhile two of three stores and the coordinator are killed with SIGKILL and start again. Some mail programs hang
up inside DATA or before the answer, and the lab drops connections between the stores there, too. With `--disk`, everything that
the lab writes is on a small disk, which is full at times; then posts are refused with 507 and 452. With `--busy`, a busy loop
runs on each core, and the lab has a lower priority.

At the end no post is lost or doubled, every acknowledged id exists, exported mails equal the sent ones, all stores have equal
digests, the traces are complete, and the oracle finds no problem. Lab time is right: in the rounds each mail arrived at the
instant of the simulator, no clock ever went back, and lab time passed over no process that lived.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import random
import re
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pflab.client import Client
from pflab.drivers.existing_lab import ExistingLab
from pflab.oracle.judge import Observer
from pflab.terms.verdict import Judgement
from tests.support.topologies import THREE_STORES
from tests.torture.instants import ROUNDS, check_instants, move_in_rounds
from tests.torture.load import DRIVERS, check_load
from tests.torture.machine import LAB, Machine, busy_cores, fill, small_disk, why_no_disk
from tests.torture.posters import (
    AGAIN_S,
    FOLDER,
    STORES,
    Tally,
    TortureFailed,
    mail_all,
    message_of,
    post_all,
    repeat_until_answered,
    shares_of,
)
from topology.file.load import topology_from_text
from traces.events import Event
from traces.reading import read_folder

VICTIMS = ("A", "B")
"""The stores that are killed. C lives all the time, so lab time must never pass it over."""

DROPPED_AT = ("DATA", "BDAT", "end of data")

RATE = 600.0
"""Ten lab minutes a second: an interval of 15 minutes takes a second and a half."""

WITHIN = "4 d"

PASSED_OVER = re.compile(r"^server (\w+) is passed over.*: (.*)$", re.MULTILINE)
LIVES = "no sign of life"


@dataclass(frozen=True, slots=True)
class Plan:
    """What happens during the posts, and how often. fills: how often the disk is full."""

    posts: int
    kills: int
    drops: int
    coordinator_kills: int
    fills: int
    seed: int


async def torture(machine: Machine, plan: Plan) -> Tally:
    """Run the test on a lab that runs. Raise TortureFailed if a promise is broken."""
    tally = Tally(plan.posts)
    chance = partial(_chance, plan.seed)
    await move_in_rounds(
        machine,
        chance("rounds"),
        tally,
        kills=min(plan.coordinator_kills, ROUNDS // 2),
        fills=min(plan.fills, ROUNDS // 2),
    )
    with machine.client() as client:
        repeat_until_answered(partial(client.set_rate, RATE), tally)
    posters = [f"{store} {way}" for store in STORES for way in ("api", "mail")]
    shares = shares_of(plan.posts, posters)
    tally.done.update(dict.fromkeys(posters, 0))
    left = plan.coordinator_kills - tally.coordinator_kills
    async with asyncio.TaskGroup() as group:
        for poster, count in shares.items():
            store, way = poster.split()
            if way == "api":
                work: Awaitable[None] = asyncio.to_thread(
                    post_all, machine.client(), poster, store, count, chance(poster), tally
                )
            else:
                work = mail_all(machine, poster, store, count, chance(poster), tally)
            group.create_task(_end_all_on_error(work, tally))
        for meddles in (
            _kill_all(machine, VICTIMS, plan.kills, chance("kills"), tally),
            _kill_all(machine, (LAB,), left, chance("coordinator"), tally),
            _drop_all(machine, plan.drops, chance("drops"), tally),
            _fill_all(machine, plan.fills - tally.fills, chance("fills"), tally),
        ):
            group.create_task(_end_all_on_error(meddles, tally))
    with machine.client() as client:
        await asyncio.to_thread(_check, client, machine, tally)
    await _check_traces(machine, tally)
    return tally


def _chance(seed: int, name: str) -> random.Random:
    return random.Random(f"{seed} {name}")


async def _end_all_on_error(work: Awaitable[None], tally: Tally) -> None:
    """If the work fails, tell the other clients to end, so that its error is raised."""
    try:
        await work
    except BaseException:
        tally.over = True
        raise


def _post_counts(tally: Tally, count: int, chance: random.Random) -> list[int]:
    """Return the numbers of posts after which something happens."""
    return sorted(chance.choices(range(max(1, tally.wanted * 9 // 10)), k=count))


async def _wait_for_posts(tally: Tally, moment: int) -> None:
    while tally.total < moment:  # noqa: ASYNC110 - half of the posters are threads
        await asyncio.sleep(AGAIN_S)


async def _drop_all(machine: Machine, drops: int, chance: random.Random, tally: Tally) -> None:
    for moment in _post_counts(tally, drops, chance):
        await _wait_for_posts(tally, moment)
        from_, to = chance.sample(STORES, 2)
        with machine.client() as client:
            drop = partial(
                client.inject, "smtp", at=chance.choice(DROPPED_AT), does="disconnect", from_=from_, to=to, count=1
            )
            await asyncio.to_thread(repeat_until_answered, drop, tally)


async def _kill_all(
    machine: Machine, victims: tuple[str, ...], kills: int, chance: random.Random, tally: Tally
) -> None:
    for moment in _post_counts(tally, kills, chance):
        await _wait_for_posts(tally, moment)
        await asyncio.sleep(chance.random() * 0.2)
        await _kill(machine, chance.choice(victims), chance, tally)


async def _kill(machine: Machine, victim: str, chance: random.Random, tally: Tally) -> None:
    machine.take_down(victim)
    if victim == LAB:
        tally.coordinator_kills += 1
    else:
        tally.kills += 1
    try:
        await asyncio.sleep(chance.random() * 0.5)
    finally:
        machine.bring_up(victim)


async def _fill_all(machine: Machine, fills: int, chance: random.Random, tally: Tally) -> None:
    """Let the disk be full for a while, and kill something meanwhile: it begins again on a full disk."""
    for moment in _post_counts(tally, fills, chance):
        await _wait_for_posts(tally, moment)
        ballast = await asyncio.to_thread(fill, machine.folder)
        tally.fills += 1
        try:
            await asyncio.sleep(chance.random() * 0.5)
            await _kill(machine, chance.choice((*VICTIMS, LAB)), chance, tally)
            await asyncio.sleep(chance.random() * 3)
        finally:
            ballast.unlink()


def _check(client: Client, machine: Machine, tally: Tally) -> None:
    """Check the stores and the logs when the lab has converged."""
    repeat_until_answered(client.pause, tally)
    tally.dropped = sum(each["type"] == "fault.healed" for each in client.events())
    client.heal()
    _wait_for_all(client)
    if not client.until_converged(FOLDER, WITHIN)["held"]:
        raise TortureFailed(f"the stores are not equal after {WITHIN}")
    digests = [client.digests(store)[FOLDER] for store in STORES]
    if any(each != digests[0] for each in digests):
        raise TortureFailed(f"the stores' digests differ: {digests}")
    for store in STORES:
        _check_store(client, store, tally)
    _check_mails(client, tally)
    for name in (LAB, *STORES):
        if "Traceback" in machine.log_of(name):
            raise TortureFailed(f"an internal error is in the log of {name}:\n{machine.log_of(name)[-4000:]}")
    for name, why in PASSED_OVER.findall(machine.log_of(LAB)):
        if name not in VICTIMS or LIVES in why:
            raise TortureFailed(f"lab time passed over {name}, which lived: {why}")


def _wait_for_all(client: Client) -> None:
    give_up_s = time.monotonic() + 60
    while any(each["standing"] != "running" for each in client.lab()["servers"]):
        if time.monotonic() > give_up_s:
            raise TortureFailed(f"a store does not come back: {client.lab()['servers']}")
        time.sleep(AGAIN_S)


def _check_store(client: Client, store: str, tally: Tally) -> None:
    """Check that each acknowledged post exists once, under its id, and that there is nothing else."""
    found = client.messages(store, FOLDER)
    times = Counter(str(each["subject"]) for each in found)
    wanted = {*tally.ids, *tally.mailed.values()}
    doubled = sorted(subject for subject, count in times.items() if count > 1)
    lost = sorted(wanted - set(times))
    unknown = sorted(set(times) - wanted)
    if doubled or lost or unknown:
        raise TortureFailed(
            f"store {store}: {len(lost)} lost {lost[:5]}, {len(doubled)} doubled {doubled[:5]}, unknown {unknown[:5]}"
        )
    ids = {each["subject"]: each["id"] for each in found}
    changed = sorted(subject for subject, answered in tally.ids.items() if ids[subject] != answered)
    if changed:
        raise TortureFailed(f"store {store}: an id differs from the acknowledged one: {changed[:5]}")


def _check_mails(client: Client, tally: Tally) -> None:
    """Check that one store kept each mail whole; equal digests show the same for the other stores."""
    store = STORES[0]
    ids = {each["subject"]: each["id"] for each in client.messages(store, FOLDER)}
    for message_id, subject in tally.mailed.items():
        found, text = message_of(client.mail(store, FOLDER, ids[subject]))
        if found != message_id or text != tally.texts[message_id]:
            raise TortureFailed(f"store {store}: the mail {message_id} is kept as {found} with {len(text)} characters")


class _TracedLab(ExistingLab):
    """The lab, with the events of its traces."""

    def __init__(self, machine: Machine, client: Client, events: list[Event]) -> None:
        super().__init__(machine.topology, client)
        self._events = sorted(events, key=lambda event: (event.at, event.lamport, event.node, event.seq))

    def events(self, since: int = 0) -> list[Event]:
        return self._events[since:]


async def _check_traces(machine: Machine, tally: Tally) -> None:
    """Check that the traces are complete, lab time was right, and the oracle finds no problem."""
    with machine.client() as client:
        repeat_until_answered(client.ship, tally)
    trace = read_folder(machine.traces)
    if trace.report():
        raise TortureFailed(f"the traces are not complete: {trace.report()[:5]}")
    await check_instants(machine.topology, trace.events)
    with machine.client() as client:
        verdict = Observer(_TracedLab(machine, client, trace.events)).judge().verdict(at_rest=False)
    if verdict.judgement is not Judgement.CONVERGED:
        raise TortureFailed(f"the oracle says {verdict.judgement}: {verdict.as_document()}")


def main() -> int:
    parser = argparse.ArgumentParser(description="Posts by SMTP and the API while processes are killed.")
    parser.add_argument("--posts", type=int, help="default: 5000, or 600 on a small disk")
    parser.add_argument("--kills", type=int, default=50, help="of stores")
    parser.add_argument("--coordinator-kills", type=int, default=10)
    parser.add_argument("--drops", type=int, default=100, help="connections dropped between stores, inside DATA")
    parser.add_argument("--disk", type=int, metavar="MB", help="put everything on a disk of this size, such as 64")
    parser.add_argument("--fills", type=int, default=10, help="how often the small disk is full for a while")
    parser.add_argument("--busy", action="store_true", help="a busy loop on each core, and the lab under nice")
    parser.add_argument(
        "--load", nargs="*", choices=DRIVERS, help="only the load of `tests.torture.load`, on these drivers"
    )
    parser.add_argument("--mails", type=int, default=4000, help="large posts of the load")
    parser.add_argument("--unsent", type=int, default=30_000, help="small posts of the load")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=Path, help="keep what the run wrote in this folder, which must not exist")
    parser.add_argument("--disk-at", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.disk and given.disk_at is None:
        return _on_small_disk(given.disk)
    plan = Plan(
        posts=given.posts or (600 if given.disk else 5000),
        kills=given.kills,
        drops=given.drops,
        coordinator_kills=given.coordinator_kills,
        fills=given.fills if given.disk else 0,
        seed=given.seed,
    )
    with tempfile.TemporaryDirectory() as scratch:
        folder = (given.disk_at or Path(scratch)) / "torture"
        try:
            with busy_cores() if given.busy else contextlib.nullcontext():
                if given.load is not None:
                    return _load(given.load or DRIVERS, folder, given.mails, given.unsent)
                return _run(plan, folder, Path(scratch) / "logs")
        finally:
            if given.runs and folder.exists():
                shutil.copytree(folder, given.runs, ignore=shutil.ignore_patterns("ballast"))


def _on_small_disk(size_mb: int) -> int:
    """Run this command again with a small disk, and return its exit code; 2 if this machine has no such disk."""
    with tempfile.TemporaryDirectory() as at:
        why = why_no_disk(Path(at), size_mb)
        if why:
            print(f"this machine cannot mount a disk of {size_mb} MB: {why}", file=sys.stderr)
            return 2
        order = [*small_disk(Path(at), size_mb), sys.executable, "-m", "tests.torture.torture", *sys.argv[1:]]
        return os.spawnvp(os.P_WAIT, order[0], [*order, "--disk-at", at])


def _load(drivers: Sequence[str], folder: Path, mails: int, unsent: int) -> int:
    for driver in drivers:
        try:
            print(asyncio.run(check_load(driver, folder / driver, mails=mails, unsent=unsent)), flush=True)
        except TortureFailed as failed:
            print(failed, file=sys.stderr)
            return 1
        shutil.rmtree(folder / driver)
    return 0


def _run(plan: Plan, folder: Path, logs: Path) -> int:
    began_s = time.monotonic()
    try:
        with Machine(topology_from_text(THREE_STORES), folder, logs) as machine:
            tally = asyncio.run(torture(machine, plan))
    except TortureFailed as failed:
        print(f"seed {plan.seed}: {failed}", file=sys.stderr)
        return 1
    took_s = time.monotonic() - began_s
    print(
        f"{len(tally.ids)} posts by the API and {len(tally.mailed)} by SMTP; {tally.kills} kills of stores and"
        f" {tally.coordinator_kills} of the coordinator; {tally.retries} put again, {tally.refused} of them because the"
        f" disk was full ({tally.fills} times); clients hung up inside DATA {tally.hung_up} times and {tally.unheard} before"
        f" the answer, {tally.dropped} connections between stores were dropped there: no post lost, none doubled, all"
        f" digests equal, lab time right ({took_s:.0f} s)"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
