"""The history of a change or of a mail, as `pflab explain` prints it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pflab.cli.app import run
from pflab.drivers.live import LiveLab
from pflab.explain.change import explain
from pflab.lab.lab import Lab
from pflab.runs.events import RunEvents
from pflab.runs.run_folder import RunFolder
from pflab.scenario.load import Step, scenario_from_text
from pflab.scenario.runner import run_scenario
from pflab.terms.verdict import ExitCode
from tests.support.cli_runs import LOST_MAIL, SCENARIOS, json_of, last_sentence, output_of, play
from topology.model import Topology
from traces.events import MailBad
from traces.labtime import LabTime

LOST_FOR_EVER = """\
title: Two lost mails, of one of which the store has heard
topology: {servers: {A: , B: }, folders: {Projects: , News: }}
rules: [BF-2]
steps:
  - lose: {from: A, to: B, type: content}
  - post: {on: A, folder: Projects, subject: Hello}
  - advance: 16 min
  - advance: 24 h
  - post: {on: A, folder: News, subject: Unheard of}
  - advance: 16 min
"""
CONFLICT = """\
title: A conflict
topology: one-site.yaml
rules: [CF-2]
steps:
  - post: {on: A, folder: Projects, subject: Plan, as: plan}
  - advance: 16 min
  - edit: {on: A, message: plan, subject: of A}
  - edit: {on: B, message: plan, subject: of B}
  - advance: 20 min
  - expect: {converged: all}
"""
SIX_GROUPS = """\
title: A partial holder
topology: {servers: {A: {version: "5.5"}, B: {version: "2000"}, C: {}}, folders: {Projects: {}}}
steps:
  - lose: {from: A, type: content}
  - lose: {from: C, type: content}
  - post: {on: A, folder: Projects, subject: Hello, as: hello}
  - post: {on: C, folder: Projects, subject: There}
  - until: {mail: backfill request, from: B, to: A, within: 48 h}
