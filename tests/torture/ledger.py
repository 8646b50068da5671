"""The ledger of the torture test: the posts that the lab acknowledged, in a file outside the lab.

A client adds a post when the lab has acknowledged it, and before it goes on. The file has one line of JSON for each post, so it
stays readable if the test itself is killed. At the end each replica is compared with the file.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """A post. A post by the API has the id that the store answered, and a mail its Message-ID; the other one is ''."""

    subject: str
    store: str
    text: str
    id: str = ""
    message_id: str = ""


class Ledger:
    """The file at `path`; a file that is there is replaced. Several threads may add posts."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        self._file = path.open("wb", buffering=0)

    def add(self, posts: Iterable[Acknowledged]) -> None:
        self._file.write(b"".join(json.dumps(asdict(post)).encode() + b"\n" for post in posts))

    def posts(self) -> list[Acknowledged]:
        """Return what is in the file."""
        return [Acknowledged(**json.loads(line)) for line in self._path.read_bytes().splitlines()]

    def close(self) -> None:
        self._file.close()
