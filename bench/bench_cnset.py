"""The time of operations on CNSets, at two sizes: ten times the ranges should take about ten times as long.

Run from the project's root: `python -m bench.bench_cnset`.
"""

from __future__ import annotations

import timeit
from collections.abc import Callable
from random import Random
from time import process_time

from node.tracking.change_number import ChangeNumber
from node.tracking.cnset import CNSet
from node.tracking.idset import decode_idset, encode_idset

DURABILITY = "nothing is stored"

SIZES = (10_000, 100_000)
GUID = bytes(range(16))
OTHER = bytes(range(1, 17))
ROUNDS = 9
ROUND_SECONDS = 0.03


def scattered(ranges: int, seed: int, gap: int = 20) -> CNSet:
    """Return a random set of one store with `ranges` ranges. Ranges and gaps are up to `gap` numbers long."""
    random = Random(seed)
    pairs: list[tuple[int, int]] = []
    counter = random.randint(1, gap)
    for _ in range(ranges):
        high = counter + random.randrange(gap)
        pairs.append((counter, high))
        counter = high + 1 + random.randint(1, gap)
    return CNSet.from_ranges({GUID: pairs})


def figures() -> dict[str, float]:
    """Milliseconds of processor time for each operation and number of ranges, the best of several rounds."""
    timers: dict[str, timeit.Timer] = {}
    for size in SIZES:
        for name, work in _workload(size).items():
            timers[f"{name} {size}"] = timeit.Timer(work, timer=process_time)
    calls = {name: max(1, int(ROUND_SECONDS / max(timer.timeit(1), 1e-6))) for name, timer in timers.items()}
    best = dict.fromkeys(timers, float("inf"))
    for _ in range(ROUNDS):  # measure the sizes in turn, so that a slow period of the machine affects all of them
        for name, timer in timers.items():
            best[name] = min(best[name], timer.timeit(calls[name]) / calls[name] * 1000)
    return best


def _workload(size: int) -> dict[str, Callable[[], object]]:
    big, like = scattered(size, 1), scattered(size, 2)
    sparse = scattered(size, 3, gap=2000)
    top = big.highest(GUID)
    new = CNSet.of(ChangeNumber(GUID, top + 2), ChangeNumber(OTHER, 1))
    another, alike = scattered(size, 4), big | new  # alike: nearly the same set, like the rows of two holders
    ranges = big.ranges(GUID)
    third, half = ranges[size // 3], ranges[size // 2]
    within = CNSet.of(ChangeNumber(GUID, third[0]), ChangeNumber(GUID, half[1]))
    holes = CNSet.of(ChangeNumber(GUID, third[0] - 1), ChangeNumber(GUID, half[1] + 1))
    wire, sparse_wire = encode_idset(big), encode_idset(sparse)
    text = big.text()
    return {
        "union": lambda: big | like,
        "difference": lambda: big - like,
        "intersection": lambda: big & like,
        "containment": lambda: big <= (big | new),
        "union of 5": lambda: CNSet.union_all([big, like, another, alike, new]),
        "large | small": lambda: big | new,
        "large | small, in holes": lambda: big | holes,
        "large - small": lambda: big - within,
        "small - large": lambda: within - big,
        "small <= large": lambda: within <= big,
        "encode": lambda: encode_idset(big),
        "decode": lambda: decode_idset(wire),
        "encode sparse": lambda: encode_idset(sparse),
        "decode sparse": lambda: decode_idset(sparse_wire),
        "text": big.text,
        "parse": lambda: CNSet.parse(text),
    }


def main() -> None:
    """Print a table with the milliseconds of each operation at each size, and their ratio."""
    found = figures()
    small, large = SIZES
    print(f"{'operation':24}{small:>12,}{large:>12,}{'ratio':>8}   milliseconds, ranges")
    for name in [key.removesuffix(f" {small}") for key in found if key.endswith(f" {small}")]:
        fast, slow = found[f"{name} {small}"], found[f"{name} {large}"]
        print(f"{name:24}{fast:12.4f}{slow:12.4f}{slow / fast:8.1f}")
    for gap in (20, 2000):
        size = len(encode_idset(scattered(large, 1, gap)))
        print(f"wire size, ranges and gaps up to {gap}: {size / large:.2f} bytes a range")


if __name__ == "__main__":
    main()
