"""A client of a running lab: of one node's process, or of the face of `pflab up`, which serves every node.

    from pflab.client import Client

    with Client("http://127.0.0.1:8025") as lab:
        posted = lab.post("A", "Projects", subject="Hello")
        lab.advance("15 min")
        print([each["subject"] for each in lab.messages("B", "Projects")])
        for event in lab.events(follow=True):
            print(event["type"])

Nothing but the standard library is needed here. Values are plain dictionaries as the API's documentation (`/docs`)
shows them; instants are text in UTC. Each call is one request on a kept connection; a client is not for several threads.
Errors are ClientError: one line.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from pflab.client.requests import Requests, followed, quoted


class Client(Requests):
    """A lab at `url`, such as `http://127.0.0.1:8025`, with `token` if it wants one.

    Each call waits `timeout_s` of real time for its answer, and raises ClientError then; those that move the clock wait
    until the lab is there.
    """

    # --- the lab

    def lab(self) -> dict[str, Any]:
        """The lab: its run, its clock, its servers and their standing, its faults."""
        found: dict[str, Any] = self.json("GET", "/lab")
        return found

    def renew(self, topology: Mapping[str, Any] | None = None) -> None:
        """Begin anew: a lab in containers alone can. /readyz says when it has, under another run's name."""
        text = None if topology is None else json.dumps(topology)
        self.json("POST", "/lab/renew", {"topology": text})

    def saved(self) -> list[str]:
        """The names under which the lab was saved."""
        return list(self.json("GET", "/lab/saved"))

    def save(self, name: str, *, replace: bool = False) -> dict[str, Any]:
        """Keep the lab as it stands under a name: a lab in containers can. A name that is taken is refused (409), unless what
        has it may be replaced."""
        found: dict[str, Any] = self.json("PUT", f"/lab/saved/{quoted(name)}", {"replace": replace})
        return found

    def reset(self, name: str) -> None:
        """Go back to where the lab was saved. /readyz says when it has; `lab()` then shows another `history`."""
        self.json("POST", f"/lab/saved/{quoted(name)}/reset", {})

    def ship(self) -> dict[str, Any]:
        """Let all that has happened be written into traces; `at` is up to when, `away` which servers could not."""
        found: dict[str, Any] = self.surely("POST", "/lab/ship", {})
        return found

    def verdict(self) -> dict[str, Any]:
        """What the analysis that follows the lab says of this run, and up to which instant (`at`)."""
        found: dict[str, Any] = self.json("GET", "/lab/verdict")
        return found

    def keep_verdict(self, verdict: Mapping[str, Any]) -> None:
        """What an analysis of this run's traces says."""
        self.json("PUT", "/lab/verdict", verdict)

    def servers(self) -> list[str]:
        """The names of all servers."""
        return [each["name"] for each in self.lab()["servers"]]

    def now(self) -> str:
        """The lab time."""
        return str(self.json("GET", "/lab/clock")["now_at"])

    def clock(self) -> dict[str, Any]:
        """Lab time, rate, and whether a warp is under way."""
        found: dict[str, Any] = self.json("GET", "/lab/clock")
        return found

    def set_rate(self, rate: float) -> dict[str, Any]:
        """Let the clock run; 0 pauses it."""
        return self._clock("rate", {"rate": rate})

    def pause(self) -> dict[str, Any]:
        return self._clock("rate", {"rate": 0})

    def step(self, limit: str | None = None) -> dict[str, Any]:
        """To the next instant at which anything is due, but not beyond `limit`; `moved` says whether there was one."""
        return self._clock("step", {"limit": limit})

    def advance(self, to: str) -> dict[str, Any]:
        """Warp by a duration (`15 min`) or to an instant (`2003-10-22T06:15Z`)."""
        return self._clock("advance", {"to": to})

    def until_converged(self, folder: str, within: str) -> dict[str, Any]:
        """Warp until all holders of a folder have equal digests, at most so long; `held` says whether they have."""
        return self._clock("until", {"converged": folder, "within": within})

    def until_event(self, kind: str, within: str, on: str | None = None) -> dict[str, Any]:
        """Warp until an event of this type happens (on one server), at most so long; `held` says whether it has."""
        return self._clock("until", {"event": kind, "on": on, "within": within})

    def faults(self) -> list[dict[str, Any]]:
        """The faults in force."""
        return list(self.json("GET", "/lab/faults"))

    def inject(self, kind: str, **what: Any) -> str:
        """A fault: lose, alter, delay, duplicate, reorder, cut, smtp or hold, with from_, to, type, count, by, connector,
        between, at, does, lasts as they apply; its id."""
        given = {name.rstrip("_"): value for name, value in what.items() if value is not None}
        return str(self.json("POST", "/lab/faults", {"kind": kind, **given})["id"])

    def heal(self, fault: str | None = None) -> None:
        """End one fault, or all."""
        self.json("DELETE", "/lab/faults" if fault is None else f"/lab/faults/{quoted(fault)}")

    def stop(self, node: str) -> None:
        self._life(node, "stop")

    def start(self, node: str) -> None:
        self._life(node, "start")

    def kill(self, node: str) -> None:
        """Let the server die at once, as by SIGKILL."""
        self._life(node, "kill")

    def backup(self, node: str) -> str:
        """Keep a copy of the server's database; its id."""
        return str(self._life(node, "backup")["backup"])

    def restore(self, node: str, backup: str) -> None:
        self._life(node, "restore", {"backup": backup})

    def delete_store(self, node: str, *, on: str, force: bool = False) -> None:
        """Delete a stopped server's store from the directory, at another server; by force if it still holds replicas."""
        self._life(node, "delete", {"on": on, "force": force})

    def _clock(self, verb: str, body: Mapping[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = self.json("POST", f"/lab/clock/{verb}", body, patient=True)
        return found

    def _life(self, node: str, verb: str, body: Mapping[str, Any] | None = None) -> Any:
        return self.json("POST", f"/lab/servers/{quoted(node)}/{verb}", body or {})

    # --- a node

    def folders(self, node: str) -> list[dict[str, Any]]:
        return list(self._node("GET", node, "/folders"))

    def create_folder(self, node: str, path: str, **properties: Any) -> str:
        """A new folder with `replicas`, `schedule`, `contacts`, `priority`, `age_limit`, `resolve`; its id."""
        return self.folder_made(node, path, **properties)["id"]

    def folder_made(self, node: str, path: str, **properties: Any) -> dict[str, str]:
        """A new folder: its `id`, and its change number as people see it (`number`) and as traces write it (`change`)."""
        return dict(self._node("POST", node, "/folders", {"path": path, **properties}))

    def change_folder(self, node: str, path: str, **properties: Any) -> str:
        """Also `rename` and `move_to`; the change number as traces write it."""
        return self.folder_changed(node, path, **properties)["change"]

    def folder_changed(self, node: str, path: str, **properties: Any) -> dict[str, str]:
        """The same; the change number in both forms, `number` and `change`."""
        return dict(self._node("PATCH", node, f"/folders/{quoted(path)}", properties))

    def delete_folder(self, node: str, path: str) -> None:
        self._node("DELETE", node, f"/folders/{quoted(path)}")

    def messages(self, node: str, folder: str) -> list[dict[str, Any]]:
        """All live messages, however many."""
        found: list[dict[str, Any]] = []
        while True:
            query = {"folder": folder, **({"after": found[-1]["id"]} if found else {})}
            more = self._node("GET", node, f"/messages?{urlencode(query)}")
            found += more
            if not more:
                return found

    def body(self, node: str, folder: str, message: str) -> str:
        return self.text("GET", f"/nodes/{quoted(node)}/messages/{quoted(message)}/body?folder={quoted(folder)}")

    def post(
        self, node: str, folder: str, *, subject: str, body: str = "", sender: str = "", key: str | None = None
    ) -> str:
        """Post a message; its id. Asked for again, under one key, if no answer comes; posted once all the same."""
        what = {"folder": folder, "subject": subject, "body": body, "sender": sender}
        return str(self.surely("POST", f"/nodes/{quoted(node)}/messages", what, key)["id"])

    def post_batch(
        self, node: str, folder: str, messages: Sequence[Mapping[str, Any]], *, key: str | None = None
    ) -> list[str]:
        """Post several, all or none; their ids. A message is `subject` and if need be `body`, `sender`, `attachments`
        (each `name` and `content` in base64)."""
        what = {"folder": folder, "messages": list(messages)}
        return list(self.surely("POST", f"/nodes/{quoted(node)}/messages/batch", what, key)["ids"])

    def post_numbered(
        self, node: str, folder: str, messages: Sequence[Mapping[str, Any]], *, key: str | None = None
    ) -> list[tuple[str, str]]:
        """As `post_batch`; of each message its id and its change number as people see it, A-1."""
        what = {"folder": folder, "messages": list(messages)}
        made = self.surely("POST", f"/nodes/{quoted(node)}/messages/batch", what, key)
        return list(zip(made["ids"], made["numbers"], strict=True))

    def post_mail(self, node: str, folder: str, mail: bytes, *, key: str | None = None) -> str:
        """Post a mail as it is; its id. It comes out of every store to the byte."""
        path = f"/nodes/{quoted(node)}/messages/mail?folder={quoted(folder)}"
        return str(self.surely("POST", path, mail, key)["id"])

    def mail(self, node: str, folder: str, message: str) -> bytes:
        """A message as a mail."""
        return self.content("GET", f"/nodes/{quoted(node)}/messages/{quoted(message)}/mail?folder={quoted(folder)}")

    def log(self, node: str, *, after: int = 0, limit: int = 200, event: int | None = None) -> list[dict[str, Any]]:
        """The newest entries of the store's application log, in order; of one event id if it is given."""
        only = "" if event is None else f"&event={event}"
        return list(self._node("GET", node, f"/log?after={after}&limit={limit}{only}"))

    def mailbox(self, node: str) -> list[dict[str, Any]]:
        """Mails to people that the store has kept for them."""
        return list(self._node("GET", node, "/mailbox"))

    def mailbox_mail(self, node: str, notice: int) -> bytes:
        """One mail of the mailbox, by the id that the list has."""
        return self.content("GET", f"/nodes/{quoted(node)}/mailbox/{notice}")

    def edit(self, node: str, folder: str, message: str, **what: str) -> str:
        path = f"/messages/{quoted(message)}?folder={quoted(folder)}"
        return str(self._node("PATCH", node, path, what)["change"])

    def delete(self, node: str, folder: str, message: str) -> str:
        return str(self._node("DELETE", node, f"/messages/{quoted(message)}?folder={quoted(folder)}")["change"])

    def resolve(self, node: str, folder: str, message: str, keep: str) -> list[str]:
        path = f"/messages/{quoted(message)}/resolve?folder={quoted(folder)}"
        return list(self._node("POST", node, path, {"keep": keep})["changes"])

    def state(self, node: str, folder: str) -> dict[str, Any]:
        """The folder's rows of the replication state table."""
        found: dict[str, Any] = self._node("GET", node, f"/state?folder={quoted(folder)}")
        return found

    def states(self, node: str) -> list[dict[str, Any]]:
        return list(self._node("GET", node, "/states"))

    def backfill(self, node: str) -> list[dict[str, Any]]:
        return list(self._node("GET", node, "/backfill"))

    def queue(self, node: str) -> list[dict[str, Any]]:
        return list(self._node("GET", node, "/queue"))

    def digests(self, node: str) -> dict[str, dict[str, Any]]:
        found: dict[str, dict[str, Any]] = self._node("GET", node, "/digests")
        return found

    def settings(self, node: str) -> dict[str, Any]:
        found: dict[str, Any] = self._node("GET", node, "/settings")
        return found

    def configure(self, node: str, values: Mapping[str, Any]) -> list[str]:
        """Changes settings; a line for each that was out of its range."""
        notices: list[str] = self._node("PATCH", node, "/settings", dict(values))["notices"]
        return notices

    def _node(self, method: str, node: str, path: str, body: Any = None) -> Any:
        return self.json(method, f"/nodes/{quoted(node)}{path}", body)

    # --- events

    def events(
        self, node: str | None = None, *, follow: bool = False, after: str | int = 0
    ) -> Generator[dict[str, Any], None, None]:
        """Events after so many of them, of one server or of the whole lab; with `follow` for ever, as they come. A stream
        that is cut goes on where it was, none missing and none twice; ClientError if there is no going on."""
        if follow:
            path = "/lab/stream" if node is None else f"/nodes/{quoted(node)}/stream"
            yield from followed(Client(self.url, token=self._token, timeout_s=self.timeout_s), path, after)
            return
        path, seen = "/lab/events" if node is None else f"/nodes/{quoted(node)}/events", int(after)
        while True:
            answer = self.ask("GET", f"{path}?after={seen}")
            lines = self.read(answer).decode("utf-8").splitlines()
            if not lines:
                return
            seen = int(answer.headers.get("Pflab-Next", seen + len(lines)))
            yield from map(json.loads, lines)
