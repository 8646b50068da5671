"""Begin and end each kind of fault on a running lab."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from node.errors import Crashed, InternalError
from pflab.campaign.plans import plan
from pflab.errors import LabError
from pflab.faults import fault
from traces.labtime import format_duration

if TYPE_CHECKING:
    from pflab.simulation.simulator import Simulator

Act = Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class TimedAction:
    """An action on the lab at a time after the lab's start."""

    at_us: int
    run: Act


def actions_of(lab: Simulator, planned: plan.AnyFault, end_us: int) -> list[TimedAction]:
    """Return a fault's actions that come before the heal at `end_us`; none if the fault's target is not in the lab."""
    if not set(_names(planned)) <= {*lab.names, *lab.topology.sites, *lab.topology.servers}:
        return []
    found = [
        TimedAction(min(each.at_us, end_us), each.run)
        for each in _KINDS.get(type(planned), _injected)(lab, planned, end_us)
    ]
    return [each for each in found if each.at_us < end_us]


def _names(planned: plan.AnyFault) -> Iterator[str]:
    for field in ("from_", "to", "server"):
        name = getattr(planned, field, None)
        if name is not None:
            yield name
    for field in ("between", "link", "stop", "start"):
        yield from getattr(planned, field, ())


def _begin_and_end(planned: plan.Fault, begin: Callable[[], str], end: Callable[[str], None]) -> Iterator[TimedAction]:
    """Yield two actions: `begin` injects the fault and returns its id, and `end` heals the fault with this id."""
    ids: list[str] = []

    async def begins() -> None:
        ids.append(begin())

    async def ends() -> None:
        for id_ in ids:
            end(id_)

    yield TimedAction(planned.at_us, begins)
    yield TimedAction(planned.at_us + planned.lasts_us, ends)


def _healer(lab: Simulator) -> Callable[[str], None]:
    def heal(id_: str) -> None:
        if any(active.id == id_ for active in lab.faults.active()):
            lab.faults.heal(id_)

    return heal


def _injected(lab: Simulator, planned: plan.Fault, end_us: int) -> Iterator[TimedAction]:
    """Yield the injection and the healing of a fault that the lab's fault plan has."""
    lasts_us = min(end_us - planned.at_us, planned.lasts_us)
    if lasts_us > 0:
        asked = _asked(planned, lasts_us)
        yield from _begin_and_end(planned, lambda: lab.faults.inject(asked), _healer(lab))


def _asked(planned: plan.Fault, lasts_us: int) -> fault.AnyFault:
    lasts = format_duration(lasts_us)
    match planned:
        case plan.MailFault():
            limits: dict[str, Any] = {
                "from_": planned.from_,
                "to": planned.to,
                "type": planned.type,
                "count": planned.count,
            }
            match planned:
                case plan.Delay():
                    return fault.Delay(**limits, by=format_duration(planned.by_us))
                case plan.Reorder():
                    return fault.Reorder(**limits, by=format_duration(planned.by_us))
                case plan.Alter():
                    return fault.Alter(**limits, how=planned.how)
            return (fault.Duplicate if isinstance(planned, plan.Duplicate) else fault.Lose)(**limits)
        case plan.Cut():
            return fault.Cut(between=list(planned.between), one_way=planned.one_way)
        case plan.Hold():
            return fault.Hold(from_=planned.link[0], to=planned.link[1], lasts=lasts)
        case plan.Crash():
            return fault.Crash(server=planned.server, point=planned.point, after=planned.after)
        case plan.Stall():
            return fault.Stall(server=planned.server, commits=planned.commits, lasts=lasts)
        case plan.Skew():
            return fault.Skew(server=planned.server, by=format_duration(planned.by_us))
    assert isinstance(planned, plan.Unstamp), planned
    return fault.Unstamp(server=planned.server)


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


def _kill(lab: Simulator, planned: plan.Kill, end_us: int) -> Iterator[TimedAction]:
    del end_us
    yield TimedAction(planned.at_us, lambda: stop_server(lab, planned.server, kill=planned.kill))
    yield TimedAction(planned.at_us + planned.lasts_us, lambda: start_server(lab, planned.server))


def _restore(lab: Simulator, planned: plan.Restore, end_us: int) -> Iterator[TimedAction]:
    """Yield three actions: back up, lose the disk, restore. The restore always comes before the end of the plan."""
    backups: list[str] = []

    async def back_up() -> None:
        if lab.running(planned.server):
            backups.append(await lab.backup(planned.server))

    async def lose_disk() -> None:
        if backups:
            await stop_server(lab, planned.server)

    async def restore() -> None:
        for backup in backups:
            await restore_server(lab, planned.server, backup)

    last_us = min(planned.at_us + planned.lasts_us, end_us - 1)
    yield TimedAction(planned.at_us, back_up)
    if planned.dead_us:
        yield TimedAction(max(planned.at_us, last_us - planned.dead_us), lose_disk)
    yield TimedAction(last_us, restore)


def _swizzle(lab: Simulator, planned: plan.Swizzle, end_us: int) -> Iterator[TimedAction]:
    del end_us
    for index, server in enumerate(planned.stop):
        yield TimedAction(planned.at_us + index * planned.gap_us, lambda server=server: stop_server(lab, server))  # type: ignore[misc]
    last_us = planned.at_us + planned.lasts_us + len(planned.stop) * planned.gap_us
    for index, server in enumerate(planned.start):
        yield TimedAction(last_us + index * planned.gap_us, lambda server=server: start_server(lab, server))  # type: ignore[misc]


_KINDS: Mapping[type[plan.Fault], Callable[[Any, Any, int], Iterator[TimedAction]]] = {
    plan.Swizzle: _swizzle,
    plan.Kill: _kill,
    plan.Restore: _restore,
}
"""The faults that are actions on servers."""
