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
    read_source,
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


def _rival_of_its_base(trace: Trace) -> None:
    event = nth(trace, "change.made", where=lambda event: bool(event.get("rivals")))
    event["rivals"] += event["supersedes"]


def _covers_its_rival(trace: Trace) -> None:
    del nth(trace, "change.made", where=lambda event: bool(event.get("rivals")))["rivals"]


def _replaces_one_less(trace: Trace) -> None:
    event = nth(trace, "change.made", where=lambda event: len(event["supersedes"]) > 1)
    event["supersedes"].remove(next(each for each in event["supersedes"] if each[:32] == event["number"][:32]))


def _waits_after_an_empty_answer(trace: Trace) -> None:
    ended = nth(trace, "request.ended", where=lambda event: event["how"] == "empty")
    later = [each for each in trace[ended["node"]] if each["seq"] > ended["seq"]]
    choice = next(each for each in later if each["type"] == "sources.considered")
    choice.update(type="entry.timed_out", attempt=2)


def _another_winner(trace: Trace) -> None:
    event = nth(trace, "conflict.arose")
    event["winner"] = next(each for each in event["versions"] if each != event["winner"])


def _reversed(trace: Trace) -> None:
    nth(trace, "sources.considered", where=lambda event: len(event["candidates"]) > 1)["candidates"].reverse()


