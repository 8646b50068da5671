"""The topologies and scenarios that a user names on the command line: files, or examples that come with pflab."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from pflab.cli.output import CommandError
from pflab.home import SCENARIOS_OF_PFLAB
from topology.file.examples import EXAMPLES, yaml_file, yaml_names
from topology.file.load import load_topology
from topology.file.yaml_source import MAX_BYTES, read_yaml
from topology.model import Topology
from topology.problems import did_you_mean

SCENARIOS: Final = Path("scenarios")
"""The folder in which a scenario is searched first by its name. The scenarios that come with pflab are searched next."""


def topology_file(path: Path) -> Path:
    """Return the file of a topology: the path, or the example of this name if no file has it."""
    return path if path.exists() else yaml_file(str(path), EXAMPLES) or path


def scenario_file(name: str) -> Path:
    """Return the file of a scenario. The name is a path, a name in scenarios/, or a name of one that comes with pflab."""
    here = Path(name)
    if here.exists():
        return here
    return yaml_file(name, SCENARIOS) or yaml_file(name, SCENARIOS_OF_PFLAB) or here


def given_file(path: Path) -> Path:
    """Return the file of a topology, a scenario or a plan. No two examples have the same name."""
    file = topology_file(path)
    return file if file.exists() else scenario_file(str(path))


def read_topology(path: Path) -> Topology:
    """Return the topology in a file. If no file has this name, return pflab's example of this name.

    Raises CommandError if the file cannot be read or is of another kind, TopologyError for mistakes."""
    path = topology_file(path)
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        what = f"a topology file{or_example(path, EXAMPLES)}"
        raise CommandError(f"{path}: {(error.strerror or str(error)).lower()}; name {what}") from error
    source = read_yaml(content.decode("utf-8", "replace"), str(path))
    if isinstance(source.data, dict) and "servers" not in source.data and "steps" in source.data:
        raise CommandError(f"{path}: this is a scenario, not a topology; name a topology, or use pflab run")
    return load_topology(path)


def or_example(path: Path, *folders: Path) -> str:
    """Return the words that offer the examples in these folders in place of a missing file; nothing for other mistakes.

    The user probably meant an example if the path is a single word, or has the name of an example after some folders.
    """
    examples = yaml_names(*folders)
    meant = not path.exists() and (path == Path(path.stem) or path.stem in examples)
    return f", or one that comes with pflab: {did_you_mean(path.stem, examples)}" if meant else ""
