"""A fault in words: `loses content mails from A to B, once`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_DOES: Final = {
    "lose": "loses",
    "delay": "delays",
    "duplicate": "duplicates",
    "reorder": "reorders",
    "alter": "alters",
    "rewrite": "rewrites",
}


def fault_words(kind: str, details: Mapping[str, object]) -> str:
    """Return what a fault does, and to which mails.

    `details`: as the fault's event and the HTTP API have them.
    """
    of = {name: str(value) for name, value in details.items()}
    place = "".join(
        f" {word} {of[name].replace(' -> ', ' to ')}"
        for name, word in (("link", "from"), ("from", "from"), ("to", "to"), ("connector", "on"))
        if name in of
    )
    until = f" until {of['until']}" if "until" in of else ""
    times = {"": "", "1": ", once"}.get(of.get("count", ""), f", {of.get('count')} times")
    match kind:
        case "cut":
            return f"refuses connections{_ends(of['between']) if 'between' in of else place}{until}"
        case "blackhole":
            return f"drops all packets{_ends(of['between']) if 'between' in of else place}{until}"
        case "hold":
            return f"holds {'one mail' if 'mail' in of else 'all mail'}{place}{until}"
        case "unstamp":
            return f"{of.get('server', '')} has no mail address in the directory"
        case "unlink":
            return f"the directory object of {of.get('server', '')} names no public folder tree"
        case "double":
            return f"the directory has a second object of {of.get('server', '')}"
        case "kill":
            return f"{of.get('server', '')} was killed"
        case "crash":
            return f"crashes {of.get('server', '')} {of.get('point', '')}"
        case "stall":
            return f"{of.get('server', '')} answers nobody{until}"
        case "skew":
            by = of.get("by", "")
            return f"the clock of {of.get('server', '')} is {by.removeprefix('-')} {'slow' if by.startswith('-') else 'fast'}"
        case "smtp":
            effect = f"a delay of {of.get('by', '20 min')}" if of.get("does") == "tarpit" else of.get("does", "")
            return f"{of.get('verb', '')} ends with {effect}{place}{times}{until}"
        case _:
            mails = (
                "one mail"
                if "mail" in of
                else f"{of['type']} mails"
                if "type" in of
                else "mails"
                if place
                else "all mails"
            )
            by = f" by {of['by']}" if "by" in of else ""
            what = f"{of['header']} of {mails}" if "header" in of else mails
            return f"{_DOES.get(kind, kind)} {what}{place}{by}{times}{until}"


def _ends(between: str) -> str:
    """Return the ends of a cut line from `A - B`, or from `A -> B` for one direction."""
    if " -> " in between:
        return f" from {between.replace(' -> ', ' to ')}"
    return f" between {between.replace(' - ', ' and ')}"
