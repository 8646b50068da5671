"""Begin and end each kind of fault on a running lab."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from node.errors import Crashed, InternalError
from pflab.campaign.plans import plan
from pflab.errors import LabError
from pflab.faults.fault import REORDER_BY_US, FaultKind, Mails
from pflab.simulation.environment import Alteration

if TYPE_CHECKING:
    from pflab.simulation.simulator import Simulator

Act = Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class TimedAction:
    """An action on the lab at a time after the lab's start."""

    at_us: int
    run: Act


def actions_of(lab: Simulator, fault: plan.AnyFault, end_us: int) -> list[TimedAction]:
    """Return a fault's actions that come before the heal at `end_us`; none if the fault's target is not in the lab."""
    if not set(_names(fault)) <= {*lab.names, *lab.topology.sites, *lab.topology.servers}:
        return []
    found = [TimedAction(min(each.at_us, end_us), each.run) for each in _KINDS[type(fault)](lab, fault, end_us)]
    return [each for each in found if each.at_us < end_us]


def _names(fault: plan.AnyFault) -> Iterator[str]:
    for field in ("from_", "to", "server"):
        name = getattr(fault, field, None)
        if name is not None:
            yield name
    for field in ("between", "link", "stop", "start"):
        yield from getattr(fault, field, ())


def _begin_and_end(fault: plan.AnyFault, begin: Callable[[], str], end: Callable[[str], None]) -> Iterator[TimedAction]:
    """Yield two actions: `begin` injects the fault and returns its id, and `end` heals the fault with this id."""
    ids: list[str] = []

    async def begins() -> None:
        ids.append(begin())

    async def ends() -> None:
        for id_ in ids:
            end(id_)

    yield TimedAction(fault.at_us, begins)
    yield TimedAction(fault.at_us + fault.lasts_us, ends)


def _healer(lab: Simulator) -> Callable[[str], None]:
    def heal(id_: str) -> None:
        if any(fault.id == id_ for fault in lab.faults.active()):
            lab.faults.heal(id_)

    return heal


# -- mails


def _on_mails(
    kind: FaultKind, lab: Simulator, fault: plan.Loss | plan.Delay | plan.Duplication | plan.Reordering, end_us: int
) -> Iterator[TimedAction]:
    del end_us
    mails = Mails(fault.from_, fault.to, fault.type)
    by_us = fault.by_us if isinstance(fault, plan.Delay | plan.Reordering) else REORDER_BY_US
    return _begin_and_end(fault, lambda: lab.faults.inject(kind, mails, count=fault.count, by_us=by_us), _healer(lab))


def _corruption(lab: Simulator, fault: plan.Corruption, end_us: int) -> Iterator[TimedAction]:
    del end_us
    how = Alteration(fault.how)
    return _begin_and_end(
        fault,
        lambda: lab.environment.corrupt(fault.from_, fault.to, fault.type, fault.count, how=how),
        lab.environment.heal,
    )


# -- links


def _partition(lab: Simulator, fault: plan.Partition, end_us: int) -> Iterator[TimedAction]:
    del end_us
    return _begin_and_end(fault, lambda: lab.faults.cut(fault.between, fault.one_way), _healer(lab))


def _clog(lab: Simulator, fault: plan.Clog, end_us: int) -> Iterator[TimedAction]:
    until_at = lab.topology.start_at + min(end_us, fault.at_us + fault.lasts_us)
    return _begin_and_end(fault, lambda: lab.environment.clog(fault.link, until_at), lab.environment.heal)


# -- servers


async def stop_server(lab: Simulator, server: str, *, kill: bool = True) -> None:
    """Kill or stop a server, if it runs."""
    if not lab.running(server):
        return
    try:
        await (lab.kill(server) if kill else lab.stop(server))
    except Crashed:
        return  # a crash fault killed the server while it was stopping; it is down in either case


async def start_server(lab: Simulator, server: str) -> None:
    """Start a server if it is down, unless it has never joined or its store was deleted.

    Raises LabError or InternalError if the server cannot start.
    """
    if lab.running(server) or lab.absent(server) or lab.deleted(server):
        return
    try:
        await lab.start(server)
    except (LabError, InternalError):
        raise
    except Exception as error:
        raise InternalError.of(f"server {server}", "while starting", error) from error


