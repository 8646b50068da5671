"""Following what happens in a lab: server-sent events, and going on where a stream was cut."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Generator, Iterable, Iterator
from http.client import HTTPException
from typing import Any
from urllib.parse import urlencode

from pflab.client_requests import UNHEARD, ClientError, Requests

RESUME_S = 0.2
"""Real time between two tries to go on with a stream that was cut."""

PATIENCE_S = 30.0
"""Real time for which a stream that was cut is asked for again."""

GONE_S = 15.0
"""The same where nobody listens any more: the lab has ended, and whoever watched it wants to know; a coordinator that was
killed is back by then."""


def followed(own: Requests, path: str, after: str | int) -> Generator[dict[str, Any], None, None]:
    """The events of the stream at `path` after that id, for ever, none missing and none twice. own: a connection for
    this stream alone, closed at its end. Raises ClientError if there is no going on."""
    last, history = str(after), ""
    began, silent_from_s = False, math.inf
    with own:
        while True:
            try:
                # A lab that came up since counts its events from 1 again; one that went back, from where it was saved.
                if path.startswith("/lab/"):
                    history = same_history(own, history)
                with own.ask("GET", f"{path}?{urlencode({'after': last})}") as answer:
                    began, silent_from_s = True, math.inf
                    for id_, data in _sent_events(answer):
                        last = id_
                        yield json.loads(data)
            except ClientError as error:
                now_s = time.monotonic()
                silent_from_s = min(silent_from_s, now_s)
                if not began or error.status not in UNHEARD or now_s - silent_from_s > _patience_s(error):
                    raise
            except (OSError, HTTPException):
                pass  # cut in the middle
            own.close()
            time.sleep(RESUME_S)


def _patience_s(error: ClientError) -> float:
    return GONE_S if isinstance(error.__cause__, ConnectionRefusedError) else PATIENCE_S


def same_history(lab: Requests, history: str) -> str:
    """The lab's course of events, which must be this one unless none is given. Raises ClientError."""
    found = str(lab.json("GET", "/lab")["history"])
    if history not in {"", found}:
        raise ClientError(409, "AnotherLab", f"another lab is up at {lab.url} now, or it was reset; begin again")
    return found


def _sent_events(answer: Iterable[bytes]) -> Iterator[tuple[str, bytes]]:
    """Ids and data of server-sent events; one that does not come to its end is none."""
    id_, data = "", b""
    for line in answer:
        if line.startswith(b"id: "):
            id_ = line[len(b"id: ") :].strip().decode()
        elif line.startswith(b"data: "):
            data = line[len(b"data: ") :]
        elif not line.strip() and data:
            yield id_, data
            data = b""
