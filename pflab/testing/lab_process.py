"""A lab in a separate process, with its calls."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pflab.testing.lab import Lab
from pflab.testing.up_process import Driver, UpProcess


class LabProcess:
    """A running lab; its runs are below `folder`, and `lab` has its calls. The parameters are those of UpProcess.

    Raises LabNotStarted if the lab cannot start.
    """

    def __init__(
        self, topology: Path | str | Mapping[str, Any], folder: Path, *, driver: Driver, keep_mails: bool = False
    ) -> None:
        self._process = UpProcess(topology, folder, driver=driver, keep_mails=keep_mails)
        self.driver = driver
        self.folder = folder
        self.lab = Lab.of_process(self._process)

    def close(self) -> None:
        """End the lab, as UpProcess does. A lab that has fallen silent is killed."""
        self.lab.close()
        if self.lab.silent:
            self._process.kill()
        self._process.close()
