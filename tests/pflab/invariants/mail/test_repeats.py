"""The invariants of repeats and of predecessor lists report planted violations and nothing else."""

from __future__ import annotations

from pflab.invariants.mail.recipients import ChangesCoverWhatIsKept, SilentHoldersAreAskedAgain
from pflab.terms.mail_types import MailKind
from tests.support.clock import START_AT
from tests.support.invariant_builders import (
    GUIDS,
    MESSAGE,
    Trace,
    applies,
    folder_version,
    gets,
    lab,
    number,
    numbers,
    sends,
)
from traces.events import RespondersConsidered, RowReplaced
from traces.labtime import HOUR_US

NEW = f"{GUIDS['A']}:9"
"""A folder made in the lab: those of the topology have rows from the beginning."""


def asked(at: int = START_AT + 8 * HOUR_US) -> Trace:
    """A has made a folder and requested its status from B and C."""
    trace = lab(SilentHoldersAreAskedAgain)
    trace.facts.setup("dd" * 16)
    trace.at = at
    folder_version(trace, "A", 9, object=NEW, replicas=("A", "B", "C"), operation="create")
    sends(trace, "A", 1, MailKind.STATUS_REQUEST, ("B", "C"), folder=NEW)
    return trace


def rests(trace: Trace, hours: float) -> list[str]:
    trace.at = START_AT + int(hours * HOUR_US)
    trace.guard.quiet("A", trace.at, trace.at)
    return trace.witnesses()


def test_a_silent_holder_must_be_asked_again() -> None:
    """A holder without any mail about the folder must be asked again at the next check, and not before (ST-7)."""
    trace = asked()
    assert rests(trace, 12.2) == []
    assert len(rests(trace, 12.25)) == 2


def test_a_holder_that_answered_need_not_be_asked_again() -> None:
    """A repeat, a mail from the holder, or its earlier row is enough (ST-7)."""
    trace = asked()
    gets(trace, "A", sends(trace, "B", 1, MailKind.STATUS, ("A",), folder=NEW))
    trace.at = START_AT + 12 * HOUR_US + HOUR_US // 4
    sends(trace, "A", 2, MailKind.STATUS_REQUEST, ("C",), folder=NEW, marks=("repeat",))
    assert rests(trace, 12.25) == []
    assert len(rests(trace, 24.25)) == 1, "and once more at the check after that"
    known = lab(SilentHoldersAreAskedAgain)
    known.facts.setup("dd" * 16)
    folder_version(known, "A", 9, object=NEW, replicas=("A", "B", "C"), operation="create")
    for store in "BC":
        row_fields = {
            "mail": f"1@{store}",
            "folder": NEW,
            "cnset": "",
            "cnset_fai": "",
            "sent_at": START_AT,
            "sent_number": 1,
        }
        known.add(RowReplaced, "A", store=store, **row_fields)
    sends(known, "A", 1, MailKind.STATUS_REQUEST, ("B", "C"), folder=NEW)
    assert rests(known, 12.25) == []


def test_a_holder_that_is_asked_though_it_is_not_listed_need_not_be_asked_again() -> None:
    """Between two checks a holder may lose its address, so that only others are listed. A repeat to it counts (ST-7)."""
    trace = asked()
    trace.add(RespondersConsidered, "A", folder=NEW, candidates=(), chosen=("B",), method="all holders")
    trace.at = START_AT + 12 * HOUR_US + HOUR_US // 4
    sends(trace, "A", 2, MailKind.STATUS_REQUEST, ("B", "C"), folder=NEW, marks=("repeat",))
    assert rests(trace, 12.25) == []


def test_an_edit_that_leaves_out_a_version_of_a_conflict() -> None:
    """The predecessor list of an edit must cover every version that its store has (CF-3, CN-3)."""
    trace = lab(ChangesCoverWhatIsKept)
    made = trace.change("A", 1, object=MESSAGE)
    other = trace.change("B", 1, object=MESSAGE)
    applies(trace, "A", other)
    whole = {"object": MESSAGE, "operation": "modify"}
    trace.change("A", 2, supersedes=(made.number,), pcl=numbers("A", 2), **whole)
    assert len(trace.witnesses()) == 1
    assert "does not include B-1" in trace.witnesses()[0]


def test_an_edit_that_covers_a_conflict() -> None:
    """A later edit need not cover a version that an edit has covered (CF-3, CN-3)."""
    trace = lab(ChangesCoverWhatIsKept)
    trace.change("A", 1, object=MESSAGE)
    applies(trace, "A", trace.change("B", 1, object=MESSAGE))
    both = f"{numbers('A', 2)};{numbers('B', 1)}"
    trace.change("A", 2, object=MESSAGE, operation="modify", supersedes=(number("B", 1),), pcl=both)
    trace.change("A", 3, object=MESSAGE, operation="modify", supersedes=(number("A", 2),), pcl=numbers("A", 3))
    assert trace.witnesses() == []
