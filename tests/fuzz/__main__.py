"""Fuzz the readers of bytes from outside, led by the code that each input reaches (atheris).

    make fuzz SECONDS=600                       share 600 seconds among all targets, on all cores
    make fuzz SECONDS=60 ARGS="tnef smtp"       only these targets
    python -m tests.fuzz --replay tnef FILE     read one input, as a finding is looked at

Each target runs in a process of its own, with limits for the time of one input and for its memory. New inputs that reach new
code are kept in build/fuzz, where the next run begins. A finding is a file there; to mend it, move it to
tests/fuzz/corpus/TARGET/, where a test reads it from then on. The exit status is 1 if there is a finding.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.fuzz.targets import BY_NAME, MOST_BYTES, TARGETS, Target

ROOT: Final = Path(__file__).resolve().parents[2]
CORPUS: Final = ROOT / "tests" / "fuzz" / "corpus"
BUILD: Final = ROOT / "build" / "fuzz"
INPUT_S: Final = 10
"""Real time after which one input counts as a finding."""

MEMORY_MB: Final = 2048
"""The most memory of a process: the code, the corpus and what one input takes."""

LEAST_S: Final = 5
INSTRUMENTED: Final = (
    "transport",
    "node.codec",
    "node.tracking",
    "topology",
    "pflab.scenario",
    "traces",
)

_EXECUTED: Final = re.compile(r"^#(\d+)\s+DONE\s+cov: (\d+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a target's process did.

    `findings`: the files, and the last lines that it printed.
    """

    target: str
    inputs: int
    branches: int
    findings: tuple[Path, ...]
    told: str


def fuzz(target: Target, seconds: int, seed: int) -> Outcome:
    """Fuzz one target in a process of its own.

    seed: of the order of the inputs; 0 for another order each time.
    """
    kept, found = BUILD / target.name / "kept", BUILD / target.name / "findings"
    for folder in (kept, found):
        folder.mkdir(parents=True, exist_ok=True)
    for number, content in enumerate(target.seeds):
        (kept / f"seed-{number}").write_bytes(content)
    before = set(found.iterdir())
    options = [
        f"-max_total_time={seconds}",
        f"-seed={seed}",
        f"-timeout={INPUT_S}",
        f"-rss_limit_mb={MEMORY_MB}",
        f"-max_len={MOST_BYTES}",
        f"-artifact_prefix={found}/",
        "-print_final_stats=1",
    ]
    folders = [str(kept), *([str(CORPUS / target.name)] if (CORPUS / target.name).is_dir() else [])]
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzz", "--child", target.name, *options, *folders],
        cwd=ROOT,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        stdin=subprocess.DEVNULL,
    )
    match = _EXECUTED.search(done.stderr)
    new = tuple(sorted(set(found.iterdir()) - before))
    told = _told(done) if done.returncode else ""
    return Outcome(target.name, int(match[1]) if match else 0, int(match[2]) if match else 0, new, told)


def _told(done: subprocess.CompletedProcess[str]) -> str:
    """Return the traceback of a finding; if there is none, what the fuzzer said at last."""
    _, found, traceback = done.stdout.partition("Uncaught Python exception")
    lines = (
        traceback.splitlines()[1:] if found else [each for each in done.stderr.splitlines() if not each.startswith("#")]
    )
    return "\n".join(lines[-30:])


def child(name: str, options: Sequence[str]) -> None:
    """Become the fuzzer of one target. This never returns."""
    import atheris  # noqa: PLC0415 - only this process needs it

    tops = {"tests", *(each.split(".")[0] for each in INSTRUMENTED)}
    for module in [each for each in sys.modules if each.split(".")[0] in tops]:
        del sys.modules[module]  # they are imported again, with the instructions that count
    with atheris.instrument_imports(include=list(INSTRUMENTED)):
        from tests.fuzz.targets import BY_NAME as INSTRUMENTED_TARGETS  # noqa: PLC0415 - see above

    atheris.Setup([f"fuzz-{name}", *options], INSTRUMENTED_TARGETS[name])
    atheris.Fuzz()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    parser = argparse.ArgumentParser(prog="make fuzz", description="fuzz the readers of bytes from outside")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(BY_NAME)}; by default all")
    parser.add_argument(
        "--seconds",
        type=int,
        default=300,
        help="seconds of inputs, for all targets together on one core; starting adds to it",
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="targets at a time")
    parser.add_argument(
        "--seed", type=int, default=0, help="the order of the inputs; 0, the default: another one each time"
    )
    parser.add_argument("--replay", nargs=2, metavar=("TARGET", "FILE"), help="read one file and print the traceback")
    chosen = parser.parse_args(arguments)
    if chosen.replay:
        BY_NAME[chosen.replay[0]](Path(chosen.replay[1]).read_bytes())
        print("read, or refused with an error of the target's own")
        return 0
    unknown = [name for name in chosen.targets if name not in BY_NAME]
    if unknown:
        parser.error(f"unknown target {', '.join(unknown)}; the targets are {', '.join(BY_NAME)}")
    targets = [BY_NAME[name] for name in chosen.targets] or list(TARGETS)
    each_s = max(LEAST_S, chosen.seconds * chosen.jobs // len(targets))
    failed = False
    with ThreadPoolExecutor(chosen.jobs) as pool:
        for outcome in pool.map(lambda target: fuzz(target, each_s, chosen.seed), targets):
            print(f"{outcome.target:12} {outcome.inputs:>10,} inputs, {outcome.branches:>6,} branches", flush=True)
            failed |= bool(outcome.told)
            if outcome.told:
                print(outcome.told)
            for path in outcome.findings:
                print(f"a finding: python -m tests.fuzz --replay {outcome.target} {path.relative_to(ROOT)}")
    return int(failed)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], sys.argv[3:])
    sys.exit(main())