async def restore_server(lab: Simulator, server: str, backup: str) -> None:
    """Restore a server from its backup, unless its store was deleted.

    Raises LabError or InternalError if the server cannot start.
    """
    if lab.deleted(server):
        return
    try:
        await lab.restore(server, backup)
    except (LabError, InternalError):
        raise
    except Exception as error:
        raise InternalError.of(f"server {server}", f"while starting on {backup}", error) from error


def _crash(lab: Simulator, fault: plan.Crash, end_us: int) -> Iterator[TimedAction]:
    del end_us
    begin = lambda: lab.faults.crash(fault.server, fault.point, fault.after)  # noqa: E731
    return _begin_and_end(fault, begin, _healer(lab))


def _slow(lab: Simulator, fault: plan.Slow, end_us: int) -> Iterator[TimedAction]:
    until_at = lab.topology.start_at + min(end_us, fault.at_us + fault.lasts_us)
    begin = lambda: lab.environment.silence(fault.server, until_at, commits=fault.commits)  # noqa: E731
    return _begin_and_end(fault, begin, lab.environment.heal)


def _skew(lab: Simulator, fault: plan.Skew, end_us: int) -> Iterator[TimedAction]:
    del end_us
    return _begin_and_end(fault, lambda: lab.environment.skew(fault.server, fault.by_us), lab.environment.heal)


def _gone(lab: Simulator, fault: plan.Gone, end_us: int) -> Iterator[TimedAction]:
    del end_us
    yield TimedAction(fault.at_us, lambda: stop_server(lab, fault.server, kill=fault.kill))
    yield TimedAction(fault.at_us + fault.lasts_us, lambda: start_server(lab, fault.server))


def _unstamped(lab: Simulator, fault: plan.Unstamped, end_us: int) -> Iterator[TimedAction]:
    del end_us
    return _begin_and_end(fault, lambda: lab.faults.unstamp(fault.server), _healer(lab))


def _restore(lab: Simulator, fault: plan.Restore, end_us: int) -> Iterator[TimedAction]:
    """Yield three actions: back up, lose the disk, restore. The restore always comes before the end of the plan."""
    backups: list[str] = []

    async def back_up() -> None:
        if lab.running(fault.server):
            backups.append(await lab.backup(fault.server))

    async def lose_disk() -> None:
        if backups:
            await stop_server(lab, fault.server)

    async def restore() -> None:
        for backup in backups:
            await restore_server(lab, fault.server, backup)

    last_us = min(fault.at_us + fault.lasts_us, end_us - 1)
    yield TimedAction(fault.at_us, back_up)
    if fault.dead_us:
        yield TimedAction(max(fault.at_us, last_us - fault.dead_us), lose_disk)
    yield TimedAction(last_us, restore)


def _swizzle(lab: Simulator, fault: plan.Swizzle, end_us: int) -> Iterator[TimedAction]:
    del end_us
    for index, server in enumerate(fault.stop):
        yield TimedAction(fault.at_us + index * fault.gap_us, lambda server=server: stop_server(lab, server))  # type: ignore[misc]
    last_us = fault.at_us + fault.lasts_us + len(fault.stop) * fault.gap_us
    for index, server in enumerate(fault.start):
        yield TimedAction(last_us + index * fault.gap_us, lambda server=server: start_server(lab, server))  # type: ignore[misc]


_KINDS: Mapping[type[plan.Fault], Callable[[Any, Any, int], Iterator[TimedAction]]] = {
    plan.Loss: partial(_on_mails, FaultKind.LOSE),
    plan.Delay: partial(_on_mails, FaultKind.DELAY),
    plan.Duplication: partial(_on_mails, FaultKind.DUPLICATE),
    plan.Reordering: partial(_on_mails, FaultKind.REORDER),
    plan.Corruption: _corruption,
    plan.Partition: _partition,
    plan.Clog: _clog,
    plan.Swizzle: _swizzle,
    plan.Crash: _crash,
    plan.Slow: _slow,
    plan.Skew: _skew,
    plan.Gone: _gone,
    plan.Unstamped: _unstamped,
    plan.Restore: _restore,
}
