"""The lab that an application serves now. A reset puts another one in its place.

To build the application of a lab takes longer than to begin a run history. So one application serves them all, and its routes
ask for the lab of the moment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

if TYPE_CHECKING:
    from pflab.lab.served_lab import ServedLab

L = TypeVar("L", bound="ServedLab")


class CurrentLab(Generic[L]):
    """`lab` is the lab of the moment; `served` stands for it in routes."""

    def __init__(self, lab: L) -> None:
        self.lab = lab

    @property
    def served(self) -> ServedLab:
        return cast("ServedLab", _Stand(self))


class _Stand:
    """Has every attribute of the lab of the moment."""

    def __init__(self, current: CurrentLab[Any]) -> None:
        self._current = current

    def __getattr__(self, name: str) -> Any:
        return getattr(self._current.lab, name)
