"""A map of an organization: sites as boxes, servers with their versions, connectors with their costs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from analytics.drawing.svg import cleaned, counted, element, natural, picture, text, title

MAX_SITES: Final = 16
MAX_SERVERS: Final = 12
"""How many servers of a site are drawn; the map gives the number of the others."""

WIDTH: Final = 640

_CARD: Final = (104, 40)
_GAP: Final = 10


@dataclass(frozen=True, slots=True)
class Server:
    """A server: name, version, and what is wrong with it in a few words ('' if nothing)."""

    name: str
    version: str
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class Connector:
    """A connector between two sites.

    words: its cost, and other facts worth knowing.
    """

    name: str
    between: tuple[str, str]
    words: str


@dataclass(frozen=True, slots=True)
class Organization:
    """Sites by name with their servers, and connectors."""

    sites: Mapping[str, Sequence[Server]]
    connectors: Sequence[Connector]


@dataclass(frozen=True, slots=True)
class _Box:
    """Where a site is drawn."""

    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> tuple[float, float]:
        return self.x + self.width / 2, self.y + self.height / 2

    def border(self, towards: tuple[float, float]) -> tuple[float, float]:
        """Return the point of the border on the line from the middle to another point."""
        (x, y), (to_x, to_y) = self.middle, towards
        dx, dy = to_x - x, to_y - y
        if not dx and not dy:
            return x, y
        share = min(self.width / 2 / abs(dx) if dx else math.inf, self.height / 2 / abs(dy) if dy else math.inf)
        return x + dx * share, y + dy * share


def draw(organization: Organization) -> str:
    """Return the map as SVG; '' without sites."""
    names = _ordered(organization)[:MAX_SITES]
    if not names:
        return ""
    sizes = {name: _size(min(len(organization.sites[name]), MAX_SERVERS), len(names)) for name in names}
    boxes, width, height = _placed(names, sizes)
    parts = [_site(name, organization.sites[name], boxes[name], len(names)) for name in names]
    parts += [
        _connector(connector, boxes)
        for connector in _joined(organization.connectors)
        if set(connector.between) <= set(boxes)
    ]
    hidden = len(organization.sites) - len(names)
    if hidden > 0:
        parts.append(text(f"and {counted(hidden, 'more site')}", 8, height - 4, class_="dim"))
    servers = sum(len(site_servers) for site_servers in organization.sites.values())
    label = ", ".join(
        counted(number, what)
        for number, what in (
            (len(organization.sites), "site"),
            (servers, "server"),
            (len(organization.connectors), "connector"),
        )
    )
    behind = [server.name for of_site in organization.sites.values() for server in of_site if server.trouble]
    return picture(width, height, f"{label}{'; trouble at ' if behind else ''}{', '.join(behind)}", *parts)


def _ordered(organization: Organization) -> list[str]:
    """Return the sites so that connected ones are neighbours if that is possible: along a chain, from one of its ends."""
    names = sorted(organization.sites, key=natural)
    near: dict[str, list[str]] = {name: [] for name in names}
    for connector in organization.connectors:
        a, b = connector.between
        if a in near and b in near and a != b:
            near[a].append(b)
            near[b].append(a)
    order: list[str] = []
    waiting = sorted(names, key=lambda name: len(near[name]))[:1]
    while len(order) < len(names):
        if not waiting:
            waiting = [next(name for name in names if name not in order)]
        name = waiting.pop()
        if name not in order:
            order.append(name)
            waiting += [neighbour for neighbour in reversed(near[name]) if neighbour not in order]
    return order


def _joined(connectors: Sequence[Connector]) -> list[Connector]:
    """Return one connector for each pair of sites; the words of several connectors are joined."""
    pairs: dict[tuple[str, ...], list[Connector]] = {}
    for connector in connectors:
        pairs.setdefault(tuple(sorted(connector.between)), []).append(connector)
    return [
        same[0]
        if len(same) == 1
        else Connector(
            " and ".join(link.name for link in same), same[0].between, ", ".join(link.words for link in same)
        )
        for same in pairs.values()
    ]


def _columns(servers: int, sites: int) -> int:
    """Return how many columns of servers a site has: one if sites are beside each other, more if there is room."""
    return 1 if sites > 1 and servers <= 4 else min(4 if sites == 1 else 2, max(servers, 1))


def _size(servers: int, sites: int) -> tuple[float, float]:
    columns = _columns(servers, sites)
    rows = max(math.ceil(servers / columns), 1)
    return columns * (_CARD[0] + _GAP) + _GAP + 6, rows * (_CARD[1] + _GAP) + 36


def _placed(names: Sequence[str], sizes: Mapping[str, tuple[float, float]]) -> tuple[dict[str, _Box], float, float]:
    """Return the boxes and the size of the map: up to three sites in a row, more of them in a ring."""
    widest, highest = max(size[0] for size in sizes.values()), max(size[1] for size in sizes.values())
    if len(names) <= 3:
        gap = max((WIDTH - sum(sizes[name][0] for name in names)) / max(len(names) - 1, 1), 110)
        boxes, x = {}, 4.0
        if len(names) == 1:
            x = (WIDTH - sizes[names[0]][0]) / 2
        for name in names:
            width, height = sizes[name]
            boxes[name] = _Box(x, 4 + (highest - height) / 2, width, height)
            x += width + gap
        return boxes, max(float(WIDTH), x - gap + 4), highest + 8
    # Neighbours in the ring are far enough from each other for the words of a connector.
    around = max(len(names) * (widest + 70) / (2 * math.pi), widest * 0.75)
    flat = max(len(names) * (highest + 50) / (2 * math.pi), highest * 0.7) * 0.85
    boxes = {}
    for index, name in enumerate(names):
        angle = 2 * math.pi * index / len(names) - math.pi / 2 - math.pi / len(names)
        width, height = sizes[name]
        x = around + widest / 2 + around * math.cos(angle) - width / 2 + 4
        boxes[name] = _Box(x, flat + highest / 2 + flat * math.sin(angle) - height / 2 + 4, width, height)
    return boxes, 2 * around + widest + 8, 2 * flat + highest + 8


def _site(name: str, servers: Sequence[Server], box: _Box, sites: int) -> str:
    cards = sorted(servers, key=lambda server: natural(server.name))[:MAX_SERVERS]
    columns = _columns(len(cards), sites)
    parts = [
        element("rect", x=box.x, y=box.y, width=box.width, height=box.height, rx=10, class_="site"),
        text(f"site {cleaned(name, 12)}" if name else "no site", box.x + 12, box.y + 20, class_="dim"),
    ]
    if len(servers) > len(cards):
        words = f"+{len(servers) - len(cards)}"
        parts.append(text(words, box.x + box.width - 10, box.y + 20, class_="dim", text_anchor="end"))
    for index, server in enumerate(cards):
        row, column = divmod(index, columns)
        x = box.x + _GAP + 3 + column * (_CARD[0] + _GAP)
        parts.append(_server(server, x, box.y + 30 + row * (_CARD[1] + _GAP)))
    return "".join(parts)


def _server(server: Server, x: float, y: float) -> str:
    kind = "troubled" if server.trouble else "well"
    dot_y = y + (15 if server.trouble else 20)
    parts = [
        title(f"server {server.name}, version {server.version}{': ' if server.trouble else ''}{server.trouble}"),
        element("rect", x=x, y=y, width=_CARD[0], height=_CARD[1], rx=7, class_="card"),
        element("circle", cx=x + 13, cy=dot_y, r=4, class_="lamp"),
        text(cleaned(server.name, 6), x + 24, dot_y + 5, class_="server"),
        text(cleaned(server.version, 6), x + _CARD[0] - 9, dot_y + 4, class_="dim", text_anchor="end"),
    ]
    if server.trouble:
        parts.append(text(cleaned(server.trouble, 16), x + 10, y + 33, class_="trouble"))
    return element("g", *parts, class_=kind)


def _connector(connector: Connector, boxes: Mapping[str, _Box]) -> str:
    a, b = (boxes[name] for name in connector.between)
    in_row = (
        len(boxes) == 3 and abs(list(boxes).index(connector.between[0]) - list(boxes).index(connector.between[1])) > 1
    )
    (x1, y1), (x2, y2) = a.border(b.middle), b.border(a.middle)
    tip = title(f"connector {connector.name}: {connector.words}")
    if in_row:  # Around the site in the middle.
        y1 = y2 = max(a.y, b.y) + 14
        way = element(
            "path", d=f"M{x1:.1f} {y1:.1f}Q{(x1 + x2) / 2:.1f} {-y1:.1f} {x2:.1f} {y2:.1f}", class_="connector"
        )
        middle = (x1 + x2) / 2, 10.0
    else:
        way = element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_="connector")
        middle = (x1 + x2) / 2, (y1 + y2) / 2 - 7
    lines = connector.words.split(", ")
    words = "".join(
        text(cleaned(line, 22), middle[0], middle[1] - 13 * (min(len(lines), 2) - 1 - index) if index < 2 else middle[1] + 22,
             class_="dim halo", text_anchor="middle")
        for index, line in enumerate(lines[:3])
    )  # fmt: skip
    return element("g", tip, way, words)
