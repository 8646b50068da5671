"""Work beside the event loop, where the platform has threads. A browser gives Python one thread."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from typing import ParamSpec, TypeVar

T = TypeVar("T")
P = ParamSpec("P")


async def in_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Return the result of a function, which another thread calls meanwhile. Without threads, call it here."""
    if sys.platform == "emscripten":
        return function(*args, **kwargs)
    return await asyncio.to_thread(function, *args, **kwargs)
