"""Whether the holders of a folder agree, and how each holder differs (spec: CV-1).

A store is a holder if the replica list of any running store names it. So a holder counts even if it does not run, or has not
heard of the folder or of its replica yet. Each of these is a difference. So is what only a replica has that waits to be removed
(spec: RP-2): the holders will still get it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from node.views import FolderView, Knowledge
from pflab.errors import LabError
from pflab.lab.lab import Lab
from pflab.terms import number_sets as sets
from pflab.terms.folder_ids import HIERARCHY
from topology.problems import did_you_mean, quoted

ALL: Final = "all"
"""The name for all folders and the hierarchy, unless a folder has this path."""


@dataclass(frozen=True, slots=True)
class Holders:
    """The knowledge of a folder's holders about it.

    known: the knowledge of each running holder with a replica.
    without: each running holder that has no replica, with what it lacks in words.
    not_running: the holders that do not run.
    leaving: the knowledge of each running server whose replica waits to be removed.
    """

    known: Mapping[str, Knowledge]
    without: Mapping[str, str]
    not_running: Sequence[str]
    leaving: Mapping[str, Knowledge]

    @property
    def agree(self) -> bool:
        """Whether every holder runs and knows the same about the folder, and no replica that leaves has more."""
        contents = [
            (knowledge.numbers, knowledge.numbers_fai, knowledge.versions, knowledge.tombstones)
            for knowledge in self.known.values()
        ]
        if self.without or self.not_running or any(content != contents[0] for content in contents):
            return False
        return not self.leaving or not lacking(self, {})


Views = Mapping[str, Mapping[str, FolderView]]
"""The folders that each running server knows, by path."""


def views_of(lab: Lab) -> Views:
    """Return the folders that each running server knows."""
    running = [name for name in lab.names if lab.running(name)]
    return {name: {view.path: view for view in lab.read(name, lambda node: node.folders())} for name in running}


def holders_of(lab: Lab, folder: str, views_by_server: Views | None = None) -> Holders:
    """Return what the holders of a folder know. Raises LabError if no running store knows the folder.

    views_by_server: as `views_of` returns them, for a caller that asks for several folders.
    """
    known = views_of(lab) if views_by_server is None else views_by_server
    running = list(known)
    if folder == HIERARCHY:
        replicas = {name: {entry.store for entry in lab.read(name, lambda node: node.directory())} for name in running}
        holding = set(running)
    else:
        views = {name: paths[folder] for name, paths in known.items() if folder in paths}
        replicas = {name: set(view.replicas) for name, view in views.items()}
        holding = {name for name, view in views.items() if view.held_here}
    listed_by = {store: name for name in reversed(running) for store in replicas.get(name, ())}
    if not listed_by:
        paths = sorted({path for of_server in known.values() for path in of_server})
        meant = f"; {did_you_mean(folder, paths)}" if paths else ""
        raise LabError(f"no running server knows the folder {quoted(folder)}{meant}")
    holders = [name for name in lab.names if name in listed_by]
    leaving = {name: lab.read(name, lambda node: node.knowledge(folder)) for name in replicas if name not in listed_by}
    return Holders(
        known={name: lab.read(name, lambda node: node.knowledge(folder)) for name in holders if name in holding},
        without={
            name: f"the replica that {listed_by[name]} lists" if name in replicas else "the folder"
            for name in holders
            if name in running and name not in holding
        },
        not_running=[name for name in holders if name not in running],
        leaving={name: knowledge for name, knowledge in leaving.items() if knowledge.numbers or knowledge.numbers_fai},
    )


class Convergence:
    """Tests whether all holders of a folder, or of all folders, run and know the same about it.

    folder: its path, 1-1 for the hierarchy, or `all`.

    Raises LabError as `holders_of` does.
    """

    def __init__(self, lab: Lab, folder: str) -> None:
        self._lab = lab
        self._folder = folder
        self._differing = ""
        """A folder that differed at the last test. It is read first, because a lab can have a thousand folders."""

    def __call__(self) -> bool:
        views = views_of(self._lab)
        folders = self._folders(views)
        if self._differing in folders and not holders_of(self._lab, self._differing, views).agree:
            return False
        differing = (folder for folder in folders if not holders_of(self._lab, folder, views).agree)
        self._differing = next(differing, "")
        return not self._differing

    def _folders(self, views: Views) -> list[str]:
        """Return the folders that are tested, as running servers know them now."""
        paths = {path for of_server in views.values() for path in of_server}
        return [HIERARCHY, *sorted(paths)] if self._folder == ALL and ALL not in paths else [self._folder]

    def shortfall(self, store_of: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
        """Return what each running holder lacks, as `lacking` does, and the holders that do not run."""
        views = views_of(self._lab)
        folders = self._folders(views)
        words: defaultdict[str, list[str]] = defaultdict(list)
        not_running: set[str] = set()
        for folder in folders:
            holders = holders_of(self._lab, folder, views)
            not_running.update(holders.not_running)
            for name, numbers in lacking(holders, store_of).items():
                words[name].append(numbers if len(folders) == 1 else f"{numbers} of {folder}")
        names = self._lab.names
        return {name: "; ".join(words[name]) for name in names if name in words}, [
            name for name in names if name in not_running
        ]


def lacking(holders: Holders, store_of: Mapping[str, str]) -> dict[str, str]:
    """Return, for each running holder, what it lacks and another holder has: changes such as `A-1..3`, the folder, or its
    replica.

    store_of: the name of each store, by replica GUID.
    """
    had = {name: _numbers(knowledge) for name, knowledge in holders.known.items()}
    every = sets.union([*had.values(), *map(_numbers, holders.leaving.values())])
    missing = {name: sets.minus(every, numbers) for name, numbers in had.items()}
    return {
        **{
            name: sets.words(numbers, lambda guid: store_of.get(guid, guid))
            for name, numbers in missing.items()
            if numbers
        },
        **holders.without,
    }


def _numbers(knowledge: Knowledge) -> sets.Numbers:
    return sets.union(map(sets.parse_traced, (knowledge.numbers, knowledge.numbers_fai)))
