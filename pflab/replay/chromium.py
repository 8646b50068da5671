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

from pflab.errors import LabError

NAMES: Final = ("chromium", "chromium-browser", "google-chrome", "chrome")
PATIENCE_S: Final = 120.0
FLAGS: Final = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-extensions", "--disable-dev-shm-usage", "--hide-scrollbars",
    "--remote-debugging-pipe",
)  # fmt: skip
"""Root has no sandbox, and neither has a container. The pages are our own, and their policy loads nothing."""


def chromium() -> str | None:
    """Return the path of Chromium, or None."""
    return next((program for program in map(shutil.which, NAMES) if program), None)


class Browser:
    """A Chromium with one page.

    program: its path. profile: a folder for its files.

    Raises LabError if it ends, does not answer, or reports an error.
    """

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
        targets = self._call("Target.getTargets")["targetInfos"]
        page = next(target["targetId"] for target in targets if target["type"] == "page")
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
        self.open_url(file.absolute().as_uri(), width, height, dark=dark)

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
        """Return the value of a JavaScript expression in the page; of a promise, what it becomes."""
        answer = self._call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise LabError(f"Chromium: {json.dumps(answer['exceptionDetails'])[:1000]}")
        return answer["result"].get("value")

    def picture(self) -> bytes:
        """Return what the window shows, as PNG."""
        return base64.b64decode(self._call("Page.captureScreenshot", format="png", optimizeForSpeed=False)["data"])

    def printed(self) -> bytes:
        """Return the page as it is printed, as PDF."""
        return base64.b64decode(self._call("Page.printToPDF", printBackground=True)["data"])

    def notice(self, method: str, params: dict[str, Any]) -> None:
        """Called with each event of the protocol."""

    def _call(self, method: str, **params: Any) -> dict[str, Any]:
        self._sent += 1
        command = {"id": self._sent, "method": method, "params": params}
        if self._session is not None:
            command["sessionId"] = self._session
        os.write(self._to, json.dumps(command).encode() + b"\0")
        while True:
            message = self._read()
            if message.get("id") == self._sent:
                if "error" in message:
                    raise LabError(f"Chromium: {method}: {message['error']}")
                return dict(message["result"])

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            readable, _, _ = select.select([self._from], [], [], PATIENCE_S)
            if not readable:
                raise LabError(f"Chromium did not answer for {PATIENCE_S:.0f} s")
            part = os.read(self._from, 1 << 16)
            if not part:
                raise LabError("Chromium ended; start it in a terminal to see why")
            self._buffer += part
        line, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        if message.get("method") == "Page.loadEventFired":
            self._loaded = True
        self.notice(message.get("method", ""), message.get("params", {}))
        return message
