"""Draw the scenario of a seed. The same seed, days and kinds of fault always give the same scenario.

Each part has its own random generator, so a change in how one part is drawn does not affect the others.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from pflab.campaign.draw.administration import draw_administration
from pflab.campaign.draw.faults import FAULT_KINDS, draw_damage, draw_faults
from pflab.campaign.draw.motif_builder import CONTACT, quick_settings
from pflab.campaign.draw.motifs import draw_motifs
from pflab.campaign.draw.queues import draw_queues
from pflab.campaign.draw.state import DrawState
from pflab.campaign.draw.structure import (
    draw_connectors,
    draw_policies,
    draw_policy_changes,
    draw_removed_servers,
    draw_servers,
)
from pflab.campaign.draw.timed import Span, Timed
from pflab.campaign.draw.work import draw_created_stores, draw_orders, draw_saves, draw_shown_stores, draw_work
from pflab.campaign.scenario_document import Document, known_steps
from topology.enums import ALL_VERSIONS, ResolveMethod
from topology.model import Topology
from traces.labtime import DAY_US, MINUTE_US, SECOND_US, format_duration

STORE_NAMES = "ABCDEFGHIJKL"
SITE_NAMES = ("SEA", "NYC", "LON", "TYO")

# Most organizations are small: most failures need few stores, and a lab of twelve stores costs as much as thirty labs of two.
_STORES = (2,) * 30 + (3,) * 34 + (4,) * 18 + (5,) * 8 + (6,) * 4 + (7, 8, 9, 10, 11, 12)
_SITES = (1, 1, 1, 1, 2, 2, 2, 3, 3, 4)
_FOLDERS = (1, 1, 2, 2, 2, 3, 3, 4, 6)
_REPLICAS = (1, 2, 2, 2, 3, 3, 3, 4, 12)
_SCHEDULES = (*("always",) * 6, "every 1 h", "every 4 h", "Mon-Sun 20:00-06:00")
_LENGTHS = (0.1, 0.25, 0.25, 0.5, 0.5, 1.0)
_JITTERS_US = (0, 0, 0, 10 * SECOND_US, 5 * MINUTE_US)
_LATE_STORE = 0.3
_CONTACTS = 0.4
_ONE_VERSION = 0.3

_CONNECTORS: tuple[dict[str, Any], ...] = (
    {"cost": 10},
    {"cost": 10, "latency": "80 ms", "bandwidth": "512 kbit/s"},
    {"cost": 20, "latency": "2 s", "kind": "x400"},
    {"cost": 50, "latency": "20 min"},
    {"cost": 50, "latency": "3 s", "schedule": "every 1 h", "kind": "x400"},
)


def draw_scenario(
    seed: int, *, days: int = 3, faults: Sequence[str] = FAULT_KINDS, topology: Topology | None = None
) -> Document:
    """Return the scenario of a seed: at most `days` of work, and only these kinds of `faults`.

    topology: None means a random organization.
    """
    draw = _generator(seed, "plan")
    length_us = max(1, round(days * DAY_US * draw.choice(_LENGTHS)) // MINUTE_US) * MINUTE_US
    document = draw_organization(_generator(seed, "organization")) if topology is None else topology.as_document()
    if topology is None:
        draw_versions(_generator(seed, "versions"), document)
        draw_settings(_generator(seed, "settings"), document)
        draw_conflicts(_generator(seed, "unattended conflicts"), document)
        draw_recipient_update(_generator(seed, "recipient update"), document)
        draw_policies(_generator(seed, "recipient policies"), document)
    network = _network(draw) if faults else {}
    state = DrawState(document, length_us)
    work = draw_work(_generator(seed, "work"), state)
    random_faults = draw_faults(_generator(seed, "faults"), state, faults)
    more_steps, more_faults = draw_motifs(_generator(seed, "motifs"), state, faults, seed)
    orders = draw_orders(_generator(seed, "orders"), state)
    orders += draw_administration(_generator(seed, "administration"), state)
    orders += draw_created_stores(_generator(seed, "created stores"), state, [*work, *more_steps])
    orders += draw_shown_stores(_generator(seed, "shown stores"), state, [*work, *more_steps])
    more_steps += draw_saves(_generator(seed, "saves"), [*work, *more_steps])
    orders += draw_queues(_generator(seed, "queues"), state)
    orders += draw_connectors(_generator(seed, "connectors"), state)
    orders += draw_servers(_generator(seed, "servers"), state)
    orders += draw_removed_servers(_generator(seed, "removed servers"), state, [*work, *more_steps])
    orders += draw_policy_changes(_generator(seed, "policy changes"), state)
    more_faults += draw_damage(_generator(seed, "addresses"), state, faults)
    if topology is None:
        _add_settings(document, state)
    steps = sorted([*work, *more_steps, *orders], key=lambda step: step.at_us)
    spans = sorted([*random_faults, *more_faults], key=lambda span: span.at_us)
    end_us = max(length_us, min(state.needs_us, days * DAY_US))
    return scenario_of(seed, document, steps, spans, end_us, network)


def scenario_of(
    seed: int,
    topology: dict[str, Any],
    steps: Sequence[Timed],
    spans: Sequence[Span],
    length_us: int,
    network: dict[str, Any],
) -> Document:
    """Return a scenario of these steps and faults, which are in order of time.

    At one instant the ends of faults come first, then the beginnings of faults, then steps. At `length_us` all faults end, and
    the scenario waits until the lab has converged.
    """
    timed = [
        (step, int(step.at_us == span.at_us))
        for number, span in enumerate(spans, 1)
        for step in span.steps(f"f{number}", length_us)
    ]
    timed = sorted([*timed, *((step, 2) for step in steps)], key=lambda entry: (entry[0].at_us, entry[1]))
    listed = [{"at": format_duration(step.at_us), step.verb: step.args} for step, _ in timed if step.at_us < length_us]
    return {
        "title": f"Seed {seed} of a campaign",
        "missing": "skip",
        "seed": seed,
        **({"network": network} if network else {}),
        "topology": topology,
        "steps": [
            *known_steps(listed, topology),
            {"at": format_duration(length_us), "repair": "all"},
            {"until": {"converged": "all", "within": "bound"}},
        ],
    }


def _network(draw: random.Random) -> dict[str, Any]:
    shuffle, jitter_us = draw.random() < 0.5, draw.choice(_JITTERS_US)
    return {**({"shuffle": True} if shuffle else {}), **({"jitter": format_duration(jitter_us)} if jitter_us else {})}


def _generator(seed: int, part: str) -> random.Random:
    return random.Random(f"pflab campaign {seed} {part}")  # a text as seed does not depend on PYTHONHASHSEED


def _add_settings(document: dict[str, Any], state: DrawState) -> None:
    if state.settings:
        document["settings"] = {**document.get("settings", {}), **state.settings}
    for store, settings in state.store_settings.items():
        document["servers"][store].setdefault("settings", {}).update(settings)
    for store, version in state.versions.items():
        document["servers"][store]["version"] = version


def draw_organization(draw: random.Random) -> dict[str, Any]:
    """Return a random topology document of two to twelve stores in one to four sites, with one to six folders."""
    stores = list(STORE_NAMES[: draw.choice(_STORES)])
    sites = list(SITE_NAMES[: min(draw.choice(_SITES), len(stores))])
    homes = {store: sites[index] if index < len(sites) else draw.choice(sites) for index, store in enumerate(stores)}
    servers: dict[str, Any] = {store: {"site": homes[store]} for store in stores}
    if len(stores) > 2 and draw.random() < _LATE_STORE:
        # The first store of each site never joins late, so each site has a bridgehead from the start.
        late = [store for store in stores[len(sites) :] if store != stores[0]]
        if late:
            servers[draw.choice(late)]["joins"] = "later"
    present = [store for store in stores if "joins" not in servers[store]]
    document: dict[str, Any] = {"organization": "Campaign", "sites": sites}
    connectors = _connectors(draw, sites)
    if connectors:
        document["connectors"] = connectors
    document["servers"] = servers
    document["folders"] = _folders(draw, present)
    return document


def draw_versions(draw: random.Random, document: dict[str, Any]) -> None:
    """Give all servers the same Exchange version, or give each server a random one of the four (spec: section 14)."""
    version = draw.choice(ALL_VERSIONS) if draw.random() < _ONE_VERSION else None
    for server in document["servers"].values():
        server["version"] = str(version or draw.choice(ALL_VERSIONS))


def _connectors(draw: random.Random, sites: list[str]) -> list[dict[str, Any]]:
    """Return connectors that join all sites as a tree. Sometimes an additional connector makes a second route."""
    pairs = [(draw.choice(sites[:index]), sites[index]) for index in range(1, len(sites))]
    extra_pairs = [(one, other) for one in sites for other in sites if one < other]
    extra_pairs = [pair for pair in extra_pairs if pair not in pairs and pair[::-1] not in pairs]
    if extra_pairs and draw.random() < 0.5:
        pairs.append(draw.choice(extra_pairs))
    return [{"name": f"{one}-{other}", "between": [one, other], **draw.choice(_CONNECTORS)} for one, other in pairs]


def _folders(draw: random.Random, stores: list[str]) -> dict[str, Any]:
    folders: dict[str, Any] = {}
    contacts = [CONTACT] if draw.random() < _CONTACTS else []
    for index in range(draw.choice(_FOLDERS)):
        above = draw.choice(list(folders)) + "/" if folders and draw.random() < 0.25 else ""
        replicas = draw.sample(stores, min(len(stores), draw.choice(_REPLICAS)))
        entry: dict[str, Any] = {"replicas": replicas, "schedule": draw.choice(_SCHEDULES)}
        if contacts:
            entry["contacts"] = contacts
        if draw.random() < 0.2:
            entry["priority"] = draw.choice(("urgent", "not urgent"))
        folders[f"{above}F{index}"] = entry
    return folders


# Settings, each with its probability, and with values that cause situations which are rare with the defaults.
_TWEAKS: tuple[tuple[float, dict[str, tuple[Any, ...]]], ...] = (
    (0.15, {"Replication Outstanding Backfill Limit": (1, 1, 2, 3)}),
    (0.10, {"Replication Message Size Limit": (1, 4, 20)}),
    (0.08, {"Replication Message Count Limit": (1, 2, 5)}),
    (0.10, {"Replication Folder Tree RMQ Timeout": ("1 h",)}),
    (0.08, {"Replication Folder Content RMQ Timeout": ("5 min", "1 h")}),
    (0.08, {"Replication Always Interval": (0, "5 min", "60 min")}),
    (0.06, {"MTA Retry Interval Normal": ("2 min", "1 h")}),
    (0.12, {"MTA Expiry Normal": ("30 min", "2 h", "8 h")}),
    (0.04, {"MTA Maximum Retries": (2, 5)}),
    (0.05, {"Replication Send Status Alignment Skew": ("4 h",)}),
    (0.08, {"Age Limit": ("6 h", "1 d")}),
)

_SELDOM = 0.2
_UPDATE_INTERVALS = ("15 min", "1 h", "4 h", "never")
_QUICK = 0.25
_OLD_CONFLICTS = 0.15
_CONFLICT_AGES = ("1 h", "4 h", "1 d")
_RESOLVES = 0.25


def draw_settings(draw: random.Random, document: dict[str, Any]) -> None:
    """Add settings that differ from the defaults, for the organization or for one store."""
    organization: dict[str, Any] = {}
    servers = document["servers"]
    if draw.random() < _QUICK:
        organization |= quick_settings(draw)
    for share, tweak in _TWEAKS:
        if draw.random() >= share:
            continue
        chosen = {name: draw.choice(values) for name, values in tweak.items()}
        if draw.random() < 0.7:
            organization |= chosen
        else:
            servers[draw.choice(list(servers))].setdefault("settings", {}).update(chosen)
    if draw.random() < 0.06:
        one, other = draw.sample(list(servers), 2)
        servers[one].setdefault("settings", {})["Preferred Backfill Source"] = other
    if organization:
        document["settings"] = organization


def draw_recipient_update(draw: random.Random, document: dict[str, Any]) -> None:
    """In some organizations with a store that joins late, let the recipient update service run seldom or never (spec: ML-1)."""
    if draw.random() < _SELDOM and any("joins" in server for server in document["servers"].values()):
        document["recipient_update"] = draw.choice(_UPDATE_INTERVALS)


def draw_conflicts(draw: random.Random, document: dict[str, Any]) -> None:
    """Add resolve methods of folders and age limits of conflicts (spec: CF-4, CF-5)."""
    if draw.random() < _RESOLVES:
        for folder in document["folders"].values():
            folder["resolve"] = str(draw.choice(tuple(ResolveMethod)))
    if draw.random() >= _OLD_CONFLICTS:
        return
    age = {"Replication Folder Conflict Age Limit": draw.choice(_CONFLICT_AGES)}
    if draw.random() < 0.7:
        document["settings"] = {**document.get("settings", {}), **age}
    else:
        document["servers"][draw.choice(list(document["servers"]))].setdefault("settings", {}).update(age)
