"""A lab in a test: everything that `pflab.client.Client` can do, waits by condition, and assertions that explain themselves."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

from pflab.client import UNHEARD, Client, ClientError, quoted

__tracebackhide__ = True  # pytest shows the lines of the test that calls this module, not those in it

RESET_TIMEOUT_S = 60.0
"""How long, in real time, a lab may take to go back to a saved state."""

_LOOK_S = 0.005
"""Real time between two questions whether a lab has gone back."""

MOST_STEPS = 100_000
"""How many instants `Lab.until` looks at. A condition that is still false is probably false for ever."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

START = "start"
"""The name of the state that a lab of the plugin saves when it has started."""


class Lab(Client):
    """A lab whose clock stands still. Lab time passes only in calls, so nothing happens between two lines of a test.

    Durations are texts such as `15 min` or `6 h`. url, token: as for a Client. runs_in: the current folder of the lab's
    process, to which the lab's own paths are relative.
    """

    def __init__(self, url: str, *, token: str | None = None, runs_in: Path | None = None) -> None:
        super().__init__(url, token=token)
        self._runs_in = runs_in or Path()

    def __repr__(self) -> str:
        return f"<lab at {self.url}>"

    @property
    def run_folder(self) -> Path:
        """The folder of this run. The lab writes its traces there when it ends or goes back to a saved state."""
        return self._runs_in / str(self.lab()["folder"])

    def smtp(self, server: str) -> tuple[str, int]:
        """Return the address at which a server accepts mail, for `smtplib.SMTP(*lab.smtp("A"))`.

        Raises ClientError if there is no such server, it does not run, or the lab is simulated.
        """
        servers = {each["name"]: each for each in self.lab()["servers"]}
        if server not in servers:
            raise ClientError(404, "ServerUnknown", f"there is no server {server!r}; the lab has {', '.join(servers)}")
        found = servers[server]
        if found["smtp"] is None:
            stopped = found["standing"] != "running"
            why = (
                f"server {server} is {found['standing']}" if stopped else "a simulated lab has no SMTP; use lab.deliver"
            )
            raise ClientError(409, "NotRunning", why)
        host, _, port = str(found["smtp"]).rpartition(":")
        return host, int(port)

    def deliver(self, server: str, sender: str, recipients: Sequence[str], content: bytes) -> None:
        """Send a mail to a server as a mail program outside does, in every kind of lab. Then the mail is durable there."""
        query = urlencode({"from": sender, "to": list(recipients)}, doseq=True)
        self.json("POST", f"/lab/servers/{quoted(server)}/mail?{query}", content)

    # --- time

    def until(self, condition: Callable[[], object], within: str) -> None:
        """Let time pass, instant by instant, until a condition is true. Raises AssertionError if it is not within that time.

        lab.until(lambda: lab.messages("B", "Projects"), within="1 h")
        """
        begun_at = self.now()
        limit = self._instant_after(within)
        for _ in range(MOST_STEPS):
            if condition():
                return
            if not self.step(limit)["moved"]:
                break
        if not condition():
            raise AssertionError(
                f"the condition was false from {begun_at} to {self.now()} ({within})\n{self._explanation()}"
            )

    def _instant_after(self, duration: str) -> str:
        """Return the instant at the end of a duration that begins now."""
        return str(self.json("GET", f"/lab/clock?after={quoted(duration)}")["after_at"])

    # --- convergence

    def assert_converged(self, folder: str, within: str = "0 s") -> None:
        """Assert that all holders of a folder have the same content, at the latest after `within` of lab time.

        The AssertionError says which server lacks what, and why it may be late: mails that wait, faults, stopped servers.
        """
        answer = self.until_converged(folder, within)
        if answer["held"]:
            return
        after = "" if within == "0 s" else f" after {within}"
        lines = [f"{folder} has not converged{after} (lab time {answer['now_at']})"]
        subjects = self._subjects(folder)
        for server, numbers in answer.get("lacking", {}).items():
            has = subjects.get(server, {})
            others = {number: subject for each in subjects.values() for number, subject in each.items()}
            texts = [f"{subject!r}" for number, subject in others.items() if number not in has]
            named = f" ({', '.join(texts)})" if texts else ""
            lines.append(f"  {server} lacks {numbers}{named}")
        away = answer.get("not_asked", ())
        lines += [f"  {server} does not run, so its content is not compared" for server in away]
        raise AssertionError("\n".join([*lines, self._explanation()]))

    def _subjects(self, folder: str) -> dict[str, dict[str, str]]:
        """Return the subject by change number of each message of a folder, by server."""
        found: dict[str, dict[str, str]] = {}
        for server in self.lab()["servers"]:
            try:
                messages = self.messages(server["name"], folder)
            except ClientError:  # no replica, or it does not run
                continue
            found[server["name"]] = {each["number"]: each["subject"] for each in messages}
        return found

    def _explanation(self) -> str:
        """Return what may keep the lab from converging, in lines."""
        lines = []
        lab = self.lab()
        for fault in self.faults():
            details = ", ".join(f"{key} {value}" for key, value in fault.items() if key not in {"id", "kind", "acted"})
            lines.append(f"  the fault {fault['id']} is active: {fault['kind']}{details and f' ({details})'}")
        for server in lab["servers"]:
            if server["standing"] != "running":
                lines.append(f"  server {server['name']} is {server['standing']}")
                continue
            for mail in self.queue(server["name"]):
                to, due_at = ", ".join(mail["recipients"]), mail["due_at"]
                lines.append(f"  a mail to {to} ({mail['subject']}) waits at {server['name']} until {due_at}")
        return "\n".join(lines) or "  no fault is active, no mail waits, and all servers run"

    # --- saved states

    def go_back(self, name: str = START) -> None:
        """Go back to a saved state; by default to the state in which the lab was when it started."""
        history = self.lab()["history"]
        self.reset(name)
        self._wait_for_another(history, f"has not gone back to {name!r}")

    def begin_again(self, topology: str) -> None:
        """Start a new run with the topology of a file's text. Only a lab in containers can do this."""
        history = self.lab()["history"]
        self.renew(topology)
        self._wait_for_another(history, "has not begun another run")

    def _wait_for_another(self, history: str, otherwise: str) -> None:
        deadline_s = time.monotonic() + RESET_TIMEOUT_S
        while not self._has_left(history):
            if time.monotonic() > deadline_s:
                raise ClientError(0, "Silence", f"the lab at {self.url} {otherwise}")
            time.sleep(_LOOK_S)

    def _has_left(self, history: str) -> bool:
        try:
            if self.lab()["history"] == history:
                return False
            self.text("GET", "/readyz")
        except ClientError as error:
            if error.status not in UNHEARD:
                raise
            return False
        return True

    # --- what happened

    def last_events(self, most: int = 15) -> list[str]:
        """Return the last events of the lab in words."""
        answer = self.ask("GET", "/lab/events?words=1&limit=100000")
        lines = self.read(answer).splitlines()
        found: list[dict[str, Any]] = [json.loads(line) for line in lines[-most:]]
        return [f"{_instant(each['at'])}  {each['node']} {each['words']}" for each in found]


def _instant(at_us: int) -> str:
    return (_EPOCH + timedelta(microseconds=at_us)).strftime("%Y-%m-%d %H:%M:%S")