"""


def test_the_history_of_a_lost_and_backfilled_change(capsys: pytest.CaptureFixture[str]) -> None:
    """explain prints which store made the change, that a mail was lost, how the store learned of it, which store it asked,
    and when the change arrived."""
    play(LOST_MAIL)
    lines = output_of(capsys, "explain", "A-1")
    assert lines[0] == "Change A-1: 'Hello' in Projects, made on A at 2003-10-21T00:00:00Z"
    story = "\n".join(lines[1 : lines.index("")])
    for sentence in (
        "At 2003-10-21T00:15:00Z A sends it to B and C, in its broadcast (content).",
        "The copy for B is lost on arrival (fault F1).",
        "At 2003-10-22T00:15:00Z B learns from a status mail of A that it misses the change; it is known in its site, so B"
        " waits 6 h, until 2003-10-22T06:15:00Z.",
        "At 2003-10-22T06:15:00Z B chooses whom to ask for A-1: it sorts the holders (up before down, preferred source, cost,"
        " newest version, most of what is missing) and asks down the list until everything is requested.",
        "  1. A (version 2003, in the site, claims 1 number): asked.",
        "  2. C (version 2003, in the site, claims 1 number): passed over: the ones before it have all it has.",
        "At 2003-10-22T06:15:00Z B asks A for it.",
        "B has it since 2003-10-22T06:15:00Z, 30 h 15 min after it was made, by backfill.",
        "C has it since 2003-10-21T00:15:00Z, 15 min after it was made, by its broadcast.",
    ):
        assert sentence in story
    assert lines[lines.index("") - 1] == "  Every store that holds a replica has it."
    events = "\n".join(lines[lines.index("") :])
    assert "fault F1" in events
    assert "marks" not in events


def test_the_history_of_a_change_that_a_store_lacks(capsys: pytest.CaptureFixture[str]) -> None:
    """For a store without the change explain prints whether it knows that it lacks it; if the run has not ended, also that it
    may still arrive."""
    path = play(LOST_FOR_EVER)
    unheard = output_of(capsys, "explain", "A-2")
    assert "  B does not get it in this run, and has not learned that the change is missing." in unheard
    assert unheard[unheard.index("") - 1] == "  B still lacks it."
    assert "  B does not get it in this run." in output_of(capsys, "explain", "A-1")
    (lab,) = (path / "traces").glob("lab-*.jsonl")
    lab.unlink()
    assert "  B does not have it yet." in output_of(capsys, "explain", "A-1")


def test_the_history_as_json_and_by_the_number_of_the_trace(capsys: pytest.CaptureFixture[str]) -> None:
    """JSON has the same history, a change is also found by its number as traces write it, and each event has its place in the
    trace."""
    path = play(LOST_MAIL)
    made = next(each for each in RunEvents.at(path).events if type(each).__name__ == "ChangeMade")
    life = json_of(capsys, "explain", made.number, "--run", str(path))  # type: ignore[attr-defined]
    assert life["told"][-2].startswith("C has it since")
    assert life["told"][-1] == "Every store that holds a replica has it."
    assert {"at", "node", "seq", "type", "words"} == set(life["events"][0])


def test_the_history_of_a_mail(capsys: pytest.CaptureFixture[str]) -> None:
    """A mail is found by its Message-ID, with or without brackets: queued, relayed, lost, unpacked."""
    path = play(LOST_MAIL)
    events = RunEvents.at(path).events
    content = next(each for each in events if type(each).__name__ == "MailSubmitted" and each.message_type == 4)  # type: ignore[attr-defined]
    story = "\n".join(output_of(capsys, "explain", f"<{content.mail}>"))
    assert "A queues it at 2003-10-21T00:15:00Z: content about Projects, for B and C" in story
    assert "It is lost on arrival at B" in story
    assert "C unpacks it at" in story
    assert "It was never unpacked on B." in story


def test_mails_that_an_administrator_has_sent_again_are_not_called_broadcasts(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A resent mail is called resent where the change leaves and where it arrives (AD-1)."""
    path = play((SCENARIOS / "send-contents.yaml").read_text("utf-8"))
    story = output_of(capsys, "explain", "A-1")
    assert [line.strip() for line in story[1:6]] == [
        "At 2003-10-21T00:15:00Z A sends it to B and C, in its broadcast (content).",
        "The copy for B is lost on arrival (fault F1).",
        "At 2003-10-21T00:16:00Z A sends it to B, in a resent mail (content), by order of an administrator.",
        "B has it since 2003-10-21T00:16:00Z, 16 min after it was made, by a resent mail.",
        "C has it since 2003-10-21T00:15:00Z, 15 min after it was made, by its broadcast.",
    ]
    resent = next(each.mail for each in RunEvents.at(path).events if "resent" in getattr(each, "marks", ()))
    assert "content (resent) about Projects, for B" in output_of(capsys, "explain", str(resent))[1]


def test_a_copy_that_was_bad_mail_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    """explain names the store that refused the change's mail, the reason (ML-6), and the fault that altered the mail."""
    path = play(LOST_MAIL.replace("lose:", "alter:"))
    lines = output_of(capsys, "explain", "A-1")
    why = "the signature is not that of store A (altered on its way by fault F1)"
    assert f"    B keeps its copy aside as bad mail: {why}." in lines
    events = "\n".join(lines[lines.index("") :])
    assert "fault F1: alters content mails from A to B, once" in events
    assert "fault F1 alters a mail for B between A and B" in events
    mail = next(each.mail for each in RunEvents.at(path).events if isinstance(each, MailBad))
    life = "\n".join(output_of(capsys, "explain", str(mail)))
    assert "It is altered between A and B at 2003-10-21T00:15:00Z (fault F1)." in life
    assert "fault F1: alters content mails from A to B, once" in life
    assert last_sentence(lines) == "Every store that holds a replica has it."


ONE_SERIES = """\
title: Changes of two folders, numbered in one series
topology: {servers: {A: , B: }, folders: {Projects: , News: {schedule: every 4 h}}}
steps:
  - post: {on: A, folder: Projects, subject: One}
  - post: {on: A, folder: News, subject: Two}
  - post: {on: A, folder: News, subject: View, associated: true}
  - folder: {on: A, create: Later}
  - post: {on: A, folder: Projects, subject: Five}
  - advance: 1 h
  - post: {on: A, folder: Projects, subject: Six}
  - advance: 30 h
"""


