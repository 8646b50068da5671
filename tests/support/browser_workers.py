"""Evaluates JavaScript in a worker of Chromium, shared or not, as the browser's developer tools do."""

from __future__ import annotations

import json
from typing import Any, Final

from playwright.sync_api import Browser, Page

LAB_WORKER: Final = "/console/tab/lab_worker.js"
"""How the address of the worker with a lab ends."""


class LabWorker:
    """The worker with the lab of a page. There is one at a time.

    page: is asked something in between, because Playwright hears what the worker says only then.
    """

    def __init__(self, browser: Browser, page: Page) -> None:
        self._page = page
        self._session = browser.new_browser_cdp_session()
        self._said: list[dict[str, Any]] = []
        self._sent = 0
        self._session.on("Target.receivedMessageFromTarget", self._hear)
        targets = self._session.send("Target.getTargets")["targetInfos"]
        [worker] = [each["targetId"] for each in targets if each["url"].endswith(LAB_WORKER)]
        attached = self._session.send("Target.attachToTarget", {"targetId": worker, "flatten": False})
        self._id = attached["sessionId"]

    def start(self, program: str) -> None:
        """Let the worker run a program, without waiting for it."""
        self._sent += 1
        wanted = {"expression": program, "awaitPromise": True, "returnByValue": True}
        message = json.dumps({"id": self._sent, "method": "Runtime.evaluate", "params": wanted})
        self._session.send("Target.sendMessageToTarget", {"sessionId": self._id, "message": message})

    def value(self, expression: str) -> Any:
        """Return the value of an expression, or of the promise that it is; of an error, how it describes itself."""
        self.start(expression)
        while not (answers := [each["result"] for each in self._said if each.get("id") == self._sent]):
            self._page.evaluate("0")
        [answer] = answers
        if "exceptionDetails" in answer:
            return answer["exceptionDetails"]["exception"]["description"]
        return answer["result"].get("value")

    def _hear(self, told: dict[str, str]) -> None:
        self._said.append(json.loads(told["message"]))
