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


def choice_told(event: SourcesConsidered, names: Lexicon) -> Iterator[str]:
    """Yield lines that say what is requested and how sources are selected, then a line for each holder."""
    wanted = " and ".join(names.numbers(each) for each in (event.cnset, event.cnset_fai) if each) or "the rest"
    yield f"At {to_the_second(event.at)} {event.node} chooses whom to ask for {wanted}: it {_WAYS[event.method]}."
    if event.one_by_one:
        yield "  No server has all that it misses in the folder, so one is asked now and the next after the retry time-out."
    for place, each in enumerate(event.candidates, start=1):
        asked = each.store in event.chosen
        why = "asked" if asked else f"passed over: {each.passed_over}"
        yield f"  {place}. {each.store} ({', '.join(_known(event, each))}): {why}."


def _known(event: SourcesConsidered, each: Candidate) -> Iterator[str]:
    yield f"version {each.version}"
    if each.down:
        yield "marked down"
    if each.preferred:
        yield "preferred"
    yield from _PLACES.get(event.method, _by_cost)(event, each)
    yield f"claims {counted(each.has, 'number')}" if each.has else "claims none"


def _by_cost(event: SourcesConsidered, each: Candidate) -> Iterator[str]:
    del event
    if each.cost is None:
        yield "no route leads there"
    else:
        yield "in the site" if each.near else f"cost {each.cost}"


def _by_group(event: SourcesConsidered, each: Candidate) -> Iterator[str]:
    newer = "2000 or newer" if each.group <= len(_KINDS) else "older than 2000"
    yield f"group {each.group}: {newer}, {_KINDS[(each.group - 1) % len(_KINDS)]}"
    if each.near:
        yield (
            "never asked yet"
            if not each.backfilled_at
            else (f"last asked {hours_and_minutes(event.at - each.backfilled_at)} ago")
        )
    elif each.affinity is not None:
        yield f"affinity {each.affinity}"
    elif each.transit_us is not None:
        yield f"mail takes {hours_and_minutes(each.transit_us)}"
    else:
        yield "no mail of it has come yet"


_PLACES: Mapping[str, Callable[[SourcesConsidered, Candidate], Iterator[str]]] = {"six groups": _by_group}