@pytest.mark.parametrize("change", ["A-2", "A-3", "A-4", "A-5"])
def test_only_mails_about_its_folder_carry_a_change(change: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A mail's set for one folder also covers numbers of other folders (CN-9). So the history of a change has only mails that
    name its number under its own folder, or under the hierarchy for a change of a folder. The same holds for associated
    messages."""
    path = play(ONE_SERIES)
    section = {"A-2": "News", "A-3": "News", "A-4": "hierarchy", "A-5": "Projects"}[change]
    lines = output_of(capsys, "explain", change, "--run", str(path))
    assert len([each for each in lines if "sends it to B" in each]) == 1
    sent = [each for each in lines[lines.index("") :] if "sends to B" in each]
    assert sent
    assert all(section in each for each in sent)
    assert last_sentence(lines) == (
        "Every store has it." if change == "A-4" else "Every store that holds a replica has it."
    )


HOLDERS = """\
title: Who holds what at the end
topology:
  servers: {A: , B: , C: , D: {joins: later}}
  folders: {Projects: , News: {replicas: [A, B, C], age_limit: 2 days}}
steps:
  - post: {on: A, folder: Projects, subject: Hello, as: hello}
  - post: {on: A, folder: News, subject: Short-lived, as: news}
  - folder: {on: A, create: Later, replicas: [A, B]}
  - advance: 16 min
  - edit: {on: B, message: hello, subject: Hello again}
  - advance: 1 h
  - replica: {on: A, folder: Projects, remove: C}
  - advance: 3 days
"""


def test_the_last_sentence_says_which_stores_have_the_change(capsys: pytest.CaptureFixture[str]) -> None:
    """Each holder of the folder at the end of the trace has the change or a newer version, or its copy has expired; for a
    change of the hierarchy that means all stores. Stores without a replica do not count."""
    play(HOLDERS)
    last = {each: last_sentence(output_of(capsys, "explain", each)) for each in ("A-1", "A-2", "A-3", "B-1")}
    assert last == {
        "A-1": "Every store that holds a replica has a newer version.",
        "A-2": "Every store that holds a replica has expired it by age.",
        "A-3": "Every store has it.",
        "B-1": "Every store that holds a replica has it.",
    }


RESTORED = """\
title: A store forgets by its backup
topology: {servers: {A: , B: , C: }, folders: {Projects: }}
steps:
  - backup: {on: B, as: early}
  - post: {on: A, folder: Projects, subject: Hello}
  - advance: 16 min
  - cut: {between: [A, B]}
  - cut: {between: [C, B]}
  - restore: {on: B, backup: early}
  - advance: 1 min
"""


def test_a_store_that_was_restored_lacks_again_what_came_after_its_backup(capsys: pytest.CaptureFixture[str]) -> None:
    """A restore also takes back what a store has (RP-4)."""
    play(RESTORED)
    assert last_sentence(output_of(capsys, "explain", "A-1")) == "B still lacks it."


LOST_BY_RESTORE = """\
title: A restore from a backup that lacks a post
topology: {servers: {A: , B: }, folders: {Projects: }}
steps:
  - post: {on: A, folder: Projects, subject: One}
  - advance: 1 min
  - backup: {on: A, as: early}
  - post: {on: A, folder: Projects, subject: Lost}
  - advance: 1 min
  - restore: {on: A, backup: early}
  - advance: 1 h
  - post: {on: A, folder: Projects, subject: Next}
  - advance: 1 h
"""


def test_a_change_that_a_restore_lost_is_called_lost(capsys: pytest.CaptureFixture[str]) -> None:
    """DU-1: an unsent change that is newer than the backup is on no store any more. The backup has the change before it."""
    play(LOST_BY_RESTORE)
    lost = output_of(capsys, "explain", "A-2")
    assert last_sentence(lost) == (
        "A lost it at 2003-10-21T00:02:00Z in a restore from backup-1 (unsent, and newer than the backup);"
        " no store has it."
    )
    assert any("reports A-2 of Projects as lost" in each for each in lost[lost.index("") :])
    for other in ("A-1", "A.2-1"):
        assert last_sentence(output_of(capsys, "explain", other)) == "Every store that holds a replica has it."


def test_a_store_has_a_change_until_its_restore(capsys: pytest.CaptureFixture[str]) -> None:
    """RP-4: a restored store no longer has what came after its backup, and can get it again, also its own change."""
    play(RESTORED)
    assert any(
        each.startswith("  B has it since 2003-10-21T00:15:00Z")
        and each.endswith("until the restore from backup-1 at 2003-10-21T00:16:00Z.")
        for each in output_of(capsys, "explain", "A-1")
    )
    play(RESTORED.replace("on: B", "on: A").replace("advance: 1 min", "advance: 3 d"))
    again = output_of(capsys, "explain", "A-1")
    assert any(each.startswith("  A has it since") and each.endswith("by backfill.") for each in again)
    assert last_sentence(again) == "Every store that holds a replica has it."


GOES_ON = """\
title: A server dies after its mail was lost
topology: {servers: {A: , X: }, folders: {Projects: }}
steps:
  - lose: {from: X, type: content}
  - post: {on: X, folder: Projects, subject: Hello}
  - advance: 16 min
  - kill: X
  - say: Look now.
"""


async def test_a_run_that_goes_on_is_explained_from_its_databases_too(tmp_path: Path) -> None:
    """A killed server has written its events to the trace, the others have theirs only in their databases. explain reads both,
    and says so if a trace alone does not have the start of every store."""
    folder = RunFolder.at(tmp_path / "run")
    said: list[str] = []

    def make(topology: Topology) -> Lab:
        folder.write_inputs(topology.as_yaml(), 1)
        return LiveLab(topology, seed=1, folder=folder)

    def look(step: Step, now: LabTime) -> None:
        if step.verb == "say":
            said.append(explain(RunEvents.at(folder.path), "X-1").told[-1])
            shutil.copytree(folder.traces, tmp_path / "alone" / "traces")
            shutil.copy(folder.path / "topology.yaml", tmp_path / "alone")
            said.append(explain(RunEvents.at(tmp_path / "alone"), "X-1").told[-1])

    await run_scenario(scenario_from_text(GOES_ON), make, watch=look)
    assert said == [
        "A still lacks it.",
        "The trace has no start of A, so it does not say which stores have the change.",
    ]


def test_an_imported_mail_is_found_by_its_message_id(capsys: pytest.CaptureFixture[str]) -> None:
    """explain finds the post that an mbox mail became by the mail's Message-ID, and shows where it is now."""
    mail = "From kim Tue Oct 21 00:00:00 2003\nFrom: kim@contoso.test\nMessage-ID: <plan.1@contoso.test>\n"
    Path("archive.mbox").write_text(f"{mail}Subject: Plan\n\nText\n", "utf-8")
    Path("lab.yaml").write_text("servers: {A: , B: }\nfolders: {Projects: }\n", "utf-8")
    assert run(["import", "Projects", "archive.mbox", "--topology", "lab.yaml"]) == ExitCode.GOOD
    for given in ("plan.1@contoso.test", "<plan.1@contoso.test>"):
        lines = output_of(capsys, "explain", given)
        assert lines[0] == "Mail <plan.1@contoso.test>"
        assert lines[1] == "  It became a post. Change A-1: 'Plan' in Projects, made on A at 2003-10-21T00:00:00Z."
        assert any("B has it since" in each for each in lines)
        assert last_sentence(lines) == "Every store that holds a replica has it."
        assert any("applies A-1" in each for each in lines[lines.index("") :])


def test_an_unknown_change_is_refused_with_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    """A change that is not in the run is refused in one line with the nearest numbers."""
    play(LOST_MAIL)
    assert run(["explain", "A-9"]) == ExitCode.UNKNOWN
    error = capsys.readouterr().err.splitlines()[-1]
    assert "'A-9' is neither a change nor a mail of this run" in error
    assert "A-1" in error


def test_a_superseded_change_names_its_successor(capsys: pytest.CaptureFixture[str]) -> None:
    """explain names the edit that replaced a change, also after a conflict."""
    play(CONFLICT)
    story = "\n".join(output_of(capsys, "explain", "A-1"))
    assert "A-2 replaced it, made on A" in story


def test_the_groups_of_2000_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    """explain shows how a 2000 server chose: each holder's group, and that it asks one at a time (BF-3)."""
    play(SIX_GROUPS)
    story = "\n".join(output_of(capsys, "explain", "A-1"))
    for sentence in (
        "it searches six groups, newer servers of any site before older ones, for one server that has everything.",
        " (version 5.5, group 4: older than 2000, in the site, never asked yet, claims 1 number): asked.",
        " (version 2003, group 1: 2000 or newer, in the site, never asked yet, claims none): passed over:"
        " is not known to have any of it.",
    ):
        assert sentence in story
