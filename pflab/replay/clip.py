"""A run as a moving picture of its map, and as one picture. Chromium draws the map from the file of a replay, and Pillow writes
WebP."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pflab.errors import LabError
from pflab.replay.chromium import Browser, chromium
from pflab.replay.console_files import START
from pflab.replay.replay_file import NAME
from traces.temporary_folder import temporary_folder

if TYPE_CHECKING:
    from traces.labtime import LabTime

WIDTH: Final = 1200
HEIGHT: Final = 630
"""The size that programs expect of the picture of a link (Open Graph)."""

FRAME_MS: Final = 100
STEP_MS: Final = 450
"""How long a step of the axis takes, as in the console."""

LONGEST_MS: Final = 20_000
"""A longer span is played faster, so that the clip is no longer (decision)."""

LAST_FRAME_MS: Final = 1500
QUALITY: Final = 60


class PillowMissing(LabError):
    """Pillow is not installed."""


def clip(page: str, from_at: LabTime | None = None, to_at: LabTime | None = None) -> bytes:
    """Return an animated WebP of the map of a run.

    page: the HTML file of its replay.
    from_at, to_at: the span of lab time that is played; None for the beginning and the end of the run.

    Raises LabError if Chromium is missing, and PillowMissing.
    """
    try:
        from PIL import Image  # noqa: PLC0415 - an extra
    except ImportError:
        raise PillowMissing("a clip needs Pillow") from None
    with _stage(page) as stage:
        first, last = stage.span(from_at, to_at)
        steps_ms = (last - first) * STEP_MS
        count = max(2, round(min(steps_ms, LONGEST_MS) / FRAME_MS) + 1)
        frames: list[Image.Image] = []
        times_ms: list[int] = []
        for index in range(count):
            frame = Image.open(io.BytesIO(stage.picture(first + (last - first) * index / (count - 1)))).convert("RGB")
            if frames and frame.tobytes() == frames[-1].tobytes():
                times_ms[-1] += FRAME_MS
            else:
                frames.append(frame)
                times_ms.append(FRAME_MS)
    times_ms[-1] += LAST_FRAME_MS - FRAME_MS
    output = io.BytesIO()
    frames[0].save(
        output, "WEBP", save_all=True, append_images=frames[1:], duration=times_ms, loop=0, quality=QUALITY, method=4
    )
    return output.getvalue()


def picture(page: str) -> bytes:
    """Return a PNG of the map at the moment with the most mails under way. Raises LabError if Chromium is missing.

    page: the HTML file of the replay of a run.
    """
    with _stage(page) as stage:
        return stage.picture(stage.busiest())


class _Stage:
    """The map of a replay in a browser (console/stage.js)."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        ends = self._call("open")
        self._first, self._last = ends["first"], ends["last"]

    def span(self, from_at: LabTime | None, to_at: LabTime | None) -> tuple[float, float]:
        """Return the places of the ends of a span on the axis."""
        first = self._first if from_at is None else self._call("placeOf", from_at)
        last = self._last if to_at is None else self._call("placeOf", to_at)
        if last <= first:
            raise LabError("nothing happens in this span of lab time; give another --from and --to")
        return first, last

    def busiest(self) -> float:
        return float(self._call("busiest", self._first, self._last))

    def picture(self, place: float) -> bytes:
        self._call("show", place)
        return self._browser.picture()

    def _call(self, method: str, *arguments: float) -> Any:
        listed = ", ".join(map(json.dumps, arguments))
        return self._browser.value(f'import("{NAME}{START}").then(({{ stage }}) => stage.{method}({listed}))')


@contextmanager
def _stage(page: str) -> Iterator[_Stage]:
    program = chromium()
    if program is None:
        raise LabError("a picture of the map needs Chromium; on Debian: apt-get install chromium")
    with temporary_folder("pflab-clip-") as place:
        file = Path(place) / "run.html"
        file.write_text(page, "utf-8")
        with Browser(program, Path(place) / "profile") as browser:
            browser.open(file, WIDTH, HEIGHT)
            yield _Stage(browser)
