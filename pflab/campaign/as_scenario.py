"""A plan as a scenario: `pflab run` plays it in the simulator and on real servers, and people can edit it.

Each step of the plan is a step of the scenario at the same time, and each fault becomes its beginning and its end. At one
instant the ends of faults come first, then the beginnings of faults, then steps, as when a campaign plays the plan. The last
two steps repair the lab, and wait until it has converged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from pflab.campaign.plans import plan as cp
from pflab.campaign.plans.file import text_of_document
from pflab.scenario.load import Step, arguments_of
from pflab.terms.folder_ids import HIERARCHY
from traces.labtime import format_duration

_ENDS, _BEGINS, _STEPS = range(3)

Timed = tuple[int, int, dict[str, Any]]
"""When something happens, its turn at this instant, and the verb with its arguments."""


def steps_of(plan: cp.Plan) -> list[Step]:
    """Return the steps of the scenario, without the repair and what follows it."""
    return [
        Step(number, 0, verb, arguments_of(verb, value), at_us)
        for number, (at_us, step) in enumerate(_in_order(plan), 1)
        for verb, value in step.items()
    ]


def _in_order(plan: cp.Plan) -> list[tuple[int, dict[str, Any]]]:
    timed = sorted([*_of_faults(plan), *_of_steps(plan)], key=lambda one: one[:2])
    return [(at_us, step) for at_us, _, step in timed]


def scenario_document(plan: cp.Plan, title: str) -> dict[str, Any]:
    """Return the plan as the document of a scenario."""
    steps = [{"at": format_duration(at_us), **step} for at_us, step in _in_order(plan)]
    network: dict[str, Any] = {"shuffle": True} if plan.network.shuffle else {}
    if plan.network.jitter_us:
        network["jitter"] = format_duration(plan.network.jitter_us)
    return {
        "title": title,
        "missing": "skip",
        "seed": plan.seed,
        **({} if all(map(_is_live, plan.faults)) else {"live": False}),
        **({"network": network} if network else {}),
        "topology": plan.topology,
        "steps": [
            *steps,
            {"at": format_duration(plan.length_us), "repair": "all"},
            {"until": {"converged": "all", "within": "bound"}},
        ],
    }


def scenario_text(plan: cp.Plan, title: str, comments: Sequence[str] = ()) -> str:
    """Return the plan as a scenario file that starts with `comments`."""
    return text_of_document(scenario_document(plan, title), comments)


def _is_live(fault: cp.AnyFault) -> bool:
    """Return whether real servers can have a fault."""
    return not isinstance(fault, cp.Crash | cp.Stall | cp.Skew | cp.Alter)


# --- faults


def _of_faults(plan: cp.Plan) -> Iterator[Timed]:
    for number, fault in enumerate(plan.faults, 1):
        for at_us, step in _FAULTS.get(type(fault), _injected)(fault, f"f{number}", plan.length_us):
            if at_us < plan.length_us:
                yield at_us, _BEGINS if at_us == fault.at_us else _ENDS, step


def _injected(fault: Any, name: str, length_us: int) -> Iterator[tuple[int, dict[str, Any]]]:
    lasts_us = min(fault.lasts_us, length_us - fault.at_us)
    if lasts_us <= 0:
        return
    kind = str(fault.__struct_config__.tag)
    fields: dict[str, Any] = {}
    if isinstance(fault, cp.MailFault):
        fields = {"from": fault.from_, "to": fault.to, "type": fault.type, "count": fault.count}
        if isinstance(fault, cp.Delay | cp.Reorder):
            fields["by"] = format_duration(fault.by_us)
        if isinstance(fault, cp.Alter):
            fields["how"] = fault.how
    elif isinstance(fault, cp.Cut):
        fields = {"between": list(fault.between), "one_way": fault.one_way or None}
    elif isinstance(fault, cp.Hold):
        fields = {"from": fault.link[0], "to": fault.link[1], "lasts": format_duration(lasts_us)}
    elif isinstance(fault, cp.Crash):
        fields = {"server": fault.server, "point": fault.point, "after": fault.after or None}
    elif isinstance(fault, cp.Stall):
        fields = {"server": fault.server, "lasts": format_duration(lasts_us), "commits": fault.commits or None}
    elif isinstance(fault, cp.Skew):
        fields = {"server": fault.server, "by": format_duration(fault.by_us)}
    else:
        fields = {"server": fault.server}
    stated = {key: value for key, value in fields.items() if value is not None}
    if isinstance(fault, cp.Reorder) and fault.count is None:
        stated["count"] = None
    yield fault.at_us, {kind: {**stated, "as": name}}
    yield fault.at_us + fault.lasts_us, {"heal": name}


def _killed(fault: cp.Kill, _: str, __: int) -> Iterator[tuple[int, dict[str, Any]]]:
    yield fault.at_us, {"kill" if fault.kill else "stop": fault.server}
    yield fault.at_us + fault.lasts_us, {"start": fault.server}


def _swizzled(fault: cp.Swizzle, _: str, __: int) -> Iterator[tuple[int, dict[str, Any]]]:
    for index, server in enumerate(fault.stop):
        yield fault.at_us + index * fault.gap_us, {"kill": server}
    last_us = fault.at_us + fault.lasts_us + len(fault.stop) * fault.gap_us
    for index, server in enumerate(fault.start):
        yield last_us + index * fault.gap_us, {"start": server}


def _restored(fault: cp.Restore, name: str, length_us: int) -> Iterator[tuple[int, dict[str, Any]]]:
    last_us = min(fault.at_us + fault.lasts_us, length_us - 1)
    yield fault.at_us, {"backup": {"on": fault.server, "as": name}}
    if fault.dead_us:
        yield max(fault.at_us, last_us - fault.dead_us), {"kill": fault.server}
    yield last_us, {"restore": {"on": fault.server, "backup": name}}


_FAULTS: Final[Mapping[type[cp.Fault], Callable[[Any, str, int], Iterator[tuple[int, dict[str, Any]]]]]] = {
    cp.Kill: _killed,
    cp.Swizzle: _swizzled,
    cp.Restore: _restored,
}
"""The faults that are steps on servers."""


# --- steps


def _of_steps(plan: cp.Plan) -> Iterator[Timed]:
    steps = [step for step in plan.steps if step.at_us < plan.length_us]
    several = {step.label for step in steps if isinstance(step, cp.Post) and step.count > 1}
    labels = {label for step in steps if isinstance(step, cp.Post) for label in step.labels()}
    folders = {None, *(plan.topology.get("folders") or {})}
    folders |= {step.label for step in steps if isinstance(step, cp.CreateFolder)}
    for step in steps:
        places = {getattr(step, name, None) for name in ("folder", "under", "recipient")}
        if places <= folders and getattr(step, "message", None) in {None, *labels}:
            yield step.at_us, _STEPS, _of_step(step, several)


def _of_step(step: cp.AnyStep, several: set[str]) -> dict[str, Any]:
    match step:
        case cp.Post():
            return _post(step)
        case cp.Edit():
            return {"edit": {**_message(step, several), "subject": f"{step.message} by {step.on}"}}
        case cp.Delete() | cp.Recover():
            return {str(step.__struct_config__.tag): _message(step, several)}
        case cp.Resolve():
            return {"resolve": {**_message(step, several), "keep": step.keep}}
        case cp.Join():
            return {"start": step.store}
        case cp.SuspendContent():
            return {"content": "suspend"}
        case cp.ResumeContent():
            return {"content": "resume"}
        case cp.Resend():
            to = {} if step.store is None else {"to": step.store}
            return {"resend": {"folder": step.folder or HIERARCHY, "days": step.days, "from": step.on, **to}}
        case cp.Synchronize():
            return {"synchronize": {"folder": step.folder or HIERARCHY, "on": step.on}}
        case cp.SendMail():
            sent = {"on": step.on, "folder": step.folder, "to": step.recipient, "subject": f"mail {step.title}"}
            return {"send": sent}
        case cp.DeleteStore():
            return {"directory": {"delete": step.store, "on": step.on, "force": True, "stop": True}}
    return _replicas(step) or {"folder": _folder(step)}


def _replicas(step: cp.AnyStep) -> dict[str, Any] | None:
    """Return the step if it changes replicas."""
    match step:
        case cp.AddReplica() | cp.RemoveReplica():
            change = "add" if isinstance(step, cp.AddReplica) else "remove"
            return {"replica": {"on": step.on, "folder": step.folder, change: step.store}}
        case cp.AddReplicas() | cp.RemoveReplicas():
            change = "add" if isinstance(step, cp.AddReplicas) else "remove"
            return {"replicas": {"on": step.on, "folder": step.folder or HIERARCHY, change: step.store}}
        case cp.ReplaceReplicas():
            both = {"replace": step.store, "by": step.to}
            return {"replicas": {"on": step.on, "folder": step.folder or HIERARCHY, **both}}
    return None


def _post(step: cp.Post) -> dict[str, Any]:
    place = {"on": step.on, "folder": step.folder}
    more = {"letters": step.size, **({"associated": True} if step.associated else {}), "as": step.label}
    if step.count == 1:
        return {"post": {**place, "subject": f"post {step.label}", "body": f"This is {step.label}.\n", **more}}
    name = f"{step.label}.{{n}}"
    return {"posts": {**place, "count": step.count, "subject": f"post {name}", "body": f"This is {name}.\n", **more}}


def _message(step: Any, several: set[str]) -> dict[str, Any]:
    """Return the store and the message of a step. One of several messages, `m1.2` in a plan, is m1-2 in a scenario."""
    label, dot, number = step.message.rpartition(".")
    return {"on": step.on, "message": f"{label}-{number}" if dot and label in several else step.message}


def _folder(step: Any) -> dict[str, Any]:
    match step:
        case cp.CreateFolder():
            fields = {"under": step.under, "replicas": list(step.replicas) or None, "schedule": step.schedule}
            contacts = {"contacts": list(step.contacts)} if step.contacts else {}
            stated = {key: value for key, value in fields.items() if value is not None}
            return {"on": step.on, "create": step.title, **stated, **contacts, "as": step.label}
        case cp.RenameFolder():
            return {"on": step.on, "rename": step.folder, "to": step.title}
        case cp.MoveFolder():
            return {"on": step.on, "move": step.folder, "under": step.under or "/"}
        case cp.ChangeFolder():
            names = ("schedule", "priority", "resolve", "warning_limit", "post_limit", "item_limit")
            fields = {name: str(value) for name in names if (value := getattr(step, name)) is not None}
            contacts = {} if step.contacts is None else {"contacts": list(step.contacts)}
            return {"on": step.on, "change": step.folder, **fields, **contacts}
        case cp.Propagate():
            return {"on": step.on, "propagate": step.folder, "properties": list(step.properties)}
    assert isinstance(step, cp.DeleteFolder), step
    return {"on": step.on, "delete": step.folder}
