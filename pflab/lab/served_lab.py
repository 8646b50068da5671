"""What the HTTP server (`pflab.server`) needs of a lab beyond `pflab.lab.lab.Lab`."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from node.errors import NotRunning
from node.host.whole_files import write_whole
from node.store.changed_keys import with_keys
from pflab.errors import KeepsRun, KeepsTopology, LabError
from pflab.lab.lab import Lab
from pflab.lab.servers import authority_of
from pflab.runs.lab_file import pack
from pflab.runs.run_folder import RunFolder
from pflab.threads import in_thread
from traces.temporary_folder import temporary_folder

if TYPE_CHECKING:
    from node.api.hosts import ServedHost
    from node.api.http_client import Address
    from pflab.faults.fault_plan import FaultPlan
    from pflab.faults.mail_capture import DecideNow, RecentMails
    from pflab.runs.recorder import Record
    from pflab.runs.saved import SavedRuns
    from topology.model import Topology
    from topology.recipient_policy import RecipientPolicies
    from traces.labtime import LabTime


_NOT_SAVED: Final = "this lab has no place for saved labs; a lab of pflab up has one, and a lab in containers"


@dataclass(frozen=True, slots=True)
class ExportedTraces:
    """The traces of a run that has not ended. They are complete up to the instant `at`.

    traces: the folder of the run below the folder of all traces, "" if there is only this run.
    events: the number of events of the run so far.
    away: servers that do not answer, whose traces may be incomplete.
    """

    run: str
    traces: str
    at: LabTime
    events: int
    away: tuple[str, ...]


class ServedLab(Lab):
    """A lab with a record and an HTTP server.

    Only labs of `pflab coordinate` can begin another run, or write traces before their end. Only labs with `saved_runs` can be
    saved and reset. In other labs these operations raise LabError.
    """

    faults: FaultPlan
    seed: int
    secret: int | str
    decide: DecideNow
    recent_mails: RecentMails
    """The newest mails. Nodes in separate processes send them only if the run keeps mails."""
    record: Record
    lesson: Callable[[], Mapping[str, Any]] | None = None
    """Returns the lesson that is played in this lab, as the API gives it; None if there is no lesson."""
    begun: bool = True
    """Whether the lab has started: every server that answered at the start runs. It becomes False again when the lab accepts a
    reset or another run, because later changes would be lost."""
    _verdict: Mapping[str, object] | None = None

    @property
    @abstractmethod
    def recipient_policy(self) -> dict[str, str]:
        """The domain of the Default Policy, and how often the recipient update service runs, as in a topology file (ML-1)."""

    @property
    @abstractmethod
    def recipient_policies(self) -> RecipientPolicies:
        """The recipient policies of the organization (ML-1)."""

    @property
    @abstractmethod
    def warping(self) -> bool:
        """Whether a warp or a step is under way."""

    @property
    def waits(self) -> str:
        """What the lab waits for before it takes changes, in words; '' if it takes them."""
        return "" if self.begun else "the lab is starting"

    def check_begun(self) -> None:
        """Raise NotRunning if the lab is between two run histories. Nothing may change then: a change would be lost, or would
        reach servers that are starting."""
        if self.waits:
            raise NotRunning(f"{self.waits}; wait until /readyz answers 200")

    @abstractmethod
    def smtp_of(self, name: str) -> Address | None:
        """Return the address at which a running server takes mail; None in a simulated lab, which has no sockets.

        Raises LabError if the lab has no server of this name, and NotRunning if the server does not run.
        """

    def smtp_for_users(self, name: str) -> Address | None:
        """Return the address at which users reach a running server's SMTP listener. Raises as `smtp_of` does."""
        return self.smtp_of(name)

    def imap_of(self, name: str) -> Address | None:
        """Return the address at which a server serves its folders by IMAP; None if it does not run, or the lab has no IMAP."""
        return None

    @abstractmethod
    def without_store(self, name: str) -> Literal["not started", "store deleted", ""]:
        """Return why a server has no store in the directory; "" if it has one."""

    @abstractmethod
    def failure_of(self, name: str) -> Exception | None:
        """Return the internal error that has ended the work of a running server, or None."""

    async def catch_up(self) -> None:
        """Bring the record up to date, in a driver whose nodes do not report their events by themselves."""

    async def faults_known(self) -> None:
        """Wait until every server knows which faults are active, in a driver whose servers learn it by a message."""

    async def renew(self, topology: Topology | None) -> None:
        """End this run and begin another, with another organization if one is given. Raises KeepsRun or KeepsTopology if this
        lab cannot."""
        if topology is None or topology.as_document() == self.topology.as_document():
            raise KeepsRun("this lab cannot begin another run; end it and start a new one")
        raise KeepsTopology(
            "this lab cannot begin another run, so it keeps its topology; end it and start one with the other topology"
        )

    @property
    def passed_over(self) -> Mapping[str, str]:
        """The servers that should run but give no sign of life, each with the reason. Lab time goes on without them."""
        return {}

    # --- saved labs

    @property
    def history(self) -> str:
        """The id of the present run history: the run's id, or a new id if the lab went back to a saved lab."""
        return self.run

    saved_runs: SavedRuns | None = None
    returns: Callable[[str], None] | None = None
    """The lab calls this function with the name of the saved lab from which the next run history continues. It ends this lab,
    and begins another one."""

    async def save(self, name: str, *, replace: bool = False) -> None:
        """Save the lab under a name.

        replace: overwrite an existing one.

        Raises Taken if the name exists, and LabError for a wrong name, or if the lab cannot be saved.
        """
        if self.saved_runs is None:
            raise LabError(_NOT_SAVED)
        await self.saved_runs.save(name, self.copy_into, replace=replace)

    @abstractmethod
    async def copy_into(self, folder: RunFolder, *, traces: bool = True) -> None:
        """Write the lab into another run folder, as if it stopped now: state, databases and backups, and its traces."""

    @cached_property
    def copying(self) -> asyncio.Lock:
        """For requests that hold a copy of the whole lab in memory: one at a time; others wait."""
        return asyncio.Lock()

    @asynccontextmanager
    async def copied(self, *, traces: bool = True) -> AsyncIterator[RunFolder]:
        """Give a temporary run folder with the lab as it is now. Raises LabError if the lab cannot be copied."""
        with temporary_folder("pflab-copy-") as place:
            folder = RunFolder.at(Path(place))
            try:
                await self.copy_into(folder, traces=traces)
            except OSError as error:
                raise LabError(f"the lab cannot be copied into {place}: {error.strerror or error}") from error
            yield folder

    async def as_file(self) -> bytes:
        """Return the lab as it is now, as one file (`pflab.runs.lab_file`). Raises LabError if it cannot be copied, or is too
        large for a file."""
        async with self.copied() as folder:
            return await in_thread(self._packed, folder)

    def _packed(self, folder: RunFolder) -> bytes:
        """Return the file of a copy of this lab. A lab that continues it has the keys of its seed, not those of the secret."""
        if str(self.secret) != str(self.seed):
            before, after = authority_of(self.secret), authority_of(self.seed)
            for path in sorted(folder.path.glob("*/*.sqlite")):
                # The path may be a link to a file of the lab, whose content must stay.
                write_whole(path, with_keys(path.read_bytes(), before, after))
        return pack(folder)

    async def reset(self, name: str) -> None:
        """Ask for the end of this run history; the next one continues from a saved lab. Raises LabError if there is none of
        this name, or while the clock is moved."""
        if self.saved_runs is None or self.returns is None:
            raise LabError(f"no lab was saved as {name!r}; {_NOT_SAVED}")
        self.saved_runs.find(name)
        self.returns(name)
        self.begun = False

    def saved(self) -> Sequence[str]:
        """Return the names of the saved labs."""
        return () if self.saved_runs is None else self.saved_runs.names()

    # --- traces and their verdict

    async def export_traces(self) -> ExportedTraces:
        """Write all events up to now into closed segments. Raises LabError if the lab writes traces only at its end."""
        raise LabError("the traces are not written yet; this lab writes them when it ends")

    def keep_verdict(self, verdict: Mapping[str, object]) -> None:
        """Store a verdict on this run's traces. Raises LabError if the verdict is about another run."""
        if verdict.get("run") != self.history:
            raise LabError(f"the verdict is about run {verdict.get('run')}; this lab's run is {self.history}")
        self._verdict = dict(verdict)

    def kept_verdict(self) -> Mapping[str, object] | None:
        """Return the latest verdict, None if there is none."""
        return self._verdict


class InProcessLab(ServedLab):
    """A lab whose servers run in this process, so that the HTTP server asks them itself."""

    @abstractmethod
    def host_of(self, name: str) -> ServedHost:
        """Return the host of a running server.

        Raises LabError if the lab has no server of this name, and NotRunning if the server does not run.
        """