def _listed_in_another_order(trace: Trace) -> None:
    """Two responders exchange their places and steps."""
    choice = nth(trace, "responders.considered", where=lambda event: len(event["candidates"]) > 1)
    first, second = choice["candidates"][:2]
    choice["candidates"][:2] = [{**second, "group": first["group"]}, {**first, "group": second["group"]}]
    choice["chosen"].reverse()


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
    "numbers have the GUID of their store": ("new-post", set_("node.started", replica_guid="ab" * 16)),
    "changes do what they say": (
        "edit",
        set_("change.made", where=lambda e: e["operation"] == "modify", operation="create"),
    ),
    "predecessor lists are complete": ("edit", _forgetful),
    "a change covers only what it replaces": ("two-saves", _covers_its_rival),
    "rivals are versions that were not opened": ("two-saves", _rival_of_its_base),
    "modification times increase": (
        "edit",
        set_("change.made", where=lambda e: bool(e["supersedes"]), modified_at=0),
    ),
    "a folder keeps at least one replica": (
        "hierarchy-change",
        set_("change.made", where=lambda e: e["kind"] == "folder", replicas=[]),
    ),
    "versions are applied as their author made them": ("new-post", set_("version.applied", digest="0" * 64)),
    "old versions are not applied": ("edit", again_at_the_end("version.applied")),
    "deleted items stay deleted": ("delete", _risen),
    "hierarchy and content are not mixed": (
        "new-post",
        mail((4,), lambda event: event["folders"].append({**event["folders"][0], "folder": "1-1"})),
    ),
    "mails name what the sender has": ("new-post", mail((4,), in_folder(row=""))),
    "only missing changes are requested": (
        "lost-mail",
        mail((8,), lambda event: event["folders"][0].update(row=event["folders"][0]["cnset"])),
    ),
    "requests and responses have one recipient": (
        "lost-mail",
        mail((8,), lambda event: event["recipients"].append("C-IS@contoso.test")),
    ),
    "hierarchy is broadcast on schedule": ("hierarchy-change", shift("mail.submitted", "at", 1, where=of_type(2))),
    "mails are read as they were written": ("lost-mail", shift("mail.received", "number", 1)),
    "mails are received after they are sent": ("lost-mail", set_("mail.received", lamport=0)),
    "rows of other stores are as sent": ("lost-mail", set_("row.replaced", where=lambda e: e["cnset"] != "", cnset="")),
    "accepted mail is durable": ("new-post", without("hop.received")),
    "events agree with each other": ("lost-mail", shift("hop.received", "size", 1)),
    "what an event repeats was said before": ("lost-mail", without("entry.made")),
    "what is sent arrives": ("lost-mail", without("request.ended")),
    "events follow each other in order": ("lost-mail", without("sources.considered")),
    "what begins comes to its end": ("lost-mail", without("entry.satisfied")),
    "one copy crosses a connector": (
        "quiet-organization",
        again_at_the_end("hop.sent", where=lambda e: e["connector"] is not None, queue_id=999),
    ),
    "requests are answered": ("lost-mail", without("request.answered")),
    "answers have only what was requested": ("lost-mail", _more_than_asked),
    "new entries wait 6 or 12 hours": ("lost-mail", shift("entry.made", "due_at", 1)),
    "requests are not sent early": ("lost-mail", _asked_at_once),
    "the first retry is after 12 or 24 hours": ("lost-mail", shift("request.sent", "retry_at", 1)),
    "an empty answer costs no time-out": ("next-source-at-once", _waits_after_an_empty_answer),
    "no backfill entry remains": ("lost-mail", without("entry.satisfied")),
    "backfill sources are sorted": ("partial-sources", _reversed),
    "the first useful source is chosen": ("lost-mail", set_("sources.considered", chosen=["Z"])),
    "a status waits 24 hours": ("lost-mail", shift("status.due", "at", -HOUR_US)),
    "a status is due within 36 hours": ("lost-mail", shift("status.due", "at", 24 * HOUR_US)),
    "one status after an update": ("lost-mail", again_at_the_end("status.due")),
    "5.5 reports its own changes": ("own-status", again_at_the_end("status.due", where=lambda e: e["node"] == "A")),
    "status checks run on schedule": ("lost-mail", shift("status.due", "at", 60_000_000)),
    "the last writer wins a conflict": ("conflict", _another_winner),
    "lab time never goes back": ("new-post", set_("hop.sent", at=0)),
    "lab times follow mails": ("lost-mail", set_("mail.received", at=0)),
    "lab times follow answers": ("new-post", set_("hop.sent", at=0)),
    "Lamport numbers have no gap": ("new-post", without("clock.changed")),
    "deferred versions wait 7 days or 4 hours": ("held-change", shift("version.held", "until_at", 1)),
    "claimed changes are in the store": ("lost-mail", _claimed_without_version),
    "applied changes are claimed": ("lost-mail", _unclaimed),
    "costs match the routes": ("partial-sources", _candidate(cost=None)),
    "silent candidates are down": ("partial-sources", _candidate(down=True)),
    "candidates match the configuration": ("partial-sources", _candidate(preferred=True)),
    "only silent sources are marked down": ("silent-source", shift("source.down", "at", -1)),
    "sources are asked for what they claim": ("lost-mail", set_("request.sent", cnset=f"{'ab' * 16}:900")),
    "no better source is passed over": ("nearer-source", set_("request.sent", source="C")),
    "leaving stores are asked last": ("leaver-last", set_("request.sent", source="B")),
    "local entries are in the site": (
        "partly-local",
        set_("entry.made", where=lambda event: not event["local"], local=True),
    ),
    "broadcasts go to all other holders": ("new-post", mail((4,), lambda event: event["recipients"].pop())),
    "statuses go to holders": (
        "quiet-organization",
        mail((16,), lambda event: event.update(recipients=["Y-IS@contoso.test", "Z-IS@contoso.test"])),
    ),
    "all holders are asked for their status": ("new-replica", set_("responders.considered", chosen=["Z"])),
    "the six steps list the right number of responders": (
        "oldest-replica",
        set_("responders.considered", where=lambda e: e.get("method") == "six steps", chosen=["Z"]),
    ),
    "responders are those that a step listed": (
        "restored",
        set_("responders.considered", where=lambda e: len(e["chosen"]) > 1, chosen=["C"]),
    ),
    "each step lists its first store": ("restored", _listed_in_another_order),
    "content is broadcast on schedule": ("new-post", shift("mail.submitted", "at", 60_000_000, where=of_type(4))),
    "a change that ends a conflict replaces its versions": ("old-conflict", _replaces_one_less),
    "the home store sends conflict notices": ("conflict", without("conflict.notice")),
    "only the home store sends conflict notices": ("conflict", _told_by_another),
    "dropped tombstones are known to all holders": ("delete", _drop_tombstone(0)),
    "tombstones are kept for 180 days": ("delete", _drop_tombstone(0)),
    "older versions do not replace later ones": ("hierarchy-change", _older_again),
    "a dropped replica is complete elsewhere": ("replica-removed", set_("replica.dropped", cnset=f"{'ab' * 16}:1-900")),
    "due statuses are sent": ("quiet-organization", without("mail.submitted", where=of_type(16))),
    "a new replica asks for statuses": ("new-replica", _silent_newcomer),
    "the home store or the author reports a lost edit": ("delete-against-edit", _told_by_another),
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
    """Write `root/rules/<check>/traces`, from `root/suite` and `root/stories`."""
    for check, (source, change) in FAULTS.items():
        trace = read_source(root, source)
        change(trace)
        write_trace(root / place_of(check) / "traces", trace)
    for name, (source, change) in CLEAN.items():
        trace = read_source(root, source)
        change(trace)
        write_trace(root / "clean" / name / "traces", trace)
