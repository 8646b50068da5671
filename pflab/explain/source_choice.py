"""A selection of backfill sources in words: the method of the server version, each holder in the order in which it was
considered, and why it was asked or passed over (BF-3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from pflab.terms.event_words import Lexicon, hours_and_minutes, to_the_second
from topology.problems import counted
from traces.events import Candidate, SourcesConsidered

_WAYS: Mapping[str, str] = {
    "": "sorts the holders",
    "sorted list": (
        "sorts the holders (up before down, preferred source, cost, newest version, most of what is missing) and asks down"
        " the list until everything is requested"
    ),
    "six groups": "searches six groups, newer servers of any site before older ones, for one server that has everything",
    "two holders": (
        "takes the two holders that have most of it, those of its own site first, then the cheaper ones, and asks each for"
        " all"
    ),
}
_KINDS = ("in the site", "outside the site with affinity", "outside the site without affinity")


def choice_lines(event: SourcesConsidered, names: Lexicon) -> Iterator[str]:
    """Yield lines that say what is requested and how sources are selected, then a line for each holder."""
    number_words = (
        " and ".join(names.numbers(set_text) for set_text in (event.cnset, event.cnset_fai) if set_text) or "the rest"
    )
    yield f"At {to_the_second(event.at)} {event.node} chooses whom to ask for {number_words}: it {_WAYS[event.method]}."
    if event.one_by_one:
        yield "  No server has all that it misses in the folder, so one is asked now and the next after the retry time-out."
    for place, candidate in enumerate(event.candidates, start=1):
        is_chosen = candidate.store in event.chosen
        why = "asked" if is_chosen else f"passed over: {candidate.passed_over}"
        yield f"  {place}. {candidate.store} ({', '.join(_traits(event, candidate))}): {why}."


def _traits(event: SourcesConsidered, candidate: Candidate) -> Iterator[str]:
    yield f"version {candidate.version}"
    if candidate.down:
        yield "marked down"
    if candidate.preferred:
        yield "preferred"
    yield from _PLACES.get(event.method, _by_cost)(event, candidate)
    yield f"claims {counted(candidate.has, 'number')}" if candidate.has else "claims none"


def _by_cost(event: SourcesConsidered, candidate: Candidate) -> Iterator[str]:
    del event
    if candidate.cost is None:
        yield "no route leads there"
    else:
        yield "in the site" if candidate.near else f"cost {candidate.cost}"


def _by_group(event: SourcesConsidered, candidate: Candidate) -> Iterator[str]:
    generation = "2000 or newer" if candidate.group <= len(_KINDS) else "older than 2000"
    yield f"group {candidate.group}: {generation}, {_KINDS[(candidate.group - 1) % len(_KINDS)]}"
    if candidate.near:
        yield (
            "never asked yet"
            if not candidate.backfilled_at
            else (f"last asked {hours_and_minutes(event.at - candidate.backfilled_at)} ago")
        )
    elif candidate.affinity is not None:
        yield f"affinity {candidate.affinity}"
    elif candidate.transit_us is not None:
        yield f"mail takes {hours_and_minutes(candidate.transit_us)}"
    else:
        yield "no mail of it has come yet"


_PLACES: Mapping[str, Callable[[SourcesConsidered, Candidate], Iterator[str]]] = {"six groups": _by_group}
