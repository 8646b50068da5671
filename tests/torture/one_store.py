"""A store in a separate process, which posts, and prints each post that is acknowledged.

python -m tests.torture.one_store FOLDER full
"""

from __future__ import annotations

import sys
from pathlib import Path

from node.codec.signing import LabAuthority
from node.state.database import Durability
from node.store.node import Node
from tests.support.topologies import THREE_STORES
from topology.file.load import topology_from_text

POSTS = 24
POSTS_OF_AN_EXPORT = 8
FOLDER = "Projects"
STORE = "A"
TOPOLOGY = topology_from_text(THREE_STORES)


def store_in(folder: Path, durability: Durability) -> Node:
    """Return the store; its database and its traces are in the folder."""
    traces = folder / "traces"
    traces.mkdir(parents=True, exist_ok=True)
    return Node(
        STORE,
        topology=TOPOLOGY,
        database=folder / f"{STORE}.sqlite",
        run="power",
        seed=b"seed",
        identity=LabAuthority(b"power").identity(STORE),
        traces_dir=traces,
        durability=durability,
    )


def main(folder: Path, durability: Durability) -> None:
    node = store_in(folder, durability)
    node.open(TOPOLOGY.start_at)
    for number in range(POSTS):
        subject = f"post {number}"
        node.post(node.last_at, FOLDER, subject=subject, body=subject * 20)
        print(subject, flush=True)
        if number % POSTS_OF_AN_EXPORT == 0:
            node.export()
    node.close(node.last_at)


if __name__ == "__main__":
    main(Path(sys.argv[1]), "full" if sys.argv[2] == "full" else "normal")
