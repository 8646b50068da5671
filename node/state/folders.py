"""The folder tree, computed from the folders' versions alone (spec: HI-1, HI-7).

Every store computes it from the same versions by the same rules, so it is equal everywhere without new numbers: a cycle
made by concurrent moves is cut at its folder with the latest version, which then hangs under 1-1; folders of one name
under one parent all stay, and those with the larger creating number are shown with a suffix.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from node.codec.items import ROOT, ROOT_TEXT, FolderProperties, object_text, read_folder
from node.errors import FolderUnknown
from node.state.store_identity import StoreState
from node.state.tables import HIERARCHY_FID
from node.tracking.change_number import ChangeNumber
from node.tracking.pcl import Pcl
from traces import LabTime
from transport.sql import Connection


@dataclass(slots=True)
class Folder:
    """A folder as its winning version says it is, and where the tree puts it. `props` None: it is deleted."""

    fid: int
    object: bytes
    number: ChangeNumber
    pcl: Pcl
    modified_at: LabTime
    props: FolderProperties | None
    hidden: bool = False  # spec: HI-6 its parent chain is tombstoned
    parent: bytes = ROOT  # where it hangs, cycles cut
    path: str = ""
    children: list[bytes] = field(default_factory=list)

    @property
    def text(self) -> str:
        return object_text(self.object)

    @property
    def home(self) -> str | None:
        """The home store, first in the replica list, that tells of conflicts and ends old ones (spec: CF-2, CF-5)."""
        return self.props.replicas[0] if self.props is not None and self.props.replicas else None

    @property
    def rank(self) -> tuple[LabTime, ChangeNumber]:
        """Later is larger (spec: HI-5): by time, then by the version's own number."""
        return self.modified_at, self.number


class Folders:
    """All folders known here, live and tombstoned. Built from the table; dropped on rollback."""

    def __init__(self, conn: Connection, store: StoreState) -> None:
        self._by_object: dict[bytes, Folder] = {}
        self._by_fid: dict[int, Folder] = {}
        self._by_path: dict[str, Folder] = {}
        for fid, object_id, rep, ctr, pcl, modified_at, deleted, item in conn.exec_driver_sql(
            "SELECT fid, object, rep, ctr, pcl, modified_at, deleted, item FROM folder ORDER BY fid"
        ):
            props = None if deleted else read_folder(item)
            folder = Folder(fid, object_id, store.number(rep, ctr), Pcl.decode(pcl), modified_at, props)
            self._by_object[object_id] = folder
            self._by_fid[fid] = folder
        self.next_fid = max(self._by_fid, default=HIERARCHY_FID) + 1
        self.arranged = 0  # how often the tree was computed: whoever keeps something made of it sees that it is old
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
        """The visible folder of this path. FolderUnknown, naming near ones, if there is none."""
        folder = self._by_path.get(path.strip("/"))
        if folder is None:
            known = ", ".join(sorted(self._by_path)) or "none"
            raise FolderUnknown(f"no folder {path!r} here; the folders are: {known}")
        return folder

    def find(self, path: str) -> Folder | None:
        return self._by_path.get(path.strip("/"))

    def sibling(self, parent: Folder | None, name: str) -> Folder | None:
        """A visible folder under this parent (None: at the top) that is shown by this name, whatever its case: to the
        people who used them these were one folder."""
        above = f"{parent.path}/" if parent is not None else ""
        wanted = f"{above}{name}".casefold()
        known = self._by_path.get(above + name)
        if known is not None:
            return known
        return next((folder for path, folder in self._by_path.items() if path.casefold() == wanted), None)

    def all(self) -> Iterator[Folder]:
        """Every folder known, tombstones too, in order of their local rows."""
        return iter([self._by_fid[fid] for fid in sorted(self._by_fid)])

    def below(self, folder: Folder) -> list[Folder]:
        """The folder and all that is shown under it, parents first."""
        found = [folder]
        for each in found:
            found.extend(self._by_object[child] for child in each.children)
        return found

    # -- changing

    def put(self, folder: Folder) -> None:
        """A new winning version of a folder; `arrange` afterwards."""
        self._by_object[folder.object] = folder
        self._by_fid[folder.fid] = folder
        self.next_fid = max(self.next_fid, folder.fid + 1)

    def forget(self, folder: Folder) -> None:
        """A tombstone was dropped (spec: DL-4)."""
        del self._by_object[folder.object]
        del self._by_fid[folder.fid]

    def arrange(self) -> None:
        """Computes the tree anew (spec: HI-7)."""
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
            taken: set[str] = set()
            for folder in sorted(group, key=lambda each: (each.props.created, each.object)):  # type: ignore[union-attr]
                assert folder.props is not None
                shown, count = folder.props.name, 1
                while shown in taken:
                    count += 1
                    shown = f"{folder.props.name} ({count})"
                taken.add(shown)
                folder.path = f"{above}/{shown}" if above else shown
                self._by_path[folder.path] = folder
                stack.append((folder.path, [self._by_object[child] for child in folder.children]))
