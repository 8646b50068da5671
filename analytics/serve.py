"""Judge runs one after another in a process that has read the statements of the checks once: python -m analytics.serve.

Each line of its input is a JSON list of places. It answers each with a line: the document of the verdict, as
`pflab check --json` prints it, or an object with the key `error`.
"""

from __future__ import annotations

import json
import signal
import sys

from analytics.embedded import engine
from analytics.errors import AnalyticsError
from analytics.ingest.places import contents_of
from analytics.verdicts.conclusion import conclude


def main() -> None:
    """Answer requests until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the program that asks
    with engine.opened() as judge:
        judge.prepare()
        for line in sys.stdin:
            try:
                answer = conclude(judge.judge(contents_of(json.loads(line))).findings).as_document()
            except AnalyticsError as error:
                answer = {"error": str(error)}
            print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
