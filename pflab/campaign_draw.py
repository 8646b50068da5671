"""From a seed to an organization: topology text, drawn so that most labs are small and some are awkward."""

from __future__ import annotations

import random
from itertools import pairwise

from topology import Topology, topology_from_text

STORE_NAMES = "ABCDEFGHIJKL"
SITE_NAMES = ("SEA", "NYC", "LON", "TYO")
_STORES = (2, 2, 3, 3, 3, 4, 4, 5, 6)
_SITES = (1, 1, 1, 2, 2, 3)
_SCHEDULES = ("always", "always", "always", "every 1 h", "every 4 h", '"Mon-Sun 20:00-06:00"')
_CONNECTORS = (
    "cost: 10",
    "cost: 10, latency: 80 ms, bandwidth: 512 kbit/s",
    "cost: 50, latency: 20 min",
    "cost: 50, latency: 3 s, schedule: every 1 h, kind: x400",
)


def draw_topology(draw: random.Random, name: str) -> Topology:
    """A topology of two to six stores in one to three sites, with one to four folders."""
    stores = STORE_NAMES[: draw.choice(_STORES)]
    sites = SITE_NAMES[: min(draw.choice(_SITES), len(stores))]
    lines = ["organization: Campaign", f"sites: [{', '.join(sites)}]"]
    if len(sites) > 1:
        lines.append("connectors:")
        pairs = list(pairwise(sites))
        if len(sites) == 3 and draw.random() < 0.5:
            pairs.append((sites[0], sites[2]))
        for one, other in pairs:
            lines.append(f"  - {{name: {one}-{other}, between: [{one}, {other}], {draw.choice(_CONNECTORS)}}}")
    lines.append("servers:")
    for index, store in enumerate(stores):
        site = sites[index] if index < len(sites) else draw.choice(sites)
        lines.append(f"  {store}: {{site: {site}}}")
    lines.append("folders:")
    for index in range(draw.choice((1, 1, 2, 2, 3, 4))):
        count = min(len(stores), draw.choice((2, 2, 3, 3, 4, 6)))
        replicas = sorted(draw.sample(stores, count))
        schedule = draw.choice(_SCHEDULES)
        lines.append(f"  F{index}: {{replicas: [{', '.join(replicas)}], schedule: {schedule}}}")
    return topology_from_text("\n".join(lines) + "\n", name)
