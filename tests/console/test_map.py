"""The map in a browser: what moves on it is the mail of the trace."""

from __future__ import annotations

import gzip
import json
import math
import re
from base64 import b64decode
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import expect

from tests.support.console_page import OpenPage

FRAMES: Final = """async (frames) => {
  const layer = document.querySelector(".flights");
  const corner = layer.getBoundingClientRect();
  const box = each => { const b = each.getBoundingClientRect(); return {x: b.left - corner.left, y: b.top - corner.top,
                        right: b.right - corner.left, bottom: b.bottom - corner.top}; };
  const middle = each => { const b = box(each); return [(b.x + b.right) / 2, (b.y + b.bottom) / 2]; };
  const cards = Object.fromEntries([...document.querySelectorAll(".card")].map(
    each => { const b = box(each.querySelector("rect"));
              return [each.querySelector(".name").textContent, {x: (b.x + b.right) / 2, y: (b.y + b.bottom) / 2,
                                                                width: b.right - b.x, height: b.bottom - b.y}]; }));
  const lines = Object.fromEntries([...document.querySelectorAll(".connector")].map(
    each => { const b = box(each.querySelector("line"));
              return [each.querySelector("text").textContent, [[b.x, b.y], [b.right, b.bottom]]]; }));
  const seen = [];
  for (let nth = 0; nth < frames; nth++) {
    await new Promise(requestAnimationFrame);
    await new Promise(done => setTimeout(done));
    seen.push({
      at: Number(layer.dataset.at), count: Number(layer.dataset.count),
      words: document.querySelector(".travel .event").textContent.trim(),
      envelopes: [...layer.querySelectorAll(".envelope:not(.arrived):not(.lost)")].map(
        each => ({...each.dataset, place: middle(each.querySelector("svg"))})),
    });
  }
  return {cards, lines, seen};
}"""
"""What the page draws in each frame: the moment, the words of the newest event, and the middle of each envelope."""


@dataclass(frozen=True)
class Run:
    """A run: its replay file, and its events as the console gets them."""

    file: Path
    events: list[dict[str, Any]]


@pytest.fixture(scope="module")
def run(replay: Path) -> Run:
    """A simulated run in which mails cross a connector that takes two seconds."""
    packed = re.search(r'id="run">([^<]*)<', replay.read_text("utf-8"))
    assert packed is not None
    return Run(replay, json.loads(gzip.decompress(b64decode(packed[1])))["events"])


def edge(card: dict[str, float], towards: tuple[float, float]) -> tuple[float, float]:
    """Return where the line from the middle of a card towards a point leaves the card."""
    (x, y), (width, height) = (card["x"], card["y"]), (card["width"], card["height"])
    across, down = towards[0] - x, towards[1] - y
    part = min(width / 2 / abs(across) if across else math.inf, height / 2 / abs(down) if down else math.inf)
    return x + across * part, y + down * part


def place(drawn: dict[str, Any], hop: dict[str, Any], at: float) -> tuple[float, float]:
    """Return where the envelope of a hop must be: along the line between the edges of the cards, or over the connector."""
    sender, receiver = (drawn["cards"][hop[name]] for name in ("node", "next_hop"))
    between = drawn["lines"].get(hop["connector"], [])
    here, there = ((each["x"], each["y"]) for each in (sender, receiver))
    ends = [tuple(end) for end in sorted(between, key=lambda end: math.dist(end, here))]
    way = [edge(sender, ends[0] if ends else there), *ends, edge(receiver, ends[-1] if ends else here)]
    left = sum(map(math.dist, way, way[1:])) * (at - hop["begun_at"]) / (hop["at"] - hop["begun_at"])
    for start, end in pairwise(way):
        length = math.dist(start, end)
        if left <= length:
            return (start[0] + (end[0] - start[0]) * left / length, start[1] + (end[1] - start[1]) * left / length)
        left -= length
    return way[-1]


