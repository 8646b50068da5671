"""A check that keeps the findings of each run, and judges only runs that are new or have changed."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

from analytics.embedded.product import product
from analytics.errors import AnalyticsError
from analytics.ingest.lines import place_of
from analytics.published.table_store import TableStore
from analytics.report.answers import answers_of
from analytics.rows import Judged
from traces.temporary_folder import temporary_folder

Judge = Callable[[Sequence[str]], AbstractContextManager[Judged]]
"""Judges the runs in these places."""


def fingerprints(checksums: Mapping[str, str]) -> dict[str, str]:
    """Map each place to a fingerprint of its segments.

    checksums: of the content of each segment, by its file.
    """
    files: dict[str, list[str]] = defaultdict(list)
    for file in sorted(checksums):
        files[place_of(file)].append(f"{file.rpartition('/')[2]}\t{checksums[file]}\n")
    return {place: hashlib.sha256("".join(lines).encode()).hexdigest() for place, lines in files.items()}


def write(outcome: Judged, folder: Path) -> list[str]:
    """Write the tables into a folder, a file for each, and return their names. Each file appears whole. Raises AnalyticsError
    if the folder cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with temporary_folder(".pflab-", folder) as new:
            outcome.publish(new)
            files = list(Path(new).iterdir())
            for file in files:
                file.replace(folder / file.name)
    except OSError as error:
        raise AnalyticsError(f"{error.filename or folder}: cannot be written: {error.strerror}") from error
    return sorted(file.stem for file in files)


@contextmanager
def judged(store: TableStore, marks: Mapping[str, str], judge: Judge) -> Iterator[Judged]:
    """Judge the new runs in these places, and yield the findings of all of them.

    marks: the fingerprint of each place.
    judge: is called for the new runs, and for the runs that a report shows.
    """
    findings, figures = ([query.name for query in of] for of in (product().findings, product().figures))
    new = store.outdated(marks)
    if new:
        with judge(new) as outcome:
            answered = {name: outcome.answers(name, {}) for name in figures}
            store.add(marks, {**outcome.findings, **answered}, outcome.publish, new)
    every = store.findings(marks, (*findings, *figures))
    with ExitStack() as again:
        answers = answers_of(every, lambda places: again.enter_context(judge(sorted(places))).answers)
        yield Judged({name: every[name] for name in findings}, answers, store.copy)
