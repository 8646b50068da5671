"""Shells complete the verbs and options of pflab."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from pflab.cli import main
from pflab.cli.app import VERBS
from pflab.drivers.launch import node_environment


def asked(words: str) -> dict[str, str]:
    """Return the environment in which bash asks for the completions of the last word."""
    return {"_PFLAB_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}


def completed(words: str, code: str = "from pflab.cli import main; main()") -> subprocess.CompletedProcess[str]:
    """Return what pflab prints for bash."""
    return subprocess.run(
        [sys.executable, "-P", "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **node_environment(), **asked(words)},
    )


def completed_here(words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Return the completions of the last word, without a process of its own."""
    for name, value in asked(words).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "argv", ["pflab"])
    with pytest.raises(SystemExit):
        main()
    return capsys.readouterr().out.split()


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("pflab lo", ["load", "log"]),
        ("pflab ", list(VERBS)),
        ("pflab top --no", ["--node"]),
        ("pflab clock a", ["advance"]),
        ("pflab clock until converged --wi", ["--within"]),
        ("pflab nothing", []),
    ],
)
def test_words_are_completed(
    words: str, found: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Completion offers the verbs that begin with the word, and a verb's options."""
    assert completed_here(words, monkeypatch, capsys) == found


def test_a_shell_gets_the_words_from_a_process() -> None:
    """The shell runs pflab with the words in the environment, and reads a word from each line."""
    assert completed("pflab lo").stdout.split() == ["load", "log"]


@pytest.mark.usefixtures("lost_mail")
@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("pflab state --server ", ["A", "B", "C"]),
        ("pflab post P", ["Projects"]),
        ("pflab state P", ["Projects"]),
        ("pflab folder create --node A P", ["Projects"]),
        ("pflab messages list P", ["Projects"]),
        ("pflab load P", ["Projects"]),
        ("pflab folder m", ["move"]),
        ("pflab fault h", ["hold", "heal"]),
        ("pflab up one", ["one-site"]),
        ("pflab example x4", ["x400"]),
        ("pflab run six-groups", ["six-groups", "six-groups-in-order", "six-groups-parts"]),
        ("pflab demo --lesson lost", ["lost-mail"]),
        ("pflab explain A-1 --run runs/l", ["runs/latest", "runs/lost-mail/00001"]),
        ("pflab diff runs/latest runs/lost", ["runs/lost-mail/00001"]),
    ],
)
def test_values_are_completed(
    words: str, found: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Completion offers the servers and folders of the latest run, actions, scenarios, lessons and runs."""
    assert completed_here(words, monkeypatch, capsys) == found


def test_verbs_are_completed_without_their_modules() -> None:
    """Completing a verb does not import the modules of the verbs, which is slow."""
    code = (
        "import sys\nfrom pflab.cli import main\ntry:\n    main()\nfinally:\n"
        "    print(sorted({'uvicorn', 'sqlite3', 'msgspec'} & set(sys.modules)), file=sys.stderr)"
    )
    assert completed("pflab ", code).stderr.strip() == "[]"
