"""Chromium without a window, steered over a pipe by its DevTools protocol: no driver and no port."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

NAMES: Final = ("chromium", "chromium-browser", "google-chrome", "chrome")
PATIENCE_S: Final = 120.0
FLAGS: Final = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-extensions", "--disable-dev-shm-usage", "--hide-scrollbars",
    "--remote-debugging-pipe",
)  # fmt: skip


def chromium() -> str | None:
    """Return the path of Chromium, or None."""
    return next((found for found in map(shutil.which, NAMES) if found), None)


class Browser:
    """A Chromium with one page. `complaints` are errors and warnings of the console, exceptions, and requests to a network."""

    def __init__(self, program: str, profile: Path) -> None:
        # Chromium reads commands from its descriptor 3 and writes answers to 4.
        commands, self._to = os.pipe()
        self._from, answers = os.pipe()
        script = f'exec "$0" "$@" 3<&{commands} 4>&{answers}'
        self._process = subprocess.Popen(
            ["/bin/bash", "-c", script, program, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
            pass_fds=(commands, answers), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(commands)
        os.close(answers)
        self._buffer = b""
        self._sent = 0
        self._session: str | None = None
        self._loaded = False
        self.complaints: list[str] = []
        targets = self._call("Target.getTargets")["targetInfos"]
        page = next(each["targetId"] for each in targets if each["type"] == "page")
        self._session = self._call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._call(f"{domain}.enable")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._to)
        os.close(self._from)

    def open(self, file: Path, width: int, height: int, *, dark: bool = False) -> None:
        """Open a file in a window of this size, and wait until it is loaded."""
        self.open_url(file.as_uri(), width, height, dark=dark)

    def open_url(self, url: str, width: int, height: int, *, dark: bool = False) -> None:
        """Open a page in a window of this size, and wait until it is loaded."""
        self._call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._call("Emulation.setEmulatedMedia", features=[scheme])
        self._loaded = False
        self._call("Page.navigate", url=url)
        while not self._loaded:
            self._read()

    def value(self, expression: str) -> Any:
        """Return the value of a JavaScript expression in the page."""
        answer = self._call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def awaited(self, expression: str) -> Any:
        """Return what the promise of a JavaScript expression in the page becomes."""
        answer = self._call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def picture(self) -> bytes:
        """Return what the window shows, as PNG."""
        return base64.b64decode(self._call("Page.captureScreenshot", format="png", optimizeForSpeed=False)["data"])

    def printed(self) -> bytes:
        """Return the page as it is printed, as PDF."""
        return base64.b64decode(self._call("Page.printToPDF", printBackground=True)["data"])

    def _call(self, method: str, **params: Any) -> dict[str, Any]:
        self._sent += 1
        command = {"id": self._sent, "method": method, "params": params}
        if self._session is not None:
            command["sessionId"] = self._session
        os.write(self._to, json.dumps(command).encode() + b"\0")
        while True:
            said = self._read()
            if said.get("id") == self._sent:
                assert "error" not in said, (method, said)
                return dict(said["result"])

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            readable, _, _ = select.select([self._from], [], [], PATIENCE_S)
            assert readable, f"Chromium did not answer for {PATIENCE_S:.0f} s"
            part = os.read(self._from, 1 << 16)
            assert part, "Chromium ended"
            self._buffer += part
        line, _, self._buffer = self._buffer.partition(b"\0")
        said: dict[str, Any] = json.loads(line)
        self._notice(said.get("method", ""), said.get("params", {}))
        return said

    def _notice(self, method: str, params: dict[str, Any]) -> None:
        if method == "Page.loadEventFired":
            self._loaded = True
        elif method in {"Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"}:
            self.complaints.append(json.dumps(params))
        elif method == "Network.requestWillBeSent" and not params["request"]["url"].startswith(
            ("file:", "data:", "about:")
        ):
            self.complaints.append(f"request to {params['request']['url']}")
