"""The topologies that come with pflab, and how a YAML file is found by its name."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
"""The folder of the topologies that come with pflab."""


def yaml_names(*folders: Path) -> list[str]:
    """Return the names of the YAML files in these folders, without .yaml."""
    return sorted(path.stem for folder in folders for path in folder.glob("*.yaml"))


def yaml_file(name: str, folder: Path) -> Path | None:
    """Return the file of that name in a folder, with or without .yaml; None if there is none, or if `name` is a path."""
    if not name or Path(name).name != name:
        return None
    with suppress(OSError):  # no file can have this name
        return next((path for path in (folder / name, folder / f"{name}.yaml") if path.is_file()), None)
    return None
