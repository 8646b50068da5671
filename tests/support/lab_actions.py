"""Posts to a lab and its messages and events, with any driver."""

from __future__ import annotations

from typing import Any

from pflab.client import Client
from pflab.lab.lab import Lab
from traces.events import Event


async def post(lab: Lab, server: str, subject: str = "Hello", body: str = "") -> str:
    return await lab.do(server, lambda node, now: node.post(now, "Projects", subject=subject, body=body).id)


def subjects(lab: Lab, server: str, folder: str = "Projects") -> list[str]:
    return sorted(message.subject for message in lab.read(server, lambda node: node.messages(folder)))


def events_of(lab: Lab, kind: type[Event], node: str | None = None) -> list[Any]:
    """Return the events of one type so far, of one node or of all."""
    return [event for event in lab.events() if isinstance(event, kind) and node in {None, event.node}]


def everything(client: Client) -> dict[str, Any]:
    """Return what users see of a lab: its time, which servers run, and what each store has."""
    shown = client.lab()
    there = [each["name"] for each in shown["servers"] if each["status"] == "running"]
    return {
        "now": shown["clock"]["now_at"],
        "there": there,
        "messages": {name: client.messages(name, "Projects") for name in there},
        "digests": {name: client.digests(name) for name in there},
    }
