"""How to install the packages of an extra of pflab, for messages. It needs the standard library only: doctor uses it too."""

from __future__ import annotations

import shlex
from importlib import metadata


def how_to_install(extra: str) -> str:
    """Return what to do to get the packages of an extra, with a command.

    The command names the packages of the extra in place of `pflab`, because pflab itself is on no package index.
    """
    try:
        requirements = metadata.requires("pflab") or []
    except metadata.PackageNotFoundError:
        requirements = []
    ends = (f"extra == '{extra}'", f'extra == "{extra}"')
    packages = [each.partition(";")[0].strip() for each in requirements if each.endswith(ends)]
    command = f": python -m pip install {shlex.join(packages)}" if packages else ""
    return f"install the extra {extra}{command}"
