"""The pages of the documentation site that are made from the code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import cast

from tests.support.docs_programs import DOCS, docs_program


@cache
def generated_pages() -> Mapping[str, Callable[[], str]]:
    """Return the generators of the pages by their paths in docs/."""
    return cast(Mapping[str, Callable[[], str]], docs_program("pages", DOCS / "site").GENERATED)
