"""The recipient policy as people write it: how often the recipient update service runs, and a mail domain (spec: ML-1)."""

import re
from typing import Final

from topology.problems import ValueTextError, quoted
from traces.errors import TimeTextError
from traces.labtime import DAY_US, MINUTE_US, format_duration, parse_duration

MAX_DOMAIN: Final = 200

_LABEL: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?", re.ASCII)


def parse_recipient_update(text: str) -> int | None:
    """Return how often the service runs, in microseconds: 0 for `always`, None for `never`.

    Raises ValueTextError for another text than these two or a duration from a minute to a day.
    """
    if text in {"always", "never"}:
        return 0 if text == "always" else None
    try:
        interval_us = parse_duration(text)
    except TimeTextError:
        interval_us = 0
    if not MINUTE_US <= interval_us <= DAY_US:
        raise ValueTextError(
            f"{quoted(text)} is not an update interval",
            "write always, never, or a duration from 1 min to 1 d, such as 1 h",
        )
    return interval_us


def format_recipient_update(interval_us: int | None) -> str:
    """Return how often the service runs as text; `parse_recipient_update` reads it back."""
    if not interval_us:
        return "never" if interval_us is None else "always"
    return format_duration(interval_us)


def parse_mail_domain(text: str) -> str:
    """Return a mail domain. Raises ValueTextError if the text is none."""
    if len(text) > MAX_DOMAIN or not all(_LABEL.fullmatch(label) for label in text.split(".")):
        raise ValueTextError(
            f"{quoted(text)} is not a mail domain",
            "use letters, digits and hyphens between dots, such as contoso.test",
        )
    return text
