"""Conditions in SQL, and a tolerance, that tables of evidence and checks share."""

from typing import Final

from traces.labtime import MINUTE_US

TOLERANCE_US: Final = 15 * MINUTE_US
"""How much the lab times of two stores with exact clocks may differ while the clocks run."""

RESENT: Final = "array_contains(coalesce(marks, array()), 'resent')"
"""SQL for mails of `Send Contents` and `Send Hierarchy`."""

SORTED_LIST: Final = "coalesce(method, '') in ('', 'sorted list')"
"""SQL for choices by the sorted list of 2003 and 2007. Traces before version 1.3 have only such choices."""

IS_SUSPENDED: Final = (
    "coalesce(version in ('2003', '2007') and try_element_at(filter(switches, s -> s.seq < seq), -1).on, false)"
)
"""SQL for whether content is suspended at the node at an event (RP-5). 5.5 and 2000 ignore the setting."""

COVERS: Final = (
    "(coalesce(try_element_at({v}.pcl, {u}.guid) >= {u}.counter, false)"
    " and not array_contains(coalesce({v}.rivals, array()), {u}.number))"
)
"""SQL for whether the predecessor list of row v covers the number of row u, which is no rival of it (spec: CN-4, CF-6)."""


def unreached(passed_over: str) -> str:
    """Return SQL for whether a candidate was passed over because no mail can be sent to it: it has no address (ML-1), or a
    holder of the folder names no tree (ML-8).

    passed_over: the column with the reason, in words.
    """
    return f"(coalesce({passed_over}, '') like '%address%' or coalesce({passed_over}, '') like '%folder tree%')"
