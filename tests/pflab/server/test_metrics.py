"""What a lab tells programs that watch it, in the text format of Prometheus."""

from __future__ import annotations

import re
from collections import Counter
from itertools import groupby
from pathlib import Path
from typing import Final

import pytest

from pflab.client import Client
from tests.support.cli_runs import json_of
from tests.support.running_lab import lab_up

_SENT: Final = re.compile(r'pflab_sent_(mails|bytes)_total\{server="\w+",connector="([^"]+)",type="([^"]+)"\} (\d+)')

DRIVERS: Final = pytest.mark.parametrize(
    "more",
    [
        ["--simulated"],
        pytest.param([], marks=pytest.mark.live),
        pytest.param(["--processes"], marks=pytest.mark.live),
    ],
    ids=["simulated", "live", "processes"],
)

TWO_SITES = """
sites: [SEA, NYC]
connectors: [{between: [SEA, NYC], latency: 2 s}]
servers: {A: {site: SEA}, B: {site: NYC}, C: {site: NYC}}
folders: {Projects: {replicas: [A, B, C]}}
"""


@DRIVERS
def test_connectors_have_the_mails_and_bytes_that_crossed_them(more: list[str], tmp_path: Path) -> None:
    """Each server counts what it has sent over each connector by type of mail, as the traffic of the run does: one copy for two
    recipients of the other site, and nothing inside a site."""
    with lab_up(tmp_path, *more, topology=TWO_SITES) as url, Client(url) as client:
        client.post("A", "Projects", subject="Hello")
        client.advance("1 h")
        lines = client.text("GET", "/metrics").splitlines()
        crossed = [
            event for event in client.events() if event["type"] == "hop.sent" and event["connector"] == "SEA-NYC"
        ]
    assert [event["node"] for event in crossed] == ["A"]
    labels = '{server="A",connector="SEA-NYC",type="content"}'
    assert [line for line in lines if line.startswith("pflab_up")] == [
        f'pflab_up{{server="{name}"}} 1' for name in "ABC"
    ]
    sent = [line for line in lines if line.startswith("pflab_sent_")]
    assert sent == [f"pflab_sent_mails_total{labels} 1", f"pflab_sent_bytes_total{labels} {crossed[0]['size']}"]


THREE_SITES = """
sites: [SEA, NYC, LON]
connectors: [{between: [SEA, NYC], kind: x400}, {between: [NYC, LON]}]
servers: {A: {site: SEA}, B: {site: NYC}, C: {site: LON}}
folders: {Folder Content: {replicas: [A, C], alias: projects}}
"""


@DRIVERS
def test_a_bridgehead_counts_what_it_hands_on_by_type(
    more: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A server that only hands a mail on, also from X.400, counts it under its type, as `pflab traffic` does. A user's mail is
    ordinary mail, whatever its subject."""
    with lab_up(tmp_path, *more, topology=THREE_SITES) as url, Client(url) as client:
        client.post("A", "Folder Content", subject="Hello")
        client.change_folder("A", "Folder Content", schedule="every 1 h")
        client.advance("30 h")
        client.send_mail("C", "Folder Content", to=["projects@contoso.test"], subject="Folder Content")
        client.send_mail("B", "Folder Content", to=["projects@contoso.test"], subject="Folder Content")
        client.advance("1 h")
        metrics = client.text("GET", "/metrics")
        rows = json_of(capsys, "traffic", "--lab", url)
    mails: Counter[tuple[str, str]] = Counter()
    bytes_: Counter[tuple[str, str]] = Counter()
    for metric, connector, type_, figure in _SENT.findall(metrics):
        (mails if metric == "mails" else bytes_)[connector, type_] += int(figure)
    expected_mails: Counter[tuple[str, str]] = Counter()
    expected_bytes: Counter[tuple[str, str]] = Counter()
    for row in rows:
        expected_mails[row["connector"], row["type"]] += row["mails"]
        expected_bytes[row["connector"], row["type"]] += row["bytes"]
    assert (mails, bytes_) == (expected_mails, expected_bytes)
    assert {type_ for _, type_ in mails} >= {"content", "hierarchy", "status", "ordinary mail"}
    assert 'pflab_sent_mails_total{server="B",connector="NYC-LON",type="content"}' in metrics


@DRIVERS
def test_each_metric_has_one_head_and_a_stopped_server_is_down(more: list[str], tmp_path: Path) -> None:
    """All samples of a metric follow its one HELP and TYPE, in processes too, and a server that does not run is not up."""
    with lab_up(tmp_path, *more, topology=TWO_SITES) as url, Client(url) as client:
        client.stop("B")
        lines = client.text("GET", "/metrics").splitlines()
    heads = [line for line in lines if line.startswith("#")]
    assert len(heads) == len(set(heads)) > 2
    assert [line for line in lines if line.startswith("pflab_up{")] == [
        f'pflab_up{{server="{name}"}} {runs}' for name, runs in (("A", 1), ("B", 0), ("C", 1))
    ]
    samples = [re.split(r"[{ ]", line)[0] for line in lines if not line.startswith("#")]
    assert [name for name, _ in groupby(samples)] == list(dict.fromkeys(samples)), "no metric begins again"
