"""Violations to plant for the checks of mails."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tests.support.trace_faults import Fault, Trace, again_at_the_end, nth, renumber, set_, shift, without


def _small_mails(trace: Trace) -> None:
    for event in trace["B"]:
        if event["type"] == "mail.submitted" and event["message_type"] == 4:
            event["size"] = 1000


def _content_sent_while_suspended(trace: Trace) -> None:
    """A mail that a store sent while content was suspended had content."""
    on = nth(trace, "setting.value", where=lambda event: event["value"] == "1" and event["node"] == "A")
    sent = nth(trace, "mail.submitted", where=lambda event: event["node"] == "A" and event["seq"] > on["seq"])
    sent["message_type"] = 4


def _late(trace: Trace) -> None:
    """The mail of the urgent folder arrives last."""
    news = [each for each in trace["A"] if each["type"] == "mail.submitted" and each["message_type"] == 4][-1]
    nth(trace, "hop.sent", where=lambda event: event.get("mail") == news["mail"])["at"] += 3_600_000_000


def _ordinary_mail_unpacked(trace: Trace) -> None:
    """A mail without XEXCH50 is unpacked as replication mail."""
    bad = nth(trace, "mail.bad")
    came = nth(trace, "hop.received", where=lambda event: event.get("authenticated") is False)
    read = nth(trace, "mail.received", where=lambda event: event["mail"] == came["mail"])
    place = trace["B"].index(bad)
    trace["B"][place] = {**read, **{name: bad[name] for name in ("node", "seq", "lamport", "at")}}


def _repeated(kind: str, times: int) -> Callable[[Trace], None]:
    def change(trace: Trace) -> None:
        event = nth(trace, kind)
        events = trace[event["node"]]
        at = events.index(event)
        events[at:at] = [dict(event) for _ in range(times)]
        renumber(events)

    return change


FAULTS: Mapping[str, Fault] = {
    "big items are sent alone": (
        "oversized-post",
        set_(
            "mail.submitted", where=lambda e: e["message_type"] == 4 and e["folders"][0]["updates"] > 1, size=1_000_000
        ),
    ),
    "items that fit share a mail": ("oversized-post", _small_mails),
    "mails come only from stores in the directory": ("new-post", set_("mail.received", sender="Z")),
    "mails go only to stamped addresses": (
        "new-post",
        without("address.stamped", where=lambda e: e["node"] == "A" and e["store"] == "B"),
    ),
    "mails go only where the objects name the tree": (
        "damaged-objects",
        without("tree.linked", where=lambda e: e["node"] == "A" and e["linked"]),
    ),
    "addresses are those of the recipient policies": (
        "policies-by-priority",
        set_(
            "address.stamped",
            where=lambda e: (e["node"], e["address"]) == ("A", "B-IS@contoso.test"),
            address="B-IS@adatum.test",
        ),
    ),
    "deleted stores get no mail": (
        "stories/orphan",
        again_at_the_end(
            "mail.submitted",
            where=lambda e: e["node"] in {"A", "B"} and any(each.startswith("C-") for each in e["recipients"]),
        ),
    ),
    "suspended content is not sent": ("suspended", _content_sent_while_suspended),
    "size limits for users do not apply to replication": (
        "line-down",
        set_("hop.failed", reason="552 5.3.4 Message size exceeds fixed limit (to MAIL)"),
    ),
    "retries wait 10 minutes": ("line-down", shift("hop.failed", "at", -300_000_000, n=1)),
    "failed mails are returned": ("line-down", set_("hop.failed", retry_at=None)),
    "mails expire after two days": (
        "line-down",
        set_("hop.failed", type="hop.expired", recipients=[], reason="4.4.7 not delivered before it expired"),
    ),
    "frozen mails are not tried": ("purged-queue", without("queue.unfrozen")),
    "running stores read the organization": (
        "stories/reorganized",
        without("organization.read", where=lambda e: e["revision"] == 4),
    ),
    "mails cross connectors that exist": (
        "stories/reorganized",
        again_at_the_end("hop.sent", where=lambda e: e["connector"] == "direct", queue_id=999, begun_at=None),
    ),
    "urgent mails go first": ("priority", _late),
    "ordinary mail is not read as replication mail": ("need-to-authenticate", _ordinary_mail_unpacked),
    "a mail becomes one post": ("mail-to-folder", _repeated("mail.posted", 1)),
    "mails do not loop": ("line-down", _repeated("hop.received", 31)),
    "no open relay": (
        "mail-to-folder",
        set_("hop.received", where=lambda e: e.get("authenticated") is False, recipients=["kim@elsewhere.test"]),
    ),
}
