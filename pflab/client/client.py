"""A client of the HTTP API of a running lab, or of the process of one node.

    from pflab.client import Client

    with Client("http://127.0.0.1:8025") as lab:
        posted = lab.post("A", "Projects", subject="Hello")
        lab.advance("15 min")
        print([each["subject"] for each in lab.messages("B", "Projects")])
        for event in lab.events(follow=True):
            print(event["type"])

Values are dictionaries as the documentation of the API (`/docs`) shows them. Instants are text in UTC, such as
`2003-10-21T00:15:00Z`, except in `events()`, `log()` and `mailbox()`: there the field `at` is in microseconds since 1970, as in
traces.

Each call is one request on a connection that stays open. Threads must not share a client. Each error is a ClientError with a
text of one line.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from pflab.client.changes import Changes, Configured, Made
from pflab.client.requests import follow_events, quoted

__tracebackhide__ = True  # pytest shows the lines of the test that calls this module, not those in it


class Client(Changes):
    """The lab at `url`, such as `http://127.0.0.1:8025`; `token` if the lab requires one.

    A call raises ClientError if no answer comes within `timeout_s` of real time. Calls that advance the clock wait without
    a limit.
    """

    # --- the lab

    def lab(self) -> dict[str, Any]:
        """Return the lab's run, clock, servers and faults. A server's `status` is running, not running, failed, or, if it
        has no store, not started or store deleted. A failed server has the text of its internal error as `failure`. To make it
        work again, kill and start it."""
        answer: dict[str, Any] = self.json("GET", "/lab")
        return answer

    def renew(self, topology: Mapping[str, Any] | str | None = None) -> None:
        """Start a new run, with another topology if one is given: its keys, or the text of a topology file. Only a lab in
        containers can do this. The run has begun when /readyz answers and `lab()` returns another `run`."""
        text = topology if topology is None or isinstance(topology, str) else json.dumps(topology)
        self.json("POST", "/lab/renew", {"topology": text})

    def saved(self) -> list[str]:
        """Return the names of the saved states."""
        return list(self.json("GET", "/lab/saved"))

    def save(self, name: str, *, replace: bool = False) -> dict[str, Any]:
        """Save the state of the lab. Without `replace` the lab refuses an existing name (409)."""
        answer: dict[str, Any] = self.json("PUT", f"/lab/saved/{quoted(name)}", {"replace": replace})
        return answer

    def reset(self, name: str) -> None:
        """Reset the lab to a saved state. The reset is complete when /readyz answers and `lab()` returns another
        `history`."""
        self.json("POST", f"/lab/saved/{quoted(name)}/reset", {})

    def take(self) -> bytes:
        """Return the lab as it is now, as one file, with which `pflab up --from` begins."""
        return self.content("GET", "/lab/file", patient=True)

    def export(self) -> dict[str, Any]:
        """Make all servers write all their events to traces. The traces are then complete up to the lab time `at` in the
        answer, but the events of the servers in `away` may be missing."""
        answer: dict[str, Any] = self.surely("POST", "/lab/export", {})
        return answer

    def verdict(self) -> dict[str, Any]:
        """Return the latest verdict of the analysis that follows the lab. The verdict includes the events up to `at`."""
        answer: dict[str, Any] = self.json("GET", "/lab/verdict")
        return answer

    def keep_verdict(self, verdict: Mapping[str, Any]) -> None:
        """Send the lab a verdict that an analysis computed from this run's traces. The lab stores it."""
        self.json("PUT", "/lab/verdict", verdict)

    def servers(self) -> list[str]:
        """Return the names of all servers."""
        return [server["name"] for server in self.lab()["servers"]]

    def now(self) -> str:
        """Return the lab time."""
        return str(self.json("GET", "/lab/clock")["now_at"])

    def clock(self) -> dict[str, Any]:
        """Return the lab time, the rate, and whether a warp is in progress."""
        answer: dict[str, Any] = self.json("GET", "/lab/clock")
        return answer

    def set_rate(self, rate: float) -> dict[str, Any]:
        """Set the rate of the clock in lab seconds per second; 0 pauses it."""
        return self._clock("rate", {"rate": rate})

    def pause(self) -> dict[str, Any]:
        return self._clock("rate", {"rate": 0})

    def step(self, limit: str | None = None) -> dict[str, Any]:
        """Advance to the next instant at which anything is due, at most to `limit`. The answer's `moved` says whether anything
        was due."""
        return self._clock("step", {"limit": limit})

    def advance(self, to: str) -> dict[str, Any]:
        """Warp by a duration (`15 min`) or to an instant (`2003-10-22T06:15Z`)."""
        return self._clock("advance", {"to": to})

    def until_converged(self, folder: str, within: str) -> dict[str, Any]:
        """Warp until all holders of a folder run and have equal digests, but no longer than `within`. The answer's `held` says
        whether this happened; if not, `lacking` and `not_asked` say what is missing where."""
        return self._clock("until", {"converged": folder, "within": within})

    def until_event(self, kind: str, within: str, on: str | None = None) -> dict[str, Any]:
        """Warp until an event of type `kind` happens (on the server `on`), but no longer than `within`. The answer's `held`
        says whether it happened."""
        return self._clock("until", {"event": kind, "on": on, "within": within})

    def until_mail(self, kind: str, within: str, on: str | None = None) -> dict[str, Any]:
        """Warp until a store (`on`) sends a mail of the type `kind`, such as `status`, but no longer than `within`. The
        answer's `held` says whether it did."""
        return self._clock("until", {"mail": kind, "on": on, "within": within})

    def forecast(
        self,
        within: str,
        *,
        steps: Sequence[Mapping[str, Any]] = (),
        compare: bool = False,
        cost: bool = False,
        **wait: Any,
    ) -> dict[str, Any]:
        """Return what the lab will do within a time, as it plays in a copy of it. The lab itself does not change.

        steps: changes to try first, as in scenarios: `{"stop": "B"}`, `{"lose": {"from": "A", "to": "B"}}`.
        compare: also return the future without them, as `without`, and what happens in only one of the two, as `differences`.
        cost: return what both futures send, as `mails` and `traffic`, in place of their events.
        wait: look until something happens, as until does: event=, mail=, converged=, on=. The answer's `held` says whether.
        """
        conditions = {name: value for name, value in wait.items() if value is not None}
        body = {"within": within, "steps": list(steps), "compare": compare, "cost": cost, **conditions}
        answer: dict[str, Any] = self.json("POST", "/lab/forecast", body)
        return answer

    def faults(self) -> list[dict[str, Any]]:
        """Return the active faults."""
        return list(self.json("GET", "/lab/faults"))

    def waiting(self) -> dict[str, list[dict[str, Any]]]:
        """Return, for each active fault, the mails in queues that it will meet."""
        return dict(self.json("GET", "/lab/faults/waiting"))

    def inject(self, kind: str, **what: Any) -> str:
        """Inject a fault and return its id.

        kind: lose, alter, rewrite, delay, duplicate, reorder, cut, blackhole, smtp, hold, unstamp, unlink, double or skew.
        what: the fields of this kind, such as from_, to, type and count; `pflab fault KIND --help` and the HTTP API list them.
        """
        fields = {name.rstrip("_"): value for name, value in what.items() if value is not None}
        return str(self.json("POST", "/lab/faults", {"kind": kind, **fields})["id"])

    def heal(self, fault: str | None = None) -> None:
        """End one fault, or all."""
        self.json("DELETE", "/lab/faults" if fault is None else f"/lab/faults/{quoted(fault)}")

    def stop(self, node: str) -> None:
        self._life(node, "stop")

    def start(self, node: str) -> None:
        self._life(node, "start")

    def kill(self, node: str) -> None:
        """Kill the server, as by SIGKILL."""
        self._life(node, "kill")

    def backup(self, node: str) -> str:
        """Copy the server's database and return the id of the copy."""
        return str(self._life(node, "backup")["backup"])

    def restore(self, node: str, backup: str) -> None:
        self._life(node, "restore", {"backup": backup})

    def delete_store(self, node: str, *, on: str, force: bool = False) -> None:
        """Delete the store of a stopped server from the directory. The server `on` makes the deletion.

        `force`: delete the store even if it holds replicas.
        """
        self._life(node, "delete", {"on": on, "force": force})

    def create_store(self, node: str) -> None:
        """Create a new, empty store for a server whose store was deleted from the directory, and start it."""
        self._life(node, "create")

    def recipient_policy(self) -> dict[str, str]:
        """Return the domain of the Default Policy, and how often the recipient update service runs."""
        return dict(self.json("GET", "/lab/recipient-policy"))

    def set_recipient_policy(
        self, *, recipient_update: str | None = None, domain: str | None = None, at_once: bool = False
    ) -> None:
        """Change how often the recipient update service runs (always, never, or for example `1 h`), or the domain of the
        addresses that the Default Policy gives.

        `at_once`: it gives all stores that wait their addresses now.
        """
        what = {"recipient_update": recipient_update, "domain": domain, "at_once": at_once}
        self.json("POST", "/lab/recipient-policy", what)

    def recipient_policies(self) -> list[dict[str, Any]]:
        """Return the recipient policies in the order of their priority, the Default Policy last."""
        return list(self.json("GET", "/lab/recipient-policies"))

    def add_policy(self, name: str, **fields: Any) -> None:
        """Add a recipient policy.

        domain: the domain of the addresses that it gives.
        filter: the stores to which it applies, by `sites`, `servers` or `versions`: `{"sites": ["LON"]}`.
        priority: 1 for the highest; by default it comes before the Default Policy only.
        """
        self.json("POST", "/lab/recipient-policies", {"name": name, **fields})

    def change_policy(self, name: str, **fields: Any) -> None:
        """Change the domain, the filter or the priority of a recipient policy."""
        self.json("PATCH", f"/lab/recipient-policies/{quoted(name)}", fields)

    def remove_policy(self, name: str) -> None:
        """Remove a recipient policy."""
        self.json("DELETE", f"/lab/recipient-policies/{quoted(name)}")

    def add_site(self, name: str) -> None:
        """Add a site without servers to the organization."""
        self.json("POST", "/lab/sites", {"name": name})

    def remove_site(self, name: str) -> None:
        """Remove a site without servers from the organization."""
        self.json("DELETE", f"/lab/sites/{quoted(name)}")

    def add_server(self, name: str, **fields: Any) -> None:
        """Add a server to the organization. Its store joins when the server is started.

        fields: site, version, settings, smtp_port, as in a topology file.
        """
        self.json("POST", "/lab/servers", {"name": name, **fields})

    def remove_server(self, name: str) -> None:
        """Remove a server without a store from the organization: it has never started, or its store was deleted."""
        self.json("DELETE", f"/lab/servers/{quoted(name)}")

    def add_connector(self, name: str, *, between: Sequence[str], **fields: Any) -> None:
        """Add a connector to the organization.

        between: its two sites.
        fields: kind, cost, latency, bandwidth, schedule, affinity, size_limit, senders, bridgeheads, as in a topology file.
        """
        self.json("POST", "/lab/connectors", {"name": name, "between": list(between), **fields})

    def change_connector(self, name: str, **fields: Any) -> None:
        """Change properties of a connector. What is not given stays as it is.

        fields: as `add_connector` has them.
        """
        self.json("PATCH", f"/lab/connectors/{quoted(name)}", fields)

    def remove_connector(self, name: str) -> None:
        """Remove a connector from the organization."""
        self.json("DELETE", f"/lab/connectors/{quoted(name)}")

    def _clock(self, verb: str, body: Mapping[str, Any]) -> dict[str, Any]:
        answer: dict[str, Any] = self.json("POST", f"/lab/clock/{verb}", body, patient=True)
        return answer

    def _life(self, node: str, verb: str, body: Mapping[str, Any] | None = None) -> Any:
        return self.json("POST", f"/lab/servers/{quoted(node)}/{verb}", body or {})

    # --- a node

    def folders(self, node: str) -> list[dict[str, Any]]:
        return list(self._node("GET", node, "/folders"))

    def messages(self, node: str, folder: str) -> list[dict[str, Any]]:
        """Return all messages that are not deleted."""
        listed: list[dict[str, Any]] = []
        while True:
            query = {"folder": folder, **({"after": listed[-1]["id"]} if listed else {})}
            more = self._node("GET", node, f"/messages?{urlencode(query, errors='surrogatepass')}")
            listed += more
            if not more:
                return listed

    def body(self, node: str, folder: str, message: str) -> str:
        return self.text("GET", f"/nodes/{quoted(node)}/messages/{quoted(message)}/body?folder={quoted(folder)}")

    def post_mail(self, node: str, folder: str, mail: bytes, *, key: str | None = None) -> Made:
        """Post a mail. Every store gives it back byte for byte. A mail that comes by SMTP
        instead is kept with the line Received that the server adds to its header."""
        path = f"/nodes/{quoted(node)}/messages/mail?folder={quoted(folder)}"
        answer: Made = self.surely("POST", path, mail, key)
        return answer

    def mail(self, node: str, folder: str, message: str) -> bytes:
        """Return a message as a mail."""
        return self.content("GET", f"/nodes/{quoted(node)}/messages/{quoted(message)}/mail?folder={quoted(folder)}")

    def log(self, node: str, *, after: int = 0, limit: int = 200, event: int | None = None) -> list[dict[str, Any]]:
        """Return the newest entries of the store's application log, in order. With `event`, return only entries with this
        event id."""
        only = "" if event is None else f"&event={event}"
        return list(self._node("GET", node, f"/log?after={after}&limit={limit}{only}"))

    def mailbox(self, node: str) -> list[dict[str, Any]]:
        """Return the mails for people that the store keeps."""
        return list(self._node("GET", node, "/mailbox"))

    def mailbox_mail(self, node: str, notice: int) -> bytes:
        """Return one mail of the mailbox by its id."""
        return self.content("GET", f"/nodes/{quoted(node)}/mailbox/{notice}")

    def versions(self, node: str, message: str) -> list[dict[str, Any]]:
        """Return the kept versions of a message, the shown one first. The message is given by its id, or by the number of any
        of its changes (A-4)."""
        return list(self._node("GET", node, f"/versions?message={quoted(message)}"))

    def retained(self, node: str) -> list[dict[str, Any]]:
        """Return the deleted messages and folders that can be recovered on a server, the latest deletion first."""
        return list(self._node("GET", node, "/retained"))

    def state(self, node: str, folder: str) -> dict[str, Any]:
        """Return the folder's rows of the replication state table."""
        answer: dict[str, Any] = self._node("GET", node, f"/state?folder={quoted(folder)}")
        return answer

    def states(self, node: str) -> list[dict[str, Any]]:
        return list(self._node("GET", node, "/states"))

    def replication_status(self, node: str, folder: str | None = None) -> list[dict[str, Any]]:
        """Return the replication status of each folder with a replica on the server, or of one folder: `sync` of each replica
        is in sync, behind, locally modified or not yet heard."""
        return list(
            self._node("GET", node, "/replication-status" + ("" if folder is None else f"?folder={quoted(folder)}"))
        )

    def instances(self, node: str) -> list[dict[str, Any]]:
        """Return the replicas on the server with their statistics: `items`, `associated`, `size` and `changed_at`."""
        return list(self._node("GET", node, "/instances"))

    def sources(self, node: str) -> list[dict[str, Any]]:
        """Return all other servers with what decides which of them is asked for missing changes, best first."""
        return list(self._node("GET", node, "/sources"))

    def directory(self, node: str) -> list[dict[str, Any]]:
        """Return the directory object of each store, as this server reads it: its name, mail and proxy addresses."""
        return list(self._node("GET", node, "/directory"))

    def backfill(self, node: str) -> list[dict[str, Any]]:
        return list(self._node("GET", node, "/backfill"))

    def queue(self, node: str) -> list[dict[str, Any]]:
        return list(self._node("GET", node, "/queue"))

    def frozen_queues(self, node: str) -> list[str]:
        """Return the next hops whose queues an administrator has frozen."""
        return list(self._node("GET", node, "/frozen-queues"))

    def digests(self, node: str) -> dict[str, dict[str, Any]]:
        answer: dict[str, dict[str, Any]] = self._node("GET", node, "/digests")
        return answer

    def settings(self, node: str) -> dict[str, Any]:
        answer: dict[str, Any] = self._node("GET", node, "/settings")
        return answer

    def setting_details(self, node: str) -> list[dict[str, Any]]:
        """Return each setting with its value, its default, where Exchange keeps it and what it does."""
        return list(self._node("GET", node, "/settings/details"))

    def configure(self, node: str, values: Mapping[str, Any]) -> Configured:
        """Change settings; None removes one. Registry values apply from the server's next start on."""
        answer: Configured = self._node("PATCH", node, "/settings", dict(values))
        return answer

    def _node(self, method: str, node: str, path: str, body: Any = None) -> Any:
        return self.json(method, f"/nodes/{quoted(node)}{path}", body)

    # --- events

    def events(
        self, node: str | None = None, *, follow: bool = False, after: str | int = 0, last: int | None = None
    ) -> Generator[dict[str, Any], None, None]:
        """Yield the events of one server or of the whole lab, without the first `after` events. With `follow`, continue with
        new events without end.

        `last`: of the whole lab's events up to now, yield only this many, the newest.

        If the connection breaks, the stream continues after the last event. Raises ClientError if it cannot continue, also
        because the lab was reset meanwhile (409).
        """
        if last is not None and (follow or node is not None):
            raise ValueError("last cannot be given together with node or follow")
        if follow:
            path = "/lab/stream" if node is None else f"/nodes/{quoted(node)}/stream"
            yield from follow_events(Client(self.url, token=self._token, timeout_s=self.timeout_s), path, after)
            return
        path, place = "/lab/events" if node is None else f"/nodes/{quoted(node)}/events", int(after)
        more = "" if last is None else f"&last={last}"
        while True:
            answer = self.ask("GET", f"{path}?after={place}{more}")
            # Split bytes, not text: text is also split at U+0085, U+2028 and U+2029, which JSON strings may contain.
            lines = self.read(answer).splitlines()
            if not lines:
                return
            place = int(answer.headers.get("Pflab-Next", place + len(lines)))
            history = answer.headers.get("Pflab-History")
            more = "" if history is None else f"&history={quoted(history)}"
            yield from map(json.loads, lines)
