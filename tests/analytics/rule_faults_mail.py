"""Violations to plant for the checks of analytics/rules_mail.py."""

from __future__ import annotations

from collections.abc import Mapping

from tests.analytics.altering import Fault, again_at_the_end, nth, set_, without
from tests.analytics.planting import Trace


def _small_mails(trace: Trace) -> None:
    for event in trace["B"]:
        if event["type"] == "mail.submitted" and event["message_type"] == 4:
            event["size"] = 1000


def _sent_all_the_same(trace: Trace) -> None:
    """What a store sent while content was suspended was content."""
    on = nth(trace, "setting.value", where=lambda event: event["value"] == "1" and event["node"] == "A")
    sent = nth(trace, "mail.submitted", where=lambda event: event["node"] == "A" and event["seq"] > on["seq"])
    sent["message_type"] = 4


FAULTS: Mapping[str, Fault] = {
    "a bigger item goes alone": (
        "oversized-post",
        set_(
            "mail.submitted", where=lambda e: e["message_type"] == 4 and e["folders"][0]["updates"] > 1, size=1_000_000
        ),
    ),
    "what fits goes in one mail": ("oversized-post", _small_mails),
    "only stores of the organization are heard": ("new-post", set_("mail.received", sender="Z")),
    "nobody is written to unstamped": (
        "new-post",
        without("address.stamped", where=lambda e: e["node"] == "A" and e["store"] == "B"),
    ),
    "who is deleted is not written to": (
        "orphan",
        again_at_the_end(
            "mail.submitted",
            where=lambda e: e["node"] in {"A", "B"} and any(each.startswith("Z-") for each in e["recipients"]),
        ),
    ),
    "suspended content stays": ("suspended", _sent_all_the_same),
}
