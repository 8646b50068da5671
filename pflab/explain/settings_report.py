"""A report on the settings of an organization, as an analyzer tool would give it (spec: SE-1).

For each value that is not the default, the report says where it is kept and what it does. The report warns of values that do
not have the effect that a reader would expect. The report is about a topology file, or about the stores of a lab or a run as
they are now: their present settings and folders, and the registry keys with the GUIDs of these stores.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from node.state.addresses import alias_of
from node.views import DirectoryEntryView, FolderView, SettingView, SourceView
from pflab.terms.folder_ids import HIERARCHY
from pflab.terms.verdict import join_names
from topology.enums import FolderPriority, ResolveMethod
from topology.model import Folder, Server, Topology
from topology.problems import did_you_mean

PREFERRED = "Preferred Backfill Source"


@dataclass(frozen=True, slots=True)
class Finding:
    """A value that is not the default.

    `unit`: the unit in which the number is kept, '' for counts and texts.
    """

    server: str
    setting: str
    value: str
    default: str
    place: str
    does: str
    unit: str


@dataclass(frozen=True, slots=True)
class Remark:
    """A setting whose effect is not what a reader would expect. `server` is '' for the organization."""

    server: str
    text: str


@dataclass(frozen=True, slots=True)
class Analysis:
    findings: tuple[Finding, ...]
    warnings: tuple[Remark, ...]

    def as_document(self) -> dict[str, Any]:
        return {
            "findings": [asdict(finding) for finding in self.findings],
            "warnings": [asdict(warning) for warning in self.warnings],
        }

    def lines(self) -> list[str]:
        lines: list[str] = []
        server = None
        for finding in self.findings:
            if finding.server != server:
                server = finding.server
                lines.append(f"Server {server}")
            lines += [
                f"  {finding.setting} = {finding.value} (default {finding.default})",
                f"    {finding.does}",
                f"    {finding.place}",
            ]
        if not self.findings:
            lines.append("Every setting has its default.")
        lines += [
            f"Note: {f'server {warning.server}: ' if warning.server else ''}{warning.text}" for warning in self.warnings
        ]
        return lines


def analyze(topology: Topology) -> Analysis:
    """Return a report on the settings of a topology."""
    # spec: SE-1
    findings = [finding for server in topology.servers.values() for finding in _findings(server)]
    warnings = [
        *(Remark(name, notice) for name, server in topology.servers.items() for notice in server.settings.notices),
        *_preferred(topology),
        *_status(topology),
        *_addresses(topology),
        *_single_replicas(topology),
    ]
    return Analysis(tuple(findings), tuple(warnings))


@dataclass(frozen=True, slots=True)
class StoreNow:
    """A store as it is now.

    sources: the other stores as backfill sources.
    directory: all stores as it reads their entries.
    """

    settings: Sequence[SettingView]
    folders: Sequence[FolderView]
    sources: Sequence[SourceView]
    directory: Sequence[DirectoryEntryView]


def analyze_stores(topology: Topology, stores: Mapping[str, StoreNow]) -> Analysis:
    """Return a report on the stores of a lab or a run. Servers that could not be read are as in the topology."""
    analysis = analyze(_as_it_is(topology, stores))
    places = {(store, view.name): view.place for store, now in stores.items() for view in now.settings}
    findings = [
        replace(finding, place=places.get((finding.server, finding.setting), finding.place))
        for finding in analysis.findings
    ]
    later = [
        Remark(store, f"{view.name} is {view.next_value} from the next start on")
        for store, now in stores.items()
        for view in now.settings
        if view.next_value is not None
    ]
    silent = [
        Remark(store, f"{source.store} did not answer a backfill request; it is asked last until mail from it arrives")
        for store, now in stores.items()
        for source in now.sources
        if source.unavailable
    ]
    return Analysis(tuple(findings), (*analysis.warnings, *later, *silent, *_without_address(stores)))


def _without_address(stores: Mapping[str, StoreNow]) -> Iterator[Remark]:
    """Yield a remark for each store without an address, with the stores that know it so (spec: ML-1)."""
    stores_by_address: dict[str, list[str]] = {}
    for name, now in stores.items():
        for entry in now.directory:
            if entry.mail is None:
                stores_by_address.setdefault(entry.store, []).append(name)
    for store, by in stores_by_address.items():
        reach = "" if len(by) == len(stores) else f" in the directory of {join_names(by)}"
        yield Remark(
            store, f"the store has no e-mail address{reach}, so no replication mail can be sent to it or by it"
        )


def _as_it_is(topology: Topology, stores: Mapping[str, StoreNow]) -> Topology:
    """Return the topology with the present settings of the stores, and with the folders that the first of them knows."""
    servers = {}
    for name, server in topology.servers.items():
        before = server.settings.as_texts()
        views = stores[name].settings if name in stores else ()
        changes = {view.name: view.value for view in views if view.value != before[view.name]}
        raw_settings = {setting: None if value == "absent" else value for setting, value in changes.items()}
        servers[name] = replace(server, settings=server.settings.changed(raw_settings)) if raw_settings else server
    folder_views = [
        view for now in list(stores.values())[:1] for view in now.folders if not view.hidden and view.id != HIERARCHY
    ]
    folders = {view.path: _folder(topology.folders.get(view.path), view) for view in folder_views}
    return replace(topology, servers=servers, folders=folders or topology.folders)


def _folder(folder: Folder | None, view: FolderView) -> Folder:
    if folder is not None:
        return replace(folder, replicas=view.replicas)
    priority, resolve = FolderPriority(view.priority), ResolveMethod(view.resolve)
    return Folder(view.path, view.replicas, None, view.contacts, priority, resolve)


def _findings(server: Server) -> Iterator[Finding]:
    for value in server.settings.not_default():
        spec = value.spec
        place = spec.place_text(server.version, server.name)
        yield Finding(server.name, spec.name, value.value, value.default, place, spec.does, spec.unit)


def _preferred(topology: Topology) -> Iterator[Remark]:
    """Yield a remark for each preferred backfill source. Exchange Server Analyzer reports them too (source S3)."""
    for name, server in topology.servers.items():
        source = server.settings.preferred_backfill_source
        if source is None:
            continue
        if source == name:
            yield Remark(name, f"its {PREFERRED} is itself; it cannot ask itself, so the value has no effect")
        elif source not in topology.servers:
            yield Remark(name, f"its {PREFERRED} {source!r} is not a server; {did_you_mean(source, topology.servers)}")
        else:
            site, far_site = server.site, topology.servers[source].site
            remark = "" if site == far_site else f", although that is in another site ({far_site}, not {site})"
            yield Remark(name, f"it backfills from {source} first while {source} is up{remark}")


def _status(topology: Topology) -> Iterator[Remark]:
    for name, server in topology.servers.items():
        settings = server.settings
        if settings.status_timeout_us < settings.status_alignment_us:
            yield Remark(
                name,
                f"a status is due {settings.text('Replication Send Status Timeout')} after the last update, but"
                f" the store checks only every {settings.text('Replication Send Status Alignment')}",
            )
        if not settings.repeat_status:
            yield Remark(name, "a lost status is not sent again, as in Exchange: backfill may wait for ever")


def _addresses(topology: Topology) -> Iterator[Remark]:
    owners: dict[str, str] = {}
    for path, folder in topology.folders.items():
        alias = alias_of(folder.name) if folder.alias is None else folder.alias
        if not alias:
            continue
        first = owners.setdefault(alias.casefold(), path)
        if first != path:
            yield Remark(
                "", f"folder {path} cannot have the address {alias}@{topology.domain}, which belongs to {first}"
            )


def _single_replicas(topology: Topology) -> Iterator[Remark]:
    for path, folder in topology.folders.items():
        if len(folder.replicas) == 1 and len(topology.servers) > 1:
            yield Remark(
                "",
                f"folder {path} is held by {folder.replicas[0]} alone: if that store loses its data, the content is lost",
            )
