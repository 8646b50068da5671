"""Play many seeds on all cores. Results come in the order of the seeds and do not depend on the number of workers.

A share of the seeds is played again in processes with another PYTHONHASHSEED; every event must be the same, byte for byte.
Ctrl-C, SIGTERM and SIGHUP end a campaign at once with the results so far. The seeds that are being played are abandoned.

The process of the campaign has no threads and shares no locks with its workers. Each worker has a pipe, from which it reads one
seed at a time and to which it writes the result. So a worker can be killed at any time. Workers end with a campaign that is
killed.
"""

from __future__ import annotations

import gc
import os
import signal
import socket
import threading
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.resource_tracker import ensure_running
from pathlib import Path
from typing import Any, cast

from node.errors import InternalError
from pflab.campaign.coverage import BRANCHES, OPTIONAL
from pflab.campaign.draw.faults import FAULT_KINDS
from pflab.campaign.seed import DEFAULT_DAYS, SeedResult, run_seed
from pflab.errors import LabError
from pflab.terms.verdict import ExitCode, Judgement
from topology.file.load import topology_from_text
from topology.model import Topology

LONG_CAMPAIGN = 1_000
"""In a campaign with at least this many seeds and all faults, a branch that no seed reached is a failure. The rarest branch is
reached by 1 or 2 of 100 seeds."""

_OTHER_HASH_SEEDS = ("4711", "1742")

