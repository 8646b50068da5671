"""Generate changes of an organization (spec: RT-6): connectors with another cost, schedule or speed, or another server at an
end; a second connector; connectors that are removed and come back; new servers, some of them in new sites; servers that are
removed, and others of their names; and recipient policies (spec: ML-1), which are added, changed, moved and removed.

The repair joins sites again that have no connector at the end.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, Final

from pflab.campaign.draw import timed
from pflab.campaign.draw.state import DrawState
from topology.enums import ALL_VERSIONS, ConnectorKind
from topology.model import Connector
from traces.labtime import DAY_US, HOUR_US, MINUTE_US

_CHANGED = 0.3
_WITH_SERVERS = 0.15
_WITH_POLICIES = 0.15
_DOMAINS = ("fabrikam.test", "adatum.test", "contoso.test", "emea.contoso.test")
_LATER_US = (0, 10 * MINUTE_US, 3 * HOUR_US, 14 * HOUR_US)
_GONE_US = (0, 10 * MINUTE_US, 3 * HOUR_US, 14 * HOUR_US, 3 * DAY_US)
_FORGOTTEN = 0.2
"""How often a connector that was removed does not come back before the repair."""
_REMOVED = 0.4
_COMES_BACK = 0.6
_RENAMED = 0.3
"""How often another connector comes in its place."""

_FIELDS: Final[tuple[tuple[str, tuple[Any, ...]], ...]] = (
    ("cost", (1, 5, 15, 40, 100)),
    ("cost", (1, 5, 15, 40, 100)),
    ("schedule", ("always", "every 1 h", "Mon-Sun 20:00-06:00", "never")),
    ("bandwidth", ("none", "512 kbit/s", "64 kbit/s", "9600 bit/s")),
    ("latency", ("0 ms", "80 ms", "20 min")),
    ("affinity", ("none", 1, 30)),
    ("kind", (str(ConnectorKind.ROUTING_GROUP), str(ConnectorKind.X400))),
)


def draw_connectors(draw: random.Random, state: DrawState) -> list[timed.Timed]:
    """Return these steps. They have their own generator, so the other steps of a seed do not depend on them."""
    if not state.connectors or draw.random() >= _CHANGED:
        return []
    steps: list[timed.Timed] = []
    for _ in range(draw.choice((1, 2, 3, 5))):
        change = draw.choice((_changed, _changed, _removed, _removed, _second, _moved))
        steps += change(draw, state, draw.choice(state.connectors), state.instant(draw, 0.05, 0.9))
    return steps


def _changed(draw: random.Random, state: DrawState, connector: Connector, at_us: int) -> list[timed.Timed]:
    name, values = draw.choice(_FIELDS)
    return [timed.connector(at_us=at_us, change=connector.name, **{name: draw.choice(values)})]


def _removed(draw: random.Random, state: DrawState, connector: Connector, at_us: int) -> list[timed.Timed]:
    steps = [timed.connector(at_us=at_us, remove=connector.name)]
    if draw.random() >= _FORGOTTEN:
        back_us = at_us + draw.choice(_GONE_US)
        name = state.label("line") if draw.random() < _RENAMED else connector.name
        fields = {"between": list(connector.between), "cost": draw.choice((connector.cost, 1, 100))}
        steps.append(timed.connector(at_us=back_us, add=name, **fields))
    return steps


def _second(draw: random.Random, state: DrawState, connector: Connector, at_us: int) -> list[timed.Timed]:
    """Add another connector between two sites, and sometimes remove one of the two."""
    name = state.label("line")
    pair = list(connector.between) if draw.random() < 0.5 else draw.sample(state.topology.sites, 2)
    properties = {field: draw.choice(values) for field, values in (_FIELDS[0], draw.choice(_FIELDS[2:]))}
    steps = [timed.connector(at_us=at_us, add=name, between=pair, **properties)]
    if draw.random() < 0.5:
        at_us += draw.choice(_GONE_US)
        steps.append(timed.connector(at_us=at_us, remove=draw.choice((name, connector.name))))
    return steps


def _moved(draw: random.Random, state: DrawState, connector: Connector, at_us: int) -> list[timed.Timed]:
    """Let another server of a site be the bridgehead."""
    site = draw.choice(connector.between)
    server = draw.choice(state.topology.servers_in(site))
    return [timed.connector(at_us=at_us, change=connector.name, bridgeheads={site: server})]


def draw_removed_servers(draw: random.Random, state: DrawState, steps: Sequence[timed.Timed]) -> list[timed.Timed]:
    """Return steps that remove some of the servers whose stores these steps delete. Some come back, in any site and of any
    version, and hold folders (spec: RP-9)."""
    removed: list[timed.Timed] = []
    for step in steps:
        if step.verb != "directory" or draw.random() >= _REMOVED:
            continue
        server, at_us = step.args["delete"], step.at_us + draw.choice(_LATER_US)
        removed.append(timed.server(at_us=at_us, remove=server))
        if draw.random() < _COMES_BACK:
            removed += _joining(draw, server, draw.choice(state.topology.sites), at_us + draw.choice(_GONE_US))
            joined_at_us = removed[-1].at_us
            removed += _holding(draw, state, server, joined_at_us)
            state.lasts_until(joined_at_us + DAY_US)
        elif draw.random() < 0.5:
            removed.append(timed.site(at_us=at_us, remove=state.topology.servers[server].site))
    return removed


def draw_servers(draw: random.Random, state: DrawState) -> list[timed.Timed]:
    """Return steps that add servers, start them and give them replicas. Some are in a site of their own, to which a connector
    leads from the beginning or later, or only after the repair."""
    if draw.random() >= _WITH_SERVERS:
        return []
    return [step for _ in range(draw.choice((1, 1, 2))) for step in _new_server(draw, state)]


def _new_server(draw: random.Random, state: DrawState) -> list[timed.Timed]:
    at_us, server = state.instant(draw, 0.05, 0.7), state.label("N")
    here = draw.choice(state.topology.sites)
    is_apart = draw.random() < 0.5
    site = state.label("site") if is_apart else here
    steps = [timed.site(at_us=at_us, add=site)] if is_apart else []
    steps += _joining(draw, server, site, at_us)
    at_us = steps[-1].at_us
    if is_apart and draw.random() >= _FORGOTTEN:
        line_at_us = at_us + draw.choice(_LATER_US)
        properties = {field: draw.choice(values) for field, values in (_FIELDS[0], draw.choice(_FIELDS[2:]))}
        steps.append(timed.connector(at_us=line_at_us, add=state.label("line"), between=[here, site], **properties))
    return steps + _holding(draw, state, server, at_us)


def _joining(draw: random.Random, server: str, site: str, at_us: int) -> list[timed.Timed]:
    """Add a server of any version, and start it."""
    added = timed.server(at_us=at_us, add=server, site=site, version=str(draw.choice(ALL_VERSIONS)))
    return [added, timed.join(at_us=at_us + draw.choice(_LATER_US), store=server)]


def _holding(draw: random.Random, state: DrawState, server: str, at_us: int) -> list[timed.Timed]:
    """Give a server replicas of some folders, and post there."""
    steps: list[timed.Timed] = []
    for folder in draw.sample(state.existing(), min(len(state.existing()), draw.choice((0, 1, 2)))):
        replica_at_us = at_us + draw.choice(_LATER_US)
        holder = draw.choice(folder.replicas)
        steps.append(timed.add_replica(at_us=replica_at_us, on=holder, folder=folder.label, store=server))
        posted_at_us = replica_at_us + draw.choice(_LATER_US)
        steps.append(timed.post(at_us=posted_at_us, on=server, folder=folder.label, label=state.label("m")))
    return steps


def draw_policies(draw: random.Random, document: dict[str, Any]) -> None:
    """In some organizations, add recipient policies from the beginning."""
    if draw.random() < _WITH_POLICIES:
        servers = document["servers"]
        sites = document.get("sites") or sorted(
            {str(server["site"]) for server in servers.values() if "site" in server}
        )
        document["recipient_policies"] = [
            {"name": f"P{number}", "domain": draw.choice(_DOMAINS), "filter": _filter(draw, sites, list(servers))}
            for number in range(1, draw.choice((1, 2, 3)) + 1)
        ]


def draw_policy_changes(draw: random.Random, state: DrawState) -> list[timed.Timed]:
    """Return steps that change the list of recipient policies."""
    if draw.random() >= _WITH_POLICIES:
        return []
    topology = state.topology
    names = [policy.name for policy in topology.recipient_policies]
    steps: list[timed.Timed] = []
    at_us = state.instant(draw, 0.0, 0.5)
    for _ in range(draw.choice((1, 2, 4))):
        domain = draw.choice(_DOMAINS)
        if not names or draw.random() < 0.4:
            names.append(state.label("policy"))
            filter_ = _filter(draw, topology.sites, list(topology.servers))
            change: dict[str, Any] = {"add": names[-1], "domain": domain, "filter": filter_}
            change |= {"priority": 1} if draw.random() < 0.5 else {}
        elif draw.random() < 0.3:
            change = {"remove": names.pop(draw.randrange(len(names)))}
        else:
            moved = {"priority": draw.randint(1, len(names))}
            change = {"change": draw.choice(names), **draw.choice(({"domain": domain}, moved))}
        steps.append(timed.recipient_policy(at_us=at_us, **change))
        at_us += draw.choice(_LATER_US)
    return steps


def _filter(draw: random.Random, sites: Sequence[str], servers: Sequence[str]) -> dict[str, list[str]]:
    parts = {
        "sites": [draw.choice(sites)] if sites else [],
        "servers": draw.sample(servers, min(2, len(servers))),
        "versions": [str(draw.choice(ALL_VERSIONS))],
    }
    chosen = draw.sample([part for part in parts if parts[part]], draw.choice((1, 1, 2)))
    return {part: parts[part] for part in chosen}
