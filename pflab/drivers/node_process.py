"""A process of one node. The lab itself starts and kills this process, and begins its store as in any managed process."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from node.api.http_client import Unanswered
from pflab.drivers.launch import node_environment, node_order
from pflab.drivers.managed_process import BeginOrder, ManagedProcess
from pflab.drivers.pulse import Pulse
from pflab.errors import LabError

if TYPE_CHECKING:
    from node.host.host import Address
    from pflab.runs.run_folder import RunFolder
    from traces.labtime import LabTime

WARNING_S: Final = 60.0
"""Real time between two lines in the log about a process that lives but is not ready yet. A process needs less than 2 s, unless
many processes start at once on a slow machine."""

logger = logging.getLogger("pflab.drivers.node_process")

LOG_END: Final = 400
"""How many characters from the end of a process's log are in an error about this process."""


class NodeProcess:
    """The process of a node of a run folder. Its addresses are known once it has started.

    order: what the lab sends to begin the store.
    patience_s: see `pflab.drivers.pulse`.
    smtp_port: None for a free port.
    lock: returns the handles that the process inherits, which say that the run goes on.
    """

    def __init__(
        self,
        name: str,
        *,
        folder: RunFolder,
        durability: str,
        token: str,
        order: BeginOrder,
        patience_s: float,
        smtp_port: int | None = None,
        lock: Callable[[], tuple[int, ...]] = tuple,
    ) -> None:
        self.name = name
        self.http: Address = ("", 0)
        self.smtp: Address = ("", 0)
        self.imap: Address | None = None
        self._folder = folder
        self._durability = durability
        self._token = token
        self._order = order
        self._smtp_port = smtp_port or 0
        self._lock = lock
        self._process: asyncio.subprocess.Process | None = None
        self._managed: ManagedProcess | None = None
        self.pulse = Pulse(name, token=token, patience_s=patience_s, stopped=self._stopped)

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.returncode is None

    @property
    def pid(self) -> int:
        assert self._process is not None, "start() comes first"
        return self._process.pid

    async def start(self, at: LabTime, backup: bytes | None, skew_us: int) -> None:
        """Start the process and begin its store.

        Raises LabError if the process does not start. The error has the last lines of the process's log, if there are any.
        """
        self._hang_up()  # a process that ended by itself
        logs = self._folder.path / "logs"
        logs.mkdir(exist_ok=True)
        token, log = logs / f"{self.name}.token", logs / f"{self.name}.log"
        token.unlink(missing_ok=True)
        token.touch(mode=0o600, exist_ok=False)
        token.write_text(self._token, "utf-8")
        order = [
            *node_order(self.name, "--managed", "--leashed", "--durability", self._durability),
            *("--data", str(self._folder.database(self.name).parent), "--traces", str(self._folder.traces)),
            *("--lab-secret-file", str(self._folder.path / "seed"), "--token-file", str(token)),
            *("--smtp-port", str(self._smtp_port)),
        ]
        with log.open("ab") as file:
            self._process = await asyncio.create_subprocess_exec(
                *order,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=file,
                env=node_environment(),
                pass_fds=self._lock(),
                start_new_session=True,  # Ctrl-C is for the lab, which stops its processes cleanly
            )
        try:
            await self._ready(log)
            managed = ManagedProcess(self.name, self.http, token=self._token, pulse=self.pulse, order=self._order)
            self._managed = managed
            await managed.start(at, backup, skew_us)
            self.smtp, self.imap = managed.smtp, managed.imap
        except BaseException:
            await self.kill()
            raise
        finally:
            token.unlink(missing_ok=True)

    async def _ready(self, log: Path) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        reading = asyncio.ensure_future(self._process.stdout.readline())
        try:
            while not (await asyncio.wait([reading], timeout=WARNING_S))[0]:
                logger.warning("the lab waits for the process of server %s, which starts", self.name)
            line = reading.result()
        finally:
            reading.cancel()
        if not line:  # the process has ended
            raise LabError(
                f"server {self.name} did not start: {_end_of(log) or 'its process ended without an error message'}"
            )
        host, port = json.loads(line)["http"]
        self.http = (host, port)

    async def stop(self) -> None:
        """Stop the process cleanly: it closes its store and writes its traces. Kill it if it gives no sign of life."""
        if self._process is None or not self.alive:
            return
        with suppress(ProcessLookupError):
            self._process.terminate()
        try:
            await self.pulse.wait(self._process.wait())
        except Unanswered:
            await self.kill()
        self._hang_up()

    async def kill(self) -> None:
        """Kill the process with SIGKILL."""
        if self._process is None:
            return
        with suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()
        self._hang_up()

    def _stopped(self) -> bool:
        """Return whether a signal (SIGSTOP) has stopped the process; False if the operating system does not tell this."""
        try:
            state = Path(f"/proc/{self.pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0]
        except (OSError, IndexError):
            return False
        return state == "T"

    async def export(self) -> None:
        """Let the running store write all its events into segments. Raises LabError if this fails."""
        if await self._store.export() is None:
            raise LabError(f"server {self.name} did not write its events")

    async def copy(self) -> bytes:
        """Return a copy of the running store's database. Raises LabError if the process does not answer."""
        return await self._store.copy()

    @property
    def _store(self) -> ManagedProcess:
        assert self._managed is not None, "start() comes first"
        return self._managed

    def _hang_up(self) -> None:
        if self._managed is not None:
            self._managed.close()
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()


def _end_of(log: Path) -> str:
    return log.read_text("utf-8", "replace").strip()[-LOG_END:]