_STOPS = frozenset({signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
"""The signals that end a campaign."""


@dataclass(frozen=True, slots=True)
class Order:
    """How each seed is played.

    topology: as JSON; None: each seed generates its own.
    traces: the folder below which each seed's traces are kept.
    """

    days: int = DEFAULT_DAYS
    faults: tuple[str, ...] = FAULT_KINDS
    topology: str | None = None
    traces: Path | None = None

    @classmethod
    def of(cls, days: int, faults: Sequence[str], topology: Topology | None, traces: Path | None = None) -> Order:
        return cls(days, tuple(faults), None if topology is None else topology.as_json(), traces)

    def organization(self) -> Topology | None:
        return None if self.topology is None else topology_from_text(self.topology, "the topology")

    def play(self, seed: int) -> SeedResult:
        return run_seed(seed, days=self.days, faults=self.faults, topology=self.organization(), folder=self.traces)


Played = Callable[[Sequence[int], Order], Iterator[SeedResult]]
"""Plays seeds and yields their results, in the order of the seeds."""


@dataclass(frozen=True, slots=True)
class CampaignResult:
    """The results of a campaign, in the order of the seeds.

    differing: seeds whose events were different when they were played again.
    interrupted: whether seeds were left unplayed.
    """

    results: tuple[SeedResult, ...]
    order: Order = field(default_factory=Order)
    verified: int = 0
    differing: tuple[int, ...] = ()
    interrupted: bool = False

    @property
    def failed(self) -> tuple[SeedResult, ...]:
        return tuple(result for result in self.results if result.judgement is not Judgement.CONVERGED)

    @property
    def must_see_all(self) -> bool:
        """Whether a branch that no seed reached is a failure."""
        everything = self.order.topology is None and set(self.order.faults) == set(FAULT_KINDS)
        return everything and len(self.results) >= LONG_CAMPAIGN

    @property
    def unseen(self) -> tuple[str, ...]:
        counts = self.branches()
        return tuple(name for name in BRANCHES if not counts[name])

    def branches(self) -> dict[str, int]:
        """Return how many seeds reached each branch."""
        counts = Counter(name for result in self.results for name in result.branches)
        return {name: counts[name] for name in (*BRANCHES, *OPTIONAL)}

    @property
    def exit_code(self) -> int:
        if any(result.traceback for result in self.results):
            return ExitCode.INTERNAL
        if any(result.judgement is Judgement.NOT_CONVERGED for result in self.results) or self.differing:
            return ExitCode.VIOLATION
        if self.must_see_all and self.unseen:
            return ExitCode.VIOLATION
        return ExitCode.UNKNOWN if self.failed or self.interrupted or not self.results else ExitCode.GOOD


def run_campaign(
    seeds: Sequence[int],
    order: Order,
    *,
    jobs: int = 1,
    verify_share: float = 0.0,
    done: Callable[[SeedResult], None] = lambda _: None,
    verified: Callable[[int], None] = lambda _: None,
    played: Played | None = None,
) -> CampaignResult:
    """Play the seeds. `done` is called for each result, in the order of the seeds; `verified` for each seed played again.

    played: plays the seeds elsewhere, and yields the results in order.
    """
    results: list[SeedResult] = []
    differing: list[int] = []
    again = chosen_for_verification(seeds, verify_share)
    checked = 0
    interrupted = False
    try:
        for result in _played(seeds, order, jobs) if played is None else played(seeds, order):
            results.append(result)
            done(result)
        digests = {result.seed: result.digest for result in results}
        for result in _played(again, order, jobs, hash_seed=_other_hash_seed()):
            checked += 1
            if result.digest != digests[result.seed]:
                differing.append(result.seed)
            verified(result.seed)
    except KeyboardInterrupt:
        interrupted = True
    return CampaignResult(tuple(results), order, checked, tuple(differing), interrupted)


def chosen_for_verification(seeds: Sequence[int], share: float) -> list[int]:
    """Return every n-th seed, so that their share is about `share`; at least one seed if `share` is above zero."""
    if share <= 0 or not seeds:
        return []
    return list(seeds[:: max(1, round(1 / min(share, 1.0)))])


def _other_hash_seed() -> str:
    return next(seed for seed in _OTHER_HASH_SEEDS if seed != os.environ.get("PYTHONHASHSEED"))


def _played(seeds: Sequence[int], order: Order, jobs: int, hash_seed: str | None = None) -> Iterator[SeedResult]:
    """Yield results in order. With one job and no `hash_seed`, play the seeds in this process."""
    if jobs <= 1 and hash_seed is None:
        yield from play_here(seeds, order)
        return
    if not seeds:
        return
    with _interrupts_noted() as (interrupt, stops), _environment(hash_seed):
        # In a generator of its own, so that its pipes are freed while an interrupt is only noted.
        yield from _played_by_workers(seeds, order, jobs, interrupt, stops)


def _played_by_workers(
    seeds: Sequence[int], order: Order, jobs: int, interrupt: socket.socket, stops: frozenset[int]
) -> Iterator[SeedResult]:
    """Yield results in order, up to a signal that stops the campaign."""
    remaining = enumerate(seeds)
    playing: dict[Connection, int] = {}
    results: dict[int, SeedResult] = {}

    def give_next(worker: Connection) -> None:
        for nth, seed in remaining:
            worker.send(seed)
            playing[worker] = nth
            return

    with ExitStack() as workers:
        for _ in range(max(1, min(jobs, len(seeds)))):
            give_next(workers.enter_context(_worker(order)))
        for nth in range(len(seeds)):
            while nth not in results:
                for ready in wait([interrupt, *playing]):
                    if ready is interrupt:
                        if not stops.isdisjoint(interrupt.recv(4096)):  # other signals come here, too
                            return  # the end of _interrupts_noted raises KeyboardInterrupt
                        continue
                    worker = cast(Connection, ready)
                    results[playing.pop(worker)] = _received(worker)
                    give_next(worker)
            yield results.pop(nth)


def play_here(seeds: Sequence[int], order: Order) -> Iterator[SeedResult]:
    """Play the seeds one after the other in this process."""
    with _collecting_between_labs():
        for seed in seeds:
            yield _play(order, seed)


def _received(worker: Connection) -> SeedResult:
    """Return the result that the worker has written. Raises LabError if the worker could not write traces, or has ended."""
    try:
        result: SeedResult | LabError = worker.recv()
    except (EOFError, ConnectionError):
        raise LabError("a worker process has ended, perhaps because the memory is full; try fewer --jobs") from None
    if isinstance(result, LabError):
        raise result
    return result


@contextmanager
def _collecting_between_labs() -> Iterator[None]:
    """Collect garbage only between labs inside the block. A lab keeps its events until it ends, and the collector needed a
    ninth of the time to search them."""
    enabled = gc.isenabled()
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.unfreeze()
        if enabled:
            gc.enable()


@contextmanager
def _blocked(numbers: Set[signal.Signals]) -> Iterator[None]:
    """Block signals inside the block. They arrive at its end."""
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


@contextmanager
def _worker(order: Order) -> Iterator[Connection]:
    """Run a process that plays seeds inside the block, and return the pipe to it. The process is killed at the end."""
    # Start a new interpreter. A fork would copy the state of this process, for example the lock of its progress bar's thread.
    context = get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_work, args=(there, order), daemon=True)
    try:
        # A signal often goes to the whole process group; a process that starts while it is blocked ignores it. So does Python's
        # resource tracker, which ignores only SIGINT and SIGTERM itself. It starts first, because its start unblocks those two.
        with _blocked({signal.SIGHUP}):
            ensure_running()
        with _blocked(_STOPS):
            process.start()
        there.close()
        yield here
    finally:
        if process.pid is not None:
            process.kill()
            process.join()
        here.close()


def _work(seeds: Connection, order: Order) -> None:
    """Play the seeds that come through the pipe, until it is closed."""
    threading.Thread(target=_end_with_campaign, daemon=True).start()
    with _collecting_between_labs():
        while True:
            try:
                seed = seeds.recv()
            except EOFError:
                return
            try:
                seeds.send(_play(order, seed))
            except LabError as error:
                seeds.send(error)


def _end_with_campaign() -> None:
    """End this worker when the campaign's process has ended, for example by a kill. A seed may take long, or for ever."""
    campaign = parent_process()
    assert campaign is not None
    campaign.join()
    os._exit(1)


@contextmanager
def _interrupts_noted() -> Iterator[tuple[socket.socket, frozenset[int]]]:
    """Note Ctrl-C and the like in place of raising KeyboardInterrupt, until the end of the block. Yield a socket to read
    signals from, and the signals that stop the campaign.

    An exception could come between any two steps of starting or ending a worker, and leave the worker behind. Only signals that
    raise an exception stop the campaign: after nohup, SIGINT may be ignored.
    """
    came: list[int] = []
    handlers = {number: signal.getsignal(number) for number in _STOPS}
    stops = {number: handler for number, handler in handlers.items() if callable(handler)}
    for number in stops:
        signal.signal(number, lambda number, _: came.append(number))
    noted, note = socket.socketpair()  # From here on Ctrl-C raises nothing.
    noted.setblocking(False)
    note.setblocking(False)
    # The file descriptor ends a wait also if another thread, for example that of a progress bar, got the signal.
    before = signal.set_wakeup_fd(note.fileno(), warn_on_full_buffer=False)
    try:
        yield noted, frozenset(stops)
    finally:
        signal.set_wakeup_fd(before)
        noted.close()
        note.close()
        for number, handler in stops.items():
            signal.signal(number, handler)
        if came:
            raise KeyboardInterrupt


@contextmanager
def _environment(hash_seed: str | None) -> Iterator[None]:
    """Set PYTHONHASHSEED for the workers that start in this block."""
    before = os.environ.get("PYTHONHASHSEED")
    if hash_seed is not None:
        os.environ["PYTHONHASHSEED"] = hash_seed
    try:
        yield
    finally:
        if hash_seed is not None:
            if before is None:
                del os.environ["PYTHONHASHSEED"]
            else:
                os.environ["PYTHONHASHSEED"] = before


def _play(order: Order, seed: int) -> SeedResult:
    """Play one seed. A bug ends this seed, not the campaign. Raises LabError if the traces cannot be written."""
    try:
        return order.play(seed)
    except LabError:
        raise
    except Exception as error:
        doubt = str(InternalError.of("the campaign", "while playing the seed", error))
        return SeedResult(
            seed, Judgement.UNKNOWN, doubts=(doubt,), traceback="".join(traceback.format_exception(error))
        )
    finally:
        if not gc.isenabled():
            gc.collect()


def jobs_here() -> int:
    """Return the number of cores that this process may use."""
    return max(1, len(os.sched_getaffinity(0))) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def as_document(campaign: CampaignResult) -> dict[str, Any]:
    """Return the result as JSON values for programs."""
    return {
        "seeds": [result.as_document() for result in campaign.results],
        "branches": campaign.branches(),
        "unseen": list(campaign.unseen),
        "verified": campaign.verified,
        "differing": list(campaign.differing),
        "interrupted": campaign.interrupted,
    }
