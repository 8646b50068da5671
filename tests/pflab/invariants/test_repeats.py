"""The invariants of repeats, and of what a change covers, fire on planted violations alone."""

from __future__ import annotations

from pflab.invariants.recipients import ChangesCoverWhatIsKept, SilentHoldersAreAskedAgain
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
from traces.events import RowReplaced
from traces.labtime import HOUR_US

NEW = f"{GUIDS['A']}:9"
"""A folder made in the lab: those of the topology have rows from the beginning."""


def asked(at: int = START_AT + 8 * HOUR_US) -> Trace:
    """A has made a folder and asked B and C for its status."""
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


def test_who_was_never_heard_of_must_be_asked_again() -> None:
    """A holder that never said anything of the folder is asked again at the next check, and not before (ST-7)."""
    trace = asked()
    assert rests(trace, 12.2) == []
    assert len(rests(trace, 12.25)) == 2


def test_who_was_asked_again_or_answered_need_not_be() -> None:
    """A repeat, a mail from the holder, or its row of before, is enough (ST-7)."""
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
        said = {
            "mail": f"1@{store}",
            "folder": NEW,
            "cnset": "",
            "cnset_fai": "",
            "sent_at": START_AT,
            "sent_number": 1,
        }
        known.add(RowReplaced, "A", store=store, **said)
    sends(known, "A", 1, MailKind.STATUS_REQUEST, ("B", "C"), folder=NEW)
    assert rests(known, 12.25) == []


def test_an_edit_that_leaves_out_a_version_of_a_conflict() -> None:
    """The predecessor list of an edit covers every version that its store kept (CF-3, CN-3)."""
    trace = lab(ChangesCoverWhatIsKept)
    made = trace.change("A", 1, object=MESSAGE)
    other = trace.change("B", 1, object=MESSAGE)
    applies(trace, "A", other)
    whole = {"object": MESSAGE, "operation": "modify"}
    trace.change("A", 2, supersedes=(made.number,), pcl=numbers("A", 2), **whole)
    assert len(trace.witnesses()) == 1
    assert "does not include B-1" in trace.witnesses()[0]


def test_an_edit_that_covers_a_conflict() -> None:
    """What is covered is kept no longer, and need not be covered again (CF-3, CN-3)."""
    trace = lab(ChangesCoverWhatIsKept)
    trace.change("A", 1, object=MESSAGE)
    applies(trace, "A", trace.change("B", 1, object=MESSAGE))
    both = f"{numbers('A', 2)};{numbers('B', 1)}"
    trace.change("A", 2, object=MESSAGE, operation="modify", supersedes=(number("B", 1),), pcl=both)
    trace.change("A", 3, object=MESSAGE, operation="modify", supersedes=(number("A", 2),), pcl=numbers("A", 3))
    assert trace.witnesses() == []
