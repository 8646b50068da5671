"""A lab file that a user names: it may come from a stranger."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pflab.cli.inputs.files import read_bytes
from pflab.cli.output import CommandError
from pflab.errors import LabError
from pflab.faults.fault_plan import FaultPlan
from pflab.runs.databases import RunReader
from pflab.runs.lab_file import unpack
from pflab.runs.lab_state import read_state
from pflab.runs.run_folder import RunFolder
from traces.temporary_folder import temporary_folder

if TYPE_CHECKING:
    from pflab.runs.lab_state import RunSettings
    from topology.model import Topology


@contextmanager
def unpacked_run(file: Path) -> Iterator[Path]:
    """Give a temporary run folder with the content of a lab file. Raises CommandError if it is not one."""
    with temporary_folder("pflab-from-") as place:
        run = RunFolder.at(Path(place) / (file.absolute().parent.name or "run") / file.stem)  # as verdicts name it
        try:
            unpack(read_bytes(file), run)
        except LabError as error:
            raise CommandError(f"{file}: {error}") from None
        yield run.path


def check_unpacked(file: Path, run: Path, topology: Topology, settings: RunSettings, *, outside: bool) -> None:
    """Raise CommandError if a lab with these settings cannot have the faults of an unpacked lab file, or if it would send mail
    to a server outside of the organization, unless the user lets it.

    run: the folder with its content.
    outside: whether the user lets it.
    """
    simulated = settings.driver == "simulator"
    try:
        FaultPlan(topology, simulated=simulated, tls=settings.tls).recall(read_state(run).faults)
    except LabError as error:
        raise CommandError(f"{file}: {error}") from None
    hosts = [] if simulated or outside else sorted(set(_hosts_outside(run, topology)))
    if hosts:
        raise CommandError(
            f"{file}: this lab sends mail to {', '.join(hosts)}; add --outside to let it, or --simulated"
        )


def _hosts_outside(run: Path, topology: Topology) -> Iterator[str]:
    """Yield the mail servers outside to which a lab sends."""
    yield from (connector.relay for connector in topology.connectors if connector.relay is not None)
    yield from (host for server in topology.servers.values() if (host := server.settings.smart_host) is not None)
    reader = RunReader.at(run)
    for name in reader.stores():
        with reader.reading(name) as store:
            host = store.settings().smart_host
        if host is not None:
            yield host
