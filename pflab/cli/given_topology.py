"""The topology that a user names on the command line: a file, or an example of pflab's."""

from __future__ import annotations

from pathlib import Path

from pflab.cli.output import CommandError
from topology.file.examples import EXAMPLES, yaml_file
from topology.file.load import load_topology
from topology.file.yaml_source import MAX_BYTES, read_yaml
from topology.model import Topology
from topology.problems import one_of


def read_topology(path: Path) -> Topology:
    """Return the topology in a file. If no file has this name, return pflab's example of this name.

    Raises CommandError if the file cannot be read or is of another kind, TopologyError for mistakes."""
    if not path.exists():
        path = yaml_file(str(path), EXAMPLES) or path
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise CommandError(f"{path}: {(error.strerror or str(error)).lower()}; {_what_to_name(path, error)}") from error
    source = read_yaml(content.decode("utf-8", "replace"), str(path))
    if isinstance(source.data, dict) and "servers" not in source.data and "steps" in source.data:
        raise CommandError(f"{path}: this is a scenario, not a topology; name a topology, or use pflab run")
    return load_topology(path)


def _what_to_name(path: Path, error: OSError) -> str:
    """Return what a user can name in place of this path. A name, or the path of an example, is answered with the examples."""
    examples = sorted(each.stem for each in EXAMPLES.glob("*.yaml"))
    meant = path == Path(path.stem) or path.stem in examples
    hint = f", or an example that comes with pflab: {one_of(examples)}"
    return "name a topology file" + hint * (meant and isinstance(error, FileNotFoundError))
