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
        failures=str(sum(bool(each.failed) for each in played)),
        errors=str(sum(bool(each.not_played) for each in played)),
        time=f"{sum(each.took_s for each in played):.3f}",
    )
    for each in played:
        case = ElementTree.SubElement(
            suite, "testcase", classname=_text(each.file), name=_text(each.title), time=f"{each.took_s:.3f}"
        )
        if each.failed:
            ElementTree.SubElement(case, "failure", message=_text(each.failed[0])).text = _text("\n".join(each.failed))
        elif each.not_played:
            ElementTree.SubElement(case, "error", message=_text(each.not_played))
    report = ElementTree.Element("testsuites")
    report.append(suite)
    try:
        path.write_bytes(ElementTree.tostring(report, encoding="utf-8", xml_declaration=True) + b"\n")
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise CommandError(f"--junit {path}: {reason}; name a file that can be written") from None


def _text(text: str) -> str:
    return _NOT_IN_XML.sub("\N{REPLACEMENT CHARACTER}", printable(text))
