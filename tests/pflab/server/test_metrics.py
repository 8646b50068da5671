"""What a lab tells programs that watch it, in the text format of Prometheus."""

from __future__ import annotations

from pathlib import Path

import pytest

from pflab.client import Client
from tests.support.running_lab import lab_up

TWO_SITES = """
sites: [SEA, NYC]
connectors: [{between: [SEA, NYC], latency: 2 s}]
servers: {A: {site: SEA}, B: {site: NYC}, C: {site: NYC}}
folders: {Projects: {replicas: [A, B, C]}}
"""


@pytest.mark.parametrize("more", [["--simulated"], pytest.param([], marks=pytest.mark.live)], ids=["simulated", "live"])
def test_connectors_have_the_mails_and_bytes_that_crossed_them(more: list[str], tmp_path: Path) -> None:
    """Each server counts what it has sent over each connector, as the traffic of the run does: one copy for two recipients of
    the other site, and nothing inside a site."""
    with lab_up(tmp_path, *more, topology=TWO_SITES) as url, Client(url) as client:
        client.post("A", "Projects", subject="Hello")
        client.advance("1 h")
        lines = client.text("GET", "/metrics").splitlines()
        crossed = [
            event for event in client.events() if event["type"] == "hop.sent" and event["connector"] == "SEA-NYC"
        ]
    assert [event["node"] for event in crossed] == ["A"]
    labels = '{server="A",connector="SEA-NYC"}'
    sent = [line for line in lines if line.startswith("pflab_sent_")]
    assert sent == [f"pflab_sent_mails_total{labels} 1", f"pflab_sent_bytes_total{labels} {crossed[0]['size']}"]
