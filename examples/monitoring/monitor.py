"""Watch the folders of a lab over HTTP, and say which server lacks what.

    python monitor.py http://127.0.0.1:8025 --limit 24

The monitor prints a line when a folder's state changes. It ends with exit status 1 when a folder has been behind for --limit
hours of lab time.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from itertools import groupby

from pflab.client import Client, ClientError

IN_STEP = "all servers have the same changes"
_RANGE = re.compile(r"(?P<store>.+)-(?P<first>\d+)(?:\.\.(?P<last>\d+))?")


def changes(text: str) -> set[tuple[str, int]]:
    """Return the change numbers of a text such as `A-1..3, B-7`."""
    found = [_RANGE.fullmatch(each) for each in text.split(", ") if each]
    return {
        (each["store"], number)
        for each in found
        if each is not None
        for number in range(int(each["first"]), int(each["last"] or each["first"]) + 1)
    }


def as_text(numbers: set[tuple[str, int]]) -> str:
    """Return change numbers as a text such as `A-1..3, B-7`."""
    texts = []
    for _, group in groupby(enumerate(sorted(numbers)), lambda each: (each[1][0], each[1][1] - each[0])):
        run = [number for _, number in group]
        (store, first), (_, last) = run[0], run[-1]
        texts.append(f"{store}-{first}" if first == last else f"{store}-{first}..{last}")
    return ", ".join(texts)


def look(lab: Client) -> dict[str, str]:
    """Return the state of each folder by its path, and of each server that does not answer.

    A store's own row of its state table lists the changes that the store has. A store lacks what is in another store's own row.
    """
    have: dict[str, dict[str, set[tuple[str, int]]]] = {}
    found = {}
    for server in lab.servers():
        try:
            states = lab.states(server)
        except ClientError as error:
            found[f"server {server}"] = str(error)
            continue
        for folder in states:
            own = next(row for row in folder["rows"] if row["is_local"])
            have.setdefault(folder["path"], {})[server] = changes(own["numbers"]) | changes(own["numbers_fai"])
    for path, holders in have.items():
        known = set().union(*holders.values())
        behind = [f"{server} lacks {as_text(known - has)}" for server, has in holders.items() if known - has]
        found[path] = "; ".join(behind) or IN_STEP
    return found


def watch(lab: Client, limit: timedelta, pause: Callable[[], object]) -> Iterator[str]:
    """Yield a line for each state that changed. Call `pause` between two looks. End when a folder is behind for the limit."""
    shown: dict[str, str] = {}
    behind_since: dict[str, datetime] = {}
    while True:
        now = datetime.fromisoformat(lab.now())
        states = look(lab)
        for name, state in states.items():
            if shown.get(name) != state:
                yield f"{now:%Y-%m-%d %H:%M}  {name}: {state}"
        shown = states
        behind_since = {name: behind_since.get(name, now) for name, state in states.items() if state != IN_STEP}
        late = [name for name, since in behind_since.items() if now - since >= limit]
        if late:
            yield f"{now:%Y-%m-%d %H:%M}  {', '.join(late)}: behind for {limit / timedelta(hours=1):g} hours"
            return
        pause()


def main(arguments: list[str] | None = None) -> int:
    """Run the monitor. Return 1 if a folder was behind for too long, 2 if the lab does not answer, and 0 after Ctrl-C."""
    parser = argparse.ArgumentParser(description="Watch the folders of a lab.")
    parser.add_argument("url", help="the address of the lab")
    parser.add_argument("--limit", type=float, default=24, metavar="HOURS", help="hours of lab time (default: 24)")
    parser.add_argument("--token", help="the token of the lab, if it has one")
    given = parser.parse_args(arguments)
    try:
        with Client(given.url, token=given.token) as lab:
            for line in watch(lab, timedelta(hours=given.limit), lambda: time.sleep(1)):
                print(line, flush=True)
    except ClientError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 0
    return 1


if __name__ == "__main__":
    sys.exit(main())