def test_envelopes_are_where_the_mails_are(run: Run, open_page: OpenPage) -> None:
    """In each frame of a play every mail that crosses the connector is drawn where the trace says that it is, no other mail is
    drawn there, and no event is told before its moment."""
    hops = [event for event in run.events if event["type"] == "hop.sent" and "begun_at" in event]
    assert hops
    page = open_page(run.file.as_uri()).page
    posted = next(nth for nth, event in enumerate(run.events) if event["type"] == "change.made")
    expect(page.get_by_role("button", name="Server A")).to_be_visible()
    page.get_by_role("slider", name="Moment of the run").fill(str(posted + 1))
    page.get_by_role("button", name="Play", exact=True).click()
    drawn = page.evaluate(FRAMES, 120)
    timed = {(hop["mail"], hop["next_hop"]): hop for hop in hops}
    crossing = 0
    for frame in drawn["seen"]:
        at, count = frame["at"], frame["count"]
        shown = {(each["mail"], each["to"]): each["place"] for each in frame["envelopes"]}
        assert {key for key, hop in timed.items() if hop["begun_at"] < at < hop["at"]} <= shown.keys()
        for key in shown.keys() & timed.keys():
            hop = timed[key]
            assert hop["begun_at"] <= at <= hop["at"]
            crossing += 1
            assert math.dist(shown[key], place(drawn, hop, at)) < 2
        newest = [nth for nth, event in enumerate(run.events) if frame["words"] == f"{event['node']} {event['words']}"]
        assert min(newest, default=0) < count
    assert crossing > 10


def test_without_motion_nothing_moves(run: Run, open_page: OpenPage) -> None:
    """With reduced motion an envelope stands where the mail was at the last event, and appears nowhere else."""
    page = open_page(run.file.as_uri()).page
    page.emulate_media(reduced_motion="reduce")
    times = {event["at"] for event in run.events}
    page.keyboard.press("Home")
    page.get_by_role("button", name="Play", exact=True).click()
    drawn = page.evaluate(FRAMES, 120)
    assert len({frame["count"] for frame in drawn["seen"]}) > 3
    assert {frame["at"] for frame in drawn["seen"]} <= times
    assert page.evaluate("document.getAnimations().length") == 0


LABELS = """
const { strokeText } = CanvasRenderingContext2D.prototype;
globalThis.labels = new Map();
CanvasRenderingContext2D.prototype.strokeText = function (words, x, y) {
  globalThis.labels.set([words, x, y].join(), { words, left: x, right: x + this.measureText(words).width, y });
  strokeText.call(this, words, x, y);
};
"""
"""Note which labels of the diagram are painted, and where."""


TWO_FRAMES = "new Promise(requestAnimationFrame).then(() => new Promise(requestAnimationFrame))"


def test_labels_of_a_busy_run_do_not_meet(run: Run, open_page: OpenPage) -> None:
    """However far the axis is zoomed, some changes are told in words, and no label in a lane covers another."""
    page = open_page("about:blank").page
    page.add_init_script(LABELS)
    page.goto(run.file.as_uri())
    count = 0
    for _ in range(5):
        page.get_by_role("button", name="Zoom in").click()
        page.evaluate(TWO_FRAMES)
        page.evaluate("labels.clear(); dispatchEvent(new Event('resize'))")  # all is painted again, at this zoom alone
        painted = page.evaluate(f"{TWO_FRAMES}.then(() => [...labels.values()])")
        count += len(painted)
        found = sorted(painted, key=lambda label: (label["y"], label["left"]))
        for one, other in pairwise(found):
            assert one["y"] != other["y"] or one["right"] < other["left"], (one, other)
    assert count > 0


def test_the_instants_can_be_opened(run: Run, open_page: OpenPage) -> None:
    """On the axis of order a click goes to a moment, and the moments from left to right are in the order of the events."""
    page = open_page(run.file.as_uri()).page
    page.get_by_role("button", name="Order").click()
    expect(page.get_by_role("button", name="Order")).to_have_attribute("aria-pressed", "true")
    canvas = page.get_by_label(re.compile("^Mails between"))
    box = canvas.bounding_box()
    assert box is not None
    slider = page.get_by_role("slider", name="Moment of the run")
    moments = []
    for part in (0.2, 0.5, 0.8):
        before = slider.input_value()
        canvas.click(position={"x": box["width"] * part, "y": box["height"] - 4})
        expect(slider).not_to_have_value(before)
        moments.append(int(slider.input_value()))
    assert moments == sorted(set(moments))
