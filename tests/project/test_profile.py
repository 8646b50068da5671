"""The profile of the benchmarks: what samples become in the table and in the picture."""

from __future__ import annotations

from xml.etree import ElementTree

from bench.profile import REST, flame_graph, part_of, read_samples, shares

FILE = """\
run (asyncio/runners.py);Handle._run (asyncio/events.py);Host.do (node/host/host.py);execute (transport/sql.py) 30
run (asyncio/runners.py);Handle._run (asyncio/events.py);Host.do (node/host/host.py);dumps (json/__init__.py) 10
run (asyncio/runners.py);EpollSelector.select (selectors.py) 500
other (somewhere.py) 10
Thread.run (threading.py);_wait (node/process/leash.py:49) 700
"""


def test_a_sample_counts_for_its_innermost_part() -> None:
    """A function of Python's library counts for the part that called it; a wait does not count."""
    samples = read_samples(FILE)
    assert samples.total() == 50
    assert shares(samples) == {"SQLite: statements and commits": 60.0, "the store itself": 20.0, REST: 20.0}
    assert part_of(("Host.do (node/host/host.py)", "digest_of (node/codec/items.py)")) == "hashes and checksums"


def test_a_flame_graph_is_well_formed_and_as_wide_as_the_samples() -> None:
    """Each function has a box with its share, and the boxes of one row do not overlap."""
    picture = ElementTree.fromstring(flame_graph(read_samples(FILE), "Store <A>"))
    space = {"svg": "http://www.w3.org/2000/svg"}
    told = [each.text for each in picture.iterfind("svg:g/svg:title", space)]
    assert "Host.do (node/host/host.py): 80.0 %" in told
    assert "execute (transport/sql.py): 60.0 %" in told
    rows: dict[str, list[tuple[float, float]]] = {}
    for box in picture.iterfind("svg:g/svg:rect", space):
        left, width = float(box.attrib["x"]), float(box.attrib["width"])
        rows.setdefault(box.attrib["y"], []).append((left, left + width))
    for spans in rows.values():
        assert all(right <= left for (_, right), (left, _) in zip(sorted(spans), sorted(spans)[1:], strict=False))
    assert max(right for spans in rows.values() for _, right in spans) <= 1000
