"""How to install the packages of an extra of pflab, for messages. It needs the standard library only: doctor uses it too."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path


def how_to_install(extra: str) -> str:
    """Return what to do to get the packages of an extra, with a command.

    The command names the packages of the extra in place of `pflab`, because pflab itself is on no package index.
    """
    try:
        requirements = metadata.requires("pflab") or []
    except metadata.PackageNotFoundError:
        requirements = []
    ends = (f"extra == '{extra}'", f'extra == "{extra}"')
    packages = [requirement.partition(";")[0].strip() for requirement in requirements if requirement.endswith(ends)]
    command = f": {pip_install(packages)}" if packages else ""
    return f"install the extra {extra}{command}"


def pip_install(options: Sequence[str]) -> str:
    """Return the command that installs something for the Python that runs pflab, which need not be the first on the PATH."""
    first = shutil.which("python")
    is_first = first is not None and Path(first).parent == Path(sys.executable).parent
    return shlex.join(["python" if is_first else sys.executable, "-m", "pip", "install", *options])
