"""Smaller and simpler variants of a plan, for the shrinker to play."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from pflab.campaign.plans import plan as cp
from pflab.campaign.plans.plan import AnyFault, AnyStep, Network, Plan
from traces.labtime import HOUR_US, LabTime, parse_instant

_NAMES = ("on", "store", "server", "from_", "to")
_LISTS_OF_NAMES = ("between", "link", "stop", "start")


def changed(plan: Plan, **fields: Any) -> Plan:
    return msgspec.structs.replace(plan, **fields)


def cut_after(plan: Plan, at: LabTime) -> Plan | None:
    """Return the plan without everything later than `at`, or None if the plan ends before `at`."""
    at_us = at - _start_of(plan)
    if at_us >= plan.length_us:
        return None
    steps = tuple(step for step in plan.steps if step.at_us <= at_us)
    faults = tuple(fault for fault in plan.faults if fault.at_us <= at_us)
    return changed(plan, steps=steps, faults=faults)


def _start_of(plan: Plan) -> LabTime:
    start = plan.topology.get("start")
    return plan.organization().start_at if start is None else parse_instant(str(start))


# --- lists whose items can be left out


def _with_steps(plan: Plan, steps: Sequence[AnyStep]) -> Plan:
    return changed(plan, steps=tuple(steps))


def _with_faults(plan: Plan, faults: Sequence[AnyFault]) -> Plan:
    return changed(plan, faults=tuple(faults))


def _stores(plan: Plan) -> list[str]:
    return list(plan.topology["servers"])


def _with_stores(plan: Plan, stores: Sequence[str]) -> Plan | None:
    """Return the plan with only these stores, or None if mail cannot reach all of them.

    Sites, connectors, replicas, steps and faults of the other stores are removed too.
    """
    if not stores:
        return None
    document = copy.deepcopy(plan.topology)
    removed = {store for store in document["servers"] if store not in stores}
    document["servers"] = {store: entry for store, entry in document["servers"].items() if store not in removed}
    if all((entry or {}).get("joins") == "later" for entry in document["servers"].values()):
        return None
    _forget_sites(document)
    if not _connected(document):
        return None
    _forget_stores(document, removed)
    return changed(
        plan,
        topology=document,
        steps=tuple(_without(step, removed) for step in plan.steps if not _named(step) & removed),
        faults=tuple(fault for fault in plan.faults if not _named(fault) & removed),
    )


def _forget_sites(document: dict[str, Any]) -> None:
    sites = document.get("sites")
    if sites is None:
        return
    used = {entry["site"] for entry in document["servers"].values() if entry and "site" in entry}
    document["sites"] = [site for site in sites if site in used] or list(sites[:1])
    kept = [each for each in document.get("connectors") or () if set(each["between"]) <= used]
    document["connectors"] = kept
    for connector in kept:
        ends = connector.get("bridgeheads") or {}
        connector["bridgeheads"] = {site: server for site, server in ends.items() if server in document["servers"]}
    if not kept:
        del document["connectors"]


def _connected(document: dict[str, Any]) -> bool:
    """Return whether mail can go from each site to all others. Otherwise the lab could never converge."""
    sites = document.get("sites") or ["the only site"]
    reached, ahead = {sites[0]}, [sites[0]]
    while ahead:
        site = ahead.pop()
        for connector in document.get("connectors") or ():
            if site in connector["between"]:
                fresh = set(connector["between"]) - reached
                reached |= fresh
                ahead += fresh
    return reached >= set(sites)


def _forget_stores(document: dict[str, Any], removed: set[str]) -> None:
    folders: dict[str, Any] = {}
    for path, entry in (document.get("folders") or {}).items():
        above = path.rpartition("/")[0]
        replicas = [store for store in (entry or {}).get("replicas") or document["servers"] if store not in removed]
        if replicas and (not above or above in folders):
            folders[path] = {**(entry or {}), "replicas": replicas}
    document["folders"] = folders
    for settings in (
        document.get("settings"),
        *((entry or {}).get("settings") for entry in document["servers"].values()),
    ):
        if settings and settings.get("Preferred Backfill Source") in removed:
            del settings["Preferred Backfill Source"]


def _named(item: AnyStep | AnyFault) -> set[str]:
    names = {getattr(item, field, None) for field in _NAMES}
    for field in _LISTS_OF_NAMES:
        names |= set(getattr(item, field, ()))
    return {name for name in names if isinstance(name, str)}


def _without(step: AnyStep, removed: set[str]) -> AnyStep:
    if isinstance(step, cp.CreateFolder) and set(step.replicas) & removed:
        replicas = tuple(store for store in step.replicas if store not in removed)
        return msgspec.structs.replace(step, replicas=replicas)
    return step


def _folders(plan: Plan) -> list[str]:
    return list(plan.topology.get("folders") or {})


def _with_folders(plan: Plan, paths: Sequence[str]) -> Plan | None:
    """Return the plan with only these folders of the topology. Folders below a removed one are removed too."""
    kept: dict[str, Any] = {}
    for path, entry in (plan.topology.get("folders") or {}).items():
        above = path.rpartition("/")[0]
        if path in paths and (not above or above in kept):
            kept[path] = entry
    return changed(plan, topology={**plan.topology, "folders": kept})


def _settings(plan: Plan) -> list[tuple[str, str]]:
    """Return (store, name of a setting) for each setting; the store is '' for settings of the organization."""
    found = [("", name) for name in plan.topology.get("settings") or {}]
    for store, entry in plan.topology["servers"].items():
        found += [(store, name) for name in (entry or {}).get("settings") or {}]
    return found


def _with_settings(plan: Plan, kept: Sequence[tuple[str, str]]) -> Plan:
    document = copy.deepcopy(plan.topology)
    places = {"": document, **document["servers"]}
    for store, entry in places.items():
        settings = {
            name: value for name, value in ((entry or {}).get("settings") or {}).items() if (store, name) in kept
        }
        if entry and "settings" in entry:
            entry["settings"] = settings
            if not settings:
                del entry["settings"]
    return changed(plan, topology=document)


WithItems = Callable[[Plan, Sequence[Any]], Plan | None]

LISTS: tuple[tuple[Callable[[Plan], list[Any]], WithItems], ...] = (
    (lambda plan: list(plan.faults), _with_faults),
    (lambda plan: list(plan.steps), _with_steps),
    (_stores, _with_stores),
    (_folders, _with_folders),
    (_settings, _with_settings),
)
"""For each list of a plan: a function that returns the items, and a function that returns the plan with only some of them."""


# --- simpler forms


def _calm_network(plan: Plan) -> Iterator[Plan]:
    if plan.network != Network():
        yield changed(plan, network=Network())


def _shorter(plan: Plan) -> Iterator[Plan]:
    """Yield the plan with an earlier heal, soon after the last step and fault."""
    ends = [step.at_us + HOUR_US for step in plan.steps]
    ends += [fault.at_us + fault.lasts_us for fault in plan.faults]
    length_us = max(ends, default=HOUR_US)
    if length_us < plan.length_us:
        yield changed(plan, length_us=length_us)


def _one_site(plan: Plan) -> Iterator[Plan]:
    document = copy.deepcopy(plan.topology)
    if len(document.get("sites") or ()) > 1:
        site = document["sites"][0]
        document["sites"] = [site]
        document.pop("connectors", None)
        for entry in document["servers"].values():
            entry["site"] = site
        yield changed(plan, topology=document)


def _plain_folders(plan: Plan) -> Iterator[Plan]:
    """For each folder, yield the plan with this folder's schedule, contacts and priority removed."""
    for path, entry in (plan.topology.get("folders") or {}).items():
        if entry and set(entry) - {"replicas"}:
            folders = {**plan.topology["folders"], path: {"replicas": entry["replicas"]}}
            yield changed(plan, topology={**plan.topology, "folders": folders})


