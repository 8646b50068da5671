"""Events as the console takes them: the fields of the trace, and the event in words.

The words come from the server, so the console, `pflab events` and `pflab explain` call everything by the same names.
"""

from __future__ import annotations

import msgspec

from node.seeded_ids import setup_guid
from pflab.terms.event_words import Lexicon, words
from topology.model import Topology
from traces.events import Event


def lexicon_of(topology: Topology) -> Lexicon:
    """Return the names of a lab before its first event: its folders."""
    names = Lexicon()
    guid = setup_guid(topology.organization).hex()
    for index, path in enumerate(topology.folders, start=1):
        names.learn_folder(f"{guid}:{index}", path, first=True)
    return names


def with_words(event: Event, names: Lexicon) -> bytes:
    """Return an event as JSON with the additional field `words`. The names of the event are learned first."""
    names.learn(event)
    told = msgspec.json.encode(words(event, names))
    return b'{"words":%b,%b' % (told, msgspec.json.encode(event)[1:])
