"""The judgements on a folder, a run and a check."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

CONVERGED: Final = "converged"
NOT_CONVERGED: Final = "not converged"
BROKEN: Final = "rules violated"
UNKNOWN: Final = "unknown"

EXIT_CODES: Final[Mapping[str, int]] = {CONVERGED: 0, NOT_CONVERGED: 1, BROKEN: 1, UNKNOWN: 2}
