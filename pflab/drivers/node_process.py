"""One node's process: started, waited for until it is ready, stopped, killed."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pflab.drivers.launch import node_environment, node_order
from pflab.errors import LabError
from traces.labtime import LabTime, format_instant

if TYPE_CHECKING:
    from pflab.runs.run_folder import RunFolder

READY_S: Final = 60.0
"""Real time that a process gets to be ready; it needs less than 2, unless many start at once on a slow machine."""

END_S: Final = 10.0
"""Real time that an orderly end gets before the process is killed; it needs less than 5."""

LAST_WORDS: Final = 400


class NodeProcess:
    """A node of a run folder as a process. `http` and `smtp` are known once it has started."""

    def __init__(self, name: str, *, folder: RunFolder, run: str, durability: str, token: str) -> None:
        self.name = name
        self.http: tuple[str, int] = ("", 0)
        self.smtp: tuple[str, int] = ("", 0)
        self._folder = folder
        self._run = run
        self._durability = durability
        self._token = token
        self._process: asyncio.subprocess.Process | None = None

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.returncode is None

    @property
    def pid(self) -> int:
        assert self._process is not None, "start() comes first"
        return self._process.pid

    async def start(self, at: LabTime, rate: float, restores: bytes | None, tls: Path | None) -> None:
        """Run until it says where it listens. Raises LabError with its own last words."""
        path = self._folder.path
        logs = path / "logs"
        logs.mkdir(exist_ok=True)
        token = logs / f"{self.name}.token"
        _write_for_us_alone(token, self._token)
        order = [
            *node_order(self.name),
            *("--topology", str(path / "topology.yaml"), "--lab-secret-file", str(path / "seed")),
            *("--data", str(self._folder.database(self.name).parent), "--traces", str(self._folder.traces)),
            *("--run", self._run, "--durability", self._durability),
            *("--token-file", str(token)),
            *("--at", format_instant(at), "--rate", str(rate), "--held", "--leashed"),
        ]
        backup = path / "databases" / f"{self.name}.restore"
        if restores is not None:
            backup.write_bytes(restores)
            order += ["--restore", str(backup)]
        if tls is not None:
            order += ["--tls", str(tls)]
        with (logs / f"{self.name}.log").open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *order,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                env=node_environment(),
                start_new_session=True,  # Ctrl-C is for us, and we end our processes in order
            )
        try:
            await self._ready(logs / f"{self.name}.log")
        finally:
            token.unlink(missing_ok=True)
        backup.unlink(missing_ok=True)

    async def _ready(self, log: Path) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        line = b""
        with suppress(TimeoutError):
            async with asyncio.timeout(READY_S):
                line = await self._process.stdout.readline()
        if not line:
            await self.kill()
            raise LabError(f"server {self.name} did not start: {_last_words(log) or f'no word within {READY_S:g} s'}")
        told = json.loads(line)
        self.http, self.smtp = (told["http"][0], told["http"][1]), (told["smtp"][0], told["smtp"][1])

    async def stop(self) -> None:
        """End it in order; it closes its store and writes its traces."""
        if self._process is None or not self.alive:
            return
        with suppress(ProcessLookupError):
            self._process.terminate()
        try:
            async with asyncio.timeout(END_S):
                await self._process.wait()
        except TimeoutError:
            await self.kill()
        self._let_go()

    async def kill(self) -> None:
        """SIGKILL."""
        if self._process is None:
            return
        with suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()
        self._let_go()

    def _let_go(self) -> None:
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()


def _write_for_us_alone(path: Path, text: str) -> None:
    path.unlink(missing_ok=True)
    path.touch(mode=0o600, exist_ok=False)
    path.write_text(text, "utf-8")


def _last_words(log: Path) -> str:
    return log.read_text("utf-8", "replace").strip()[-LAST_WORDS:]
