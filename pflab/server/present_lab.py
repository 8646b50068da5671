"""The present lab as the routes see it: its servers, and what it answers to changes while it is between two run histories.

A lab that starts, and a lab that has accepted its reset or another run, takes no changes: they would be lost, or would reach
servers that are starting. It answers 503, and /readyz too. All routes of a lab are made by `lab_routes`, so they need no check
of their own. The routes of its servers ask `Hosts.host` or the address of the server's process, which check the same
(`ServedLab.check_begun`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from node.api.hosts import ServedHost
from node.api.routing.routes import Routes
from node.api.values import ServerUnknown
from node.errors import NotRunning
from pflab.lab.served_lab import InProcessLab, ServedLab

LabNow = Callable[[], ServedLab]
"""Returns the present lab; a reset replaces it by another one."""

_READS: Final = frozenset({"GET", "HEAD", "OPTIONS"})


def lab_routes(
    prefix: str = "", *, tag: str, answers: Mapping[int, Mapping[str, Any]] | None = None
) -> Routes[ServedLab]:
    """Return a collection for routes of a lab. Routes that change something raise NotRunning while the lab starts."""
    return Routes(prefix, tag=tag, answers=answers, check=check_begun)


def check_begun(lab: ServedLab, method: str) -> None:
    """Raise NotRunning if a request with this method changes something and the lab starts."""
    if method not in _READS:
        lab.check_begun()


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
