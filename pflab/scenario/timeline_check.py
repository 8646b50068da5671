"""Find the steps that must fail in every run: times that have passed, and actions of users on stores that were never holders.

Stores learn of changes by mail, so this check does not know what a store knows at a step. It reports a step only if the
step fails whatever the order of the mails.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pflab.scenario import model
from pflab.scenario.conditions import Until
from pflab.scenario.values import Moment, same_minute
from pflab.terms.folder_ids import HIERARCHY
from topology.file.yaml_source import YamlSource
from topology.model import Topology
from topology.problems import PathItem, Problem, one_of, quoted
from traces.labtime import MINUTE_US, LabTime, format_instant


class TimelineCheck:
    """Checks the steps in order."""

    def __init__(self, topology: Topology, source: YamlSource) -> None:
        self._source = source
        self._start_at = topology.start_at
        self._now = topology.start_at
        """The earliest time that the clock can show; a wait can end later."""
        self._listed = {path: list(folder.replicas) for path, folder in topology.folders.items()}
        """For each folder: the servers that have ever been on its replica list."""
        self._folder_of: dict[str, str] = {}

    def step(
        self, args: Any, at: Sequence[PathItem], *, at_us: int | None = None, skips: bool = False
    ) -> Iterator[Problem]:
        """Yield the problems of one step.

        at_us: how long after the start it happens.
        skips: a step that its store refuses is skipped, so only times can be wrong.
        """
        if at_us is not None:
            yield from self._at(self._start_at + at_us, (*at[:-1], "at"))
        if not skips:
            yield from self._action(args, at)

    def _action(self, args: Any, at: Sequence[PathItem]) -> Iterator[Problem]:
        if isinstance(args, Moment):
            yield from self._time(args, at, at)
        elif isinstance(args, Until) and args.at is not None:
            yield from self._time(args.at, (*at, "at"), at)
        elif isinstance(args, model.Post | model.Posts):
            yield from self._user(args.on, args.folder, (*at, "on"))
            self._name(args)
        elif isinstance(args, model.Edit | model.Resolve | model.Recover):
            yield from self._user(args.on, self._folder_of.get(args.message or ""), (*at, "on"))
        elif isinstance(args, model.Delete):
            folders = dict.fromkeys(self._folder_of.get(message) for message in args.message)
            for folder in folders:
                yield from self._user(args.on, folder, (*at, "on"))
        elif isinstance(args, model.Folder):
            self._tree(args)
        elif isinstance(args, model.Replica):
            yield from self._replica(args, at)
        elif isinstance(args, model.Replicas):
            for path, listed in self._listed.items():
                if args.folder in (HIERARCHY, path) or path.startswith(f"{args.folder}/"):
                    listed.extend([*(args.add or ()), *([args.by] if args.by else ())])
        if isinstance(args, model.Edit | model.Recover) and args.name is not None and args.message in self._folder_of:
            self._folder_of[args.name] = self._folder_of[args.message]

    def _at(self, due_at: LabTime, place: Sequence[PathItem]) -> Iterator[Problem]:
        if due_at < self._now:
            shows = format_instant(self._now)
            yield self._source.problem(
                place, f"{format_instant(due_at)} is in the past", f"at this step the clock shows {shows} or later"
            )
        self._now = max(self._now, due_at)

    def _time(self, moment: Moment, place: Sequence[PathItem], step: Sequence[PathItem]) -> Iterator[Problem]:
        is_wait = place != step
        due_at = moment.resolve(self._now - MINUTE_US if is_wait else self._now)
        if due_at < self._now and not (is_wait and same_minute(due_at, self._now)):
            shows = format_instant(self._now)
            yield self._source.problem(
                place, f"{moment} is in the past", f"at this step the clock shows {shows} or later"
            )
        self._now = max(self._now, due_at)

    def _user(self, server: str, folder: str | None, at: Sequence[PathItem]) -> Iterator[Problem]:
        listed = self._listed.get(folder or "")
        if listed and server not in listed:
            yield self._source.problem(at, f"{quoted(server)} has no replica of {folder}", one_of(listed))

    def _name(self, args: model.Post | model.Posts) -> None:
        if args.name is None:
            return
        self._folder_of[args.name] = args.folder
        if isinstance(args, model.Posts):
            self._folder_of |= {f"{args.name}-{number}": args.folder for number in range(1, args.count + 1)}

    def _tree(self, args: model.Folder) -> None:
        if args.create is not None:
            of_parent = self._listed.get(args.create.rpartition("/")[0])
            listed = args.replicas or of_parent or [args.on]
            self._listed[args.create] = [*self._listed.get(args.create, ()), *listed]
        if args.change is not None and args.replicas is not None:
            self._listed.setdefault(args.change, []).extend(args.replicas)
        if args.propagate is not None and "replicas" in (args.properties or ()):
            for path, listed in self._listed.items():
                if path.startswith(f"{args.propagate}/"):
                    listed.extend(self._listed.get(args.propagate, ()))
        if args.rename is not None:
            above, slash, _ = args.rename.rpartition("/")
            self._moved(args.rename, f"{above}{slash}{args.to}")
        if args.move is not None:
            name = args.move.rpartition("/")[2]
            self._moved(args.move, name if args.under == "/" else f"{args.under}/{name}")

    def _moved(self, old: str, new: str) -> None:
        """Add new paths for a folder and its subfolders. The old and the new path of a folder share one list of servers."""
        below = {path: listed for path, listed in self._listed.items() if path == old or path.startswith(f"{old}/")}
        for path, listed in below.items():
            moved = new + path[len(old) :]
            listed.extend(self._listed.get(moved, ()))
            self._listed[moved] = listed

    def _replica(self, args: model.Replica, at: Sequence[PathItem]) -> Iterator[Problem]:
        listed = self._listed.setdefault(args.folder, [])
        listed.extend(args.add or ())
        if args.remove is not None and not args.refused and listed and not set(listed) - set(args.remove):
            what = f"{', '.join(args.remove)} has the last replica of {args.folder}"
            yield self._source.problem((*at, "remove"), what, "add another replica first")
