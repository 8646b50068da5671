"""Chromium without a window, with everything that went wrong in its page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pflab.replay import chromium as product
from pflab.replay.chromium import FLAGS, chromium

__all__ = ["FLAGS", "Browser", "chromium"]


class Browser(product.Browser):
    """A Chromium with one page. `complaints` are errors and warnings of the console, exceptions, and requests to a network."""

    def __init__(self, program: str, profile: Path) -> None:
        self.complaints: list[str] = []
        super().__init__(program, profile)

    def notice(self, method: str, params: dict[str, Any]) -> None:
        if method in {"Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"}:
            self.complaints.append(json.dumps(params))
        elif method == "Network.requestWillBeSent" and not params["request"]["url"].startswith(
            ("file:", "data:", "about:")
        ):
            self.complaints.append(f"request to {params['request']['url']}")
