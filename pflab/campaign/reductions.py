"""Smaller and simpler variants of a scenario, for the shrinker to play."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence, Set
from typing import Any, Final

from pflab.campaign.scenario_document import TAIL, Document, known_steps, scenario_of_document, verb_of
from pflab.faults.fault import KINDS
from pflab.scenario.values import duration_from_start
from traces.labtime import HOUR_US, LabTime, format_duration


def at_of(step: Document) -> int:
    """Return when a step happens, in microseconds since the start."""
    return duration_from_start(step["at"])


def work_of(scenario: Document) -> list[Document]:
    """Return the steps before the repair."""
    return list(scenario["steps"][:-TAIL])


def size_of(scenario: Document) -> int:
    """Return the number of steps, stores, folders and settings. The shrinker compares scenarios by this number."""
    return len(scenario["steps"]) + sum(len(items(scenario)) for items in (_stores, _folders, _settings))


def changed(
    scenario: Document,
    *,
    topology: Document | None = None,
    steps: Sequence[Document] | None = None,
    tail: Sequence[Document] | None = None,
) -> Document:
    """Return the scenario with other parts, and without the steps that need a part that was removed.

    steps: those before the repair; tail: the rest.
    """
    organization = scenario["topology"] if topology is None else topology
    work = known_steps(work_of(scenario) if steps is None else steps, organization)
    return {
        **scenario,
        "topology": organization,
        "steps": [*work, *(scenario["steps"][-TAIL:] if tail is None else tail)],
    }


def cut_after(scenario: Document, at: LabTime) -> Document | None:
    """Return the scenario without the steps later than `at`, or None if the work ends before `at`."""
    at_us = at - scenario_of_document(scenario).topology.start_at
    if at_us >= at_of(scenario["steps"][-TAIL]):
        return None
    return changed(scenario, steps=[step for step in work_of(scenario) if at_of(step) <= at_us])


# --- lists whose items can be left out


def _faults(scenario: Document) -> list[Document]:
    """Return the steps that begin faults."""
    return [step for step in work_of(scenario) if verb_of(step) in KINDS or verb_of(step) in {"stop", "backup"}]


def _with_faults(scenario: Document, faults: Sequence[Document]) -> Document:
    every = _faults(scenario)
    return changed(scenario, steps=[step for step in work_of(scenario) if step in faults or step not in every])


def _with_steps(scenario: Document, steps: Sequence[Document]) -> Document:
    return changed(scenario, steps=steps)


def _stores(scenario: Document) -> list[str]:
    return list(scenario["topology"]["servers"])


def _with_stores(scenario: Document, stores: Sequence[str]) -> Document | None:
    """Return the scenario with only these stores, or None if mail cannot reach all of them.

    Sites, connectors, replicas and steps of the other stores are removed too.
    """
    if not stores:
        return None
    document = copy.deepcopy(scenario["topology"])
    removed = {store for store in document["servers"] if store not in stores}
    document["servers"] = {store: entry for store, entry in document["servers"].items() if store not in removed}
    if all((entry or {}).get("joins") == "later" for entry in document["servers"].values()):
        return None
    _forget_sites(document)
    if not _connected(document):
        return None
    _forget_policies(document)
    _forget_stores(document, removed)
    steps = [_without(step, removed) for step in work_of(scenario) if not set(_names(step)) & removed]
    return changed(scenario, topology=document, steps=steps)


def _forget_sites(document: dict[str, Any]) -> None:
    sites = document.get("sites")
    if sites is None:
        return
    used_sites = {entry["site"] for entry in document["servers"].values() if entry and "site" in entry}
    document["sites"] = [site for site in sites if site in used_sites] or list(sites[:1])
    connectors = [
        connector for connector in document.get("connectors") or () if set(connector["between"]) <= used_sites
    ]
    document["connectors"] = connectors
    for connector in connectors:
        ends = connector.get("bridgeheads") or {}
        connector["bridgeheads"] = {site: server for site, server in ends.items() if server in document["servers"]}
    if not connectors:
        del document["connectors"]


def _forget_policies(document: dict[str, Any]) -> None:
    """Remove the recipient policies that name a site or a server that there is not any more."""
    known = {"sites": document.get("sites") or (), "servers": document["servers"]}
    policies = document.get("recipient_policies") or []
    document["recipient_policies"] = [
        policy
        for policy in policies
        if all(set(policy["filter"].get(part) or ()) <= set(names) for part, names in known.items())
    ]


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


_REPLICAS: Final = "replicas"
"""The key of a new folder's replica list, from which a store can be taken without the step."""


