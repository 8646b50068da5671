"""The process of a lab.

The process is `python -P -m pflab up`, so nothing of pflab but its client is imported into the process of the tests. The lab
ends when its standard input closes, so it ends even if the tests are killed.
"""

from __future__ import annotations

import json
import re
import select
import subprocess
import sys
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Final, Literal

from pflab.systems import ELSEWHERE, is_supported

Driver = Literal["simulated", "embedded", "processes"]
"""How a lab runs its servers: in one process without sockets, in one process with real mail, or each in its own process."""

DRIVERS: Final[Mapping[Driver, Sequence[str]]] = {
    "simulated": ("--simulated",),
    "embedded": (),
    "processes": ("--processes",),
}

_WRITTEN: Final = "topology.json"
_IN_WRITTEN: Final = re.compile(rf"^{re.escape(_WRITTEN)}:\d+:\d+:", re.MULTILINE)
"""A place in the file of a topology that a test gives as a dictionary. The tester has never seen this file."""

START_TIMEOUT_S = 300.0
"""How long, in real time, a lab may take to start. A lab with 100 servers in processes takes a minute on two cores."""

STOP_TIMEOUT_S = 20.0
"""How long, in real time, a lab may take to end before it is killed."""


class LabNotStarted(Exception):
    """A lab could not be started. The text is what it wrote, for example where its topology is wrong."""


class UpProcess:
    """A process that runs a lab. Its runs are below `folder`, and the lab is at `url`, with `token`.

    topology: a topology file, the name of an example, or a topology.
    continues: the file of a lab, which is continued in place of a new lab with a topology.

    Raises LabNotStarted if the lab cannot start.
    """

    def __init__(
        self,
        topology: Path | str | Mapping[str, Any] | None,
        folder: Path,
        *,
        driver: Driver,
        keep_mails: bool = False,
        continues: Path | None = None,
    ) -> None:
        if driver not in DRIVERS:
            raise LabNotStarted(f"{driver!r} is not a driver; one of {', '.join(DRIVERS)}")
        if not is_supported():
            raise LabNotStarted(f"pflab: {ELSEWHERE}")
        folder.mkdir(parents=True, exist_ok=True)
        source = [] if topology is None else [str(topology)]
        if isinstance(topology, Mapping):
            source = [_WRITTEN]
            (folder / _WRITTEN).write_text(json.dumps(topology, indent=1), "utf-8")
        elif topology is not None and Path(topology).is_file():
            source = [str(Path(topology).resolve())]
        if continues is not None:
            source += ["--from", str(continues.resolve())]
        command = [sys.executable, "-P", "-m", "pflab", "up", *source, "--port", "0", "--clock", "0", "--json"]
        command += ["--stop-with-stdin", *DRIVERS[driver], *(["--keep-mails"] if keep_mails else [])]
        self.driver = driver
        self.folder = folder
        self._errors = folder / "lab.log"
        with self._errors.open("wb") as errors:
            self._process = subprocess.Popen(
                command,
                cwd=folder,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,  # Ctrl-C is for the tests, which then close the lab
            )
        assert self._process.stdout is not None
        if not self._writes(self._process.stdout, START_TIMEOUT_S):
            raise self._not_started()
        line = self._process.stdout.readline()
        if not line:
            self.close()
            message = self._errors.read_text("utf-8", "replace").strip() or "the lab ended without a message"
            raise LabNotStarted(_IN_WRITTEN.sub("the topology of this test:", message))
        ready = json.loads(line)
        self.url: str = ready["url"]
        self.token: str | None = ready.get("token")

    @staticmethod
    def _writes(output: IO[bytes], within_s: float) -> bool:
        """Return whether the process writes to `output`, or ends, within this real time."""
        waiting = select.poll()
        waiting.register(output, select.POLLIN)
        return bool(waiting.poll(within_s * 1000))

    def _not_started(self) -> LabNotStarted:
        """Kill the process, and return the error for a lab that does not become ready."""
        state, message = self.state(), self._errors.read_text("utf-8", "replace").strip()
        self._process.kill()
        self.close()
        reasons = "".join(f"; {reason}" for reason in (state, message and f"it wrote: {message}") if reason)
        return LabNotStarted(f"the lab did not start within {START_TIMEOUT_S:g} s, and was killed{reasons}")

    def state(self) -> str:
        """Return whether the process has ended or a signal has stopped it, in words; '' if neither is known."""
        if self._process.poll() is not None:
            return f"its process has ended with status {self._process.returncode}"
        try:
            state = Path(f"/proc/{self._process.pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0]
        except (OSError, IndexError):
            return ""
        return "a signal has stopped its process" if state == "T" else ""

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        """The status with which it has ended, as Popen has it."""
        return self._process.returncode

    def kill(self) -> None:
        """Kill the lab, which then writes no traces."""
        self._process.kill()

    def close(self) -> None:
        """End the lab, which writes its traces, and wait until it has ended. A lab that has not ended after STOP_TIMEOUT_S is
        killed, with a warning."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.terminate()  # a process that the tests have forked may hold standard input open
        self._process.stdin.close()
        try:
            self._process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            state = self.state()
            self._process.kill()
            self._process.wait()
            warnings.warn(
                f"the lab in {self.folder} did not end within {STOP_TIMEOUT_S:g} s, and was killed; its traces are"
                f" incomplete{state and f'; {state}'}",
                stacklevel=2,
            )
        self._process.stdout.close()
