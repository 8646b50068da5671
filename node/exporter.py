"""Moves a node's events out of its database into closed segments, and only then prunes them.

Killed between the two, the next export finds what the folder holds already and prunes without writing it again.
"""

from __future__ import annotations

from pathlib import Path

from node.database import Database
from traces.segments import SegmentName, exported_through, write_segment


def export_events(database: Database, node: str, folder: Path) -> None:
    """Writes one segment for each incarnation that has events waiting."""
    written = exported_through(folder, node)
    with database.reading() as conn:
        waiting = conn.exec_driver_sql(
            "SELECT incarnation, seq, batch FROM event WHERE seq > ? ORDER BY seq", (written,)
        ).all()
        last = conn.exec_driver_sql("SELECT coalesce(max(seq), 0) FROM event").scalar_one()
    for incarnation in sorted({row[0] for row in waiting}):
        rows = [row for row in waiting if row[0] == incarnation]
        write_segment(folder, SegmentName(node, incarnation, rows[0][1]), (row[2] for row in rows))
    with database.writing() as conn:
        conn.exec_driver_sql("DELETE FROM event WHERE seq <= ?", (last,))
