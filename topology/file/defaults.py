"""Fill in every default of a valid topology file. The defaults of settings are in `topology.settings.catalogue`."""

from topology.file.model import DEFAULT_SITE, ConnectorEntry, TopologyFile
from topology.model import Connector, Folder, Server, Topology
from topology.recipient_policy import PolicyFilter, RecipientPolicy
from topology.settings.values import Settings


def site_names(file: TopologyFile) -> list[str]:
    """Return the sites of the file, or the sites that its servers name, or else a single default site."""
    if file.sites is not None:
        return list(file.sites)
    named = [server.site for server in file.servers.values() if server.site is not None]
    return list(dict.fromkeys(named)) or [DEFAULT_SITE]


def server_sites(file: TopologyFile) -> dict[str, str]:
    """Map each server to its site; a server without one is in the first site."""
    first, *_ = [*site_names(file), DEFAULT_SITE]
    return {name: server.site or first for name, server in file.servers.items()}


def connector_name(entry: ConnectorEntry) -> str:
    """Return the name of a connector, by default made of its two sites."""
    return entry.name or "-".join(entry.between)


def resolve(file: TopologyFile) -> Topology:
    """Return the topology of a file in which `checks` found no mistake."""
    homes = server_sites(file)
    servers = {
        name: Server(
            name=name,
            site=homes[name],
            version=entry.version,
            joins=entry.joins,
            place=index if entry.place is None else entry.place,
            smtp_port=entry.smtp_port,
            settings=Settings.read(entry.version, entry.settings, file.settings),
            own_settings=dict(entry.settings),
        )
        for index, (name, entry) in enumerate(file.servers.items())
    }
    from_start = tuple(name for name, server in servers.items() if not server.joins_later)
    # A parent's path has fewer parts than its children's. The sort is stable and keeps the file's order otherwise.
    paths = sorted(file.folders, key=lambda path: path.count("/"))
    folders = {
        path: Folder(
            path=path,
            replicas=from_start if (entry := file.folders[path]).replicas is None else tuple(entry.replicas),
            schedule=entry.schedule,
            contacts=tuple(entry.contacts),
            priority=entry.priority,
            resolve=entry.resolve,
            alias=entry.alias,
            age_limit_us=entry.age_limit,
            warning_limit_bytes=entry.warning_limit,
            post_limit_bytes=entry.post_limit,
            item_limit_bytes=entry.item_limit,
            description=entry.description,
            replica_age_limits_us=dict(entry.replica_age_limits),
        )
        for path in paths
    }
    return Topology(
        organization=file.organization,
        domain=file.domain,
        start_at=file.start,
        sites=tuple(site_names(file)),
        connectors=tuple(_connector(entry, homes) for entry in file.connectors),
        servers=servers,
        folders=folders,
        settings=dict(file.settings),
        recipient_policies=tuple(
            RecipientPolicy(
                entry.name,
                entry.domain,
                PolicyFilter(tuple(entry.filter.sites), tuple(entry.filter.servers), tuple(entry.filter.versions)),
            )
            for entry in file.recipient_policies
        ),
        recipient_update_us=file.recipient_update,
        revision=file.revision,
    )


def _connector(entry: ConnectorEntry, homes: dict[str, str]) -> Connector:
    site, far_site = entry.between
    return Connector(
        name=connector_name(entry),
        kind=entry.kind,
        between=(site, far_site),
        cost=entry.cost,
        latency_us=entry.latency,
        bandwidth=entry.bandwidth,
        schedule=entry.schedule,
        # A connector without an affinity uses its cost. The affinity "none" was read as 0, and becomes None.
        affinity=entry.cost if entry.affinity is None else entry.affinity or None,
        size_limit=entry.size_limit,
        senders=None if entry.senders is None else frozenset(sender.casefold() for sender in entry.senders),
        relay=entry.relay,
        bridgeheads=(_bridgehead(entry, site, homes), _bridgehead(entry, far_site, homes)),
    )


def _bridgehead(entry: ConnectorEntry, site: str, homes: dict[str, str]) -> str:
    return entry.bridgeheads.get(site) or next(name for name, home in homes.items() if home == site)
