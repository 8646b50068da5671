"""The folder tree, computed from the folders' versions alone (spec: HI-1, HI-7).

All stores compute the tree from the same versions by the same rules. So the tree is the same everywhere, and no further
changes are needed. If concurrent moves make a cycle, the folder in it with the latest version is put under 1-1. Folders with
the same name and parent are all kept, and all but the one with the smallest creation number are shown with a suffix.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from node.codec.items import ROOT, ROOT_TEXT, FolderProperties, object_text, read_folder
from node.errors import FolderUnknown
from node.state.store_identity import StoreState
from node.stored_values import HIERARCHY_FID
from node.tracking.change_number import ChangeNumber
from node.tracking.pcl import Pcl
from traces.labtime import LabTime
from transport.sql import Connection, Statement

ALL_FOLDERS = Statement("SELECT fid, object, rep, ctr, pcl, modified_at, deleted, item FROM folder ORDER BY fid")


@dataclass(slots=True)
class Folder:
    """A folder: its winning version and its place in the tree. `props` None: it is deleted."""

    fid: int
    object: bytes
    number: ChangeNumber
    pcl: Pcl
    modified_at: LabTime
    props: FolderProperties | None
    hidden: bool = False  # spec: HI-6 one of its parents is a tombstone
    parent: bytes = ROOT  # in the tree, after cycles are cut
    path: str = ""
    children: list[bytes] = field(default_factory=list)

    @property
    def text(self) -> str:
        return object_text(self.object)

    @property
    def home(self) -> str | None:
        """The home store is the first in the replica list. It sends notices and resolves old conflicts (spec: CF-2, CF-5)."""
        return self.props.replicas[0] if self.props is not None and self.props.replicas else None

    @property
    def rank(self) -> tuple[LabTime, ChangeNumber]:
        """A later version has a higher rank: by time, then by the version's own number (spec: HI-5)."""
        return self.modified_at, self.number


class Folders:
    """All folders known here, including tombstones. They are read from the table at the start and after a rollback."""

    def __init__(self, conn: Connection, store: StoreState) -> None:
        self._by_object: dict[bytes, Folder] = {}
        self._by_fid: dict[int, Folder] = {}
        self._by_path: dict[str, Folder] = {}
        for fid, object_id, rep, ctr, pcl, modified_at, deleted, item in conn.exec_driver_sql(ALL_FOLDERS):
            props = None if deleted else read_folder(item)
            folder = Folder(fid, object_id, store.number(rep, ctr), Pcl.decode(pcl), modified_at, props)
            self._by_object[object_id] = folder
            self._by_fid[fid] = folder
        self.next_fid = max(self._by_fid, default=HIERARCHY_FID) + 1
        self.arranged = 0  # how often the tree was computed; a cached tree with another number is stale
        self.arrange()

    # -- looking up

    def get(self, object_id: bytes) -> Folder | None:
        return self._by_object.get(object_id)

    def at(self, fid: int) -> Folder:
        return self._by_fid[fid]

    def fid_of(self, object_id: bytes) -> int | None:
        if object_id == ROOT:
            return HIERARCHY_FID
        folder = self._by_object.get(object_id)
        return folder.fid if folder else None

    def object_of(self, fid: int) -> bytes:
        return ROOT if fid == HIERARCHY_FID else self._by_fid[fid].object

    def text_of(self, fid: int) -> str:
        return object_text(self.object_of(fid))

    def path_of(self, fid: int) -> str:
        return ROOT_TEXT if fid == HIERARCHY_FID else self._by_fid[fid].path

    def visible(self, path: str) -> Folder:
        """Return the visible folder with this path. Raise FolderUnknown, naming all paths, if there is none."""
        folder = self._by_path.get(path.strip("/"))
        if folder is None:
            paths = ", ".join(sorted(self._by_path)) or "none"
            hint = f"; the hierarchy is {ROOT_TEXT}" if path.casefold() == "hierarchy" else ""
            raise FolderUnknown(f"no folder {path!r} here; the folders are: {paths}{hint}")
        return folder

    def find(self, path: str) -> Folder | None:
        return self._by_path.get(path.strip("/"))

    def sibling(self, parent: Folder | None, name: str) -> Folder | None:
        """Return a visible folder under this parent (None: the top) that is shown with this name, ignoring case, or None.

        Exchange treated names that differ only in case as equal.
        """
        above = f"{parent.path}/" if parent is not None else ""
        folded_path = f"{above}{name}".casefold()
        namesake = self._by_path.get(above + name)
        if namesake is not None:
            return namesake
        return next((folder for path, folder in self._by_path.items() if path.casefold() == folded_path), None)

    def all(self) -> Iterator[Folder]:
        """Return an iterator over all folders, also tombstones, by local row number."""
        return iter([self._by_fid[fid] for fid in sorted(self._by_fid)])

    def below(self, folder: Folder) -> list[Folder]:
        """Return the folder and all visible folders below it, parents first."""
        folders = [folder]
        for parent in folders:
            folders.extend(self._by_object[child] for child in parent.children)
        return folders

    # -- changing

    def put(self, folder: Folder) -> None:
        """Store a folder's new winning version. Call `arrange` afterwards."""
        self._by_object[folder.object] = folder
        self._by_fid[folder.fid] = folder
        self.next_fid = max(self.next_fid, folder.fid + 1)

    def forget(self, folder: Folder) -> None:
        """Remove a tombstone that was dropped (spec: DL-4)."""
        del self._by_object[folder.object]
        del self._by_fid[folder.fid]

    def arrange(self) -> None:
        """Compute the tree (spec: HI-7)."""
        self.arranged += 1
        live = [folder for folder in self.all() if folder.props is not None]
        for folder in live:
            assert folder.props is not None
            folder.parent, folder.children, folder.path, folder.hidden = folder.props.parent, [], "", False
        self._cut_cycles(live)
        for folder in live:
            parent = self._by_object.get(folder.parent)
            if folder.parent != ROOT and parent is not None and parent.props is not None:
                parent.children.append(folder.object)
        self._by_path = {}
        self._name("", [folder for folder in live if folder.parent == ROOT])
        for folder in live:
            folder.hidden = not folder.path

    def _cut_cycles(self, live: list[Folder]) -> None:
        settled: set[bytes] = {ROOT}
        for start in live:
            chain: list[Folder] = []
            on_chain: dict[bytes, int] = {}
            at: Folder | None = start
            while at is not None and at.object not in settled and at.object not in on_chain:
                on_chain[at.object] = len(chain)
                chain.append(at)
                at = self._by_object.get(at.parent)
                if at is not None and at.props is None:
                    at = None
            if at is not None and at.object in on_chain:
                cycle = chain[on_chain[at.object] :]
                max(cycle, key=lambda folder: folder.rank).parent = ROOT
            settled.update(folder.object for folder in chain)

    def _name(self, prefix: str, siblings: list[Folder]) -> None:
        stack = [(prefix, siblings)]
        while stack:
            above, group = stack.pop()
            names: set[str] = set()
            for folder in sorted(group, key=lambda folder: (folder.props.created, folder.object)):  # type: ignore[union-attr]
                assert folder.props is not None
                name, count = folder.props.name, 1
                while name in names:
                    count += 1
                    name = f"{folder.props.name} ({count})"
                names.add(name)
                folder.path = f"{above}/{name}" if above else name
                self._by_path[folder.path] = folder
                stack.append((folder.path, [self._by_object[child] for child in folder.children]))
