"""The verb doctor, for an installation in which the command line itself works."""

from __future__ import annotations

from pflab.cli.doctor.report import print_report
from pflab.cli.output import Json


def doctor(as_json: Json = False) -> int:
    """Check whether this machine has what pflab needs, and say how to get what is missing.

    Each line begins with one of these words. ok: present. missing: pflab does not work without it. optional: absent, and
    needed only for what the line says. note: worth knowing. The exit status is 0 if pflab works here, else 1.

    Example: pflab doctor
    """
    return print_report(as_json=as_json)
