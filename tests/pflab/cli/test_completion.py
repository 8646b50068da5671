"""Shells complete verbs and options of pflab."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from pflab.cli.app import VERBS
from pflab.drivers.launch import node_environment


def completed(words: str, code: str = "from pflab.cli import main; main()") -> subprocess.CompletedProcess[str]:
    """What bash would be told for the last of the words."""
    asked = {"_PFLAB_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    return subprocess.run(
        [sys.executable, "-P", "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **node_environment(), **asked},
    )


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("pflab lo", ["load", "log"]),
        ("pflab ", list(VERBS)),
        ("pflab top --no", ["--node"]),
        ("pflab nothing", []),
    ],
)
def test_words_are_completed(words: str, found: list[str]) -> None:
    """Verbs that begin so, and a verb's options."""
    assert completed(words).stdout.split() == found


def test_verbs_are_completed_without_their_modules() -> None:
    """A shell that asks for verbs is not kept waiting for what they import."""
    code = (
        "import sys\nfrom pflab.cli import main\ntry:\n    main()\nfinally:\n"
        "    print(sorted({'fastapi', 'sqlite3', 'msgspec'} & set(sys.modules)), file=sys.stderr)"
    )
    assert completed("pflab ", code).stderr.strip() == "[]"
