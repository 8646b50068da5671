"""The first state of a store: it has the folders of the topology as if they had replicated long ago.

The change numbers of these folders have a separate GUID, `Setup`. The bytes of the folders are the same on every store. A
store that joins later begins with an empty hierarchy and gets the folders by backfill, like any new store (spec: RP-3).
"""

from __future__ import annotations

from node.administration.folder_properties import with_fields
from node.codec.items import ROOT, FolderProperties, Version, encode_folder
from node.objects.apply_folders import put
from node.seeded_ids import setup_guid
from node.state.context import Context
from node.state.folders import Folder
from node.state.state_table import PeerRow
from node.stored_values import HIERARCHY_FID
from node.tracking.change_number import ChangeNumber
from node.tracking.cnset import CNSet
from node.tracking.number_sets import NumberSets
from node.tracking.pcl import Pcl
from topology.model import Topology
from transport.stimulus import Stimulus

SETUP = "Setup"


def replica_limits(topology: Topology, store: str) -> dict[bytes, int]:
    """Return the age limits that the topology sets for this store's replicas, by folder id, in microseconds (spec: DL-3)."""
    guid = setup_guid(topology.organization)
    return {
        ChangeNumber(guid, index).to_xid(): spec.replica_age_limits_us[store]
        for index, spec in enumerate(topology.folders.values(), start=1)
        if store in spec.replica_age_limits_us
    }


def begin(ctx: Context, s: Stimulus, topology: Topology, *, later: bool) -> None:
    """Write the first state of a store.

    `later`: the store joins a running organization.
    """
    ctx.rst.begin(s.conn, HIERARCHY_FID, 0, fresh=later)
    guid = setup_guid(topology.organization)
    ctx.store.learn_store(s.conn, guid, SETUP)
    if later:
        return
    ids: dict[str, bytes] = {}
    for index, (path, spec) in enumerate(topology.folders.items(), start=1):
        number = ChangeNumber(guid, index)
        above, _, name = path.rpartition("/")
        props = FolderProperties(
            parent=ids[above] if above else ROOT,
            name=name,
            replicas=tuple(spec.replicas),
            added_at=(topology.start_at,) * len(spec.replicas),
            created=number,
        )
        props = with_fields(props, spec.fields())
        ids[path] = number.to_xid()
        item = encode_folder(ids[path], number, Pcl.of(number), topology.start_at, props, None)
        version = Version(ids[path], number, Pcl.of(number), topology.start_at, item)
        folder = Folder(ctx.folders.next_fid, ids[path], number, version.pcl, topology.start_at, props)
        put(ctx, s, folder, version, None, sent=True)
    ctx.folders.arrange()
    _first_rows(ctx, s, NumberSets(CNSet.span(guid, 1, len(ids))) if ids else NumberSets.EMPTY)


def _first_rows(ctx: Context, s: Stimulus, hierarchy: NumberSets) -> None:
    ctx.rst.add(HIERARCHY_FID, hierarchy)
    _peer_rows(ctx, s, HIERARCHY_FID, hierarchy)
    for folder in ctx.folders.all():
        if folder.props is None or ctx.name not in folder.props.replicas:
            continue
        ctx.rst.begin(s.conn, folder.fid, 0)
        _peer_rows(ctx, s, folder.fid, NumberSets.EMPTY)


def _peer_rows(ctx: Context, s: Stimulus, fid: int, numbers: NumberSets) -> None:
    ctx.rst.put(s.conn, fid, *[PeerRow(store, numbers, None, 0, 0) for store in ctx.other_holders(fid)])
