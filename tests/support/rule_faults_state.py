"""Violations to plant for checks of numbers, the backfill array, statuses, replicas, conflicts and deletions."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tests.support.trace_faults import Fault, Line, Trace, again_at_the_end, mail, nth, renumber, set_, shift, without
from traces.labtime import DAY_US, HOUR_US


def _hole(trace: Trace) -> None:
    """A broadcast does not claim the first of the numbers that it should."""

    def wide(event: Line) -> bool:
        return event["message_type"] == 4 and "-" in event["folders"][0]["cnset"]

    of = nth(trace, "mail.submitted", where=wide)["folders"][0]
    guid, _, numbers = of["cnset"].partition(":")
    of["cnset"] = f"{guid}:{numbers.partition('-')[2]}"


def _beyond(event: Line) -> None:
    of = event["folders"][0]
    of["cnset"] = of["row"] = of["cnset"].partition(":")[0] + ":1-99"


def _off_the_list(trace: Trace) -> None:
    """The organization has never put B on a list."""
    started = nth(trace, "run.started")
    started["topology"] = started["topology"].replace('"replicas":["A","B"', '"replicas":["A"').replace(
        '"replicas": ["A", "B"', '"replicas": ["A"'
    )  # fmt: skip


def _out_of_turn(trace: Trace) -> None:
    """The entry that came due at the second time-out gets a slot before the one of the first."""
    events = trace["B"]
    waits = nth(trace, "request.deferred")
    served = next(each for each in events if each["type"] == "request.sent" and each["seq"] > waits["seq"])
    served["entry"] = next(
        each["entry"] for each in events if each["type"] == "entry.made" and each["entry"] != waits["entry"]
    )


def _repeat(of: int) -> Callable[[Line], bool]:
    return lambda event: event["message_type"] == of and "repeat" in event.get("marks", ())


def _unanswered(trace: Trace) -> None:
    """The answer to a repeat goes to another store."""
    came = nth(trace, "mail.received", where=_repeat(16))
    sent = [each for each in trace[came["node"]] if each["type"] == "mail.submitted" and each["at"] == came["at"]]
    for each in sent:
        each["recipients"] = ["Z-IS@contoso.test"]


def _asked_again(trace: Trace) -> None:
    asked = {"marks": ["repeat"], "recipients": ["A-IS@contoso.test"], "mail": "again@E.contoso.test"}
    again_at_the_end("mail.submitted", where=lambda e: e["message_type"] == 32 and e["node"] == "E", **asked)(trace)


def _never_asked(trace: Trace) -> None:
    without("mail.submitted", where=lambda e: e["message_type"] == 32 and e["node"] == "E")(trace)
    for stopped in [each[-1] for each in trace.values()]:
        stopped["at"] += 2 * DAY_US


def _changed_after(trace: Trace) -> None:
    dead = nth(trace, "change.made", where=lambda event: event["operation"] == "delete" and event["kind"] == "message")
    again_at_the_end(
        "change.made",
        where=lambda event: event["seq"] == dead["seq"] and event["node"] == dead["node"],
        operation="modify",
    )(trace)


def _forgetful(trace: Trace) -> None:
    event = nth(trace, "change.made", where=lambda event: bool(event["supersedes"]))
    event["pcl"] = event["number"]


def _notice_of_a_silent_folder(trace: Trace) -> None:
    """The notice of one folder is for another, whose method sends no notices."""
    notice = nth(trace, "conflict.notice")
    notice["folder"] = nth(trace, "conflict.arose", where=lambda e: e["folder"] != notice["folder"])["folder"]


def _ended_by_another(trace: Trace) -> None:
    event = nth(trace, "conflict.aged")
    events = trace[next(node for node in sorted(trace, reverse=True) if node not in {"lab", event["node"]})]
    stop = events[-1]
    events.insert(len(events) - 1, {**event, "node": stop["node"], "at": stop["at"]})
    renumber(events)


def _left_on_the_list(trace: Trace) -> None:
    gone = nth(trace, "store.deleted")
    for event in trace[gone["node"]]:
        if event["type"] == "change.made" and event["at"] == gone["at"]:
            event["replicas"] = [*event["replicas"], gone["store"]]


def _sends_from_a_copy(trace: Trace) -> None:
    """The store that is only shown sends the mail that it sent at its first start."""
    events = trace["R"]
    submitted = next(event for event in events if event["type"] == "mail.submitted")
    shown = next(index for index, event in enumerate(events) if event.get("reason") == "restored")
    head = {name: events[shown][name] for name in ("at", "lamport", "incarnation")}
    events.insert(shown + 1, {**submitted, **head, "mail": f"99{submitted['mail']}"})
    renumber(events)


def _keeps_its_guid(trace: Trace) -> None:
    """The store that is created again starts with the GUID of the deleted one."""
    starts = [event for event in trace["B"] if event["type"] == "node.started"]
    starts[-1]["replica_guid"] = starts[0]["replica_guid"]


def _deleted_rightly(trace: Trace) -> None:
    """A store that no folder lists is deleted: as in the orphan story, but the lists changed a moment before."""
    gone = nth(trace, "store.deleted")
    events = trace[gone["node"]]
    gone["forced"] = False
    changed = [each for each in events if each["type"] == "change.made" and each["at"] == gone["at"]]
    rest = [each for each in events if each not in changed]
    at = rest.index(gone)
    trace[gone["node"]] = [*rest[:at], *changed, *rest[at:]]
    lamports = sorted(each["lamport"] for each in events)
    for event, lamport in zip(trace[gone["node"]], lamports, strict=True):
        event["lamport"] = lamport
    renumber(trace[gone["node"]])


def _first_candidate(method: str = "", **fields: int) -> Callable[[Trace], None]:
    def change(trace: Trace) -> None:
        choice = nth(trace, "sources.considered", where=lambda event: method in ("", event["method"]))
        choice["candidates"][0].update(fields)

    return change


FAULTS: Mapping[str, Fault] = {
    "holes are closed": ("holes", _hole),
    "no claims beyond the last change": ("new-post", mail((4,), _beyond)),
    "content is only on holders": ("new-post", _off_the_list),
    "folders are shown under their names": ("hierarchy-change", set_("folder.shown", path="Elsewhere")),
    "requests stay within the limit": ("backfill-limit", without("request.ended")),
    "slots are released in time": ("lost-mail", set_("request.ended", how="retry")),
    "slots go to the longest due": ("backfill-limit", _out_of_turn),
    "the time of the last request is known": ("partial-sources", _first_candidate(backfilled_at=7)),
    "2000 asks the first complete source": (
        "six-groups",
        set_("sources.considered", where=lambda e: e["method"] == "six groups", chosen=["Z"]),
    ),
    "transmission times match the mails": ("partial-sources", _first_candidate(transit_us=99_000_000)),
    "affinities match the connectors": ("six-groups", _first_candidate("six groups", affinity=77)),
    "changes that a status shows are recorded": ("lost-mail", without("entry.made")),
    "5.5 sends its hierarchy status each night": (
        "old-habits",
        without("mail.submitted", where=lambda e: e["message_type"] == 16 and e["node"] == "A"),
    ),
    "repeats are answered": ("lost-status", _unanswered),
    "repeats are a day apart": ("lost-status", shift("mail.submitted", "at", 60_000_000, where=_repeat(16))),
    "only silent stores are asked again": ("new-store", _asked_again),
    "a repeat follows its status": ("lost-status", without("status.due")),
    "a new store asks for the hierarchy": ("new-store", _never_asked),
    "a store with replicas is not deleted": ("stories/orphan", set_("store.deleted", forced=False)),
    "a store removed by force leaves all lists": ("stories/orphan", _left_on_the_list),
    "only servers of the organization act": (
        "server-removed",
        shift("hop.sent", "at", 3 * HOUR_US, where=lambda e: e["node"] == "D"),
    ),
    "a store is created in place of a deleted one": ("store-created-again", set_("store.created", directory_object=2)),
    "a store that is only shown is silent": ("restored-elsewhere", _sends_from_a_copy),
    "a created store begins as new": ("store-created-again", _keeps_its_guid),
    "an edit covers the versions in its store": ("edit", _forgetful),
    "conflict notices follow the resolve method": ("resolve-methods", _notice_of_a_silent_folder),
    "only contacts resolve conflicts": (
        "conflict",
        set_("conflict.ended", where=lambda e: bool(e.get("by")), by="sam@contoso.test"),
    ),
    "old conflicts end at home": ("old-conflict", _ended_by_another),
    "old conflicts end at the age limit": ("old-conflict", shift("conflict.aged", "since_at", -DAY_US)),
    "recovered items were retained": ("recover", shift("item.recovered", "deleted_at", -HOUR_US)),
    "deletions leave a tombstone": ("delete", without("tombstone.made")),
    "deleted items are not changed": ("delete", _changed_after),
}

CLEAN: Mapping[str, Fault] = {
    "deleted-rightly": ("stories/orphan", _deleted_rightly),
    "reorganized": ("stories/reorganized", lambda _: None),
}
"""Correct cases that the suite does not contain."""
