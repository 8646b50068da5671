"""The one place that decides what a lab answers to changes while it is between two run histories.

A lab that starts, and a lab that has accepted its reset or another run, takes no changes: they would be lost, or would reach
servers that are starting. It answers 503, and /readyz too. All routes of a lab are made by `lab_routes`, so they need no check
of their own. The routes of its servers ask `Hosts.host` or the address of the server's process, which check the same
(`ServedLab.check_begun`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from node.api.routing.routes import Routes
from pflab.lab.served_lab import ServedLab

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
