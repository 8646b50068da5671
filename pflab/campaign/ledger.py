"""The ledger of an endless campaign: which seeds were played, by which code, and what was found.

A ledger is a file of JSON lines, to which each block of seeds appends one line and one line for each of its findings:

    {"seeds":[1,100],"code":"5f0c3a91d2e47b86","days":3,"faults":["lose","cut"],"ended":"2026-11-24T03:10:00Z","took_s":21.4}
    {"finding":{"seed":17,"judgement":"not converged","violations":[...]},"code":"5f0c3a91d2e47b86"}

`code` identifies the code that played the seeds: a digest of pflab's own modules. The next block begins after the last seed of
the ledger, whatever code played it, because a new seed finds more than an old one. `pflab simulate --seeds 17` plays a finding
again.

What must never happen:

- A seed that counts as played although its findings are not in the ledger. So the findings come first and the line of the
  block last; all are written at once, and synced.
- Two processes that append to one ledger. So an open ledger is locked.
- A ledger that cannot be read because a process was killed while it wrote. When the ledger is opened, an incomplete line is
  removed, and so are the findings before it whose block is missing. Their seeds are played again.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO, Final

import msgspec

from pflab.campaign.seed import SeedResult
from pflab.campaign.seeds import CampaignResult, Order
from pflab.errors import LabError
from pflab.home import HOME
from pflab.terms.verdict import Judgement
from traces.file_lock import lock_unless_locked

MOST_FINDINGS_SHOWN: Final = 20
"""How many findings of a ledger are kept in memory. The file has all."""

_PARTS: Final = ("traces", "topology", "transport", "node")
"""The folders of code on which the result of a seed depends, beside `pflab` itself."""

_BEGINNINGS: Final = (b'{"finding":', b'{"seeds":')
"""How each line begins."""


class LedgerError(LabError):
    """A ledger cannot be used."""


@dataclass(slots=True)
class Totals:
    """A summary of a ledger: the number of seeds, the codes of its blocks, the number of findings, and the seeds of the last
    findings."""

    seeds: int = 0
    last_seed: int = 0
    codes: set[str] = field(default_factory=set)
    findings: int = 0
    found: list[int] = field(default_factory=list)

    def add(self, line: dict[str, Any]) -> None:
        """Add a line. Raises LookupError, TypeError or ValueError for a line that does not belong to a ledger."""
        if "finding" in line:
            self.findings += 1
            self.found = [*self.found, int(line["finding"]["seed"])][-MOST_FINDINGS_SHOWN:]
            return
        first, last = map(int, line["seeds"])
        self.codes.add(str(line["code"]))
        self.seeds += last - first + 1
        self.last_seed = max(self.last_seed, last)


class Ledger:
    """An open ledger. `totals` counts what it has."""

    def __init__(self, file: BinaryIO, totals: Totals) -> None:
        self._file = file
        self.totals = totals
        self._code = code_digest()

    @classmethod
    @contextmanager
    def opened(cls, path: Path) -> Iterator[Ledger]:
        """Open a ledger for this process alone, and make it if it is missing. Raises LedgerError."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            file = path.open("a+b")
        except OSError as error:
            raise LedgerError(f"{path}: {error.strerror}") from None
        with file:
            try:
                lock_unless_locked(file)
            except BlockingIOError:
                raise LedgerError(
                    f"{path}: another process appends to this ledger; give each process its own ledger"
                ) from None
            totals, size = _read(path, file)
            file.truncate(size)
            yield cls(file, totals)

    def append(self, first: int, campaign: CampaignResult, took_s: float) -> None:
        """Append a block that began with the seed `first`, and its findings. Raises LedgerError if that is impossible."""
        results = campaign.results
        if not results:
            return
        findings = [*map(SeedResult.as_document, campaign.failed), *_differing(campaign)]
        lines: list[dict[str, Any]] = [{"finding": finding, "code": self._code} for finding in findings]
        lines.append(
            {
                "seeds": [first, first + len(results) - 1],
                "code": self._code,
                **_how(campaign.order),
                "ended": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
                "took_s": round(took_s, 1),
            }
        )
        try:
            self._file.write(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise LedgerError(f"{self._file.name}: {error.strerror}") from None
        for line in lines:
            self.totals.add(line)


@cache
def code_digest() -> str:
    """Return 16 hex digits that identify the code that plays seeds: the files as they were at the first call."""
    digest = blake2b(digest_size=8)
    for folder in (*(HOME / part for part in _PARTS), Path(__file__).parents[1]):
        for path in sorted(folder.rglob("*.py")):
            digest.update(str(path.relative_to(folder)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def _how(order: Order) -> dict[str, Any]:
    """Return the options on which a seed's scenario depends."""
    return {
        "days": order.days,
        "faults": order.faults,
        **({} if order.topology is None else {"topology": blake2b(order.topology.encode(), digest_size=8).hexdigest()}),
    }


def _differing(campaign: CampaignResult) -> list[dict[str, Any]]:
    differs = "its events differ in a process with another hash seed"
    return [{"seed": seed, "judgement": Judgement.UNKNOWN.value, "doubts": [differs]} for seed in campaign.differing]


def _read(path: Path, file: BinaryIO) -> tuple[Totals, int]:
    """Return the totals of a ledger, and the size of its whole blocks. Raises LedgerError for a file that is no ledger."""
    totals, size, pending = Totals(), 0, []
    file.seek(0)
    for number, text in enumerate(file, start=1):
        if not text.endswith(b"\n") and any(
            text.startswith(beginning) or beginning.startswith(text) for beginning in _BEGINNINGS
        ):
            break
        try:
            line = msgspec.json.decode(text, type=dict[str, Any])
            pending.append(line)
            if "finding" in line:
                Totals().add(line)
                continue
            for pending_line in pending:
                totals.add(pending_line)
        except (msgspec.MsgspecError, LookupError, TypeError, ValueError) as error:
            raise LedgerError(f"{path}:{number}: not a line of a ledger ({error}); give another file") from None
        pending, size = [], file.tell()
    return totals, size
