"""The one place that decides what a lab answers to changes while it is between two run histories.

A lab that starts, and a lab that has accepted its reset or another run, takes no changes: they would be lost, or would meet
servers that start. It answers 503, and /readyz too. All routes of a lab are on routers from `lab_router`, so they need no check
of their own. The routes of its servers ask `Hosts.host` or the address of the server's process, which check the same
(`ServedLab.check_begun`).
"""

from __future__ import annotations

from typing import Any, Final

from fastapi import APIRouter, Depends, Request

from pflab.lab.served_lab import ServedLab

_READS: Final = frozenset({"GET", "HEAD", "OPTIONS"})


def lab_router(lab: ServedLab, **options: Any) -> APIRouter:
    """Return a router for routes of a lab. Routes that change something raise NotRunning while the lab starts."""

    async def check_begun(request: Request) -> None:
        # The framework has read the body before, so nothing waits between this check and the route.
        if request.method not in _READS:
            lab.check_begun()

    return APIRouter(dependencies=[Depends(check_begun)], **options)
