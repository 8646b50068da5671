"""A lab from the files of a site, in Node.js."""

from __future__ import annotations

import json
import subprocess
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

_PROGRAM: Final = Path(__file__).parents[1] / "tab" / "answers.mjs"


class NodeLab:
    """Starts the lab, and sends it requests.

    folder: the files of the site's lab.

    process: the number of the process.
    """

    def __init__(self, folder: Path) -> None:
        self._node = subprocess.Popen(
            ["node", str(_PROGRAM), str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.process = self._node.pid

    def answer(self, method: str, target: str, body: object = None) -> tuple[int, str]:
        """Return the status and the body of an answer. A text is sent as a mail, and another body as JSON."""
        request = {"method": method, "target": target} | ({} if body is None else {"body": body})
        assert self._node.stdin is not None
        assert self._node.stdout is not None
        self._node.stdin.write(f"{json.dumps(request)}\n")
        self._node.stdin.flush()
        answer = json.loads(self._node.stdout.readline())
        return answer["status"], answer["body"]

    def json(self, method: str, target: str, body: object = None) -> Any:
        """Return the JSON of an answer that is not an error; None if it has no body."""
        status, content = self.answer(method, target, body)
        assert status < HTTPStatus.BAD_REQUEST, content
        return json.loads(content) if content else None

    def close(self) -> None:
        """End the process by the end of its input, which is no error."""
        with self._node as node:
            assert node.stdin is not None
            node.stdin.close()
            assert node.wait(timeout=60) == 0
