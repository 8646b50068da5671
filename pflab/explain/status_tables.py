"""Views of administrators for people and programs: replication status, and the replicas of each server with their statistics.

The replication status (RST-3) is a matrix of folders by servers, or one folder in detail.

A cell of the matrix is the status of a server's own replica, as that server knows it. If the matrix is wider than the terminal,
marks replace the words. If it is still too wide, the servers are divided over several tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final

from rich.text import Text

from node.views import SyncState
from pflab.explain.fitted_table import FittedTable
from pflab.explain.state_tables import average, numbers_text, ranges_json
from pflab.terms.event_words import to_the_second
from pflab.terms.folder_ids import HIERARCHY
from topology.natural_order import natural_order
from topology.problems import counted
from traces.labtime import SECOND_US, format_instant

if TYPE_CHECKING:
    from node.views import FolderStatus, InstanceView, ReplicaStatus


@dataclass(frozen=True, slots=True)
class _Look:
    """How a status looks in the matrix. `means` explains it below the matrix; empty if the word says enough."""

    word: str
    mark: str
    style: str
    means: str


_LOOKS: Final[Mapping[str, _Look]] = {
    SyncState.IN_SYNC: _Look("in sync", "=", "green", "has all changes that it knows of"),
    SyncState.BEHIND: _Look("behind", "<", "red", "lacks changes that another store has"),
    SyncState.LOCALLY_MODIFIED: _Look(
        "modified", ">", "yellow", "not all others have reported a change that was made here"
    ),
    SyncState.NOT_HEARD: _Look("not heard", "?", "magenta", "no mail of another replica has arrived yet"),
    "delete-pending": _Look("leaving", "x", "cyan", "delete-pending: the replica is being removed"),
    "": _Look("-", ".", "dim", "no replica here"),
}
"""The looks of all statuses. `delete-pending` comes before the status of a replica; an empty name means no replica."""

_MOST_FOLDER: Final = 32
"""The widest column of folders; a longer path is cut at its beginning."""

KB: Final = 1024

HIERARCHY_NAME: Final = "Folder hierarchy (1-1)"


def matrix(statuses: Mapping[str, Sequence[FolderStatus]], width: int) -> Iterator[Text]:
    """Yield the lines of the matrix.

    statuses: of each server, in the order of the columns.
    """
    looks: dict[str, dict[str, _Look]] = {}
    for store, store_statuses in statuses.items():
        for status in store_statuses:
            looks.setdefault(status.path, {})[store] = _look(status.replicas[0])
    paths = sorted(looks, key=lambda path: (path != HIERARCHY, natural_order(path)))
    labels = {path: _shortened(HIERARCHY_NAME if path == HIERARCHY else path) for path in paths}
    first = max(len("Folder"), *map(len, labels.values()))
    words = [len(look.word) for cells in looks.values() for look in cells.values()]
    in_words = first + sum(2 + max(len(store), *words) for store in statuses) <= width
    sign: Callable[[_Look], str] = (lambda look: look.word) if in_words else (lambda look: look.mark)
    widest = max(words) if in_words else 1
    for block in _blocks(list(statuses), [2 + max(len(store), widest) for store in statuses], width - first):
        yield Text(("Folder".ljust(first) + "".join(f"  {store:<{widest}}" for store in block)).rstrip(), style="bold")
        for path in paths:
            line = Text(labels[path].ljust(first))
            for store in block:
                look = looks[path].get(store, _LOOKS[""])
                line.append("  ").append(sign(look), style=look.style)
                line.append(" " * (max(widest, len(store)) - len(sign(look))))
            line.rstrip()
            yield line
        yield Text()
    yield from _legend({look for cells in looks.values() for look in cells.values()}, in_words=in_words)
    yield _summary(looks)


def _look(replica: ReplicaStatus) -> _Look:
    return _LOOKS["delete-pending" if replica.pending else replica.sync]


def _shortened(path: str) -> str:
    return path if len(path) <= _MOST_FOLDER else f"...{path[3 - _MOST_FOLDER :]}"


def _blocks(stores: list[str], widths: list[int], room: int) -> Iterator[list[str]]:
    """Divide the servers into groups that fit into the room."""
    block: list[str] = []
    total = 0
    for store, width in zip(stores, widths, strict=True):
        if block and total + width > room:
            yield block
            block, total = [], 0
        block.append(store)
        total += width
    yield block


def _legend(looks: set[_Look], *, in_words: bool) -> Iterator[Text]:
    marks = [look for look in _LOOKS.values() if look in looks and look is not _LOOKS[SyncState.IN_SYNC]]
    for look in marks if in_words else _LOOKS.values():
        yield Text.assemble((look.word if in_words else look.mark, look.style), f": {look.means}")


def _summary(looks: Mapping[str, Mapping[str, _Look]]) -> Text:
    good = sum(set(cells.values()) == {_LOOKS[SyncState.IN_SYNC]} for cells in looks.values())
    if good == len(looks):
        return Text("All folders are in sync on all servers, as far as the servers know.")
    are = "is" if good == 1 else "are"
    return Text(f"{good} of {counted(len(looks), 'folder')} {are} in sync on all servers, as far as the servers know.")


def detail(status: FolderStatus, width: int) -> Iterator[Text]:
    """Yield the lines about one folder at one server, with a line for each replica, as its tools showed them. If the lines are
    wider than the terminal, each replica has several lines."""
    name = HIERARCHY_NAME if status.path == HIERARCHY else status.path
    yield from _wrapped(f"{name}, as Server {status.store} knows it", width, style="bold")
    rows = [("Server", "Status", "Last received", "Average time")]
    rows += [
        (replica.store, _status(replica), _received(replica, replica.store == status.store), _average(replica))
        for replica in status.replicas
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    wide = sum(widths) + 2 * len(widths) <= width
    if wide:
        yield Text(_row(rows[0], widths), style="dim")
    for replica, row in zip(status.replicas, rows[1:], strict=True):
        if wide:
            line = Text(_row(row, widths))
            start = 2 + widths[0] + 2
            line.stylize(_look(replica).style, start, start + len(row[1]))
            yield line
        else:
            yield Text.assemble(f"  {row[0]}: ", (row[1], _look(replica).style))
            yield from (
                Text(f"    {heading.lower()}: {cell}")
                for heading, cell in zip(rows[0][2:], row[2:], strict=True)
                if cell
            )
        if lacking_text := numbers_text(replica.missing, replica.missing_fai):
            verb = "lacks" if replica.store == status.store else "has not reported"
            yield from _wrapped(f"{verb} {lacking_text}", width, indent=widths[0] + 4 if wide else 4)
    if status.unsent:
        yield from _wrapped(f"waits for its broadcast: {numbers_text(status.unsent)}", width, indent=2)


def _wrapped(text: str, width: int, *, indent: int = 0, style: str = "") -> Iterator[Text]:
    """Yield a text as lines that are at most as wide as the terminal, broken between words."""
    for line in wrap(text, max(width - indent, 1), break_on_hyphens=False):
        yield Text(" " * indent + line, style=style)


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "".join(f"  {cell:<{width}}" for cell, width in zip(cells, widths, strict=True)).rstrip()


def _status(replica: ReplicaStatus) -> str:
    return f"{replica.sync}, delete-pending" if replica.pending else str(replica.sync)


def _received(replica: ReplicaStatus, is_own: bool) -> str:
    if is_own:
        return ""
    return "never" if replica.received_at is None else to_the_second(replica.received_at)


def _average(replica: ReplicaStatus) -> str:
    return "" if replica.transmission_us is None else average(replica.transmission_us)


def instances_table(instances: Sequence[InstanceView]) -> FittedTable:
    """Return the replicas as a table, the servers of a folder side by side, with a note where their contents differ."""
    headings = ("Folder", "Server", "Items", "Size", "Last change", "Note")
    table = FittedTable("Public folder instances", headings, right=("Items", "Size"))
    most_items = _most_items(instances)
    before = None
    for instance in sorted(
        instances, key=lambda instance: (natural_order(instance.path), natural_order(instance.store))
    ):
        fewer = most_items.get(instance.path, 0) - instance.items
        notes = {"delete-pending": instance.pending, f"{fewer} fewer": fewer > 0 and not instance.pending}
        table.add_texts(
            "" if instance.path == before else instance.path,
            instance.store,
            f"{instance.items} + {instance.associated}" if instance.associated else str(instance.items),
            f"{-(-instance.size // KB)} KB",
            "never" if instance.changed_at is None else to_the_second(instance.changed_at),
            "\n".join(note for note, holds in notes.items() if holds),
        )
        before = instance.path
    return table


def _most_items(instances: Iterable[InstanceView]) -> dict[str, int]:
    """Return for each folder the items of the replica that has most of them. Replicas that are being removed do not count."""
    counts: dict[str, int] = {}
    for instance in instances:
        if not instance.pending:
            counts[instance.path] = max(counts.get(instance.path, 0), instance.items)
    return counts


def status_json(status: FolderStatus) -> dict[str, Any]:
    """Return the status of a folder at one server as JSON values. Sets are ranges by store, instants are text."""
    return {
        "store": status.store,
        "folder": status.path,
        "sync": status.replicas[0].sync,
        "unsent": ranges_json(status.unsent),
        "replicas": [
            {
                "store": replica.store,
                "sync": replica.sync,
                "delete_pending": replica.pending,
                "missing": ranges_json(replica.missing),
                "missing_fai": ranges_json(replica.missing_fai),
                "received_at": None if replica.received_at is None else format_instant(replica.received_at),
                "average_transmission_s": None
                if replica.transmission_us is None
                else replica.transmission_us / SECOND_US,
            }
            for replica in status.replicas
        ],
    }
