"""Write the tables of states in docs/explanation/replication.md from `traces.backfill_lives`.

python docs/state_tables.py            write the tables
python docs/state_tables.py --check    exit with 1, and say why, if they are out of date
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Final

import generated

from traces import backfill_lives as lives

PAGE: Final = "docs/explanation/replication.md"


def _rows(moves: Mapping[lives.State, Mapping[lives.Event, lives.State]]) -> Iterator[tuple[str, lives.Event, str]]:
    """Yield the states in which an event leads to the same state, the event, and this state."""
    groups: dict[tuple[lives.Event, lives.State], list[str]] = {}
    for state, events in moves.items():
        for event, after in events.items():
            groups.setdefault((event, after), []).append(state.value)
    for (event, after), states in groups.items():
        yield ", ".join(states), event, after.value


def _table(
    meanings: Mapping[lives.State, str],
    moves: Mapping[lives.State, Mapping[lives.Event, lives.State]],
    words: Callable[[lives.Event], str],
) -> str:
    """Return two tables: what each state means, and what leads from state to state."""
    lines = ["| state | meaning |", "|---|---|"]
    lines += [f"| {state.value} | {meaning} |" for state, meaning in meanings.items()]
    lines += ["", "| state | what happens | next state |", "|---|---|---|"]
    lines += [f"| {states} | {words(event)} | {after} |" for states, event, after in _rows(moves)]
    return "\n".join(lines)


def render(page: str) -> str:
    """Return the page with the present tables between its marks."""
    tables = {
        "entry": _table(lives.ENTRY_STATES, lives.ENTRY_MOVES, lambda event: event.value),
        "request": _table(lives.REQUEST_STATES, lives.REQUEST_MOVES, lives.REQUEST_EVENTS.__getitem__),
    }
    for name, table in tables.items():
        before, begin, rest = page.partition(f"<!-- states: {name} -->\n")
        _, end, after = rest.partition("<!-- end -->")
        if not begin or not end:
            raise ValueError(f"{PAGE} lacks the marks between which the states of a {name} stand")
        page = f"{before}{begin}\n{table}\n\n{end}{after}"
    return page


def _with_tables() -> str:
    return render((generated.ROOT / PAGE).read_text(encoding="utf-8"))


if __name__ == "__main__":
    sys.exit(generated.main(f"Write the tables of states in {PAGE}.", lambda: {PAGE: _with_tables()}))
