"""Events: every type can be written, read back, and distinguished from the others."""

from typing import Any, get_args, get_origin

import msgspec
import pytest

from traces import events
from traces.events import (
    EVENT_TYPES,
    AnyEvent,
    Candidate,
    Event,
    MailFolder,
    PolicyOfStores,
    RecipientPolicy,
    StatusMissed,
    VersionApplied,
)
from traces.trace_version import TRACE_MAJOR, TRACE_VERSION, is_readable

HEADER = {"run": "r1", "node": "A", "incarnation": 1, "seq": 7, "lamport": 9, "at": 1_066_694_400_000_000}
FOLDER = MailFolder(folder="1-1", cnset="", cnset_fai="", row="ab:1-5", row_fai="", updates=2)
CANDIDATE = Candidate(store="B", down=False, preferred=True, cost=None, version="2003", has=3, passed_over="")


def sample(kind: Any) -> Any:
    """Some value of an event field's type."""
    if get_origin(kind) is tuple:
        return (sample(get_args(kind)[0]),)
    if get_origin(kind) is dict:
        return {"key": "value"}
    if get_args(kind):
        return sample(get_args(kind)[0]) if get_origin(kind) is not None else kind
    return {str: "text", int: 5, float: 1.5, bool: True, MailFolder: FOLDER, Candidate: CANDIDATE}.get(kind, kind)


def sample_event(kind: type[Event]) -> Event:
    fields = {
        field.name: sample(field.type)
        for field in msgspec.structs.fields(kind)
        if field.required and field.name not in HEADER
    }
    return kind(**HEADER, **fields)


@pytest.mark.parametrize("tag", sorted(EVENT_TYPES))
def test_every_event_survives_the_round_trip(tag: str) -> None:
    """A line decodes, by its tag among all events, to the event that it was written from."""
    event = sample_event(EVENT_TYPES[tag])
    line = msgspec.json.encode(event)
    assert line.startswith(b'{"type":"%b",' % tag.encode())
    assert msgspec.json.decode(line, type=AnyEvent) == event


@pytest.mark.parametrize("tag", sorted(EVENT_TYPES))
def test_an_event_class_is_named_after_its_tag(tag: str) -> None:
    """`version.applied` is the class VersionApplied in `traces.events`."""
    name = "".join(part.capitalize() for part in tag.replace("_", ".").split("."))
    assert EVENT_TYPES[tag].__name__ == name
    assert getattr(events, name) is EVENT_TYPES[tag]


def test_all_events_of_the_contract_are_there() -> None:
    """Tools depend on the names of events and would not notice a missing one."""
    groups = {
        "run": "started ended",
        "node": "started stopped",
        "setting": "value ignored",
        "backup": "made restored elsewhere",
        "clock": "changed",
        "fault": "injected altered healed",
        "change": "made",
        "mail": "submitted received bad posted not_posted",
        "mailbox": "delivered",
        "hop": "sent failed received dropped expired deleted",
        "queue": "frozen unfrozen",
        "link": "down up",
        "version": "applied ignored held dropped failed",
        "conflict": "aged arose ended notice",
        "tombstone": "made dropped",
        "item": "expired recovered",
        "expired": "everywhere",
        "row": "replaced",
        "entry": "made satisfied pruned timed_out",
        "request": "sent ended deferred answered refused",
        "content": "suspended resumed",
        "store": "deleted created",
        "sources": "considered",
        "responders": "considered",
        "source": "down up",
        "status": "due missed ordered",
        "changes": "resent",
        "replica": "added pending dropped",
        "address": "lacking missing stamped",
        "tree": "linked lacking",
        "recipient": "policy",
        "organization": "changed read",
        "folder": "shown moved hidden",
        "post": "refused",
    }
    expected = {f"{group}.{name}" for group, names in groups.items() for name in names.split()} | {"loss"}
    assert set(EVENT_TYPES) == expected


def test_a_header_without_real_time_and_mail_leaves_them_out() -> None:
    """In simulation a line has no field for the real time."""
    line = msgspec.json.encode(StatusMissed(**HEADER))
    assert msgspec.json.decode(line) == {"type": "status.missed", **HEADER}


def test_a_sequence_number_begins_at_one() -> None:
    """Sequence numbers count from 1; zero is invalid."""
    line = msgspec.json.encode(StatusMissed(**{**HEADER, "seq": 0}))
    with pytest.raises(msgspec.ValidationError, match="seq"):
        msgspec.json.decode(line, type=AnyEvent)


def test_fields_of_a_later_minor_version_are_ignored() -> None:
    """A reader ignores unknown fields of events of its own major version."""
    event = sample_event(VersionApplied)
    later = {**msgspec.json.decode(msgspec.json.encode(event)), "added_in_1_7": [1, 2]}
    assert msgspec.json.decode(msgspec.json.encode(later), type=AnyEvent) == event


def test_only_the_own_major_version_is_read() -> None:
    """An event without a version is of major version 1, which is the one written."""
    assert is_readable(sample_event(VersionApplied).v)
    assert not is_readable(TRACE_MAJOR + 1)
    assert TRACE_VERSION.startswith(f"{TRACE_MAJOR}.")


def test_a_recipient_policy_of_an_earlier_version_has_no_list() -> None:
    """The fields of 1.12 have defaults, and are written only if they say something."""
    fields = {"recipient_update": "1 h", "domain": "contoso.test", "at_once": False}
    line = msgspec.json.encode({"type": "recipient.policy", **HEADER, **fields})
    event = msgspec.json.decode(line, type=RecipientPolicy)
    assert (event.policy, event.change, event.policies) == ("", "", ())
    assert msgspec.json.encode(event) == line
    london = PolicyOfStores(name="London", domain="fabrikam.test", sites=("LON",), servers=(), versions=())
    changed = msgspec.structs.replace(event, policy="London", change="added", policies=(london,))
    assert msgspec.json.decode(msgspec.json.encode(changed), type=AnyEvent) == changed
