"""Torture test of a lab of processes: clients post by SMTP and by the API while hazards strike the machine.

    python -m tests.torture.torture --posts 600 --hazards kill=20,coordinator,reboot,disk --busy --seed 1

| part | what happens |
|---|---|
| rounds | with a paused clock: posts on all stores, then lab time moves to the next cycle (`tests.torture.instants`) |
| posts | the clock runs; half of the posts use the API, half are mails to the folder's address |

A post by the API has an Idempotency-Key, and a mail its Message-ID, always to the same store; clients repeat both until they
are answered. Some mail programs hang up inside DATA or before the answer. Meanwhile the hazards of `tests.torture.hazards`
strike the machine: processes are killed and start again, they are paused, and have no file handle or memory left; the power
fails, and the disk loses what was not synced (`tests.torture.power_failure`); the disk is full, and the clock jumps. What
cannot be written then is refused with 507 and 452. With `--busy`, a busy loop runs on each core, and the lab has a lower
priority. What the lab acknowledged is in a file outside the lab (`tests.torture.ledger`).

At the end no post is lost or doubled, every acknowledged id exists, the texts are those that were sent, all stores have equal
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
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import get_args

from node.state.database import Durability
from pflab.client import Client
from pflab.drivers.existing_lab import ExistingLab
from pflab.oracle.judge import Observer
from pflab.terms.verdict import Judgement
from tests.support.topologies import THREE_STORES
from tests.torture.hazards import HAZARDS, POWER, chosen, possible, strike
from tests.torture.instants import check_instants, move_in_rounds
from tests.torture.ledger import Ledger
from tests.torture.load import DRIVERS, check_load
from tests.torture.machine import LAB, Machine, busy_cores
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
from tests.torture.small_disk import small_disk
from topology.file.load import topology_from_text
from traces.events import Event
from traces.reading import read_folder

RATE = 600.0
"""Ten lab minutes a second: an interval of 15 minutes takes a second and a half."""

WITHIN = "4 d"

PASSED_OVER = re.compile(r"^server (\w+) is passed over.*: (.*)$", re.MULTILINE)
_ONE = r"^.*Traceback \(most recent call last\):\n(?:[ ~^|+].*\n)*.*$"
TRACEBACK = re.compile(rf"{_ONE}(?:\n\n(?:During|The above).*:\n\n{_ONE})*", re.MULTILINE)
"""A traceback, with those of the exceptions that led to it."""

SHORTAGE = re.compile(
    r"^(OSError: \[Errno (12|23|24)\]|MemoryError|ImportError: .*: (failed to map segment|cannot open shared object file)"
    r"|RuntimeError: can't start new thread|AttributeError: .*'_ssock'$)",
    re.MULTILINE,
)
"""No handle or memory is free: asyncio logs a connection that it cannot accept. A process that begins then ends: it cannot load
a library, or asyncio complains about its own loop, which has no sockets yet."""

SCARCITY = ("handles", "memory")
"""The hazards that leave a process no file handle or no memory."""

LIVES = "no sign of life"

BASE_DISK_MB = 48
POSTS_OF_A_MB = 20
"""A disk of this size is full only while a hazard fills it."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How many posts are made, and how often each hazard strikes meanwhile.

    durability: what a commit of a store survives.
    """

    posts: int
    times: Mapping[str, int]
    seed: int
    durability: Durability = "full"

    def machine(self, folder: Path, logs: Path) -> Machine:
        """Return the machine on which the test runs."""
        power = bool(self.times.get(POWER))
        return Machine(topology_from_text(THREE_STORES), folder, logs, self.durability, power=power)


async def torture(machine: Machine, plan: Plan, ledger: Ledger) -> Tally:
    """Run the test on a lab that runs. Raise TortureFailed if a promise is broken."""
    tally = Tally(plan.posts, ledger)
    chance = partial(_chance, plan.seed)
    times = dict(plan.times)
    await move_in_rounds(machine, times, chance("rounds"), tally)
    with machine.client() as client:
        repeat_until_answered(partial(client.set_rate, RATE), tally)
    posters = [f"{store} {way}" for store in STORES for way in ("api", "mail")]
    shares = shares_of(plan.posts, posters)
    tally.done.update(dict.fromkeys(posters, 0))
    moments = _moments(tally, times, chance("moments"))
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
        for name in times:
            strikes = _strike_all(name, machine, moments[name], chance(name), tally)
            group.create_task(_end_all_on_error(strikes, tally))
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


def _moments(tally: Tally, times: Mapping[str, int], chance: random.Random) -> dict[str, list[int]]:
    """Return for each hazard the numbers of posts after which it strikes. There are half as many numbers as strikes, so that
    hazards meet."""
    several = chance.choices(range(max(1, tally.wanted * 9 // 10)), k=max(1, sum(times.values()) // 2))
    return {name: sorted(chance.choices(several, k=count)) for name, count in times.items()}


async def _strike_all(name: str, machine: Machine, moments: list[int], chance: random.Random, tally: Tally) -> None:
    for moment in moments:
        while tally.total < moment:  # noqa: ASYNC110 - half of the posters are threads
            await asyncio.sleep(AGAIN_S)
        await strike(name, machine, chance, tally)


def _check(client: Client, machine: Machine, tally: Tally) -> None:
    """Check the stores and the logs when the lab has converged."""
    repeat_until_answered(client.pause, tally)
    _wait_for_all(client)
    client.until_converged(FOLDER, WITHIN)  # the last mails still meet connections that break
    tally.dropped = max(0, tally.strikes["drop"] - len(client.faults()))
    client.heal()
    if not client.until_converged(FOLDER, WITHIN)["held"]:
        raise TortureFailed(f"the stores are not equal after {WITHIN}")
    digests = [client.digests(store)[FOLDER] for store in STORES]
    if any(each != digests[0] for each in digests):
        raise TortureFailed(f"the stores' digests differ: {digests}")
    for store in STORES:
        _check_store(client, store, tally)
    _check_texts(client, tally)
    if machine.unsynced is not None and not machine.unsynced.lost.journals:
        raise TortureFailed("no process kept a journal of what is not synced, so the power failures took nothing")
    scarce = any(tally.strikes.get(name) for name in SCARCITY)
    for name in (LAB, *STORES):
        tracebacks = TRACEBACK.findall(machine.log_of(name))
        if errors := [found for found in tracebacks if not (scarce and SHORTAGE.search(found))]:
            raise TortureFailed(f"an internal error is in the log of {name}:\n{errors[0]}")
    ended = {name for name, _ in machine.codes}
    for name, why in PASSED_OVER.findall(machine.log_of(LAB)):
        if name not in ended or LIVES in why:
            raise TortureFailed(f"lab time passed over {name}, which lived: {why}")


def without_effect(machine: Machine, tally: Tally) -> list[str]:
    """Return the hazards that struck and met nothing, of those whose effect is known."""
    effects = {
        "drop": tally.dropped > 0,
        "disk": tally.refused > 0,
        POWER: machine.unsynced is not None and bool(machine.unsynced.lost),
    }
    return [name for name, had_effect in effects.items() if tally.strikes[name] and not had_effect]


def _wait_for_all(client: Client) -> None:
    give_up_s = time.monotonic() + 60
    while any(each["status"] != "running" for each in client.lab()["servers"]):
        if time.monotonic() > give_up_s:
            raise TortureFailed(f"a store does not come back: {client.lab()['servers']}")
        time.sleep(AGAIN_S)


def _check_store(client: Client, store: str, tally: Tally) -> None:
    """Check that each acknowledged post exists once, under its id, and that there is nothing else."""
    found = client.messages(store, FOLDER)
    times = Counter(str(each["subject"]) for each in found)
    acknowledged = {post.subject: post for post in tally.ledger.posts()}
    doubled = sorted(subject for subject, count in times.items() if count > 1)
    lost = sorted(acknowledged.keys() - times)
    unknown = sorted(times.keys() - acknowledged)
    if doubled or lost or unknown:
        raise TortureFailed(
            f"store {store}: {len(lost)} lost {lost[:5]}, {len(doubled)} doubled {doubled[:5]}, unknown {unknown[:5]}"
        )
    ids = {each["subject"]: each["id"] for each in found}
    changed = sorted(subject for subject, post in acknowledged.items() if post.id not in {"", ids[subject]})
    if changed:
        raise TortureFailed(f"store {store}: an id differs from the acknowledged one: {changed[:5]}")


def _check_texts(client: Client, tally: Tally) -> None:
    """Check that one store kept each post whole; equal digests show the same for the other stores."""
    store = STORES[0]
    ids = {each["subject"]: each["id"] for each in client.messages(store, FOLDER)}
    for post in tally.ledger.posts():
        if post.message_id:
            message_id, text = message_of(client.mail(store, FOLDER, ids[post.subject]))
        else:
            message_id, text = "", client.body(store, FOLDER, ids[post.subject])
        if (message_id, text) != (post.message_id, post.text):
            raise TortureFailed(f"store {store} kept {post} with the Message-ID {message_id!r} and the text {text!r}")


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
        repeat_until_answered(client.export, tally)
    trace = read_folder(machine.traces)
    if trace.report():
        raise TortureFailed(f"the traces are not complete: {trace.report()[:5]}")
    await check_instants(machine.topology, trace.events)
    with machine.client() as client:
        verdict = Observer(_TracedLab(machine, client, trace.events)).judge().verdict(at_rest=False)
    if verdict.judgement is not Judgement.CONVERGED:
        raise TortureFailed(f"the oracle says {verdict.judgement}: {verdict.as_document()}")


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Posts by SMTP and the API while hazards strike the machine of a lab.",
        epilog="Hazards: " + "; ".join(f"{name}: {each.what}" for name, each in HAZARDS.items()),
    )
    parser.add_argument("--posts", type=int, default=2000, help="how many posts the clients make; at least 1")
    parser.add_argument(
        "--hazards",
        type=chosen,
        metavar="NAME[=TIMES],...",
        help="default: all that this machine can do, "
        + ",".join(f"{name}={each.times}" for name, each in HAZARDS.items()),
    )
    parser.add_argument("--disk", type=int, metavar="MB", help="the size of the disk that is full at times")
    parser.add_argument("--busy", action="store_true", help="a busy loop on each core, and the lab under nice")
    parser.add_argument(
        "--load", nargs="*", choices=DRIVERS, help="only the load of `tests.torture.load`, on these drivers"
    )
    parser.add_argument("--mails", type=int, default=4000, help="large posts of the load")
    parser.add_argument("--unsent", type=int, default=30_000, help="small posts of the load")
    parser.add_argument(
        "--durability",
        choices=get_args(Durability),
        default="full",
        help="what a commit of a store survives; with normal, a power failure loses acknowledged posts, and the test fails",
    )
    parser.add_argument("--seed", type=int, default=1, help="decides what strikes when")
    parser.add_argument("--runs", type=Path, help="keep what the run wrote in this folder, which must not exist")
    parser.add_argument(
        "--ledger", type=Path, help="the list of acknowledged posts; default: build/torture/seed-N.jsonl"
    )
    parser.add_argument("--disk-at", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.posts < 1:
        parser.error(f"--posts {given.posts}: at least one post is needed to say that none was lost")
    names, left_out = possible()
    times = given.hazards or {name: HAZARDS[name].times for name in names}
    if missing := [each for each in left_out if each.partition(" ")[0] in times]:
        parser.error(f"this machine cannot do {', '.join(missing)}")
    if given.load is None and "disk" in times and given.disk_at is None:
        return _on_small_disk(given.disk or BASE_DISK_MB + given.posts // POSTS_OF_A_MB)
    if left_out and given.hazards is None and given.load is None:
        print(f"left out: {', '.join(left_out)}", flush=True)
    ledger = given.ledger or Path("build/torture") / f"seed-{given.seed}.jsonl"
    with tempfile.TemporaryDirectory() as scratch:
        folder = (given.disk_at or Path(scratch)) / "torture"
        try:
            with busy_cores() if given.busy else contextlib.nullcontext():
                if given.load is not None:
                    return _load(given.load or DRIVERS, folder, given.mails, given.unsent)
                plan = Plan(given.posts, times, given.seed, given.durability)
                return _run(plan, folder, Path(scratch) / "logs", ledger)
        finally:
            if given.runs and folder.exists():
                shutil.copytree(folder, given.runs, ignore=shutil.ignore_patterns("ballast"))


def _on_small_disk(size_mb: int) -> int:
    """Run this command again with a small disk, and return its exit code."""
    with tempfile.TemporaryDirectory() as at:
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


def _run(plan: Plan, folder: Path, logs: Path, ledger_file: Path) -> int:
    began_s = time.monotonic()
    with closing(Ledger(ledger_file)) as ledger:
        try:
            with plan.machine(folder, logs) as machine:
                tally = asyncio.run(torture(machine, plan, ledger))
        except TortureFailed as failed:
            print(f"seed {plan.seed}: {failed}", file=sys.stderr)
            return 1
    took_s = time.monotonic() - began_s
    if idle := without_effect(machine, tally):
        print(f"no effect was seen of: {', '.join(idle)}; this run says nothing about them")
    killed = sum(code == -signal.SIGKILL for _, code in machine.codes)
    print(
        f"seed {plan.seed}, durability {plan.durability}: {tally.total} posts in {ledger_file}; "
        + ", ".join(f"{name} {count}" for name, count in tally.strikes.items())
        + ("" if machine.unsynced is None else f"; {machine.unsynced.lost.in_words()}")
        + f"; SIGKILL ended {killed} processes, and {len(machine.codes) - killed} ended by themselves; clients repeated"
        f" {tally.retries} times, {tally.refused} of them because nothing could be written; they hung up inside DATA"
        f" {tally.hung_up} times and {tally.unheard} before the answer, {tally.dropped} connections between stores were"
        f" dropped there: no post lost, none doubled, all digests equal, lab time right ({took_s:.0f} s)"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
