"""Checks between the parts of a topology file. All mistakes are reported, not only the first."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Final

from topology.enums import ConnectorKind, Joins
from topology.file.defaults import connector_name, server_sites, site_names
from topology.file.model import ConnectorEntry, TopologyFile
from topology.file.yaml_source import YamlSource
from topology.problems import MOST_PROBLEMS, PathItem, Problem, ValueTextError, did_you_mean, one_of, quoted
from topology.settings.catalogue import find_spec
from topology.settings.values import RawSetting, read_value

Path = tuple[PathItem, ...]

MAX_CONNECTOR_COST: Final = 100
"""The highest cost that Exchange allows for a connector [X]."""

HIERARCHY_NAME: Final = "1-1"
"""The name of the folder tree itself (spec: HI-1)."""


@dataclass(frozen=True, slots=True)
class Checked:
    """A file and the positions of its parts.

    connector_at  for each connector of `file`, its index in the text
    left_out      entries such as ("servers", "A"), and top-level keys, from which a wrong part was removed; mistakes that
                  follow only from the removal are not reported
    """

    file: TopologyFile
    source: YamlSource
    connector_at: Sequence[int]
    left_out: frozenset[Path]

    def problem(self, path: Path, what: str, right: str, *, of_key: bool = False) -> Problem:
        return self.source.problem(path, what, right, of_key=of_key)


def find_problems(checked: Checked) -> list[Problem]:
    """Return all mistakes between parts of the file, at most MOST_PROBLEMS."""
    every_problem = chain(
        _domain(checked),
        _policies(checked),
        _sites(checked),
        _servers(checked),
        _connectors(checked),
        _folders(checked),
        _all_settings(checked),
    )
    problems = list(islice(every_problem, MOST_PROBLEMS))
    if not problems and not checked.left_out:
        problems += _sites_without_server(checked)
    return problems


def _domain(checked: Checked) -> Iterator[Problem]:
    domain = checked.file.domain
    if "." not in domain:
        yield checked.problem(("domain",), f"{quoted(domain)} is a single word", f"a domain such as {domain}.test")


def _policies(checked: Checked) -> Iterator[Problem]:
    """Yield the mistakes of recipient policies. An organization that was changed may have lost what a filter names."""
    file = checked.file
    names: list[tuple[str, Path]] = []
    for index, entry in enumerate(file.recipient_policies):
        path: Path = ("recipient_policies", index)
        names.append((entry.name, (*path, "name")))
        if not (entry.filter.sites or entry.filter.servers or entry.filter.versions):
            yield checked.problem(
                (*path, "filter"), "the filter is empty", "name sites, servers or versions", of_key=True
            )
        for part, listed, known in (
            ("sites", entry.filter.sites, site_names(file)),
            ("servers", entry.filter.servers, list(file.servers)),
        ):
            for number, name in enumerate(listed):
                if name not in known and not file.revision:
                    yield checked.problem(
                        (*path, "filter", part, number),
                        f"{quoted(name)} is not a {part[:-1]}",
                        did_you_mean(name, known),
                    )
    yield from _repeated(checked, names, "recipient policy")


def _sites(checked: Checked) -> Iterator[Problem]:
    sites = checked.file.sites
    if sites is None:
        return
    yield from _repeated(checked, [(name, ("sites", index)) for index, name in enumerate(sites)], "site")


def _repeated(checked: Checked, names: list[tuple[str, Path]], what: str) -> Iterator[Problem]:
    spellings: dict[str, str] = {}
    for name, path in names:
        earlier = spellings.get(name.casefold())
        if earlier is None:
            spellings[name.casefold()] = name
            continue
        mistake, right = "is named twice", "name it once"
        if earlier != name:
            mistake = f"is already there as {quoted(earlier)}"
            right = "give it another name (upper and lower case make no difference)"
        yield checked.problem(path, f"{what} {quoted(name)} {mistake}", right, of_key=True)


def _servers(checked: Checked) -> Iterator[Problem]:
    file = checked.file
    sites = site_names(file)
    names: list[tuple[str, Path]] = [(name, ("servers", name)) for name in file.servers]
    yield from _repeated(checked, names, "server")
    for name, entry in file.servers.items():
        if entry.site is None and len(sites) > 1 and ("servers", name) not in checked.left_out:
            yield checked.problem(
                ("servers", name),
                "the server has no site, but the topology has several",
                f"add site: {one_of(sites)}",
                of_key=True,
            )
        if entry.site is not None and entry.site not in sites:
            yield checked.problem(
                ("servers", name, "site"), f"{quoted(entry.site)} is not a site", did_you_mean(entry.site, sites)
            )
    user_of: dict[int, str] = {}
    for name, entry in file.servers.items():
        if entry.smtp_port is None:
            continue
        user = user_of.setdefault(entry.smtp_port, name)
        if user != name:
            mistake = f"port {entry.smtp_port} is that of server {user} already"
            yield checked.problem(("servers", name, "smtp_port"), mistake, "choose another port")
    if not file.revision and all(entry.joins is Joins.LATER for entry in file.servers.values()):
        yield checked.problem(
            ("servers",), "all servers join later", "at least one server must be there from the start", of_key=True
        )


def _connectors(checked: Checked) -> Iterator[Problem]:
    file = checked.file
    names: list[tuple[str, Path]] = []
    for entry, index in zip(file.connectors, checked.connector_at, strict=True):
        path: Path = ("connectors", index)
        names.append((connector_name(entry), (*path, "name")))
        yield from _connector(checked, entry, path)
    yield from _repeated(checked, names, "connector")


def _connector(checked: Checked, entry: ConnectorEntry, path: Path) -> Iterator[Problem]:
    yield from _costs(checked, entry, path)
    if entry.relay is not None and entry.kind is not ConnectorKind.SMTP_RELAY:
        yield checked.problem(
            (*path, "relay"), f"a connector of kind {entry.kind} has no relay", "write kind: smtp-relay", of_key=True
        )
    sites = site_names(checked.file)
    unknown = [(index, site) for index, site in enumerate(entry.between) if site not in sites]
    for index, site in unknown:
        yield checked.problem((*path, "between", index), f"{quoted(site)} is not a site", did_you_mean(site, sites))
    if entry.between[0] == entry.between[1]:
        yield checked.problem((*path, "between"), "both ends are the same site", "name two different sites")
        return
    homes = server_sites(checked.file)
    for site, server in entry.bridgeheads.items():
        at: Path = (*path, "bridgeheads", site)
        if site not in entry.between:
            yield checked.problem(
                at, f"{quoted(site)} is not at an end of the connector", one_of(entry.between), of_key=True
            )
        elif server not in homes:
            yield checked.problem(at, f"{quoted(server)} is not a server", did_you_mean(server, homes))
        elif homes[server] != site:
            servers_here = [name for name, home in homes.items() if home == site]
            yield checked.problem(at, f"{quoted(server)} is not in {site}", one_of(servers_here))


def _costs(checked: Checked, entry: ConnectorEntry, path: Path) -> Iterator[Problem]:
    """Check the costs of connectors. Site links, which direct relay follows (spec: RT-1), may have any cost."""
    if entry.kind is ConnectorKind.DIRECT:
        return
    for key, cost in (("cost", entry.cost), ("affinity", entry.affinity)):
        if cost is not None and cost > MAX_CONNECTOR_COST:
            yield checked.problem(
                (*path, key), f'"{cost}" is too large', f"write at most {MAX_CONNECTOR_COST}, the limit of Exchange"
            )


def _sites_without_server(checked: Checked) -> Iterator[Problem]:
    homes = server_sites(checked.file)
    for entry, number in zip(checked.file.connectors, checked.connector_at, strict=True):
        for index, site in enumerate(entry.between):
            if site not in homes.values():
                yield checked.problem(
                    ("connectors", number, "between", index),
                    f"site {quoted(site)} has no server",
                    "add a server there as its bridgehead",
                )


def _folders(checked: Checked) -> Iterator[Problem]:
    file = checked.file
    yield from _repeated(checked, [(folder, ("folders", folder)) for folder in file.folders], "folder")
    for folder, entry in file.folders.items():
        path: Path = ("folders", folder)
        parent, slash, _ = folder.rpartition("/")
        if folder == HIERARCHY_NAME:
            yield checked.problem(path, f'"{folder}" is the name of the hierarchy', "another name", of_key=True)
        if slash and parent not in file.folders:
            yield checked.problem(
                path,
                f"its parent {quoted(parent)} is not a folder",
                f"add an entry {quoted(parent)}",
                of_key=True,
            )
        replicas = entry.replicas or []
        store_paths: list[tuple[str, Path]] = [
            (name, (*path, "replicas", index)) for index, name in enumerate(replicas)
        ]
        yield from _repeated(checked, store_paths, "replica")
        store_paths += [(name, (*path, "replica_age_limits", name)) for name in entry.replica_age_limits]
        if file.revision:
            continue  # the lab began with these folders, and the servers may have changed
        for name, at in store_paths:
            server = file.servers.get(name)
            if server is None:
                yield checked.problem(at, f"{quoted(name)} is not a server", did_you_mean(name, file.servers))
            elif server.joins is Joins.LATER:
                yield checked.problem(at, f"{quoted(name)} joins later", "add the replica after it has joined")


def _all_settings(checked: Checked) -> Iterator[Problem]:
    yield from _settings(checked, ("settings",), checked.file.settings)
    for name, entry in checked.file.servers.items():
        yield from _settings(checked, ("servers", name, "settings"), entry.settings)


def _settings(checked: Checked, path: Path, settings: dict[str, RawSetting]) -> Iterator[Problem]:
    spellings: dict[str, str] = {}
    for name, raw in settings.items():
        try:
            spec = find_spec(name)
        except ValueTextError as error:
            yield checked.problem((*path, name), error.what, error.would_be_right, of_key=True)
            continue
        if spec.name in spellings:
            yield checked.problem(
                (*path, name),
                f"this is the same setting as {quoted(spellings[spec.name])}",
                "leave one of them out",
                of_key=True,
            )
        spellings[spec.name] = name
        try:
            read_value(spec, raw)
        except ValueTextError as error:
            yield checked.problem((*path, name), error.what, error.would_be_right)
