"""A play of each operation of a lab's HTTP API, for a lab in a tab and for `pflab up --simulated`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

STREAMS: Final = {"GET /stream", "GET /nodes/{name}/stream", "GET /lab/stream", "GET /labs/stream"}
"""The operations whose answers have no end. `tests/pflab/tab` follows one."""

ABSENT: Final = {
    "POST /lab/renew": "this lab cannot begin another run; end it and start a new one",
    "POST /lab/export": "the traces are not written yet; this lab writes them when it ends",
}
"""The operations that a lab in containers has, or one that pflab follow judges while it runs, and what a simulated lab answers.
In a tab, a topology is opened in place of the first, and the lab is taken in place of the second."""

FILE: Final = {"name": "zażółć.txt", "content": "aGVsbG8="}

MAIL: Final = "From: kim@contoso.test\r\nSubject: By mail\r\nMIME-Version: 1.0\r\n\r\nHello\r\n"

FAULTS: Final[list[dict[str, Any]]] = [
    {"kind": "lose", "from": "A", "to": "B", "type": "content", "count": 1},
    {"kind": "alter", "from": "A", "to": "C", "lasts": "2 h", "how": "noise"},
    {"kind": "rewrite", "header": "Content-Type", "to": "B", "count": 1},
    {"kind": "delay", "to": "B", "by": "40 min"},
    {"kind": "duplicate", "type": "status", "count": 3},
    {"kind": "reorder", "from": "A", "to": "B"},
    {"kind": "cut", "between": ["A", "B"], "one_way": True},
    {"kind": "blackhole", "connector": "NYC-LON"},
    {"kind": "smtp", "verb": "RCPT", "does": "451", "to": "B", "count": 2},
    {"kind": "hold", "from": "A", "to": "B", "lasts": "2 h"},
    {"kind": "unstamp", "server": "B"},
    {"kind": "unlink", "server": "D"},
    {"kind": "double", "server": "B"},
    {"kind": "skew", "server": "B", "by": "10 min"},
]
"""A fault of each kind."""


class Answer(NamedTuple):
    """What a lab answered to a request. operation: method and path of the OpenAPI document."""

    operation: str
    target: str
    status: int
    body: str


Ask = Callable[[str, str, object], tuple[int, str]]
"""Sends a request: method, target, and body, where a text is a mail and anything else is sent as JSON. Returns the status
and the body of the answer."""


def play(ask: Ask) -> Iterator[Answer]:
    """Play in a new lab of the topology `default`, and yield each answer."""

    def send(operation: str, body: object = None, query: str = "", **path: str) -> Answer:
        method, _, template = operation.partition(" ")
        target = template.format_map({"name": "A", **path}) + query
        return Answer(operation, target, *ask(method, target, body))

    def value(answer: Answer, *place: str | int) -> str:
        found = json.loads(answer.body)
        for each in place:
            found = found[each]
        return str(found)

    def steps(number: int) -> Iterator[Answer]:
        for _ in range(number):
            yield send("POST /lab/clock/step", {"limit": "2 h"})

    yield (lab := send("GET /lab"))
    yield send("GET /lab/topology")
    yield send("GET /lab/checkpoint")
    yield send("GET /lab/faults/kinds")
    for name in ("/livez", "/readyz"):
        yield send(f"GET {name}")
    yield send("PATCH /nodes/{name}/settings", {"Deleted Item Retention": "7 d"})
    # posts
    yield (
        post := send(
            "POST /nodes/{name}/messages",
            {"folder": "Projects", "subject": "Grüße", "body": "łódź", "attachments": [FILE]},
        )
    )
    message = {"message": value(post, "id")}
    yield (mailed := send("POST /nodes/{name}/messages/mail", MAIL, "?folder=Projects"))
    batch = {"folder": "Projects", "messages": [{"subject": "One"}, {"subject": "Two"}]}
    yield (batched := send("POST /nodes/{name}/messages/batch", batch))
    yield send(
        "POST /nodes/{name}/messages/send", {"folder": "Projects", "subject": "日本語", "to": ["kim@contoso.test"]}
    )
    yield send("POST /nodes/{name}/messages", {"folder": "Projects", "sbject": "a mistake"})
    yield send("PATCH /nodes/{name}/messages/{message}", {"subject": "Edited"}, "?folder=Projects", **message)
    yield send("GET /nodes/{name}/messages", None, "?folder=Projects")
    yield send("GET /nodes/{name}/messages/count", None, "?folder=Projects")
    yield send("GET /nodes/{name}/messages/{message}/body", None, "?folder=Projects", **message)
    yield send("GET /nodes/{name}/messages/{message}/mail", None, "?folder=Projects", message=value(mailed, "id"))
    place = {"place": "1", **message}
    yield send("GET /nodes/{name}/messages/{message}/attachments/{place}", None, "?folder=Projects", **place)
    yield send("GET /nodes/{name}/versions", None, f"?message={message['message']}")
    # the clock, saved labs, and mails on their way
    yield send("PUT /lab/saved/{name}", {}, name="start")
    yield send("GET /lab/saved")
    yield from steps(3)
    yield send("POST /lab/clock/advance", {"to": "15 min"})
    yield send("POST /lab/clock/until", {"within": "3 d", "mail": "content"})
    yield send("POST /lab/clock/rate", {"rate": 3600})
    yield send("POST /lab/clock/rate", {"rate": 0})
    # faults
    for fault in FAULTS:
        yield (injected := send("POST /lab/faults", fault))
    yield send("GET /lab/faults")
    yield send("DELETE /lab/faults/{fault}", fault=value(injected, "id"))
    yield send("POST /nodes/{name}/messages", {"folder": "Projects", "subject": "under faults"})
    yield send("POST /lab/clock/advance", {"to": "30 min"})
    yield send("GET /lab/faults/waiting")
    yield (queue := send("GET /nodes/{name}/queue", name="C"))
    yield send("GET /nodes/{name}/queue/{row}", name="C", row=value(queue, 0, "id"))
    for order in ("freeze", "unfreeze"):
        yield send("POST /nodes/{name}/queue", {"order": order, "next_hop": "E"}, name="C")
        yield send("GET /nodes/{name}/frozen-queues", name="C")
    under_way = {"mail": value(queue, 0, "message_id")}
    yield send("GET /lab/mails/{mail}", **under_way)
    yield send("GET /lab/mails/{mail}/decoded", **under_way)
    yield send("GET /lab/mails/{mail}/waiting", **under_way)
    yield send("POST /lab/mails/{mail}/release", {}, **under_way)
    yield send("POST /lab/clock/advance", {"to": "5 h"})
    yield send("DELETE /lab/faults")
    # folders, replicas and settings
    new = {"path": "Projects/2003", "replicas": ["A", "B"], "schedule": "every 1 h"}
    yield send("POST /nodes/{name}/folders", new)
    yield send("PATCH /nodes/{name}/folders/{path}", {"replicas": ["A", "B", "C"]}, path="Projects/2003")
    yield send("POST /nodes/{name}/replicas", {"folder": "Projects", "replace": "E", "by": "D"})
    yield send("POST /nodes/{name}/propagate", {"folder": "Projects", "properties": ["schedule"]})
    yield send("POST /nodes/{name}/synchronize", {"folder": "Projects"})
    yield send("POST /nodes/{name}/send", {"folder": "Projects", "days": 7, "to": ["B"]})
    yield send("POST /lab/clock/advance", {"to": "1 d"})
    yield send("DELETE /nodes/{name}/folders/{path}", path="Projects/2003")
    yield send("POST /nodes/{name}/folders/{path}/recover", {}, path="Projects/2003")
    yield send("POST /lab/recipient-policy", {"recipient_update": "always", "domain": "fabrikam.test"})
    yield send("GET /lab/recipient-policy")
    policy = {"name": "London", "domain": "adatum.test", "filter": {"sites": ["LON"], "versions": ["2003"]}}
    yield send("POST /lab/recipient-policies", policy)
    yield send("PATCH /lab/recipient-policies/{name}", {"filter": {"servers": ["A"]}, "priority": 1}, name="London")
    yield send("GET /lab/recipient-policies")
    yield send("DELETE /lab/recipient-policies/{name}", name="London")
    # sites, servers and connectors
    yield send("POST /lab/sites", {"name": "OSL"})
    yield send("POST /lab/servers", {"name": "F", "site": "OSL", "version": "5.5"})
    yield send("POST /lab/sites", {"name": "PAR"})
    yield send("GET /lab/sites")
    yield send("DELETE /lab/sites/{name}", name="PAR")
    yield send("POST /lab/connectors", {"name": "SEA-LON", "between": ["SEA", "LON"], "cost": 5, "latency": "80 ms"})
    yield send("PATCH /lab/connectors/{name}", {"cost": 100, "schedule": "every 1 h"}, name="SEA-LON")
    yield send("GET /lab/connectors")
    yield send("DELETE /lab/connectors/{name}", name="SEA-LON")
    # a conflict, and posts that are deleted
    conflict = {"message": value(batched, "ids", 0)}
    for server in "AB":
        edit = {"subject": f"by {server}"}
        yield send("PATCH /nodes/{name}/messages/{message}", edit, "?folder=Projects", name=server, **conflict)
    yield send("POST /lab/clock/until", {"within": "3 d", "converged": "Projects"})
    yield send("POST /nodes/{name}/messages/{message}/resolve", {"keep": "all"}, "?folder=Projects", **conflict)
    yield send("DELETE /nodes/{name}/messages/{message}", None, "?folder=Projects", **message)
    yield send("GET /nodes/{name}/retained")
    yield send("POST /nodes/{name}/messages/{message}/recover", {}, "?folder=Projects", **message)
    # servers
    yield (backup := send("POST /lab/servers/{name}/backup", {}, name="B"))
    yield send("POST /lab/servers/{name}/mail", MAIL, "?from=kim@else.test&to=Projects@contoso.test", name="B")
    yield send("POST /lab/servers/{name}/kill", {}, name="B")
    yield send("POST /lab/clock/advance", {"to": "1 h"})
    yield send("POST /lab/servers/{name}/restore", {"backup": value(backup, "backup")}, name="B")
    yield send("POST /lab/servers/{name}/stop", {}, name="C")
    yield send("POST /lab/servers/{name}/start", {}, name="C")
    yield send("POST /lab/clock/until", {"within": "7 d", "converged": "Projects"})
    yield send("POST /lab/servers/{name}/stop", {}, name="E")
    yield send("POST /lab/servers/{name}/delete", {"on": "A", "force": True}, name="E")
    yield send("POST /lab/servers/{name}/create", {}, name="E")
    yield send("POST /lab/servers", {"name": "G", "site": "OSL"})
    yield send("DELETE /lab/servers/{name}", name="G")
    # what would happen, and what has happened
    trial = {"converged": "Projects", "within": "3 d", "steps": [{"stop": "B"}], "compare": True}
    yield send("POST /lab/forecast", trial)
    for read in (
        *("clock", "settings", "settings/details", "folders", "replication-status", "instances", "sources", "backfill"),
        *("directory", "bad-mail", "mailbox", "states", "digests", "log", "reading", "events"),
    ):
        yield (found := send(f"GET /nodes/{{name}}/{read}"))
        if read == "mailbox":
            notices = json.loads(found.body)
            yield send("GET /nodes/{name}/mailbox/{notice}", notice=str(notices[0]["id"] if notices else 1))
    yield send("GET /nodes/{name}/state", None, "?folder=Projects")
    yield send("GET /nodes/{name}/knowledge", None, "?folder=Projects")
    yield send("GET /lab/clock")
    yield send("GET /lab/events", None, "?words=true&limit=20000")
    yield send("GET /lab/replay")
    yield send(
        "PUT /lab/verdict", {"run": value(lab, "run"), "at": value(lab, "clock", "now_at"), "judgement": "unknown"}
    )
    yield send("GET /lab/verdict")
    yield send("GET /lab/file")
    for operation in ABSENT:
        yield send(operation, {})
    # a lesson, and back to the beginning
    yield send("GET /lessons")
    yield (lesson := send("POST /lessons", {"name": "lost-mail"}))
    at = {"id": value(lesson, "id")}
    yield send("GET /lessons/{id}", **at)
    yield send("POST /lessons/{id}/next", {}, **at)
    yield send("GET /lessons/{id}/lesson", **at)
    yield send("POST /lessons/{id}/again", {"text": 0}, **at)
    yield send("DELETE /lessons/{id}", **at)
    yield send("GET /metrics")
    yield send("POST /lab/saved/{name}/reset", {}, name="start")
