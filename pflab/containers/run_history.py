"""The runs of one coordinator, one after the other: a folder for each, and the number of the present run."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from node.host.whole_files import write_whole
from pflab.containers.managed_lab import NO_DOORS, MailDoors, ManagedLab
from pflab.drivers.pulse import PATIENCE_S
from pflab.errors import LabError
from pflab.runs.continued import SAVED, link_all
from pflab.runs.lab_state import read_state
from pflab.runs.run_folder import RunFolder, safe_name
from pflab.runs.saved import SavedRuns
from topology.file.load import load_topology
from traces.segments import list_segments

if TYPE_CHECKING:
    from node.host.host import Address
    from pflab.drivers.remote_lab import HttpOptions
    from topology.model import Topology


class OtherTopology(LabError):
    """The given topology is not the one with which the lab began."""


PRESENT: Final = "present"
"""The file with the number of the present run."""


class RunHistory:
    """The runs below a folder: `runs/NAME-NUMBER/` and `traces/NAME-NUMBER/`.

    given: the topology of the first run. Later runs can have another topology.
    secret: the secret of the stores.
    doors: the listeners for users' mail.

    Raises OtherTopology if the first run began with another topology.
    """

    def __init__(
        self,
        data: Path,
        topology: Topology,
        *,
        secret: str,
        keeps_mails: bool,
        tls: bool = False,
        doors: MailDoors = NO_DOORS,
    ) -> None:
        data.mkdir(parents=True, exist_ok=True)
        self._data = data
        self._secret = secret
        self._keeps_mails = keeps_mails
        self._tls = tls
        self._doors = doors
        first = self._topology_file(1)
        if not first.exists():
            write_whole(first, topology.as_yaml().encode())
        elif load_topology(first).as_json() != topology.as_json():
            raise OtherTopology(
                f"the lab in {data} began with another topology, and cannot continue with this one. Give that topology again,"
                " or begin without the data (in containers: docker compose down --volumes)"
            )
        present = data / PRESENT
        self.number = int(present.read_text("ascii")) if present.exists() else 1
        self._topology = topology
        if self.number > 1:
            self._topology = load_topology(self._topology_file(self.number))

    @property
    def name(self) -> str:
        """The name of the present run."""
        return _named(self._topology, self.number)

    @property
    def traces(self) -> Path:
        """The folder of the traces of all runs."""
        return self._data / "traces"

    @property
    def saved(self) -> SavedRuns:
        """The saved labs of these runs."""
        return SavedRuns(self._data / "saved", self.traces / SAVED)

    def lab(self, addresses: Mapping[str, Address], http: HttpOptions, patience_s: float = PATIENCE_S) -> ManagedLab:
        """Return the lab that begins or continues the present run. Raises LabError if its folder cannot be written.

        patience_s: how long the lab waits for a process without a sign of life (see `pflab.drivers.pulse`).
        """
        topology, run = self._topology, self.name
        folder = RunFolder.at(self._data / "runs" / run, keeps_mails=self._keeps_mails, traces_at=self.traces / run)
        return ManagedLab(
            topology,
            folder=folder,
            secret=self._secret,
            addresses=addresses,
            http=http,
            run=run,
            tls=self._tls,
            leaves_running=True,
            deletes_others=self.number > 1,
            patience_s=patience_s,
            doors=self._doors,
        )

    def next(self, topology: Topology, servers: Collection[str]) -> None:
        """Prepare the next run, with this topology. Raises LabError for servers that are not managed here."""
        unknown = [name for name in topology.servers if name not in servers]
        if unknown:
            raise LabError(f"this lab has no server {unknown[0]}; its servers are {', '.join(servers)}")
        self._set_present(self.number + 1, topology)

    def back_to(self, name: str) -> None:
        """Prepare the next run, which continues from a saved lab. Raises LabError if there is none of that name, or if it has
        another format."""
        saved, number = self.saved.find(name), self.number + 1
        read_state(saved.path)
        topology = load_topology(saved.path / "topology.yaml")
        history = _named(topology, number)
        run, traces = self._data / "runs" / history, self.traces / history
        for folder in (run, traces):
            shutil.rmtree(folder, ignore_errors=True)  # the folder exists if a coordinator was killed meanwhile
        link_all((path for _, path in list_segments(saved.traces)), traces)
        shutil.copytree(saved.path, run)
        self._set_present(number, topology)

    def _set_present(self, number: int, topology: Topology) -> None:
        write_whole(self._topology_file(number), topology.as_yaml().encode())
        write_whole(self._data / PRESENT, f"{number}\n".encode())
        self.number, self._topology = number, topology

    def _topology_file(self, number: int) -> Path:
        return self._data / f"topology-{number}.yaml"


def _named(topology: Topology, number: int) -> str:
    return f"{safe_name(topology.organization)}-{number}"
