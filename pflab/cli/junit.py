"""The results of pflab run as a JUnit report, the form in which CI servers show tests."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from xml.etree import ElementTree

from pflab.cli.output import CommandError
from pflab.terms.printable import printable

_NOT_IN_XML: Final = re.compile("[\ufffe\uffff]")
"""Characters that XML does not allow and that a terminal can show."""


@dataclass(frozen=True, slots=True)
class Played:
    """A scenario and its result.

    took_s: real time.
    failed: why it failed, one line each.
    not_played: why the lab could not be started.
    """

    file: str
    title: str
    took_s: float
    failed: Sequence[str] = ()
    not_played: str = ""


def check_place(path: Path) -> None:
    """Raise CommandError if the report cannot be written, before anything is played."""
    if path.is_dir() or not path.parent.is_dir():
        raise CommandError(
            f"--junit {path}: not the name of a file in an existing folder; name one such as results.xml"
        )


def write_junit(path: Path, played: Sequence[Played]) -> None:
    """Write the report. Raises CommandError if the file cannot be written."""
    suite = ElementTree.Element(
        "testsuite",
        name="pflab run",
        tests=str(len(played)),
        failures=str(sum(bool(scenario.failed) for scenario in played)),
        errors=str(sum(bool(scenario.not_played) for scenario in played)),
        time=f"{sum(scenario.took_s for scenario in played):.3f}",
    )
    for scenario in played:
        case = ElementTree.SubElement(
            suite, "testcase", classname=_text(scenario.file), name=_text(scenario.title), time=f"{scenario.took_s:.3f}"
        )
        if scenario.failed:
            ElementTree.SubElement(case, "failure", message=_text(scenario.failed[0])).text = _text(
                "\n".join(scenario.failed)
            )
        elif scenario.not_played:
            ElementTree.SubElement(case, "error", message=_text(scenario.not_played))
    report = ElementTree.Element("testsuites")
    report.append(suite)
    try:
        path.write_bytes(ElementTree.tostring(report, encoding="utf-8", xml_declaration=True) + b"\n")
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise CommandError(f"--junit {path}: {reason}; name a file that can be written") from None


def _text(text: str) -> str:
    return _NOT_IN_XML.sub("\N{REPLACEMENT CHARACTER}", printable(text))
