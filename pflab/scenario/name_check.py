"""Check that the names in a scenario's steps exist: servers, folders, messages, faults, checkpoints, event types.

The check runs before the scenario. A folder counts as known after a step that creates it on any store.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pflab.scenario import model
from pflab.scenario.conditions import Condition, Events, Until
from pflab.scenario.fault_steps import FaultStep, names_in
from pflab.scenario.lesson import Narration, Quiz, Show
from pflab.scenario.values import Part, key_of
from pflab.terms.folder_ids import HIERARCHY
from topology.file.yaml_source import YamlSource
from topology.model import Topology
from topology.problems import PathItem, Problem, ValueTextError, did_you_mean, one_of, quoted
from topology.recipient_policy import DEFAULT_POLICY
from topology.settings.catalogue import find_spec
from topology.settings.values import read_value
from traces.events import EVENT_TYPES, Event

_STORE_FIELDS = ("on", "from_", "to", "add", "remove", "replace", "asked", "replicas")
_HEADER = frozenset(Event.__struct_fields__)
_FOLDER = "folder of the topology or of an earlier step"
_CONNECTOR = "connector of the topology or of an earlier step"
_POLICY = "recipient policy of the topology or of an earlier step"

_Added = model.Connector | model.Site | model.Server | model.RecipientPolicy


class NameCheck:
    """Checks the steps in order."""

    def __init__(self, topology: Topology, source: YamlSource) -> None:
        self._source = source
        self._servers = list(topology.servers)
        self._sites = list(topology.sites)
        self._connectors = [connector.name for connector in topology.connectors]
        self._policies = [DEFAULT_POLICY, *(policy.name for policy in topology.recipient_policies)]
        self._folders = [HIERARCHY, *topology.folders]
        self._messages: list[str] = []
        self._faults: list[str] = ["all"]
        self._checkpoints: list[str] = []
        self._backups: list[str] = []
        self._early: list[str] = []

    def name_all(self, steps: Sequence[Any]) -> None:
        """Make the names that these steps define known to all steps, because steps with times may be in any order."""
        for args in steps:
            if isinstance(args, _Added) and args.add is not None:
                self._added(args).append(args.add)
            name = getattr(args, "name", None)
            if name is None:
                continue
            names = self._kind_of_name(args)
            self._early.append(name)
            names.append(name)
            if isinstance(args, model.Posts):
                names.extend(f"{name}-{number}" for number in range(1, args.count + 1))

    def _added(self, args: _Added) -> list[str]:
        """Return the names to which a change of the organization adds one."""
        if isinstance(args, model.Connector):
            return self._connectors
        if isinstance(args, model.RecipientPolicy):
            return self._policies
        return self._sites if isinstance(args, model.Site) else self._servers

    def _kind_of_name(self, args: Any) -> list[str]:
        if isinstance(args, FaultStep):
            return self._faults
        if isinstance(args, model.Backup):
            return self._backups
        return self._folders if isinstance(args, model.Folder) else self._messages

    def step(self, verb: str, args: Any, at: Sequence[PathItem]) -> Iterator[Problem]:
        """Yield the problems of one step. The names that it defines are known to later steps."""
        if verb in {"stop", "start", "kill"}:
            yield from self._unknown_names(at, None, args, self._servers, "server")
        elif verb == "heal":
            yield from self._unknown_names(at, None, args, self._faults, "fault (the name given with as, or all)")
        elif verb == "checkpoint":
            self._checkpoints.append(args)
        elif isinstance(args, FaultStep):
            yield from self._fault(args, at)
        elif isinstance(args, Part):
            yield from self._part(verb, args, at)

    def _part(self, verb: str, args: Part, at: Sequence[PathItem]) -> Iterator[Problem]:
        if isinstance(args, model.Folder):
            yield from self._folder(args, at)
        elif isinstance(args, Condition):
            yield from self._condition(args, at)
        elif isinstance(args, Narration | Quiz):
            if args.show is not None:
                yield from self._show(args.show, (*at, "show"))
        elif isinstance(args, model.Directory):
            yield from self._directory(args, at)
        elif isinstance(args, _Added):
            yield from self._organization(args, at)
        else:
            yield from self._common(args, at)
            if isinstance(args, model.Settings):
                yield from self._settings(args, at)
        if isinstance(args, model.Replicas) and args.by is not None:
            yield from self._unknown_names(at, "by", args.by, self._servers, "server")
        if isinstance(args, model.Send):
            folders = [name for name in args.addresses if "@" not in name]
            yield from self._unknown_names(at, "to", folders, self._folders, _FOLDER)
        name = getattr(args, "name", None)
        if name is not None and not isinstance(args, model.Folder):
            yield from self._new_name(verb, name, args, at)

    def _new_name(self, verb: str, name: str, args: Part, at: Sequence[PathItem]) -> Iterator[Problem]:
        yield from self._newly_named(name, self._backups if verb == "backup" else self._messages, at)
        if isinstance(args, model.Posts):
            self._messages.extend(f"{name}-{number}" for number in range(1, args.count + 1))

    def _newly_named(self, name: str, names: list[str], at: Sequence[PathItem]) -> Iterator[Problem]:
        if name in self._early:
            self._early.remove(name)
        elif name in names or name in {"all", "none"}:
            yield self._source.problem((*at, "as"), f"{quoted(name)} is already used", "choose another name")
        names.append(name)

    # --- the parts

    def _settings(self, args: model.Settings, at: Sequence[PathItem]) -> Iterator[Problem]:
        for name, raw in args.values.items():
            place, of_key = (*at, "set", name), True
            try:
                spec, of_key = find_spec(name), False
                read_value(spec, raw)
            except ValueTextError as error:
                yield self._source.problem(place, error.what, error.would_be_right, of_key=of_key)

    def _directory(self, args: model.Directory, at: Sequence[PathItem]) -> Iterator[Problem]:
        for field in ("delete", "create", "on"):
            name = getattr(args, field)
            if name is not None:
                yield from self._unknown_names(at, field, name, self._servers, "server")

    def _organization(self, args: _Added, at: Sequence[PathItem]) -> Iterator[Problem]:
        if isinstance(args, model.Connector):
            yield from self._connector(args, at)
        elif isinstance(args, model.RecipientPolicy):
            yield from self._policy(args, at)
        else:
            yield from self._site_or_server(args, at)

    def _connector(self, args: model.Connector, at: Sequence[PathItem]) -> Iterator[Problem]:
        for field in ("change", "remove"):
            name = getattr(args, field)
            if name is not None:
                yield from self._unknown_names(at, field, name, self._connectors, _CONNECTOR)
        if args.between is not None:
            yield from self._unknown_names(at, "between", args.between, self._sites, "site")
        for site, server in (args.bridgeheads or {}).items():
            place = (*at, "bridgeheads")
            yield from self._unknown_names(place, site, site, self._sites, "site", of_key=True)
            yield from self._unknown_names(place, site, server, self._servers, "server")
        if args.add is not None:
            self._connectors.append(args.add)

    def _policy(self, args: model.RecipientPolicy, at: Sequence[PathItem]) -> Iterator[Problem]:
        for field in ("change", "remove"):
            name = getattr(args, field)
            if name is not None:
                yield from self._unknown_names(at, field, name, self._policies, _POLICY)
        if args.filter is not None:
            for part, known, what in (("sites", self._sites, "site"), ("servers", self._servers, "server")):
                yield from self._unknown_names((*at, "filter"), part, getattr(args.filter, part) or (), known, what)
        if args.add is not None:
            self._policies.append(args.add)

    def _site_or_server(self, args: model.Site | model.Server, at: Sequence[PathItem]) -> Iterator[Problem]:
        if isinstance(args, model.Server) and args.site is not None:
            yield from self._unknown_names(at, "site", args.site, self._sites, "site")
        if args.remove is not None:
            what = "site" if isinstance(args, model.Site) else "server"
            yield from self._unknown_names(at, "remove", args.remove, self._added(args), what)
        if args.add is not None:
            self._added(args).append(args.add)

    def _common(self, args: Part, at: Sequence[PathItem]) -> Iterator[Problem]:
        for field in _STORE_FIELDS:
            value = getattr(args, field, None)
            if value not in (None, ("none",)) and field in type(args).model_fields:
                yield from self._unknown_names(at, key_of(type(args), field), value, self._servers, "server")
        for field, candidates, what in (
            ("folder", self._folders, _FOLDER),
            ("message", self._messages, "message of an earlier step (its as)"),
            ("connector", self._connectors, _CONNECTOR),
            ("backup", self._backups, "backup of an earlier step (its as)"),
        ):
            value = getattr(args, field, None)
            if value is not None:
                yield from self._unknown_names(at, field, value, candidates, what)

    def _show(self, args: Show, at: Sequence[PathItem]) -> Iterator[Problem]:
        yield from self._common(args, at)
        for key, value in (("server", args.server), ("row", args.row)):
            if value is not None:
                yield from self._unknown_names(at, key, value, self._servers, "server")
        if args.mail is not None:
            yield from self._common(args.mail, (*at, "mail"))

    def _folder(self, args: model.Folder, at: Sequence[PathItem]) -> Iterator[Problem]:
        yield from self._unknown_names(at, "on", args.on, self._servers, "server")
        if args.replicas is not None:
            yield from self._unknown_names(at, "replicas", args.replicas, self._servers, "server")
        for field in ("change", "rename", "move", "delete", "propagate"):
            path = getattr(args, field)
            if path is not None:
                yield from self._unknown_names(at, field, path, self._folders, _FOLDER)
        if args.under not in (None, "/"):
            yield from self._unknown_names(at, "under", args.under, self._folders, _FOLDER)
        if args.create is not None:
            above = args.create.rpartition("/")[0]
            if above and above not in self._folders:
                right = f"create {quoted(above)} first"
                yield self._source.problem((*at, "create"), f"{quoted(above)} is not a folder yet", right)
            self._folders.append(args.create if args.under in (None, "/") else f"{args.under}/{args.create}")
            if args.name is not None:
                yield from self._newly_named(args.name, self._folders, at)
        if args.rename is not None and args.to is not None:
            above, slash, _ = args.rename.rpartition("/")
            self._moved(args.rename, f"{above}{slash}{args.to}")
        if args.move is not None:
            name = args.move.rpartition("/")[2]
            self._moved(args.move, name if args.under == "/" else f"{args.under}/{name}")
        if self._folders.count(HIERARCHY) > 1:
            self._folders.remove(HIERARCHY)
            yield self._source.problem(at, f"{quoted(HIERARCHY)} is the name of the hierarchy", "choose another name")

    def _moved(self, old: str, new: str) -> None:
        """Add the new paths of a folder and its subfolders. The old paths stay known, because other stores still show them."""
        below = [path for path in self._folders if path == old or path.startswith(f"{old}/")]
        self._folders.extend(new + path[len(old) :] for path in below)

    def _fault(self, args: FaultStep, at: Sequence[PathItem]) -> Iterator[Problem]:
        candidates = {
            "server": self._servers,
            "server or site": [*self._servers, *self._sites],
            "connector": self._connectors,
        }
        for key, value, what in names_in(args.fault):
            yield from self._unknown_names(at, key, value, candidates[what], what)
        if args.name is not None:
            yield from self._newly_named(args.name, self._faults, at)

    def _condition(self, args: Condition, at: Sequence[PathItem]) -> Iterator[Problem]:
        on = None if args.on == ("all",) else args.on
        if on is not None:
            yield from self._unknown_names(at, "on", on, self._servers, "server")
        if args.folder is not None:
            yield from self._unknown_names(at, "folder", args.folder, self._folders, _FOLDER)
        for field in ("has", "lacks", "shows", "versions", "conflict"):
            value = getattr(args, field)
            if value is not None and value != ("none",):
                yield from self._unknown_names(
                    at, field, list(value), self._messages, "message of an earlier step (its as)"
                )
        for field in ("converged", "unconverged", "equal"):
            value = getattr(args, field)
            if value not in (None, ("all",)):
                yield from self._unknown_names(at, field, value, self._folders, _FOLDER)
        if args.since is not None:
            yield from self._unknown_names(at, "since", args.since, self._checkpoints, "checkpoint of an earlier step")
        for key in ("state", "sync"):
            for store in getattr(args, key) or ():
                yield from self._unknown_names((*at, key), store, store, self._servers, "server", of_key=True)
        for key, parts in (("array", args.array), ("mails", args.mails), ("events", args.events)):
            for number, part in enumerate(parts or ()):
                yield from self._list_item(args, part, (*at, key), number)
        if isinstance(args, Until):
            yield from self._until(args, at)

    def _list_item(self, args: Condition, part: Part, at: Sequence[PathItem], number: int) -> Iterator[Problem]:
        where = (*at, number)
        yield from self._common(part, where)
        if isinstance(part, Events):
            yield from self._event(part.event, part.fields, where)

    def _until(self, args: Until, at: Sequence[PathItem]) -> Iterator[Problem]:
        for field in ("from_", "to"):
            value = getattr(args, field)
            if value is not None:
                yield from self._unknown_names(at, key_of(type(args), field), value, self._servers, "server")
        if args.event is not None:
            yield from self._event(args.event, args.fields, at)

    def _event(self, tag: str, fields: dict[str, Any], at: Sequence[PathItem]) -> Iterator[Problem]:
        kind = EVENT_TYPES.get(tag)
        if kind is None:
            yield self._source.problem((*at, "event"), f"{quoted(tag)} is not an event", did_you_mean(tag, EVENT_TYPES))
            return
        field_names = [name for name in kind.__struct_fields__ if name not in _HEADER]
        for field in fields:
            if field not in field_names:
                right = did_you_mean(field, field_names)
                yield self._source.problem(
                    (*at, "with", field), f"{tag} has no field {quoted(field)}", right, of_key=True
                )

    def _unknown_names(
        self,
        at: Sequence[PathItem],
        key: str | None,
        value: str | Sequence[str],
        candidates: Sequence[str],
        what: str,
        *,
        of_key: bool = False,
    ) -> Iterator[Problem]:
        names = [value] if isinstance(value, str) else list(value)
        path = at if key is None else (*at, key)
        for number, name in enumerate(names):
            if name in candidates:
                continue
            right = did_you_mean(name, candidates) if candidates else one_of(candidates)
            # If the file has a list here, the problem is at the item.
            item = (*path, number) if self._is_list(path) else tuple(path)
            yield self._source.problem(item, f"{quoted(name)} is not a {what}", right, of_key=of_key)

    def _is_list(self, path: Sequence[PathItem]) -> bool:
        value: Any = self._source.data
        for step in path:
            if not isinstance(value, dict | list) or (isinstance(value, dict) and step not in value):
                return False
            value = value[step]  # type: ignore[index]
        return isinstance(value, list)
