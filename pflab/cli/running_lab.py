"""Which running lab a verb speaks to: the one named, else the one that `pflab up` has noted here."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import typer

from node.store.queries import StoreReader
from pflab.cli.lab_options import RUNS
from pflab.cli.output import CommandError
from pflab.client import Client, ClientError
from pflab.lab.remote_node import RemoteNode
from pflab.terms.lexicon import Lexicon
from traces.labtime import LabTime, parse_instant

NOTE: Final = RUNS / "lab.json"
"""Where `pflab up` notes its lab while it is up."""

Lab = Annotated[
    str | None,
    typer.Option("--lab", metavar="URL", help="The running lab; default: the one that pflab up started here."),
]
SOON_S: Final = 5.0
TOKEN: Final = "PFLAB_TOKEN"
"""The environment variable with the token of a lab that wants one."""

TOKEN_FILE: Final = "PFLAB_TOKEN_FILE"
"""The environment variable with the name of a file that holds it."""


def note_lab(url: str) -> None:
    """Let other commands find the lab."""
    NOTE.parent.mkdir(parents=True, exist_ok=True)
    beside = NOTE.with_name(f".lab.{os.getpid()}.json")
    beside.write_text(json.dumps({"url": url, "pid": os.getpid()}) + "\n", encoding="utf-8")
    beside.replace(NOTE)


def forget_lab(url: str) -> None:
    """The lab is over; another's note stays."""
    if noted_lab() == url:
        NOTE.unlink(missing_ok=True)


def is_up() -> bool:
    """Whether a lab was started here and its process lives."""
    try:
        os.kill(int(json.loads(NOTE.read_text("utf-8"))["pid"]), 0)
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return True


def answers(url: str) -> bool:
    """Whether a lab is there."""
    with Client(url, token=os.environ.get(TOKEN), timeout_s=SOON_S) as client:
        try:
            client.text("GET", "/livez")
        except ClientError as error:
            return bool(error.status)
    return True


def client_of(lab: str | None) -> Client:
    """A client of the lab. Raises CommandError where there is none."""
    url = lab or noted_lab()
    if url is None:
        raise CommandError("no lab is up here; start one: pflab up TOPOLOGY, or name one: --lab http://127.0.0.1:8025")
    return Client(url, token=_token())


def _token() -> str | None:
    path = os.environ.get(TOKEN_FILE)
    if TOKEN in os.environ or path is None:
        return os.environ.get(TOKEN)
    try:
        return Path(path).read_text("utf-8").strip()
    except OSError as error:
        raise CommandError(f"{TOKEN_FILE}: {path}: {(error.strerror or str(error)).lower()}") from error


def noted_lab() -> str | None:
    """The lab that was started here, whether it is up or not."""
    try:
        return str(json.loads(NOTE.read_text("utf-8"))["url"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def lexicon_of(client: Client) -> Lexicon:
    """Names for ids, as the lab can tell them now: it may not hold the events any more that gave them."""
    names, lab = Lexicon(), client.lab()
    for guid, store in lab["replicas"].items():
        names.learn_store(guid, store)
    for server in lab["servers"]:
        if server["standing"] == "running":
            for each in client.folders(server["name"]):
                names.learn_folder(each["id"], each["path"])
    return names


@dataclass(frozen=True, slots=True)
class LabReader:
    """A running lab, with the methods of `pflab.runs.databases.RunReader`."""

    client: Client

    def stores(self) -> list[str]:
        """The servers that run."""
        return self._standing(runs=True)

    def away(self) -> list[str]:
        """The servers that do not run: nothing can be read of them now."""
        return self._standing(runs=False)

    def _standing(self, *, runs: bool) -> list[str]:
        return [each["name"] for each in self.client.lab()["servers"] if (each["standing"] == "running") is runs]

    def folders(self) -> list[str]:
        return list(self.client.lab()["folders"])

    @contextmanager
    def reading(self, store: str) -> Iterator[StoreReader]:
        yield RemoteNode(store, self.client)

    def now(self, store: StoreReader) -> LabTime:
        """Return the lab time, which is the same for every store."""
        return parse_instant(self.client.now())
