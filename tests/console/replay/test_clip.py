"""Clips and pictures of a run, drawn by Chromium."""

from __future__ import annotations

import base64
import gzip
import io
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from pflab.errors import LabError
from pflab.replay.chromium import chromium
from pflab.replay.clip import FRAME_MS, HEIGHT, LAST_FRAME_MS, LONGEST_MS, WIDTH, PillowMissing, clip, picture
from traces.labtime import format_instant as instant

needs_chromium = pytest.mark.skipif(
    chromium() is None, reason="Chromium is not installed; on Debian: apt-get install chromium"
)


def pflab(*words: str | Path) -> None:
    subprocess.run([sys.executable, "-m", "pflab", *map(str, words)], check=True, capture_output=True, timeout=120)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A simulated run in which mails cross a connector that takes two seconds, and its replay, `run.html`."""
    place = tmp_path_factory.mktemp("run")
    pflab("simulate", "--seeds", "103", "--traces", place)
    pflab("replay", place / "latest", "-o", place / "run.html")
    return place


def slow_hop(page: str) -> dict[str, Any]:
    """Return the first hop that takes time."""
    packed = re.search(r'id="run">([^<]*)<', page)
    assert packed is not None
    events = json.loads(gzip.decompress(base64.b64decode(packed[1])))["events"]
    return next(event for event in events if event["type"] == "hop.sent" and "begun_at" in event)


@needs_chromium
def test_a_clip_plays_a_span(run: Path) -> None:
    """A clip is an animated WebP that runs for ever. It shows each moment for the same time, and no frame twice."""
    hop = slow_hop((run / "run.html").read_text("utf-8"))
    file = run / "run.webp"
    pflab(
        "replay", run / "latest", "--clip", "--from", instant(hop["begun_at"]), "--to", instant(hop["at"]), "-o", file
    )
    clip = Image.open(file)
    frames: int = clip.n_frames  # type: ignore[attr-defined]  # of animated pictures
    assert (clip.format, clip.size, clip.info["loop"]) == ("WEBP", (WIDTH, HEIGHT), 0)
    durations, pictures = [], set()
    for index in range(frames):
        clip.seek(index)
        clip.load()
        durations.append(clip.info["duration"])
        pictures.add(clip.convert("RGB").tobytes())
    assert frames == len(pictures) > 3
    assert durations[-1] >= LAST_FRAME_MS
    assert all(duration % FRAME_MS == 0 for duration in durations)
    assert sum(durations) <= LONGEST_MS + LAST_FRAME_MS


@needs_chromium
def test_a_span_without_events_is_refused(run: Path) -> None:
    """The error says what to change."""
    page = (run / "run.html").read_text("utf-8")
    with pytest.raises(LabError, match="give another --from and --to"):
        clip(page, 10**18, 0)


@needs_chromium
def test_a_file_with_an_address_has_a_picture_beside_it(run: Path) -> None:
    """The picture for previews has the size that programs expect, and the file names its address."""
    file = run / "shown.html"
    pflab("replay", run / "latest", "--address", "https://example.test/shown.html", "-o", file)
    assert '<meta property="og:image" content="https://example.test/shown.png">' in file.read_text("utf-8")
    assert Image.open(io.BytesIO((run / "shown.png").read_bytes())).size == (WIDTH, HEIGHT)


def test_what_is_missing_is_told(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Chromium or Pillow the error names it."""
    page = (run / "run.html").read_text("utf-8")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(LabError, match="needs Chromium; on Debian: apt-get install chromium"):
        picture(page)
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(PillowMissing, match="needs Pillow"):
        clip(page)
