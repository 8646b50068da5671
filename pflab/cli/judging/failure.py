"""What a user sees if the analytics cannot judge: one line, with what to install if something is missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pflab.cli.doctor.extras import how_to_install
from pflab.cli.output import CommandError


@contextmanager
def analytics_failure_of(verb: str) -> Iterator[None]:
    """Raise CommandError with one line of this verb for an AnalyticsError inside the block."""
    from analytics.errors import AnalyticsError, PackageMissing  # noqa: PLC0415 - an extra

    try:
        yield
    except PackageMissing as error:
        remedy = f"{how_to_install(error.extra)}. Everything else in pflab works without it"
        raise CommandError(f"pflab {verb}: {error}; {remedy}") from None
    except AnalyticsError as error:
        raise CommandError(f"pflab {verb}: {error}") from None
