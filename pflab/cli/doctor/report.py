"""The report of `pflab doctor`: one line for each finding, or JSON."""

from __future__ import annotations

import json

from pflab.cli.doctor.checks import MISSING, OPTIONAL, failed, findings


def print_report(*, as_json: bool) -> int:
    """Run the checks and print what they find. Return the exit code: 1 if pflab itself does not work, else 0."""
    checks = []
    for check in findings():
        checks.append(check)
        if not as_json:
            print(f"{check.status:<8}  {check.name}: {check.what}", flush=True)  # a check can take some seconds
    works = not any(map(failed, checks))
    if as_json:
        print(json.dumps({"works": works, "checks": [check._asdict() for check in checks]}, indent=2))
    elif not works:
        print(f"pflab does not work here; see the lines that begin with {MISSING!r}")
    elif any(check.status == OPTIONAL for check in checks):
        print(f"pflab works here; only what the lines that begin with {OPTIONAL!r} name does not")
    else:
        print("pflab works here, with all its parts")
    return 0 if works else 1
