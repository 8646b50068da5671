"""The pages of the documentation site that are made from the code."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import cast

GENERATORS = Path(__file__).parents[2] / "docs" / "site"


@cache
def generated_pages() -> Mapping[str, Callable[[], str]]:
    """Return the generators of the pages by their paths in docs/. They are no package, so import them by their folder."""
    sys.path.insert(0, str(GENERATORS))
    try:
        return cast(Mapping[str, Callable[[], str]], import_module("pages").GENERATED)
    finally:
        sys.path.remove(str(GENERATORS))
