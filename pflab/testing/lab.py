"""A lab in a test: everything that `pflab.client.Client` can do, waits by condition, and assertions that explain themselves."""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from http.client import HTTPResponse
from inspect import isawaitable, iscoroutine
from itertools import dropwhile
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Final, Unpack
from urllib.parse import urlencode

from pflab.client import CHECK_S, UNHEARD, Client, ClientError, RequestOptions, quoted
from pflab.testing.up_process import UpProcess

__tracebackhide__ = True  # pytest shows the lines of the test that calls this module, not those in it

SILENCE_TIMEOUT_S = 60.0
"""How long, in real time, a lab may give no sign of life before a call that moves its clock fails. Other calls fail after the
time-out of the client."""

RESET_TIMEOUT_S = 60.0
"""How long, in real time, a lab may take to go back to a saved state."""

_LOOK_S = 0.005
"""Real time between two questions whether a lab has gone back."""

MOST_STEPS = 100_000
"""How many instants `Lab.until` looks at. If a condition is still false then, it will probably never be true."""

_EXAMPLE: Final = 'lambda: lab.messages("B", "Projects")'
"""A condition for `Lab.until`."""

_CHANGES: Final = ("/nodes/", "/lab/servers/")
"""The paths of requests that may send mail at once. A simulated lab answers them when the mail has arrived."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

_OF_THE_START: Final = {"run.started", "node.started", "address.stamped", "clock.changed"}
"""The types of the events with which a lab starts or goes back to its start."""

_LOOKED_AT: Final = 1000
"""How many of the last events `Lab.last_events` chooses from."""

START = "start"
"""The name of the state that a lab of the plugin saves when it has started."""


class Lab(Client):
    """A lab whose clock stands still. Lab time passes only in calls, so nothing happens between two lines of a test.

    Durations are texts such as `15 min` or `6 h`.

    url, token: as for a Client.
    runs_in: the current folder of the lab's process, to which the lab's own paths are relative.
    start: the saved state to which `go_back()` goes.
    state: returns what is known about the lab's process if it does not answer, or ''.

    Calls that move the clock wait as long as the lab gives signs of life. If the lab falls silent, the call fails, and so do
    later calls, until the lab answers again.
    """

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        runs_in: Path | None = None,
        start: str = START,
        state: Callable[[], str] = str,
    ) -> None:
        super().__init__(url, token=token)
        self._runs_in = runs_in or Path()
        self._start = start
        self._state = state
        self.silence = ""
        """Why the last call had no answer, or ''."""

    @classmethod
    def of_process(cls, process: UpProcess) -> Lab:
        """Return the lab of a process."""
        return cls(process.url, token=process.token, runs_in=process.folder, state=process.state)

    def __repr__(self) -> str:
        return f"<lab at {self.url}>"

    @property
    def silent(self) -> bool:
        """Whether the lab did not answer the last call, and still does not answer."""
        return bool(self.silence) and not self._answers()

    def ask(self, method: str, path: str, body: Any = None, **options: Unpack[RequestOptions]) -> HTTPResponse:
        """Send a request and return the answer before its body is read."""
        if self.silent:
            raise ClientError(0, "Silence", self.silence)
        self.silence = ""
        return super().ask(method, path, body, **options)

    def _check_for(self, *, patient: bool) -> Callable[[], None] | None:
        return self._sign_of_life() if patient else None

    def _sign_of_life(self) -> Callable[[], None]:
        """Return a function that raises TimeoutError if the lab has given no sign of life for SILENCE_TIMEOUT_S."""
        silent_s, checked_s = 0.0, time.monotonic()

        def check() -> None:
            nonlocal silent_s, checked_s
            answers, before_s = self._answers(), checked_s
            checked_s = time.monotonic()
            # If a round lasted longer, this process itself was too slow to ask. So the additional time does not count.
            silent_s = 0.0 if answers else silent_s + min(checked_s - before_s, 3 * CHECK_S)
            if silent_s >= SILENCE_TIMEOUT_S:
                raise TimeoutError(f"no sign of life for {SILENCE_TIMEOUT_S:g} s")

        return check

    def _silence(self, error: Exception, awaited: str) -> ClientError:
        if not isinstance(error, TimeoutError):
            return super()._silence(error, awaited)
        reason, state = str(error), self._state()
        limit = f"within {self.timeout_s:g} s" if reason == "timed out" else f"({reason})"
        self.silence = (
            f"the lab at {self.url} has fallen silent: {awaited} did not come {limit}{state and f'; {state}'}"
        )
        return ClientError(0, "Silence", self.silence)

    @property
    def run_folder(self) -> Path:
        """The folder of this run. The lab writes its traces there when it ends or goes back to a saved state."""
        return self._runs_in / str(self.lab()["folder"])

    def smtp(self, server: str) -> tuple[str, int]:
        """Return the address at which a server accepts mail, for `smtplib.SMTP(*lab.smtp("A"))`.

        Raises ClientError if there is no such server, it does not run, or the lab is simulated.
        """
        servers = {entry["name"]: entry for entry in self.lab()["servers"]}
        if server not in servers:
            raise ClientError(404, "ServerUnknown", f"there is no server {server!r}; the lab has {', '.join(servers)}")
        status = servers[server]
        if status["smtp"] is None:
            stopped = status["status"] != "running"
            why = (
                f"server {server} is {status['status']}" if stopped else "a simulated lab has no SMTP; use lab.deliver"
            )
            raise ClientError(409, "NotRunning", why)
        host, _, port = str(status["smtp"]).rpartition(":")
        return host, int(port)

    def deliver(self, server: str, sender: str, recipients: Sequence[str], content: bytes) -> dict[str, str]:
        """Send a mail to a server as a mail program outside does, in every kind of lab. Then the mail is durable there.

        Returns the recipients that the server refused, each with its reply. Raises ClientError if it refused all.
        """
        query = urlencode({"from": sender, "to": list(recipients)}, doseq=True)
        return dict(self.json("POST", f"/lab/servers/{quoted(server)}/mail?{query}", content)["refused"])

    # --- time

    def json(self, method: str, path: str, body: Any = None, **options: Unpack[RequestOptions]) -> Any:
        """Send a request and return the JSON of the answer. After a change, wait for the mails that leave at once."""
        answer = super().json(method, path, body, **options)
        if method != "GET" and path.startswith(_CHANGES):
            with suppress(ClientError):  # the clock moves already, or the change was that the lab ends
                self.advance("0 s")
        return answer

    def until(self, condition: Callable[[], object], within: str) -> None:
        """Let time pass, instant by instant, until a condition is true. Raises AssertionError if it is not within that time.

        lab.until(lambda: lab.messages("B", "Projects"), within="1 h")
        """
        check_function(condition)
        begun_at = self.now()
        limit = self._instant_after(within)
        for _ in range(MOST_STEPS):
            if _value_of(condition):
                return
            if not self.step(limit)["moved"]:
                break
        last = _value_of(condition)
        if not last:
            raise AssertionError(self._never_true(last, begun_at, within))

    def _never_true(self, last: object, begun_at: str, within: str) -> str:
        """Return how long the condition has been false, and the likely reason.

        last: its last value.
        """
        value = "" if last is None or last is False else f", at the end {last!r}"
        return f"the condition was false from {begun_at} to {self.now()} ({within}){value}\n{self._explanation()}"

    def _instant_after(self, duration: str) -> str:
        """Return the instant at the end of a duration that begins now."""
        return str(self.json("GET", f"/lab/clock?after={quoted(duration)}")["after_at"])

    # --- convergence

    def assert_converged(self, folder: str, within: str = "0 s") -> None:
        """Assert that all holders of a folder run and have the same content, at the latest after `within` of lab time.

        The AssertionError says which server lacks what, and why it may be late: mails that wait, faults, stopped servers.
        """
        answer = self.until_converged(folder, within)
        if answer["held"]:
            return
        after = "" if within == "0 s" else f" after {within}"
        lines = [f"{folder} has not converged{after} (lab time {answer['now_at']})"]
        subjects = self._subjects(folder)
        for server, numbers in answer.get("lacking", {}).items():
            posted = {number: subject for posts in subjects.values() for number, subject in posts.items()}
            texts = [f"{subject!r}" for number, subject in posted.items() if _contains(numbers, number)]
            named = f" ({', '.join(texts)})" if texts else ""
            lines.append(f"  {server} lacks {numbers}{named}")
        lines += [f"  {server} does not run, so its content is unknown" for server in answer["not_asked"]]
        raise AssertionError("\n".join([*lines, self._explanation()]))

    def _subjects(self, folder: str) -> dict[str, dict[str, str]]:
        """Return the subject by change number of each message of a folder, by server."""
        by_server: dict[str, dict[str, str]] = {}
        for server in self.lab()["servers"]:
            try:
                messages = self.messages(server["name"], folder)
            except ClientError:  # no replica, or it does not run
                continue
            by_server[server["name"]] = {message["number"]: message["subject"] for message in messages}
        return by_server

    def _explanation(self) -> str:
        """Return what may keep the lab from converging, in lines."""
        lines = []
        lab = self.lab()
        for fault in self.faults():
            details = ", ".join(f"{key} {value}" for key, value in fault.items() if key not in {"id", "kind", "acted"})
            lines.append(f"  the fault {fault['id']} is active: {fault['kind']}{details and f' ({details})'}")
        for server in lab["servers"]:
            if server["status"] != "running":
                if server["status"] != "store deleted":
                    lines.append(f"  server {server['name']} is {server['status']}")
                continue
            for mail in self.queue(server["name"]):
                to, due_at = ", ".join(mail["recipients"]), mail["due_at"]
                lines.append(f"  a mail to {to} ({mail['subject']}) waits at {server['name']} until {due_at}")
        return "\n".join(lines) or "  no fault is active, no mail waits, and all servers run"

    # --- saved states

    def go_back(self, name: str | None = None) -> None:
        """Go back to a saved state; by default to the first state that the plugin gave the lab. The clock is then paused, and
        the faults are those of the saved state."""
        history = self.lab()["history"]
        name = name or self._start
        self.reset(name)
        self._wait_for_another(history, f"has not gone back to {name!r}")

    @contextmanager
    def fork(self) -> Iterator[Lab]:
        """Yield a copy of this lab as it is now, to try there what this lab must not notice. The copy is simulated, in a
        process of its own, with a paused clock, and is removed at the end. Raises LabNotStarted if it cannot start.

            with lab.fork() as other:
                other.stop("B")
                other.advance("6 h")
        """
        content = self.take()
        folder = Path(mkdtemp(prefix="pflab-fork-"))
        try:
            (folder / "lab.zip").write_bytes(content)
            with (
                closing(UpProcess(None, folder, driver="simulated", continues=folder / "lab.zip")) as process,
                closing(Lab.of_process(process)) as fork,
            ):
                yield fork
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def begin_again(self, topology: Mapping[str, Any] | str) -> None:
        """Start a new run with a topology: its keys, or the text of a topology file. Only a lab in containers can do this."""
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
        """Return the last events of the lab in words, without those of its start unless nothing else has happened."""
        answer = self.ask("GET", f"/lab/events?words=1&last={_LOOKED_AT}")
        every: list[dict[str, Any]] = [json.loads(line) for line in self.read(answer).splitlines()]
        every = [event for event in every if not _is_wait(event)]
        later = list(dropwhile(lambda event: event["type"] in _OF_THE_START, every))
        newest = (later or every)[-most:]
        return [f"{_instant(event['at'])}  {event['node']} {event['words']}" for event in newest]


def check_function(condition: object) -> None:
    """Raise TypeError if a condition is a value rather than a function."""
    if not callable(condition):
        _close(condition)
        raise TypeError(
            f"until needs a function that it can call again and again, not a value ({type(condition).__name__});"
            f" write for example {_EXAMPLE}"
        )


def _value_of(condition: Callable[[], object]) -> object:
    """Return the value of a condition. Raises TypeError if it would have to be awaited: it would always be true."""
    value = condition()
    if isawaitable(value):
        _close(value)
        raise TypeError(
            f"the condition returns a {type(value).__name__}, which only the until of an AsyncLab awaits;"
            f" write for example {_EXAMPLE}"
        )
    return value


def _close(value: object) -> None:
    """Close a coroutine that nobody will await, so that Python does not warn of it."""
    if iscoroutine(value):
        value.close()


def _contains(numbers: str, number: str) -> bool:
    """Return whether a list of change numbers, such as `A-1..3, B-2`, has a number such as `A-2`."""
    store, _, counter = number.rpartition("-")
    spans = re.findall(rf"(?<!\S){re.escape(store)}-(\d+)(?:\.\.(\d+))?(?=,|$)", numbers)
    return any(int(first) <= int(counter) <= int(last or first) for first, last in spans)


def _is_wait(event: Mapping[str, Any]) -> bool:
    """Return whether an event is the wait of `Lab.json` after a change, which moves no clock."""
    return event["type"] == "clock.changed" and (event["how"], event["to"]) == ("advance", event["at"])


def _instant(at_us: int) -> str:
    return (_EPOCH + timedelta(microseconds=at_us)).strftime("%Y-%m-%d %H:%M:%S")
