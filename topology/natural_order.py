"""The order in which people expect names with numbers: S2 before S10."""

from __future__ import annotations

import re
from functools import lru_cache


@lru_cache(maxsize=4096)
def natural_order(text: str) -> tuple[tuple[int, int, str], ...]:
    """Return a sort key in which S2 comes before S10, and a folder before its subfolders."""
    parts = re.findall(r"\d+|[^\d]+", text.casefold())
    return tuple((1, int(part), part) if part[0].isdecimal() else (2, 0, part.replace("/", "\0")) for part in parts)
