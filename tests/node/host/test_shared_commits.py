"""Which stimuli share a transaction, and what each of their callers gets."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from node.errors import FolderUnknown, NotRunning
from node.host.shared_commits import MOST_BYTES, MOST_SHARED, Act, SharedCommits
from node.store.lifecycle import Outcome


class Store:
    """Notes the groups that it is given. An act here is the outcome itself."""

    def __init__(self) -> None:
        self.groups: list[int] = []
        self.error: BaseException | None = None
        self.shared = SharedCommits(self.run)

    def run(self, acts: Sequence[Act[Any]]) -> list[Outcome]:
        self.groups.append(len(acts))
        if self.error is not None:
            raise self.error
        return [act(None, 0) for act in acts]  # type: ignore[arg-type]  # an act of this test uses no node

    def add(self, result: object = None, *, error: Exception | None = None, size: int = 10) -> asyncio.Future[Any]:
        return self.shared.add(lambda *_: Outcome(result, error), size)


async def test_stimuli_that_are_ready_together_share() -> None:
    """Stimuli that come in the same turns of the loop run together, and each caller has its own result or error."""
    store = Store()

    async def late() -> object:
        for _ in range(3):
            await asyncio.sleep(0)
        return await store.add("late")

    early, wrong = store.add("early"), store.add(error=FolderUnknown("x"))
    assert len(store.shared) == 2
    assert await late() == "late"
    assert await early == "early"
    with pytest.raises(FolderUnknown):
        await wrong
    assert (store.groups, len(store.shared)) == ([3], 0)


async def test_groups_are_bounded() -> None:
    """A group has a number and a size. A stimulus larger than that is alone."""
    store = Store()
    await asyncio.gather(*[store.add() for _ in range(MOST_SHARED * 2 + 1)])
    assert store.groups == [MOST_SHARED, MOST_SHARED, 1]
    store.groups.clear()
    await asyncio.gather(*[store.add(size=size) for size in (MOST_BYTES // 2, MOST_BYTES // 2, 1, 2 * MOST_BYTES, 1)])
    assert store.groups == [2, 1, 1, 1]


async def test_who_has_gone_is_left_out() -> None:
    """A stimulus whose caller was cancelled does not run."""
    store = Store()
    gone, stays = store.add("gone"), store.add("stays")
    gone.cancel()
    assert await stays == "stays"
    assert store.groups == [1]


async def test_an_error_of_all_reaches_all() -> None:
    """If nothing can run, every caller gets the error, and the next group runs as if nothing had been."""
    store = Store()
    store.error = NotRunning("server A is not running")
    outcomes = await asyncio.gather(store.add(), store.add(), return_exceptions=True)
    assert outcomes == [store.error, store.error]
    store.error = None
    assert await store.add("again") == "again"


async def test_what_waits_can_run_at_once() -> None:
    """A host that ends runs what still waits, so that its callers are answered."""
    store = Store()
    waiting = store.add("answered")
    store.shared.run()
    assert waiting.result() == "answered"
    assert await store.add("later") == "later"
    assert store.groups == [1, 1]
