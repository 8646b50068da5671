"""pflab import, export and mailbox: a user's own mail can be imported at one store and exported at another."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pflab.cli.app import run
from pflab.terms.verdict import ExitCode
from pflab.workload.mbox import mbox_of, split_mbox
from tests.support.clock import START_AT
from tests.support.named_commands import examples_of
from tests.support.real_world_mails import HAND_MADE

TOPOLOGY = "servers: {A: , B: , C: }\nfolders: {Projects: {replicas: [A, B], contacts: [kim@contoso.test]}}\n"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.yaml").write_text(TOPOLOGY, "utf-8")


def test_imported_mails_are_exported_unchanged_at_another_store(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """An mbox and a single message imported at A are exported from B byte for byte (ML-5)."""
    mails = [mail + b"\n" for mail in HAND_MADE.values() if mail.strip()]
    Path("in.mbox").write_bytes(b"".join(mbox_of(("kim@x.test", START_AT, mail) for mail in mails[1:])))
    Path("one.eml").write_bytes(mails[0])
    assert run(["import", "Projects", "one.eml", "in.mbox", "--topology", "t.yaml"]) == ExitCode.GOOD
    assert f"{len(mails)} mails posted into Projects, 0 refused".encode() in capfdbinary.readouterr().out
    for server in ("A", "B"):
        assert run(["export", "Projects", "--server", server, "-o", f"{server}.mbox"]) == ExitCode.GOOD
        assert sorted(split_mbox(Path(f"{server}.mbox").read_bytes())) == sorted(mails)
    capfdbinary.readouterr()
    assert run(["export", "Projects"]) == ExitCode.GOOD
    assert capfdbinary.readouterr().out == Path("A.mbox").read_bytes()
    assert run(["export", "Projects", "--server", "C"]) == ExitCode.UNKNOWN
    assert b"server C holds no replica of Projects" in capfdbinary.readouterr().err


def test_an_export_overwrites_no_file(capsys: pytest.CaptureFixture[str]) -> None:
    """An export does not overwrite an existing file without --force."""
    Path("one.eml").write_bytes(b"Subject: 1\n\n")
    assert run(["import", "Projects", "one.eml", "--topology", "t.yaml"]) == ExitCode.GOOD
    Path("mine.mbox").write_bytes(b"mine")
    capsys.readouterr()
    assert run(["export", "Projects", "-o", "mine.mbox"]) == ExitCode.UNKNOWN
    error = capsys.readouterr().err
    assert error == "mine.mbox: exists already; name another file, or replace it with --force\n"
    assert Path("mine.mbox").read_bytes() == b"mine"
    assert run(["export", "Projects", "-o", "mine.mbox", "--force"]) == ExitCode.GOOD
    assert b"Subject: 1" in Path("mine.mbox").read_bytes()


def test_nouns_agree_with_their_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    """The output says `1 mail` and `1 seed`, not `1 mails` and `1 seeds`."""
    Path("one.eml").write_bytes(b"Subject: 1\n\n")
    assert run(["import", "Projects", "one.eml", "--topology", "t.yaml"]) == ExitCode.GOOD
    assert "1 mail posted into Projects, 0 refused" in capsys.readouterr().out
    assert run(["simulate", "--seeds", "1", "--days", "1"]) == ExitCode.GOOD
    assert "1 of 1 seed converged" in capsys.readouterr().out


def test_a_mail_that_is_refused_stops_no_other(capsys: pytest.CaptureFixture[str]) -> None:
    """The output names a mail over a limit with the reason; the others are posted, and the exit code shows the refusal."""
    deep = b"".join(b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (n, n) for n in range(50))
    Path("in.mbox").write_bytes(
        b"".join(mbox_of(("x", START_AT, mail) for mail in (b"Subject: 1\n\n", deep, b"Subject: 2\n\n")))
    )
    assert run(["import", "Projects", "in.mbox", "--topology", "t.yaml", "--json"]) == ExitCode.VIOLATION
    done = json.loads(capsys.readouterr().out)
    assert (done["imported"], done["refused"]) == (2, 1)
    assert done["reasons"][0]["source"] == "in.mbox:2"
    assert "nested more than" in done["reasons"][0]["reason"]


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (("Nothing", "one.eml"), "no such folder"),
        (("Projects", "missing.eml"), "missing.eml"),
        (("Projects", "one.eml", "--server", "C"), "holds no replica"),
    ],
)
def test_what_cannot_be_imported_is_misuse(
    args: tuple[str, ...], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """An unknown folder, file or holder gives one line and exit code 2, and leaves no run folder."""
    Path("one.eml").write_bytes(b"Subject: x\n\n")
    assert run(["import", *args, "--topology", "t.yaml"]) == ExitCode.UNKNOWN
    error = capsys.readouterr().err.splitlines()
    assert len(error) == 1
    assert expected in error[0]
    assert not Path("runs").exists()


def test_the_mailbox_of_a_run(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """pflab mailbox lists notices to people, and shows one of them whole with its attachments (CF-2)."""
    Path("s.yaml").write_text(
        "title: A conflict\ntopology: t.yaml\nsteps:\n"
        "  - post: {on: A, folder: Projects, subject: Plan, as: plan}\n"
        "  - advance: 16 min\n"
        "  - edit: {on: A, message: plan, body: of A}\n"
        "  - edit: {on: B, message: plan, body: of B}\n"
        "  - advance: 20 min\n",
        "utf-8",
    )
    assert run(["run", "s.yaml", "--simulate", "--traces", "runs"]) == ExitCode.GOOD
    capfdbinary.readouterr()
    assert run(["mailbox", "--json"]) == ExitCode.GOOD
    [notice] = json.loads(capfdbinary.readouterr().out)
    assert (notice["store"], notice["recipient"], notice["subject"]) == (
        "A",
        "kim@contoso.test",
        "Conflict in Projects",
    )
    assert run(["mailbox"]) == ExitCode.GOOD
    assert b"to kim@contoso.test" in capfdbinary.readouterr().out
    assert run(["mailbox", "show", str(notice["id"]), "--server", "A"]) == ExitCode.GOOD
    assert capfdbinary.readouterr().out.count(b"Content-Type: message/rfc822") == 2
    for example in examples_of("mailbox"):
        assert run(example) == ExitCode.GOOD
    assert run(["mailbox", "show", "1"]) == ExitCode.UNKNOWN
    assert run(["mailbox", "show", "99", "--server", "A"]) == ExitCode.UNKNOWN
