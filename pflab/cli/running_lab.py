"""Find the running lab that a verb uses: the one given with --lab, else that of the variable PFLAB_LAB, else the one that
`pflab up` started in this folder."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from typer import Option

from pflab.cli.inputs.files import RUNS
from pflab.cli.output import CommandError
from pflab.client import Client, ClientError
from pflab.terms.event_words import Lexicon
from traces.labtime import LabTime, parse_instant

if TYPE_CHECKING:
    from node.reads import StoreReader
    from topology.model import Topology

LAB_FILE: Final = RUNS / "lab.json"
"""The file in which `pflab up` records its URL and process id while it runs."""

Lab = Annotated[
    str | None,
    Option(
        "--lab",
        metavar="URL",
        help="The URL of the running lab. Default: the URL in the variable PFLAB_LAB, or the lab that pflab "
        "up started in this folder.",
    ),
]
ANSWER_TIMEOUT_S: Final = 5.0
"""Real time within which a lab must answer, if it is up."""

LAB: Final = "PFLAB_LAB"
"""The environment variable with the URL of the lab that all verbs use."""

TOKEN: Final = "PFLAB_TOKEN"
"""The environment variable with the token of a lab that requires one."""

TOKEN_FILE: Final = "PFLAB_TOKEN_FILE"
"""The environment variable with the name of a file that contains the token."""


def write_lab_file(url: str) -> None:
    """Record the lab, so that other commands find it."""
    LAB_FILE.parent.mkdir(parents=True, exist_ok=True)
    beside = LAB_FILE.with_name(f".lab.{os.getpid()}.json")
    beside.write_text(json.dumps({"url": url, "pid": os.getpid()}) + "\n", encoding="utf-8")
    beside.replace(LAB_FILE)


def remove_lab_file(url: str) -> None:
    """Remove the record of this lab. The record of another lab stays."""
    if recorded_url() == url:
        LAB_FILE.unlink(missing_ok=True)


def is_up() -> bool:
    """Return whether a lab was started in this folder and its process still exists."""
    try:
        os.kill(int(json.loads(LAB_FILE.read_text("utf-8"))["pid"]), 0)
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return True


def answers(url: str) -> bool:
    """Return whether a lab answers at the URL, even with an error status."""
    with Client(url, timeout_s=ANSWER_TIMEOUT_S) as client:
        try:
            client.text("GET", "/livez")
        except ClientError as error:
            return bool(error.status)
    return True


def check_alone() -> None:
    """Raise CommandError if a lab of this folder is up, because other verbs find only one lab in a folder."""
    url = recorded_url() if is_up() else None
    if url is not None and answers(url):
        raise CommandError(
            f"a lab of this folder is already up: {url}; stop it with Ctrl-C, or start this one in another folder"
        )


def client_of(lab: str | None) -> Client:
    """Return a client of the given or recorded lab. Raises CommandError if there is neither.

    Only a lab that was given, by option or variable, gets the token. A lab that pflab up has recorded needs none, and anyone
    may have written the record.
    """
    lab = lab or os.environ.get(LAB)
    url = lab or recorded_url()
    if url is None:
        raise CommandError(
            "no lab was started in this folder; start one: pflab up TOPOLOGY, or give its URL: --lab http://127.0.0.1:8025"
        )
    return Client(url, token=None if lab is None else _token())


def _token() -> str | None:
    path = os.environ.get(TOKEN_FILE)
    if TOKEN in os.environ or path is None:
        return os.environ.get(TOKEN)
    try:
        return Path(path).read_text("utf-8").strip()
    except OSError as error:
        raise CommandError(f"{TOKEN_FILE}: {path}: {(error.strerror or str(error)).lower()}") from error


def default_url() -> str | None:
    """Return the URL of the running lab that a verb without --lab uses; None if there is none."""
    return os.environ.get(LAB) or (recorded_url() if is_up() else None)


def recorded_url() -> str | None:
    """Return the URL of the lab that was last started in this folder, whether or not it still runs; None if there is none."""
    try:
        return str(json.loads(LAB_FILE.read_text("utf-8"))["url"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def lexicon_of(client: Client) -> Lexicon:
    """Return the names of ids from the lab's present state, because the lab may have discarded the events with these names."""
    names, lab = Lexicon(), client.lab()
    for guid, store in lab["replicas"].items():
        names.learn_store(guid, store)
    for server in lab["servers"]:
        if server["status"] == "running":
            for folder in client.folders(server["name"]):
                names.learn_folder(folder["id"], folder["path"])
    return names


@dataclass(frozen=True, slots=True)
class LabReader:
    """A running lab, with the methods of `pflab.runs.databases.RunReader`."""

    client: Client

    def stores(self) -> list[str]:
        """Return the servers that run."""
        return self._servers("running")

    def away(self) -> list[str]:
        """Return the servers that do not run, which cannot be read now."""
        return self._servers("not running", "not started", "failed")

    def deleted(self) -> list[str]:
        """Return the servers without a store, because it was deleted."""
        return self._servers("store deleted")

    def _servers(self, *statuses: str) -> list[str]:
        return [server["name"] for server in self.client.lab()["servers"] if server["status"] in statuses]

    def folders(self) -> list[str]:
        return list(self.client.lab()["folders"])

    @property
    def topology(self) -> Topology:
        """The topology that the lab was started with."""
        from topology.file.load import topology_from_document  # noqa: PLC0415 - takes long to import

        return topology_from_document(self.client.json("GET", "/lab/topology"))

    @contextmanager
    def reading(self, store: str) -> Iterator[StoreReader]:
        from pflab.lab.remote_node import RemoteNode  # noqa: PLC0415 - few verbs read a store

        yield RemoteNode(store, self.client)

    def now(self, store: StoreReader) -> LabTime:
        """Return the lab time, which is the same for every store."""
        return parse_instant(self.client.now())
