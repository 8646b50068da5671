"""Torture test of a lab of processes: clients post by SMTP and by the API while two of three stores are killed repeatedly.

    python -m tests.torture.torture --posts 5000 --kills 50 --seed 1

Half of the posts use the API, with an Idempotency-Key; half are mails to the folder's address, each with its Message-ID,
always to the same store. Clients repeat both until they are answered. Some mail programs hang up inside DATA or before
the answer, and the lab drops connections between the stores there, too.

At the end no post is lost or doubled, every acknowledged id exists, exported mails equal the sent ones, all stores have
equal digests, and the oracle finds no problem.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable
from pathlib import Path

from pflab.client import Client
from pflab.drivers.processes import ProcessLab
from pflab.faults.fault import FaultKind
from pflab.oracle.judge import Observer
from pflab.runs.run_folder import RunFolder
from pflab.terms.verdict import Judgement
from tests.support.topologies import THREE_STORES
from tests.torture.posters import (
    AGAIN_S,
    FOLDER,
    STORES,
    Tally,
    TortureFailed,
    mail_all,
    message_of,
    post_all,
    shares_of,
)
from topology import topology_from_text
from traces.labtime import DAY_US

VICTIMS = ("A", "B")
DROPPED_AT = ("DATA", "BDAT", "end of data")

RATE = 600.0
"""Ten lab minutes a second: an interval of 15 minutes takes a second and a half."""

WITHIN_US = 4 * DAY_US


async def torture(lab: ProcessLab, *, posts: int, kills: int, drops: int, seed: int) -> Tally:
    """Run the test on a running lab; drop this many connections between stores. Raise TortureFailed if a promise is broken."""
    tally = Tally(posts)
    await lab.coordinator.set_rate(RATE)
    posters = [f"{store} {way}" for store in STORES for way in ("api", "mail")]
    shares = shares_of(posts, posters)
    tally.done.update(dict.fromkeys(posters, 0))
    async with asyncio.TaskGroup() as group:
        for poster, count in shares.items():
            store, way = poster.split()
            chance = random.Random(f"{seed} {poster}")
            if way == "api":
                work: Awaitable[None] = asyncio.to_thread(post_all, lab.url, poster, store, count, chance, tally)
            else:
                work = mail_all(lab, poster, store, count, chance, tally)
            group.create_task(_end_all_on_error(work, tally))
        group.create_task(_end_all_on_error(_kill_all(lab, kills, random.Random(seed), tally), tally))
        group.create_task(_end_all_on_error(_drop_all(lab, drops, random.Random(f"{seed} drops"), tally), tally))
    await lab.coordinator.pause()
    # A fault that has acted is no longer active.
    tally.dropped = drops - sum(fault.kind is FaultKind.SMTP for fault in lab.faults.active())
    lab.faults.heal()
    await _check(lab, tally)
    return tally


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


async def _drop_all(lab: ProcessLab, drops: int, chance: random.Random, tally: Tally) -> None:
    for moment in _post_counts(tally, drops, chance):
        await _wait_for_posts(tally, moment)
        from_, to = chance.sample(STORES, 2)
        lab.faults.smtp(chance.choice(DROPPED_AT), "disconnect", from_=from_, to=to, count=1)


async def _kill_all(lab: ProcessLab, kills: int, chance: random.Random, tally: Tally) -> None:
    for moment in _post_counts(tally, kills, chance):
        await _wait_for_posts(tally, moment)
        await asyncio.sleep(chance.random() * 0.2)
        victim = chance.choice(VICTIMS)
        await lab.kill(victim)
        tally.kills += 1
        await asyncio.sleep(chance.random() * 0.5)
        await lab.start(victim)


async def _check(lab: ProcessLab, tally: Tally) -> None:
    clients = {store: Client(lab.url_of(store), token=lab.token) for store in STORES}

    def digests_are_equal() -> bool:
        digests = [clients[store].digests(store)[FOLDER] for store in STORES]
        counts = [lab.read(store, lambda node: node.count(FOLDER)) for store in STORES]
        return all(each == digests[0] for each in digests) and set(counts) == {tally.wanted}

    equal = await lab.until(digests_are_equal, lab.now + WITHIN_US)
    for store in STORES:
        _check_store(lab, store, tally)
    if not equal:
        raise TortureFailed(f"the stores' digests are not equal after {WITHIN_US // DAY_US} lab days")
    for client in clients.values():
        client.close()
    _check_mails(lab, tally)
    observer = Observer(lab)
    observer.observe()
    verdict = observer.judge().verdict(at_rest=False)
    if verdict.judgement is not Judgement.CONVERGED:
        raise TortureFailed(f"the oracle says {verdict.judgement}: {verdict.as_document()}")


def _check_store(lab: ProcessLab, store: str, tally: Tally) -> None:
    """Check that each acknowledged post exists once, under its id, and that there is nothing else."""
    found = lab.read(store, lambda node: node.messages(FOLDER))
    times = Counter(each.subject for each in found)
    wanted = {*tally.ids, *tally.mailed.values()}
    doubled = sorted(subject for subject, count in times.items() if count > 1)
    lost = sorted(wanted - set(times))
    unknown = sorted(set(times) - wanted)
    if doubled or lost or unknown:
        raise TortureFailed(
            f"store {store}: {len(lost)} lost {lost[:5]}, {len(doubled)} doubled {doubled[:5]}, unknown {unknown[:5]}"
        )
    ids = {each.subject: each.id for each in found}
    changed = sorted(subject for subject, answered in tally.ids.items() if ids[subject] != answered)
    if changed:
        raise TortureFailed(f"store {store}: an id differs from the acknowledged one: {changed[:5]}")


def _check_mails(lab: ProcessLab, tally: Tally) -> None:
    """Check that one store kept each mail whole; equal digests show the same for the other stores."""
    store = STORES[0]
    ids = {each.subject: each.id for each in lab.read(store, lambda node: node.messages(FOLDER))}
    for message_id, subject in tally.mailed.items():
        mail = lab.read(store, lambda node, subject=subject: node.mail(FOLDER, ids[subject]))  # type: ignore[misc]
        found, text = message_of(mail)
        if found != message_id or text != tally.texts[message_id]:
            raise TortureFailed(f"store {store}: the mail {message_id} is kept as {found} with {len(text)} characters")


async def _campaign(posts: int, kills: int, drops: int, seed: int, folder: Path) -> Tally:
    lab = ProcessLab(topology_from_text(THREE_STORES), seed=seed, folder=RunFolder.create(folder, "torture"))
    async with lab:
        return await torture(lab, posts=posts, kills=kills, drops=drops, seed=seed)


def main() -> int:
    parser = argparse.ArgumentParser(description="Posts by SMTP and the API while stores are killed.")
    parser.add_argument("--posts", type=int, default=5000)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--drops", type=int, default=100, help="connections dropped between stores, inside DATA")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=Path, help="keep the run below this folder")
    given = parser.parse_args()
    began_s = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        try:
            tally = asyncio.run(
                _campaign(given.posts, given.kills, given.drops, given.seed, given.runs or Path(scratch))
            )
        except TortureFailed as failed:
            print(f"seed {given.seed}: {failed}", file=sys.stderr)
            return 1
    took_s = time.monotonic() - began_s
    print(
        f"{len(tally.ids)} posts by the API and {len(tally.mailed)} by SMTP, {tally.kills} kills, {tally.retries} put"
        f" again; clients hung up inside DATA {tally.hung_up} times and {tally.unheard} before the answer,"
        f" {tally.dropped} connections between stores were dropped there: no post lost, none doubled, all digests equal"
        f" ({took_s:.0f} s)"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
