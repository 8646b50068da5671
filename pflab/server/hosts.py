"""The servers of a lab as the routes of nodes see them: in this process, or in others."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from node.api.hosts import ServedHost
from node.api.values import ServerUnknown
from node.errors import NotRunning
from pflab.lab.served_lab import InProcessLab
from pflab.server.changes import LabNow


class ProxiedHosts:
    """The hosts of a lab whose nodes are in other processes, where the proxy asks them."""

    ending = False

    def __init__(self, lab_now: LabNow) -> None:
        self._lab_now = lab_now

    @property
    def waits(self) -> str:
        return self._lab_now().waits

    @property
    def names(self) -> Sequence[str]:
        return ()

    def host(self, name: str) -> ServedHost:
        raise NotRunning(f"server {name} is not running")


class EmbeddedHosts(ProxiedHosts):
    """The hosts of a lab whose nodes run in this process."""

    def __init__(self, lab_now: Callable[[], InProcessLab]) -> None:
        super().__init__(lab_now)
        self._in_process = lab_now

    @property
    def names(self) -> Sequence[str]:
        return self._lab_now().names

    def host(self, name: str) -> ServedHost:
        lab = self._in_process()
        if name not in lab.names:
            raise ServerUnknown(f"there is no server {name!r} in this lab; it has {', '.join(lab.names)}")
        lab.check_begun()
        return lab.host_of(name)
