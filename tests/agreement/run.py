"""Play seeds in the simulator, judge their traces with Spark and with the embedded engine, and compare the verdicts.

    python tests/agreement/run.py 30 --first 1000     seeds 1000 to 1029
    python tests/agreement/run.py 30 --keep DIR       keep the traces in DIR/seed-N

The simulator's oracle and invariants read events as they happen, and the states of the stores. Spark reads only the traces.
The two share no code, so each of them can be wrong alone. They agree about a seed if both find it converged and without a
violation, or if neither does. The two engines work from the same tables, and must say the same, word for word. The exit status
is 1 if the judges disagree about a seed, or the engines about anything. The output then names the seed and what each judge
found.
"""

from __future__ import annotations

import argparse
import gc
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from analytics.embedded.engine import judge as judge_embedded
from analytics.ingest.session import QUICK, session
from analytics.ingest.tables import Tables
from analytics.pipeline import judged as judged_by_plans
from analytics.rows import in_order
from analytics.verdicts.conclusion import conclude
from analytics.verdicts.judgements import CONVERGED
from analytics.verdicts.result import CheckResult
from analytics.verdicts.witness_names import named
from pflab.campaign.seed import SeedResult, run_seed
from pflab.terms.verdict import Judgement

CORES = "local[2]"


def play(seeds: Sequence[int], place: Path) -> dict[str, SeedResult]:
    """Play the seeds into `place/seed-N`. Return the simulator's results by the names of these folders."""
    results = {}
    for seed in seeds:
        with tempfile.TemporaryDirectory(dir=place.parent) as kept:
            results[f"seed-{seed}"] = run_seed(seed, folder=Path(kept))
            shutil.move(Path(kept) / f"seed-{seed}" / "00001", place / f"seed-{seed}")
    # SQLite closes a connection only in the thread that opened it. Threads of Spark would collect these later.
    gc.collect()
    return results


@dataclass(frozen=True, slots=True)
class Verdicts:
    """What the two engines found.

    judgements: by folder name.
    found: what is wrong, in words, by folder name.
    engines: what the embedded engine says otherwise than Spark, in words.
    """

    judgements: dict[str, str]
    found: dict[str, list[str]]
    engines: list[str]


def judge(place: Path) -> Verdicts:
    """Judge all traces below `place` with Spark and with the embedded engine."""
    found: dict[str, list[str]] = {}
    with (
        tempfile.TemporaryDirectory() as base,
        session(CORES, QUICK) as spark,
        judged_by_plans([str(place)], Tables(spark, base)) as judged,
    ):
        findings = judged.findings
    result = conclude(findings)
    rows = in_order((row for row in findings["rules"] if row.violations), "trace", "check")
    texts = named(findings["names"], [(row.trace, row.witness or "") for row in rows])
    for row, text in zip(rows, texts, strict=True):
        found.setdefault(_name(row.trace.partition("#")[0]), []).append(f"{row.check}: {text}")
    for each in result.told:
        if each.judgement != CONVERGED:
            found.setdefault(_name(each.trace), []).extend(f"{each.path}: {what}" for what in each.witnesses)
    embedded = conclude(judge_embedded([str(place)]))
    return Verdicts({_name(run.trace): run.judgement for run in result.runs}, found, _engines_differ(result, embedded))


def _engines_differ(spark: CheckResult, embedded: CheckResult) -> list[str]:
    """Return a line for each part of the verdict that the engines see differently."""
    lines = []
    ours = embedded.as_document()
    for name, theirs in spark.as_document().items():
        if ours[name] == theirs:
            continue
        pairs = zip_longest(theirs, ours[name]) if isinstance(theirs, list | tuple) else [(theirs, ours[name])]
        first = next((left, right) for left, right in pairs if left != right)
        lines.append(f"{name}: Spark says {first[0]}, the embedded engine says {first[1]}")
    return lines


def _name(trace: str) -> str:
    return trace.rpartition("/")[2]


def differences(
    results: Mapping[str, SeedResult], judgements: Mapping[str, str], found: Mapping[str, Sequence[str]]
) -> list[str]:
    """Return a few lines for each seed about which the judges disagree."""
    lines = []
    for name, result in results.items():
        spark = judgements.get(name, "not judged")
        if (result.judgement is Judgement.CONVERGED) != (spark == CONVERGED):
            lines.append(f"{name}: the simulator says {result.judgement.value}, Spark says {spark}")
            lines += [f"    simulator: {each}" for each in result.in_words()[1:]]
            lines += [f"    Spark: {each}" for each in found.get(name, ())]
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("count", type=int, nargs="?", default=30, help="how many seeds (default: 30)")
    parser.add_argument("--first", type=int, default=1, help="the first seed (default: 1)")
    parser.add_argument("--keep", type=Path, help="keep the traces in this folder, which must not exist")
    asked = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="pflab-agreement-") as folder:
        place = (asked.keep or Path(folder) / "traces").resolve()
        place.mkdir(parents=True)
        results = play(range(asked.first, asked.first + asked.count), place)
        played = time.monotonic()
        verdicts = judge(place)
    lines = differences(results, verdicts.judgements, verdicts.found)
    print(
        "\n".join(
            [
                *lines,
                *verdicts.engines,
                f"the judges disagree about {sum(not each.startswith(' ') for each in lines)} of {asked.count} seeds",
            ]
        )
    )
    print(f"played in {played - began:.0f} s, judged in {time.monotonic() - played:.0f} s")
    return 1 if lines or verdicts.engines else 0


if __name__ == "__main__":
    sys.exit(main())
