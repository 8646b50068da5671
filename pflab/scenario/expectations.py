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
    found: list[Shortfall] = []
    for store in play.stores(condition.on, condition.folder):
        if not play.lab.running(store):
            raise StepFailed([f"{store} to run"], [f"{store} is stopped"])
        found += _of_store(play, condition, store)
    found += _of_folders(play, condition)
    start = play.checkpoints[condition.since] if condition.since else 0
    for mails in condition.mails or ():
        found += mails_shortfalls(play, mails, start)
    for events in condition.events or ():
        found += events_shortfalls(play, events, start)
    if condition.clock is not None and not same_minute(play.lab.now, condition.clock.resolve(play.lab.now - MINUTE_US)):
        found.append(Shortfall(f"the clock to show {condition.clock}", f"it shows {format_instant(play.lab.now)}"))
    return found


# --- one store


def _of_store(play: Play, condition: Condition, store: str) -> Iterator[Shortfall]:
    if condition.folder is not None:
        yield from _of_replica(play, condition, store, condition.folder)
    if condition.array is not None:
        yield from _array(play, condition.array, store, condition.folder)
    for event, wanted in (condition.logged or {}).items():
        count = len(play.lab.read(store, lambda node, event=event: node.event_log(event=event)))  # type: ignore[misc]
        if count != wanted:
            yield Shortfall(
                f"{counted(wanted, 'entry', 'entries')} {event} in {store}'s application log", f"there are {count}"
            )
    if condition.tree is not None:
        shown = [view.path for view in play.lab.read(store, lambda node: node.folders()) if not view.hidden]
        for path in condition.tree.has or ():
            if path not in shown:
                yield Shortfall(f"{store} to show the folder {path}", f"it shows {', '.join(shown) or 'none'}")
        for path in condition.tree.lacks or ():
            if path in shown:
                yield Shortfall(f"{store} not to show the folder {path}", "it shows it")


def _of_replica(play: Play, condition: Condition, store: str, folder: str) -> Iterator[Shortfall]:
    asked = condition.model_fields_set
    if asked & {"has", "lacks", "shows", "conflict", "versions"}:
        shown = {view.id: view for view in play.lab.read(store, lambda node: node.messages(folder))}
        yield from _messages(play, condition, store, folder, shown)
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
    play: Play, condition: Condition, store: str, folder: str, shown: dict[str, MessageView]
) -> Iterator[Shortfall]:
    lists = ", ".join(f"{view.subject!r} ({view.number})" for view in shown.values()) or "nothing"
    for name, message in play.messages(condition.has or ()):
        if message.object not in shown:
            yield Shortfall(f"{store} to have {name} in {folder}", f"{store} shows {_short(lists)}")
    for name, message in play.messages(condition.lacks or ()):
        if message.object in shown:
            yield Shortfall(f"{store} to lack {name} in {folder}", f"{store} has it, as {shown[message.object].number}")
    for name, subject in (condition.shows or {}).items():
        seen = shown.get(play.message(name).object)
        if seen is None or seen.subject != subject:
            shown_as = "nothing" if seen is None else repr(seen.subject)
            yield Shortfall(f"{store} to show {name} as {subject!r}", f"it shows {shown_as}")
    for name, count in (condition.versions or {}).items():
        seen = shown.get(play.message(name).object)
        kept = 0 if seen is None else len(seen.versions)
        if kept != count:
            yield Shortfall(f"{store} to keep {counted(count, 'version')} of {name}", f"it keeps {kept}")
    if condition.conflict is not None:
        yield from _conflict(play, condition.conflict, store, shown)


def _conflict(play: Play, wanted: Sequence[str], store: str, shown: dict[str, MessageView]) -> Iterator[Shortfall]:
    due = {} if tuple(wanted) == ("none",) else {message.object: name for name, message in play.messages(wanted)}
    found = [object_ for object_, view in shown.items() if view.in_conflict]
    for object_, name in due.items():
        if object_ not in found:
            yield Shortfall(f"{name} to be in conflict on {store}", "it is not")
    for object_ in found:
        if object_ not in due:
            view = shown[object_]
            yield Shortfall(
                f"no conflict of {view.subject!r} on {store}", f"it keeps {counted(len(view.versions), 'version')}"
            )


def _short(text: str, limit: int = 300) -> str:
    return text if len(text) <= limit else f"{text[:limit]} ..."


# --- the state table


def _row(play: Play, where: str, wanted: Row | str, row: RowView | None) -> Iterator[Shortfall]:
    if isinstance(wanted, str):
        if row is not None:
            yield Shortfall(f"no {where}", f"it has {row.numbers or 'nothing'}")
        return
    if row is None:
        yield Shortfall(f"a row: {where}", "there is none")
        return
    if wanted.has is not None and _without_setup(play, wanted.has) != _without_setup(play, row.numbers):
        yield Shortfall(f"{where} to have {wanted.has}", f"it has {row.numbers or 'nothing'}")
    if wanted.associated is not None and _without_setup(play, wanted.associated) != _without_setup(
        play, row.numbers_fai
    ):
        yield Shortfall(
            f"{where} to have {wanted.associated} of associated messages", f"it has {row.numbers_fai or 'none'}"
        )
    if wanted.last_sent is not None and wanted.last_sent != (row.last_sent or "none"):
        yield Shortfall(f"{where}: last update sent {wanted.last_sent}", f"it is {row.last_sent or 'none'}")
    if wanted.heard == "never":
        if row.heard_at is not None:
            yield Shortfall(f"{where} never heard", f"heard at {format_instant(row.heard_at)}")
    elif wanted.heard is not None:
        at = row.heard_at
        if at is None or not same_minute(at, wanted.heard.resolve(at - MINUTE_US)):
            yield Shortfall(f"{where} heard at {wanted.heard}", "never" if at is None else format_instant(at))


