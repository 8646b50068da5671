"""Lab files for tests: that of a small simulated lab, and the same with changes."""

from __future__ import annotations

import io
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Final
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from pflab.faults.fault import Lose
from pflab.runs.lab_file import pack
from pflab.runs.run_folder import RunFolder
from pflab.simulation.simulated_lab import SimulatedLab
from topology.file.load import topology_from_text
from traces.labtime import HOUR_US

THREE: Final = """
organization: Contoso
servers: {A: , B: , C: {joins: later}}
folders: {Projects: {replicas: [A, B]}}
"""


async def small_lab_file(folder: Path) -> bytes:
    """Return the file of a lab with posts, a backup, a fault, a killed server and one that has not joined yet."""
    async with SimulatedLab(topology_from_text(THREE), folder=RunFolder.at(folder / "up" / "small")) as lab:
        await lab.do("A", lambda node, now: node.post(now, "Projects", subject="first"))
        await lab.advance(lab.now + HOUR_US)
        await lab.backup("A")
        lab.faults.inject(Lose(from_="A", to="B", type="content", count=9))
        await lab.do("A", lambda node, now: node.post(now, "Projects", subject="lost"))
        await lab.advance(lab.now + HOUR_US)
        await lab.kill("B")
        copy = RunFolder.at(folder / "copy")
        await lab.copy_into(copy)
    return pack(copy)


def files_of(content: bytes) -> dict[str, bytes]:
    """Return the files of a lab file by name."""
    with ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def archive_of(files: Mapping[str, bytes], *more: ZipInfo) -> bytes:
    """Return an archive of these files, and of empty ones that `more` describes."""
    written = io.BytesIO()
    with ZipFile(written, "w", ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
        for member in more:
            archive.writestr(member, b"../../outside")
    return written.getvalue()


def with_database(content: bytes, change: Callable[[sqlite3.Connection], object]) -> bytes:
    """Return a database after a change, in the form of a store's copy."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as opened:
        opened.deserialize(content)
        change(opened)
        return bytes(opened.serialize())
