"""Check a condition against the lab. Each shortfall says what was expected and what was found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from pflab.scenario.conditions import Condition, Entry, Row
from pflab.scenario.event_matching import events_shortfalls, mails_shortfalls
from pflab.scenario.session import Play, Shortfall, StepFailed
from pflab.scenario.values import same_minute
from pflab.terms import number_sets as sets
from pflab.terms.event_words import SETUP
from pflab.terms.verdict import FolderVerdict, Judgement, Verdict, join_names
from topology.problems import counted
from traces.labtime import MINUTE_US, format_instant

if TYPE_CHECKING:
    from node.views import EntryView, MessageView, RowView


def shortfalls(play: Play, condition: Condition) -> list[Shortfall]:
    """Return the shortfalls of a condition; none if it is true.

    Raises StepFailed if the condition cannot be checked, for example on a stopped store or an unknown folder.
    """
    play.observe()
    failures: list[Shortfall] = []
    for store in play.stores(condition.on, condition.folder):
        if not play.lab.running(store):
            raise StepFailed([f"{store} to run"], [f"{store} is stopped"])
        failures += _of_store(play, condition, store)
    failures += _of_folders(play, condition)
    start = play.checkpoints[condition.since] if condition.since else 0
    for mails in condition.mails or ():
        failures += mails_shortfalls(play, mails, start)
    for events in condition.events or ():
        failures += events_shortfalls(play, events, start)
    if condition.clock is not None and not same_minute(play.lab.now, condition.clock.resolve(play.lab.now - MINUTE_US)):
        failures.append(Shortfall(f"the clock to show {condition.clock}", f"it shows {format_instant(play.lab.now)}"))
    return failures


# --- one store


def _of_store(play: Play, condition: Condition, store: str) -> Iterator[Shortfall]:
    if condition.folder is not None:
        yield from _of_replica(play, condition, store, condition.folder)
    if condition.array is not None:
        yield from _array(play, condition.array, store, condition.folder)
    for event, expected_count in (condition.logged or {}).items():
        count = len(play.lab.read(store, lambda node, event=event: node.event_log(event=event)))  # type: ignore[misc]
        if count != expected_count:
            yield Shortfall(
                f"{counted(expected_count, 'entry', 'entries')} {event} in {store}'s application log",
                f"there are {count}",
            )
    if condition.tree is not None:
        paths = [view.path for view in play.lab.read(store, lambda node: node.folders()) if not view.hidden]
        for path in condition.tree.has or ():
            if path not in paths:
                yield Shortfall(f"{store} to show the folder {path}", f"it shows {', '.join(paths) or 'none'}")
        for path in condition.tree.lacks or ():
            if path in paths:
                yield Shortfall(f"{store} not to show the folder {path}", "it shows it")


def _of_replica(play: Play, condition: Condition, store: str, folder: str) -> Iterator[Shortfall]:
    keys = condition.model_fields_set
    if keys & {"has", "lacks", "shows", "conflict", "versions"}:
        messages = {view.id: view for view in play.lab.read(store, lambda node: node.messages(folder))}
        yield from _messages(play, condition, store, folder, messages)
    if condition.state is not None:
        rows = {row.store: row for row in play.lab.read(store, lambda node: node.state(folder)).rows}
        for name, row in condition.state.items():
            yield from _row(play, f"{store}'s row for {name} in {folder}", row, rows.get(name))
    if condition.sync is not None:
        yield from _sync(play, condition.sync, store, folder)
    if condition.replicas is not None:
        views = [view for view in play.lab.read(store, lambda node: node.folders()) if view.path == folder]
        listed = views[0].replicas if views else ()
        if tuple(condition.replicas) != tuple(listed):
            yield Shortfall(
                f"{store} to know {join_names(condition.replicas)} as the replicas of {folder}",
                f"it knows {join_names(listed)}",
            )


def _messages(
    play: Play, condition: Condition, store: str, folder: str, messages: dict[str, MessageView]
) -> Iterator[Shortfall]:
    lists = ", ".join(f"{view.subject!r} ({view.number})" for view in messages.values()) or "nothing"
    for name, message in play.messages(condition.has or ()):
        if message.object not in messages:
            yield Shortfall(f"{store} to have {name} in {folder}", f"{store} shows {_short(lists)}")
    for name, message in play.messages(condition.lacks or ()):
        if message.object in messages:
            yield Shortfall(
                f"{store} to lack {name} in {folder}", f"{store} has it, as {messages[message.object].number}"
            )
    for name, subject in (condition.shows or {}).items():
        view = messages.get(play.message(name).object)
        if view is None or view.subject != subject:
            shown_as = "nothing" if view is None else repr(view.subject)
            yield Shortfall(f"{store} to show {name} as {subject!r}", f"it shows {shown_as}")
    for name, count in (condition.versions or {}).items():
        view = messages.get(play.message(name).object)
        version_count = 0 if view is None else len(view.versions)
        if version_count != count:
            yield Shortfall(f"{store} to keep {counted(count, 'version')} of {name}", f"it keeps {version_count}")
    if condition.conflict is not None:
        yield from _conflict(play, condition.conflict, store, messages)


def _conflict(play: Play, names: Sequence[str], store: str, messages: dict[str, MessageView]) -> Iterator[Shortfall]:
    due = {} if tuple(names) == ("none",) else {message.object: name for name, message in play.messages(names)}
    conflicts = [object_ for object_, view in messages.items() if view.in_conflict]
    for object_, name in due.items():
        if object_ not in conflicts:
            yield Shortfall(f"{name} to be in conflict on {store}", "it is not")
    for object_ in conflicts:
        if object_ not in due:
            view = messages[object_]
            yield Shortfall(
                f"no conflict of {view.subject!r} on {store}", f"it keeps {counted(len(view.versions), 'version')}"
            )


def _short(text: str, limit: int = 300) -> str:
    return text if len(text) <= limit else f"{text[:limit]} ..."


# --- the state table


def _row(play: Play, where: str, expected: Row | str, row: RowView | None) -> Iterator[Shortfall]:
    if isinstance(expected, str):
        if row is not None:
            yield Shortfall(f"no {where}", f"it has {row.numbers or 'nothing'}")
        return
    if row is None:
        yield Shortfall(f"a row: {where}", "there is none")
        return
    if expected.has is not None and _without_setup(play, expected.has) != _without_setup(play, row.numbers):
        yield Shortfall(f"{where} to have {expected.has}", f"it has {row.numbers or 'nothing'}")
    if expected.associated is not None and _without_setup(play, expected.associated) != _without_setup(
        play, row.numbers_fai
    ):
        yield Shortfall(
            f"{where} to have {expected.associated} of associated messages", f"it has {row.numbers_fai or 'none'}"
        )
    if expected.last_sent is not None and expected.last_sent != (row.last_sent or "none"):
        yield Shortfall(f"{where}: last update sent {expected.last_sent}", f"it is {row.last_sent or 'none'}")
    if expected.heard == "never":
        if row.heard_at is not None:
            yield Shortfall(f"{where} never heard", f"heard at {format_instant(row.heard_at)}")
    elif expected.heard is not None:
        at = row.heard_at
        if at is None or not same_minute(at, expected.heard.resolve(at - MINUTE_US)):
            yield Shortfall(f"{where} heard at {expected.heard}", "never" if at is None else format_instant(at))


def _sync(play: Play, expected: Mapping[str, str], store: str, folder: str) -> Iterator[Shortfall]:
    # spec: RST-3
    statuses = play.lab.read(store, lambda node: node.replication_status(folder))
    replicas = {replica.store: replica for status in statuses for replica in status.replicas}
    for name, sync in expected.items():
        replica = replicas.get(name)
        if replica is None:
            yield Shortfall(
                f"{store} to know a replica of {folder} on {name}", f"it knows {join_names(sorted(replicas))}"
            )
        elif replica.sync != sync:
            missing = ", ".join(filter(None, (replica.missing, replica.missing_fai)))
            lacks = f", which lacks {missing}" if missing else ""
            yield Shortfall(f"{store} to know {folder} on {name} as {sync}", f"it is {replica.sync}{lacks}")


def _without_setup(play: Play, text: str) -> sets.Numbers:
    return {name: ranges for name, ranges in play.names.shown(text).items() if name != SETUP}


# --- the backfill array


def _array(play: Play, expected_entries: Sequence[Entry], store: str, folder: str | None) -> Iterator[Shortfall]:
    entries = [
        entry
        for entry in play.lab.read(store, lambda node: node.backfill())
        if folder in (None, entry.path, entry.folder)
    ]
    remaining = list(entries)
    for expected in expected_entries:
        match = next((entry for entry in remaining if not _entry_faults(play, expected, entry)), None)
        if match is None:
            yield Shortfall(
                f"an entry in {store}'s backfill array: {_entry_words(expected)}", f"it holds {_array_words(entries)}"
            )
        else:
            remaining.remove(match)
    if len(entries) != len(expected_entries):
        yield Shortfall(
            f"{counted(len(expected_entries), 'entry', 'entries')} in {store}'s backfill array",
            f"it holds {_array_words(entries)}",
        )


def _entry_faults(play: Play, expected: Entry, entry: EntryView) -> list[str]:
    faults = []
    if expected.missing is not None and not _missing_fits(play, expected.missing, entry):
        faults.append("missing")
    if expected.due is not None and not same_minute(entry.due_at, expected.due.resolve(entry.made_at)):
        faults.append("due")
    if expected.attempts is not None and expected.attempts != entry.attempts:
        faults.append("attempts")
    if expected.local is not None and expected.local != entry.local:
        faults.append("local")
    if expected.asked is not None:
        sources = [] if tuple(expected.asked) == ("none",) else sorted(expected.asked)
        if sources != sorted(request.source for request in entry.requests):
            faults.append("asked")
    return faults


def _missing_fits(play: Play, names: Sequence[str], entry: EntryView) -> bool:
    missing = sets.union([play.names.shown(entry.missing), play.names.shown(entry.missing_fai)])
    if any(name in play.named or name in play.groups for name in names):
        numbers = [number for _, message in play.messages(names) for number in message.numbers]
        due = sets.renamed(sets.of_numbers(numbers), play.names.store_of)
        return not sets.minus(due, missing)
    return play.names.shown(" ".join(names)) == missing


def _entry_words(entry: Entry) -> str:
    fields = entry.model_dump(exclude_unset=True)
    return ", ".join(
        f"{key} {value if not isinstance(value, list | tuple) else ' '.join(value)}" for key, value in fields.items()
    )


def _array_words(entries: Sequence[EntryView]) -> str:
    words = []
    for entry in entries:
        sources = [request.source for request in entry.requests]
        waits = f", asked {join_names(sources)}" if sources else ""
        near = "local" if entry.local else "remote"
        due = format_instant(entry.due_at)
        missing = ", ".join(filter(None, (entry.missing, entry.missing_fai)))
        words.append(f"{missing} of {entry.path} ({near}, due {due}, attempts {entry.attempts}{waits})")
    return "; ".join(words) or "nothing"


# --- folders as a whole


def _of_folders(play: Play, condition: Condition) -> Iterator[Shortfall]:
    if not {"converged", "unconverged", "equal", "settled"} & condition.model_fields_set:
        return
    judge = play.judge()
    verdict = judge.verdict(at_rest=bool(condition.settled))
    for folder in _judged(verdict, condition.converged or ()):
        if folder.judgement is not Judgement.CONVERGED:
            yield Shortfall(
                f"{folder.path} to have converged on {join_names(folder.holders)}", "; ".join(folder.witnesses)
            )
    for folder in _judged(verdict, condition.unconverged or ()):
        if folder.judgement is not Judgement.NOT_CONVERGED:
            yield Shortfall(
                f"{folder.path} not to have converged on {join_names(folder.holders)}", folder.judgement.value
            )
    for folder in _judged(verdict, condition.equal or ()):
        differences = judge.differences(folder.folder)
        if differences:
            yield Shortfall(f"{folder.path} to be equal on {join_names(folder.holders)}", "; ".join(differences))
    for untrue in (*verdict.untruthful, *verdict.leftovers):  # spec: CV-3
        yield Shortfall(
            "no row to claim what its store lacks, and no store to wait for what a running holder has", untrue
        )


def _judged(verdict: Verdict, folders: Sequence[str]) -> Iterator[FolderVerdict]:
    if tuple(folders) == ("all",):
        yield from verdict.folders
        return
    for path in folders:
        folder = verdict.folder(path)
        if folder is None:
            raise StepFailed([f"to judge the folder {path!r}"], ["there is no such folder, or it was deleted"])
        yield folder