def _sync(play: Play, wanted: Mapping[str, str], store: str, folder: str) -> Iterator[Shortfall]:
    # spec: RST-3
    statuses = play.lab.read(store, lambda node: node.replication_status(folder))
    known = {each.store: each for status in statuses for each in status.replicas}
    for name, sync in wanted.items():
        found = known.get(name)
        if found is None:
            yield Shortfall(f"{store} to know a replica of {folder} on {name}", f"it knows {join_names(sorted(known))}")
        elif found.sync != sync:
            missing = ", ".join(filter(None, (found.missing, found.missing_fai)))
            lacks = f", which lacks {missing}" if missing else ""
            yield Shortfall(f"{store} to know {folder} on {name} as {sync}", f"it is {found.sync}{lacks}")


def _without_setup(play: Play, text: str) -> sets.Numbers:
    return {name: ranges for name, ranges in play.names.shown(text).items() if name != SETUP}


# --- the backfill array


def _array(play: Play, wanted: Sequence[Entry], store: str, folder: str | None) -> Iterator[Shortfall]:
    entries = [
        each for each in play.lab.read(store, lambda node: node.backfill()) if folder in (None, each.path, each.folder)
    ]
    left = list(entries)
    for expected in wanted:
        match = next((each for each in left if not _entry_faults(play, expected, each)), None)
        if match is None:
            yield Shortfall(
                f"an entry in {store}'s backfill array: {_entry_words(expected)}", f"it holds {_array_words(entries)}"
            )
        else:
            left.remove(match)
    if len(entries) != len(wanted):
        yield Shortfall(
            f"{counted(len(wanted), 'entry', 'entries')} in {store}'s backfill array",
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
        asked = [] if tuple(expected.asked) == ("none",) else sorted(expected.asked)
        if asked != sorted(each.source for each in entry.requests):
            faults.append("asked")
    return faults


def _missing_fits(play: Play, wanted: Sequence[str], entry: EntryView) -> bool:
    missing = sets.union([play.names.shown(entry.missing), play.names.shown(entry.missing_fai)])
    if any(name in play.named or name in play.groups for name in wanted):
        numbers = [number for _, each in play.messages(wanted) for number in each.numbers]
        due = sets.renamed(sets.of_numbers(numbers), play.names.store_of)
        return not sets.minus(due, missing)
    return play.names.shown(" ".join(wanted)) == missing


def _entry_words(entry: Entry) -> str:
    given = entry.model_dump(exclude_unset=True)
    return ", ".join(
        f"{key} {value if not isinstance(value, list | tuple) else ' '.join(value)}" for key, value in given.items()
    )


def _array_words(entries: Sequence[EntryView]) -> str:
    words = []
    for each in entries:
        asked = [request.source for request in each.requests]
        waits = f", asked {join_names(asked)}" if asked else ""
        near = "local" if each.local else "remote"
        due = format_instant(each.due_at)
        missing = ", ".join(filter(None, (each.missing, each.missing_fai)))
        words.append(f"{missing} of {each.path} ({near}, due {due}, attempts {each.attempts}{waits})")
    return "; ".join(words) or "nothing"


# --- folders as a whole


def _of_folders(play: Play, condition: Condition) -> Iterator[Shortfall]:
    if not {"converged", "unconverged", "equal", "settled"} & condition.model_fields_set:
        return
    judge = play.judge()
    verdict = judge.verdict(at_rest=bool(condition.settled))
    for each in _judged(verdict, condition.converged or ()):
        if each.judgement is not Judgement.CONVERGED:
            yield Shortfall(f"{each.path} to have converged on {join_names(each.holders)}", "; ".join(each.witnesses))
    for each in _judged(verdict, condition.unconverged or ()):
        if each.judgement is not Judgement.NOT_CONVERGED:
            yield Shortfall(f"{each.path} not to have converged on {join_names(each.holders)}", each.judgement.value)
    for each in _judged(verdict, condition.equal or ()):
        differences = judge.differences(each.folder)
        if differences:
            yield Shortfall(f"{each.path} to be equal on {join_names(each.holders)}", "; ".join(differences))
    for untrue in (*verdict.untruthful, *verdict.leftovers):  # spec: CV-3
        yield Shortfall(
            "no row to claim what its store lacks, and no store to wait for what a running holder has", untrue
        )


def _judged(verdict: Verdict, folders: Sequence[str]) -> Iterator[FolderVerdict]:
    if tuple(folders) == ("all",):
        yield from verdict.folders
        return
    for path in folders:
        each = verdict.folder(path)
        if each is None:
            raise StepFailed([f"to judge the folder {path!r}"], ["there is no such folder, or it was deleted"])
        yield each
