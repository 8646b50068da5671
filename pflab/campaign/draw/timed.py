"""Steps of a scenario at their times, and faults from their start to their end, as a seed draws them.

Each function returns the step that a user or an administrator takes, in the form of a scenario file (`pflab.scenario.model`).
Messages and folders have labels, with which later steps name them. Times are microseconds of lab time since the lab's start.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pflab.terms.folder_ids import HIERARCHY
from traces.labtime import format_duration


@dataclass(frozen=True, slots=True)
class Timed:
    """A step at a time: a verb of a scenario and its arguments, as in a file."""

    at_us: int
    verb: str
    args: Any

    @property
    def label(self) -> str:
        """The name of what the step creates."""
        return str(self.args["as"])


def _stated(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


# --- messages


def post(
    *, at_us: int, on: str, folder: str, label: str, count: int = 1, size: int = 100, associated: bool = False
) -> Timed:
    """Create messages. The labels of several messages are `label-1`, `label-2`, ..."""
    name = label if count == 1 else f"{label}-{{n}}"
    several = {} if count == 1 else {"count": count}
    words = {"subject": f"post {name}", "body": f"This is {name}.\n", "letters": size}
    args = {"on": on, "folder": folder, **several, **words, **({"associated": True} if associated else {}), "as": label}
    return Timed(at_us, "posts" if several else "post", args)


def labels_of(step: Timed) -> list[str]:
    """Return the labels of the messages that a step creates."""
    if step.verb == "post":
        return [step.label]
    return [f"{step.label}-{number}" for number in range(1, step.args["count"] + 1)] if step.verb == "posts" else []


def edit(*, at_us: int, on: str, message: str) -> Timed:
    return Timed(at_us, "edit", {"on": on, "message": message, "subject": f"{message} by {on}"})


def save_of_first(*, at_us: int, on: str, message: str) -> Timed:
    """Return an edit by somebody who opened the message as it was posted (spec: CF-6)."""
    words = {"subject": f"{message} saved on {on}", "based_on": [message]}
    return Timed(at_us, "edit", {"on": on, "message": message, **words})


def delete(*, at_us: int, on: str, message: str) -> Timed:
    return Timed(at_us, "delete", {"on": on, "message": message})


def resolve(*, at_us: int, on: str, message: str, keep: Literal["shown", "last", "all"]) -> Timed:
    return Timed(at_us, "resolve", {"on": on, "message": message, "keep": keep})


def recover(*, at_us: int, on: str, message: str) -> Timed:
    return Timed(at_us, "recover", {"on": on, "message": message})


def send_mail(*, at_us: int, on: str, folder: str, recipient: str, title: str) -> Timed:
    return Timed(at_us, "send", {"on": on, "folder": folder, "to": recipient, "subject": f"mail {title}"})


# --- folders and replicas


def create_folder(
    *,
    at_us: int,
    on: str,
    label: str,
    title: str,
    replicas: Sequence[str] = (),
    under: str | None = None,
    **properties: Any,
) -> Timed:
    where = _stated(under=under, replicas=list(replicas) or None)
    return Timed(at_us, "folder", {"on": on, "create": title, **where, **properties, "as": label})


def rename_folder(*, at_us: int, on: str, folder: str, title: str) -> Timed:
    return Timed(at_us, "folder", {"on": on, "rename": folder, "to": title})


def move_folder(*, at_us: int, on: str, folder: str, under: str | None) -> Timed:
    """Move a folder below `under`, or to the top of the tree if `under` is None."""
    return Timed(at_us, "folder", {"on": on, "move": folder, "under": under or "/"})


def change_folder(*, at_us: int, on: str, folder: str, **properties: Any) -> Timed:
    return Timed(at_us, "folder", {"on": on, "change": folder, **properties})


def propagate(*, at_us: int, on: str, folder: str, properties: Sequence[str]) -> Timed:
    return Timed(at_us, "folder", {"on": on, "propagate": folder, "properties": list(properties)})


def delete_folder(*, at_us: int, on: str, folder: str) -> Timed:
    return Timed(at_us, "folder", {"on": on, "delete": folder})


def add_replica(*, at_us: int, on: str, folder: str, store: str) -> Timed:
    return Timed(at_us, "replica", {"on": on, "folder": folder, "add": store})


def remove_replica(*, at_us: int, on: str, folder: str, store: str) -> Timed:
    return Timed(at_us, "replica", {"on": on, "folder": folder, "remove": store})


def change_replicas(*, at_us: int, on: str, folder: str | None, **change: str) -> Timed:
    """Change the replica lists of a folder and its subfolders, or of all folders: add, remove, or replace and by."""
    return Timed(at_us, "replicas", {"on": on, "folder": folder or HIERARCHY, **change})


# --- orders of administrators, and stores


def resend(*, at_us: int, on: str, folder: str | None, store: str | None, days: int = 1) -> Timed:
    """Send changes again to `store`, or to all other holders."""
    return Timed(at_us, "resend", {"folder": folder or HIERARCHY, "days": days, "from": on, **_stated(to=store)})


def synchronize(*, at_us: int, on: str, folder: str | None) -> Timed:
    return Timed(at_us, "synchronize", {"folder": folder or HIERARCHY, "on": on})


def queue(*, at_us: int, on: str, order: str, next_hop: str | None = None, mail_type: str | None = None) -> Timed:
    """Freeze, unfreeze, delete or return the mails in a queue, or those of a type."""
    return Timed(at_us, "queue", {"on": on, "order": order, **_stated(next_hop=next_hop, type=mail_type)})


def content(*, at_us: int, action: Literal["suspend", "resume"]) -> Timed:
    """Suspend or resume content replication on every running store."""
    return Timed(at_us, "content", action)


def join(*, at_us: int, store: str) -> Timed:
    return Timed(at_us, "start", store)


def delete_store(*, at_us: int, on: str, store: str) -> Timed:
    """Stop a store and delete it from the directory, even if it holds replicas. It runs again only after
    `create_store`."""
    return Timed(at_us, "directory", {"delete": store, "on": on, "force": True, "stop": True})


def create_store(*, at_us: int, store: str) -> Timed:
    """Create a new store for a server whose store was deleted (spec: RP-7)."""
    return Timed(at_us, "directory", {"create": store})


def restore_elsewhere(*, at_us: int, on: str, owner: str, backup_at_us: int, label: str) -> list[Timed]:
    """Make a backup of a store, and restore it later in place of the store of another server (spec: RP-8)."""
    return [
        Timed(backup_at_us, "backup", {"on": owner, "as": label}),
        Timed(at_us, "restore", {"on": on, "backup": label}),
    ]


def connector(*, at_us: int, **change: Any) -> Timed:
    """Add, change or remove a connector, with the keys of a step `connector` (spec: RT-6)."""
    return Timed(at_us, "connector", change)


def site(*, at_us: int, **change: Any) -> Timed:
    """Add or remove a site, with the keys of a step `site` (spec: RT-6)."""
    return Timed(at_us, "site", change)


def server(*, at_us: int, **change: Any) -> Timed:
    """Add or remove a server, with the keys of a step `server` (spec: RT-6, RP-9)."""
    return Timed(at_us, "server", change)


def recipient_policy(*, at_us: int, **change: Any) -> Timed:
    """Add, change or remove a recipient policy, with the keys of a step `recipient_policy` (spec: ML-1)."""
    return Timed(at_us, "recipient_policy", change)


# --- faults


@dataclass(frozen=True, slots=True)
class Span:
    """A fault that begins at `at_us` and lasts `lasts_us`, or until the heal if that comes before.

    kind: a fault of a scenario, or kill, stop, restore or swizzle, which are several steps on servers.
    fields: those of the fault.
    """

    at_us: int
    lasts_us: int
    kind: str
    fields: dict[str, Any]

    def steps(self, name: str, length_us: int) -> Iterator[Timed]:
        """Yield the steps that begin and end the fault.

        name: names the fault.
        length_us: when all faults end.
        """
        server, end_us = self.fields.get("server"), self.at_us + self.lasts_us
        if self.kind == "restore":
            restored_us = min(end_us, length_us - 1)
            yield Timed(self.at_us, "backup", {"on": server, "as": name})
            if "dead_us" in self.fields:
                yield Timed(max(self.at_us, restored_us - self.fields["dead_us"]), "kill", server)
            yield Timed(restored_us, "restore", {"on": server, "backup": name})
        elif self.kind in {"kill", "stop"}:
            yield Timed(self.at_us, self.kind, server)
            yield Timed(end_us, "start", server)
        elif self.kind == "swizzle":
            gap_us, stops = self.fields["gap_us"], self.fields["stop"]
            yield from (Timed(self.at_us + index * gap_us, "kill", store) for index, store in enumerate(stops))
            end_us += len(stops) * gap_us
            yield from (Timed(end_us + index * gap_us, "start", s) for index, s in enumerate(self.fields["start"]))
        elif self.at_us < length_us:
            lasts = format_duration(min(self.lasts_us, length_us - self.at_us))
            own = {"lasts": lasts} if self.kind in {"hold", "stall"} else {}
            yield Timed(self.at_us, self.kind, {**self.fields, **own, "as": name})
            yield Timed(end_us, "heal", name)


def fault(
    kind: str, *, at_us: int, lasts_us: int, from_: str | None = None, by_us: int | None = None, **fields: Any
) -> Span:
    """Return a fault. A field that has its default is left out.

    count: of a fault of mails, how many it affects; None: all while it lasts.
    """
    every = {"from": from_, **fields, "by": None if by_us is None else format_duration(by_us)}
    stated = {name: value for name, value in every.items() if value}
    if kind == "reorder" and fields["count"] is None:
        stated["count"] = None  # its default is 1
    return Span(at_us, lasts_us, kind, stated)
