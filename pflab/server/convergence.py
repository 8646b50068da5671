"""Whether the holders of a folder agree, and how each holder differs (spec: CV-1).

A store is a holder if the replica list of any running store names it. So a holder counts even if it does not run, or has not
heard of the folder or of its replica yet. Each of these is a difference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from node.views import Knowledge
from pflab.errors import LabError
from pflab.lab.lab import Lab
from pflab.terms import number_sets as sets
from pflab.terms.folder_ids import HIERARCHY
from topology.problems import did_you_mean, quoted


@dataclass(frozen=True, slots=True)
class Holders:
    """The knowledge of a folder's holders about it.

    known: the knowledge of each running holder with a replica.
    without: each running holder that has no replica, with what it lacks in words.
    not_running: the holders that do not run.
    """

    known: Mapping[str, Knowledge]
    without: Mapping[str, str]
    not_running: Sequence[str]

    @property
    def agree(self) -> bool:
        """Whether every holder runs and knows the same about the folder."""
        contents = [
            (knowledge.numbers, knowledge.numbers_fai, knowledge.versions, knowledge.tombstones)
            for knowledge in self.known.values()
        ]
        return not self.without and not self.not_running and all(content == contents[0] for content in contents)


def holders_of(lab: Lab, folder: str) -> Holders:
    """Return what the holders of a folder know. Raises LabError if no running store knows the folder."""
    running = [name for name in lab.names if lab.running(name)]
    if folder == HIERARCHY:
        replicas = {name: {entry.store for entry in lab.read(name, lambda node: node.directory())} for name in running}
        holding = set(running)
    else:
        views = {
            name: view
            for name in running
            for view in lab.read(name, lambda node: node.folders())
            if view.path == folder
        }
        replicas = {name: set(view.replicas) for name, view in views.items()}
        holding = {name for name, view in views.items() if view.held_here}
    listed_by = {store: name for name in reversed(running) for store in replicas.get(name, ())}
    if not listed_by:
        paths = sorted({view.path for name in running for view in lab.read(name, lambda node: node.folders())})
        meant = f"; {did_you_mean(folder, paths)}" if paths else ""
        raise LabError(f"no running server knows the folder {quoted(folder)}{meant}")
    holders = [name for name in lab.names if name in listed_by]
    return Holders(
        known={name: lab.read(name, lambda node: node.knowledge(folder)) for name in holders if name in holding},
        without={
            name: f"the replica that {listed_by[name]} lists" if name in replicas else "the folder"
            for name in holders
            if name in running and name not in holding
        },
        not_running=[name for name in holders if name not in running],
    )


def converged(lab: Lab, folder: str) -> bool:
    """Return whether all holders of a folder run and know the same about it. Raises LabError as `holders_of` does."""
    return holders_of(lab, folder).agree


def lacking(holders: Holders, store_of: Mapping[str, str]) -> dict[str, str]:
    """Return, for each running holder, what it lacks and another holder has: changes such as `A-1..3`, the folder, or its
    replica.

    store_of: the name of each store, by replica GUID.
    """
    had = {
        name: sets.union(map(sets.parse_traced, (knowledge.numbers, knowledge.numbers_fai)))
        for name, knowledge in holders.known.items()
    }
    every = sets.union(had.values())
    missing = {name: sets.minus(every, numbers) for name, numbers in had.items()}
    return {
        **{
            name: sets.words(numbers, lambda guid: store_of.get(guid, guid))
            for name, numbers in missing.items()
            if numbers
        },
        **holders.without,
    }
