"""The calls of a lab as coroutines, for tests whose own programs run in the same event loop.

A call waits in a thread, one at a time, so the loop goes on meanwhile: a server of the test can take the lab's mail.
A cancelled call still ends in its thread, and the next call begins after it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AbstractContextManager, asynccontextmanager
from functools import update_wrapper
from inspect import isawaitable
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

from pflab.testing.lab import MOST_STEPS, Lab, check_function

__tracebackhide__ = True  # pytest shows the lines of the test that calls this module, not those in it

NEEDS_ASYNCIO: Final = (
    "async_lab needs asyncio, and this test runs in another event loop; let the fixture anyio_backend return asyncio, or use"
    " the fixture lab in a thread"
)

P = ParamSpec("P")
R = TypeVar("R")


def _waits(call: Callable[Concatenate[Lab, P], R]) -> Callable[Concatenate[AsyncLab, P], Coroutine[Any, Any, R]]:
    """Return a method that makes the call in a thread."""

    async def waiting(lab: AsyncLab, /, *args: P.args, **options: P.kwargs) -> R:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            raise RuntimeError(NEEDS_ASYNCIO) from None
        await lab.alone.acquire()
        calling = asyncio.ensure_future(asyncio.to_thread(call, lab.sync, *args, **options))
        calling.add_done_callback(lab._ended)
        return await asyncio.shield(calling)

    update_wrapper(waiting, call)
    return waiting


def _ask(_lab: Lab, condition: Callable[[], object]) -> object:
    """Return what a condition returns. It may call the lab, so nothing else does meanwhile."""
    return condition()


def _enter(_lab: Lab, copy: AbstractContextManager[Lab]) -> Lab:
    return copy.__enter__()


class AsyncLab:
    """A lab whose calls are coroutines: all calls of a `Lab`, with the same parameters. `sync` is the same lab with plain
    calls."""

    def __init__(self, lab: Lab) -> None:
        self.sync = lab
        self.alone = asyncio.Lock()

    def _ended(self, calling: asyncio.Future[Any]) -> None:
        """Let the next call begin."""
        self.alone.release()
        if not calling.cancelled():
            calling.exception()  # asyncio logs an error that nobody looks at, as after a cancelled call

    # mypy refuses methods with **keywords in a place for any method, because `self` could be a keyword.
    lab = _waits(Lab.lab)
    saved = _waits(Lab.saved)
    save = _waits(Lab.save)
    take = _waits(Lab.take)
    reset = _waits(Lab.reset)
    export = _waits(Lab.export)
    verdict = _waits(Lab.verdict)
    servers = _waits(Lab.servers)
    now = _waits(Lab.now)
    clock = _waits(Lab.clock)
    set_rate = _waits(Lab.set_rate)
    pause = _waits(Lab.pause)
    step = _waits(Lab.step)
    advance = _waits(Lab.advance)
    until_converged = _waits(Lab.until_converged)
    until_event = _waits(Lab.until_event)
    until_mail = _waits(Lab.until_mail)
    forecast = _waits(Lab.forecast)  # type: ignore[arg-type]
    faults = _waits(Lab.faults)
    waiting = _waits(Lab.waiting)
    inject = _waits(Lab.inject)  # type: ignore[arg-type]
    heal = _waits(Lab.heal)
    stop = _waits(Lab.stop)
    start = _waits(Lab.start)
    kill = _waits(Lab.kill)
    backup = _waits(Lab.backup)
    restore = _waits(Lab.restore)
    delete_store = _waits(Lab.delete_store)
    create_store = _waits(Lab.create_store)
    add_site = _waits(Lab.add_site)
    remove_site = _waits(Lab.remove_site)
    add_server = _waits(Lab.add_server)  # type: ignore[arg-type]
    remove_server = _waits(Lab.remove_server)
    add_connector = _waits(Lab.add_connector)  # type: ignore[arg-type]
    change_connector = _waits(Lab.change_connector)  # type: ignore[arg-type]
    remove_connector = _waits(Lab.remove_connector)
    recipient_policy = _waits(Lab.recipient_policy)
    set_recipient_policy = _waits(Lab.set_recipient_policy)
    recipient_policies = _waits(Lab.recipient_policies)
    add_policy = _waits(Lab.add_policy)  # type: ignore[arg-type]
    change_policy = _waits(Lab.change_policy)  # type: ignore[arg-type]
    remove_policy = _waits(Lab.remove_policy)
    folders = _waits(Lab.folders)
    create_folder = _waits(Lab.create_folder)
    change_folder = _waits(Lab.change_folder)
    delete_folder = _waits(Lab.delete_folder)
    messages = _waits(Lab.messages)
    body = _waits(Lab.body)
    post = _waits(Lab.post)
    post_batch = _waits(Lab.post_batch)
    post_mail = _waits(Lab.post_mail)
    mail = _waits(Lab.mail)
    log = _waits(Lab.log)
    mailbox = _waits(Lab.mailbox)
    mailbox_mail = _waits(Lab.mailbox_mail)
    send_mail = _waits(Lab.send_mail)
    versions = _waits(Lab.versions)
    edit = _waits(Lab.edit)
    delete = _waits(Lab.delete)
    retained = _waits(Lab.retained)
    recover = _waits(Lab.recover)
    recover_folder = _waits(Lab.recover_folder)
    resolve = _waits(Lab.resolve)
    state = _waits(Lab.state)
    states = _waits(Lab.states)
    replication_status = _waits(Lab.replication_status)
    instances = _waits(Lab.instances)
    sources = _waits(Lab.sources)
    directory = _waits(Lab.directory)
    backfill = _waits(Lab.backfill)
    queue = _waits(Lab.queue)
    frozen_queues = _waits(Lab.frozen_queues)
    digests = _waits(Lab.digests)
    settings = _waits(Lab.settings)
    setting_details = _waits(Lab.setting_details)
    configure = _waits(Lab.configure)
    send_again = _waits(Lab.send_again)
    change_replicas = _waits(Lab.change_replicas)
    propagate = _waits(Lab.propagate)
    change_queue = _waits(Lab.change_queue)
    synchronize = _waits(Lab.synchronize)
    smtp = _waits(Lab.smtp)
    deliver = _waits(Lab.deliver)
    assert_converged = _waits(Lab.assert_converged)
    last_events = _waits(Lab.last_events)
    go_back = _waits(Lab.go_back)

    @asynccontextmanager
    async def fork(self) -> AsyncIterator[AsyncLab]:
        """Yield a copy of this lab as it is now, as `Lab.fork` does."""
        copy = self.sync.fork()
        other = AsyncLab(await self._entered(copy))
        try:
            yield other
        finally:
            await asyncio.shield(asyncio.to_thread(copy.__exit__, None, None, None))

    async def until(self, condition: Callable[[], object], within: str) -> None:
        """Let time pass, instant by instant, until a condition is true. What the condition returns is awaited if it can be.
        Raises AssertionError if it is not true within that time.

            await lab.until(lambda: lab.messages("B", "Projects"), within="1 h")
        """
        check_function(condition)
        begun_at = await self.now()
        limit = await self._instant_after(within)
        for _ in range(MOST_STEPS):
            if await self._value_of(condition):
                return
            if not (await self.step(limit))["moved"]:
                break
        last = await self._value_of(condition)
        if not last:
            raise AssertionError(await self._never_true(last, begun_at, within))

    async def _value_of(self, condition: Callable[[], object]) -> object:
        value = await self._asked(condition)
        return await value if isawaitable(value) else value

    _asked = _waits(_ask)
    _entered = _waits(_enter)
    _instant_after = _waits(Lab._instant_after)
    _never_true = _waits(Lab._never_true)
