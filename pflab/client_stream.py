"""Following what happens in a lab: server-sent events, and going on where a stream was cut."""

from __future__ import annotations

import json
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


def followed(own: Requests, path: str, after: str | int) -> Generator[dict[str, Any], None, None]:
    """The events of the stream at `path` after that id, for ever, none missing and none twice. own: a connection for
    this stream alone, closed at its end. Raises ClientError if there is no going on."""
    last, heard_s, history = str(after), 0.0, ""
    with own:
        while True:
            try:
                # A lab that came up since counts its events from 1 again; one that went back, from where it was saved.
                if path.startswith("/lab/"):
                    history = same_history(own, history)
                with own.ask("GET", f"{path}?{urlencode({'after': last})}") as answer:
                    heard_s = time.monotonic()
                    for id_, data in _sent_events(answer):
                        last, heard_s = id_, time.monotonic()
                        yield json.loads(data)
            except ClientError as error:
                if error.status not in UNHEARD or time.monotonic() - heard_s > PATIENCE_S or not heard_s:
                    raise
            except (OSError, HTTPException):
                pass  # cut in the middle
            own.close()
            time.sleep(RESUME_S)


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
