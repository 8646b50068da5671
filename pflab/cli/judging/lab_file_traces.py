"""The traces in lab files, for the verbs that judge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path


@contextmanager
def unpacked_traces(traces: Sequence[str]) -> Iterator[list[str]]:
    """Give these paths, with a run folder in place of each lab file. Raises CommandError if a .zip file is not one."""
    with ExitStack() as stack:
        yield [_unpacked(place, stack) if _is_lab_file(place) else place for place in traces]


def _unpacked(place: str, stack: ExitStack) -> str:
    from pflab.cli.inputs.lab_files import unpacked_run  # noqa: PLC0415 - it loads stores, which no other traces need

    return str(stack.enter_context(unpacked_run(Path(place))))


def _is_lab_file(place: str) -> bool:
    return place.lower().endswith(".zip") and Path(place).is_file()