def _names(value: Any) -> Iterator[str]:
    """Yield each text in a step, except in a replica list."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            if key != _REPLICAS or not isinstance(item, list):
                yield from _names(item)
    elif isinstance(value, list):
        for item in value:
            yield from _names(item)


def _without(step: Document, removed: Set[str]) -> Document:
    verb = verb_of(step)
    args = step[verb]
    if not isinstance(args, dict) or not set(args.get(_REPLICAS, ())) & removed:
        return step
    replicas = [store for store in args[_REPLICAS] if store not in removed]
    remaining = {key: value for key, value in args.items() if key != _REPLICAS}
    return {**step, verb: {**remaining, _REPLICAS: replicas} if replicas else remaining}


def _folders(scenario: Document) -> list[str]:
    return list(scenario["topology"].get("folders") or {})


def _with_folders(scenario: Document, paths: Sequence[str]) -> Document:
    """Return the scenario with only these folders of the topology. Folders below a removed one are removed too."""
    folders: dict[str, Any] = {}
    for path, entry in (scenario["topology"].get("folders") or {}).items():
        above = path.rpartition("/")[0]
        if path in paths and (not above or above in folders):
            folders[path] = entry
    return changed(scenario, topology={**scenario["topology"], "folders": folders})


def _settings(scenario: Document) -> list[tuple[str, str]]:
    """Return (store, name of a setting) for each setting; the store is '' for settings of the organization."""
    topology = scenario["topology"]
    settings = [("", name) for name in topology.get("settings") or {}]
    for store, entry in topology["servers"].items():
        settings += [(store, name) for name in (entry or {}).get("settings") or {}]
    return settings


def _with_settings(scenario: Document, pairs: Sequence[tuple[str, str]]) -> Document:
    document = copy.deepcopy(scenario["topology"])
    places = {"": document, **document["servers"]}
    for store, entry in places.items():
        settings = {
            name: value for name, value in ((entry or {}).get("settings") or {}).items() if (store, name) in pairs
        }
        if entry and "settings" in entry:
            entry["settings"] = settings
            if not settings:
                del entry["settings"]
    return changed(scenario, topology=document)


WithItems = Callable[[Document, Sequence[Any]], Document | None]

LISTS: tuple[tuple[Callable[[Document], list[Any]], WithItems], ...] = (
    (_faults, _with_faults),
    (work_of, _with_steps),
    (_stores, _with_stores),
    (_folders, _with_folders),
    (_settings, _with_settings),
)
"""For each list of a scenario: a function that returns the items, and one that returns the scenario with only some of them."""


# --- simpler forms


def _calm_network(scenario: Document) -> Iterator[Document]:
    if "network" in scenario:
        yield {key: value for key, value in scenario.items() if key != "network"}


def _shorter(scenario: Document) -> Iterator[Document]:
    """Yield the scenario with an earlier repair, soon after the last step."""
    repair, *rest = scenario["steps"][-TAIL:]
    end_us = max([at_of(step) for step in work_of(scenario)], default=0) + HOUR_US
    if end_us < at_of(repair):
        yield changed(scenario, tail=[{**repair, "at": format_duration(end_us)}, *rest])


def _one_site(scenario: Document) -> Iterator[Document]:
    document = copy.deepcopy(scenario["topology"])
    if len(document.get("sites") or ()) > 1:
        site = document["sites"][0]
        document["sites"] = [site]
        document.pop("connectors", None)
        for entry in document["servers"].values():
            entry["site"] = site
        _forget_policies(document)
        yield changed(scenario, topology=document)


def _plain_folders(scenario: Document) -> Iterator[Document]:
    """For each folder, yield the scenario with this folder's schedule, contacts and priority removed."""
    folders = scenario["topology"].get("folders") or {}
    for path, entry in folders.items():
        if entry and set(entry) - {_REPLICAS}:
            plain = {**folders, path: {_REPLICAS: entry[_REPLICAS]}}
            yield changed(scenario, topology={**scenario["topology"], "folders": plain})


_SMALL: Final = 10
"""The letters of a small post."""


def _small_posts(scenario: Document) -> Iterator[Document]:
    steps = work_of(scenario)
    for index, step in enumerate(steps):
        verb = verb_of(step)
        if verb not in {"post", "posts"}:
            continue
        before, args, after = steps[:index], step[verb], steps[index + 1 :]
        if verb == "posts":
            # A single post has the name `m` in place of `m-1`, so later steps that use it must change too.
            post = {key: value for key, value in args.items() if key != "count"} | {"letters": _SMALL}
            later_steps = [_relabelled(later, f"{args['as']}-1", args["as"]) for later in after]
            yield changed(scenario, steps=[*before, {"at": step["at"], "post": post}, *later_steps])
        if args["letters"] > _SMALL:
            yield changed(scenario, steps=[*before, {**step, verb: {**args, "letters": _SMALL}}, *after])


def _relabelled(step: Document, old: str, new: str) -> Document:
    args = step[verb_of(step)]
    if not isinstance(args, dict):
        return step
    renamed = {**args, "message": new} if args.get("message") == old else args
    if old in args.get("based_on", ()):
        renamed = {**renamed, "based_on": [new if name == old else name for name in args["based_on"]]}
    return {**step, verb_of(step): renamed}


def _plain_faults(scenario: Document) -> Iterator[Document]:
    """For each fault, yield the scenario in which it acts once, or at once."""
    steps = work_of(scenario)
    for index, step in enumerate(steps):
        verb = verb_of(step)
        kind = KINDS.get(verb)
        if kind is None or not isinstance(step[verb], dict):
            continue
        args = dict(step[verb])
        if args.pop("after", 0) or ("count" in kind.__struct_fields__ and args.get("count") != 1):
            once = {"count": 1} if "count" in kind.__struct_fields__ else {}
            yield changed(scenario, steps=[*steps[:index], {**step, verb: {**args, **once}}, *steps[index + 1 :]])


SIMPLER: tuple[Callable[[Document], Iterator[Document]], ...] = (
    _calm_network,
    _shorter,
    _one_site,
    _plain_folders,
    _small_posts,
    _plain_faults,
)
"""Functions that yield simpler scenarios to try, in order."""
