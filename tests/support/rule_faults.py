"""A violation to plant for each rule check: a scenario's trace, and the change to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.support import rule_faults_mail, rule_faults_state
from tests.support.trace_faults import (
    Fault,
    Line,
    Trace,
    again_at_the_end,
    in_folder,
    mail,
    nth,
    of_type,
    read_trace,
    renumber,
    set_,
    shift,
    without,
    write_trace,
)
from traces.labtime import DAY_US, HOUR_US


def _reissued(trace: Trace) -> None:
    first = nth(trace, "change.made")
    nth(trace, "change.made", 1, where=lambda event: event["node"] == first["node"])["number"] = first["number"]


def _skipped(trace: Trace) -> None:
    event = nth(trace, "change.made", -1)
    guid, _, counter = event["number"].rpartition(":")
    event["number"] = f"{guid}:{int(counter) + 5}"


def _forgetful(trace: Trace) -> None:
    event = nth(trace, "change.made", where=lambda event: bool(event["supersedes"]))
    event["pcl"] = event["number"]


def _another_winner(trace: Trace) -> None:
    event = nth(trace, "conflict.arose")
    event["winner"] = next(each for each in event["versions"] if each != event["winner"])


def _reversed(trace: Trace) -> None:
    nth(trace, "sources.considered", where=lambda event: len(event["candidates"]) > 1)["candidates"].reverse()


def _asked_at_once(trace: Trace) -> None:
    made = nth(trace, "entry.made")
    nth(trace, "request.sent")["at"] = made["at"]


def _more_than_asked(trace: Trace) -> None:
    event = nth(trace, "request.answered")
    event["cnset"] = event["cnset"].partition(":")[0] + ":1-9"


def _risen(trace: Trace) -> None:
    dead = {(e["node"], e["object"]) for events in trace.values() for e in events if e.get("deleted")}
    again_at_the_end(
        "version.applied", where=lambda event: (event["node"], event["object"]) in dead and not event["deleted"]
    )(trace)


def _claimed_without_version(trace: Trace) -> None:
    """A store claims in its last mail what it never applied."""
    for events in trace.values():
        mails = [each for each in events if each["type"] == "mail.submitted"]
        for event in events:
            named = [each for each in mails if each["seq"] > event["seq"] and event.get("folder") in _folders(each)]
            if event["type"] == "version.applied" and event["folder"] != "1-1" and named:
                events.remove(event)
                renumber(events)
                return


def _unclaimed(trace: Trace) -> None:
    """The mails of a store claim nothing of what it has applied."""
    for event in [each for events in trace.values() for each in events if each["type"] == "mail.submitted"]:
        for folder in event["folders"]:
            folder.update(row="", row_fai="")


def _folders(event: Line) -> list[str]:
    return [each["folder"] for each in event["folders"]]


def _candidate(**fields: Any) -> Callable[[Trace], None]:
    return lambda trace: nth(trace, "sources.considered")["candidates"][0].update(fields)


def _older_again(trace: Trace) -> None:
    """A superseded version of a folder arrives again and is applied."""
    for events in trace.values():
        mine = [
            each for each in events if each.get("folder") == "1-1" and "modified_at" in each and not each.get("deleted")
        ]
        for event in mine:
            later = [
                each
                for each in mine
                if each["object"] == event["object"] and each["modified_at"] > event["modified_at"]
            ]
            if later and event["type"] == "version.applied":
                events.insert(len(events) - 1, {**event, "at": events[-1]["at"]})
                renumber(events)
                return
    raise AssertionError("no folder was changed twice")


def _silent_newcomer(trace: Trace) -> None:
    added = nth(trace, "replica.added", where=lambda event: event["node"] == event["store"])
    events = trace[added["node"]]
    events[:] = [each for each in events if each["type"] != "responders.considered"]
    renumber(events)
    for stopped in [each[-1] for each in trace.values()]:
        stopped["at"] += 2 * DAY_US


def _told_by_another(trace: Trace) -> None:
    notice = nth(trace, "conflict.notice")
    # Neither the home store, whose notice it is, nor the author, which has the second name.
    events = trace[next(node for node in sorted(trace, reverse=True) if node not in {"lab", notice["node"]})]
    stop = events[-1]
    events.insert(len(events) - 1, {**notice, "node": stop["node"], "at": stop["at"]})
    renumber(events)


def _drop_tombstone(after_us: int) -> Callable[[Trace], None]:
    """A tombstone is dropped this long after it was made; later events move by as much."""

    def change(trace: Trace) -> None:
        buried = nth(trace, "tombstone.made")
        events = trace[buried["node"]]
        at = len(events) - 1 if after_us else events.index(buried) + 1
        gone = {**buried, "type": "tombstone.dropped", "at": buried["at"] + after_us}
        if after_us:
            gone["lamport"] = events[-1]["lamport"]
            events[-1]["lamport"] += 1
        for stopped in [each[-1] for each in trace.values()]:
            stopped["at"] += after_us
        events.insert(at, gone)
        renumber(events)

    return change


FAULTS: Mapping[str, Fault] = {
    "numbers are never reissued": ("holes", _reissued),
    "each change takes the next number": ("holes", _skipped),
    "predecessors are complete": ("edit", _forgetful),
    "time goes on with each version": (
        "edit",
        set_("change.made", where=lambda e: bool(e["supersedes"]), modified_at=0),
    ),
    "a folder keeps a replica": (
        "hierarchy-change",
        set_("change.made", where=lambda e: e["kind"] == "folder", replicas=[]),
    ),
    "bytes are the author's": ("new-post", set_("version.applied", digest="0" * 64)),
    "what is old is not applied": ("edit", again_at_the_end("version.applied")),
    "deleted is deleted": ("delete", _risen),
    "hierarchy and content apart": (
        "new-post",
        mail((4,), lambda event: event["folders"].append({**event["folders"][0], "folder": "1-1"})),
    ),
    "mails name what the sender has": ("new-post", mail((4,), in_folder(row=""))),
    "only what is missing is asked for": (
        "lost-mail",
        mail((8,), lambda event: event["folders"][0].update(row=event["folders"][0]["cnset"])),
    ),
    "requests and responses go to one": (
        "lost-mail",
        mail((8,), lambda event: event["recipients"].append("C-IS@contoso.test")),
    ),
    "hierarchy keeps its own time": ("hierarchy-change", shift("mail.submitted", "at", 1, where=of_type(2))),
    "what is read is what was written": ("lost-mail", shift("mail.received", "number", 1)),
    "causes come before effects": ("lost-mail", set_("mail.received", lamport=0)),
    "rows of others are theirs": ("lost-mail", set_("row.replaced", where=lambda e: e["cnset"] != "", cnset="")),
    "accepted is durable": ("new-post", without("hop.received")),
    "one copy crosses a connector": (
        "nearer-source",
        again_at_the_end("hop.sent", where=lambda e: e["connector"] is not None, queue_id=999),
    ),
    "requests are answered": ("lost-mail", without("request.answered")),
    "answers are asked for": ("lost-mail", _more_than_asked),
    "the first wait": ("lost-mail", shift("entry.made", "due_at", 1)),
    "nothing is asked for early": ("lost-mail", _asked_at_once),
    "the first retry": ("lost-mail", shift("request.sent", "retry_at", 1)),
    "nothing is left over": ("lost-mail", without("entry.satisfied")),
    "sources are asked in order": ("partial-sources", _reversed),
    "the first that has something is asked": ("lost-mail", set_("sources.considered", chosen=["Z"])),
    "a status waits 24 hours": ("lost-mail", shift("status.due", "at", -HOUR_US)),
    "a status comes within 36 hours": ("lost-mail", shift("status.due", "at", 24 * HOUR_US)),
    "one status for an update": ("lost-mail", again_at_the_end("status.due")),
    "checks keep their hours": ("lost-mail", shift("status.due", "at", 60_000_000)),
    "the last writer is shown": ("conflict", _another_winner),
    "time never goes back": ("new-post", set_("hop.sent", at=0)),
    "causes come first": ("new-post", set_("hop.sent", lamport=0)),
    "what is held waits its time": ("held-change", shift("version.held", "until_at", 1)),
    "what a row claims has come": ("lost-mail", _claimed_without_version),
    "what has come is claimed": ("lost-mail", _unclaimed),
    "costs are those of the routes": ("partial-sources", _candidate(cost=None)),
    "who is silent is down": ("partial-sources", _candidate(down=True)),
    "versions and preference are as set": ("partial-sources", _candidate(preferred=True)),
    "only a silent source is down": ("silent-source", shift("source.down", "at", -1)),
    "asked for what its row claims": ("lost-mail", set_("request.sent", cnset=f"{'ab' * 16}:900")),
    "no better source is passed over": ("nearer-source", set_("request.sent", source="C")),
    "local is what the site has": ("partial-sources", set_("entry.made", local=True)),
    "content goes to all other holders": ("new-post", mail((4,), lambda event: event["recipients"].pop())),
    "statuses go to holders": (
        "quiet-organization",
        mail((16,), lambda event: event.update(recipients=["Y-IS@contoso.test", "Z-IS@contoso.test"])),
    ),
    "all holders must respond": ("new-replica", set_("responders.considered", chosen=["Z"])),
    "six steps list no more than they may": (
        "oldest-replica",
        set_("responders.considered", where=lambda e: e.get("method") == "six steps", chosen=["Z"]),
    ),
    "content keeps its schedule": ("new-post", shift("mail.submitted", "at", 60_000_000, where=of_type(4))),
    "the home store tells of a conflict": ("conflict", without("conflict.notice")),
    "nobody else tells of it": ("conflict", _told_by_another),
    "tombstones are known to all": ("delete", _drop_tombstone(0)),
    "tombstones come of age": ("delete", _drop_tombstone(0)),
    "the last writer stays": ("hierarchy-change", _older_again),
    "a replica goes when another has it": ("replica-removed", set_("replica.dropped", cnset=f"{'ab' * 16}:1-900")),
    "what is due is sent": ("quiet-organization", without("mail.submitted", where=of_type(16))),
    "a new replica asks for status": ("new-replica", _silent_newcomer),
    "lost edits are told by home or author": ("delete-against-edit", _told_by_another),
    **rule_faults_state.FAULTS,
    **rule_faults_mail.FAULTS,
}

CLEAN: Mapping[str, Fault] = {
    "tombstone": ("delete", _drop_tombstone(181 * DAY_US)),
    **rule_faults_state.CLEAN,
}
"""Correct cases that the suite does not contain."""


def place_of(check: str) -> str:
    return f"rules/{check.replace(' ', '-')}"


def plant_rule_faults(root: Path) -> None:
    """Write `root/rules/<check>/traces`, from `root/suite`."""
    for check, (source, change) in FAULTS.items():
        trace = read_trace(root / "suite" / source / "traces")
        change(trace)
        write_trace(root / place_of(check) / "traces", trace)
    for name, (source, change) in CLEAN.items():
        trace = read_trace(root / "suite" / source / "traces")
        change(trace)
        write_trace(root / "clean" / name / "traces", trace)