def _small_posts(plan: Plan) -> Iterator[Plan]:
    for index, step in enumerate(plan.steps):
        if isinstance(step, cp.Post) and (step.size > 10 or step.count > 1):
            # A single post has the label `m` instead of `m.1`, so later steps that use it must change too.
            small = msgspec.structs.replace(step, size=10, count=1)
            rest = tuple(_relabelled(each, f"{step.label}.1", step.label) for each in plan.steps[index + 1 :])
            yield changed(plan, steps=(*plan.steps[:index], small, *rest))
            yield changed(
                plan,
                steps=(
                    *plan.steps[:index],
                    msgspec.structs.replace(step, size=min(step.size, 10)),
                    *plan.steps[index + 1 :],
                ),
            )


def _relabelled(step: AnyStep, old: str, new: str) -> AnyStep:
    if isinstance(step, cp.Edit | cp.Delete | cp.Resolve | cp.Recover) and step.message == old:
        return msgspec.structs.replace(step, message=new)
    return step


def _plain_faults(plan: Plan) -> Iterator[Plan]:
    for index, fault in enumerate(plan.faults):
        for plain in _simpler(fault):
            yield changed(plan, faults=(*plan.faults[:index], plain, *plan.faults[index + 1 :]))


def _simpler(fault: AnyFault) -> Iterator[AnyFault]:
    replace = msgspec.structs.replace
    if isinstance(fault, cp.MailFault) and fault.count != 1:
        yield replace(fault, count=1)
    if isinstance(fault, cp.Swizzle) and len(fault.stop) > 1:
        for store in fault.stop:
            yield cp.Swizzle(
                at_us=fault.at_us, lasts_us=fault.lasts_us, stop=(store,), start=(store,), gap_us=fault.gap_us
            )
    if isinstance(fault, cp.Swizzle) and len(fault.stop) == 1:
        yield cp.Kill(at_us=fault.at_us, lasts_us=fault.lasts_us, server=fault.stop[0])
    if isinstance(fault, cp.Restore) and fault.dead_us:
        yield replace(fault, dead_us=0)
    if isinstance(fault, cp.Crash) and fault.after:
        yield replace(fault, after=0)


SIMPLER: tuple[Callable[[Plan], Iterator[Plan]], ...] = (
    _calm_network,
    _shorter,
    _one_site,
    _plain_folders,
    _small_posts,
    _plain_faults,
)
"""Functions that yield simpler plans to try, in order."""
