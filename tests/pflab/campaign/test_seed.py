"""Campaigns: results do not depend on the number of workers; exit codes, branches that must be seen, verification."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import active_children
from multiprocessing.connection import Connection, wait
from pathlib import Path
from types import FrameType

import pytest

from node.store.node import Node
from pflab.campaign import seeds
from pflab.campaign.coverage import BRANCHES
from pflab.campaign.draw.faults import FAULT_KINDS
from pflab.campaign.seed import SeedResult, parse_faults, run_seed
from pflab.campaign.seeds import (
    LONG_CAMPAIGN,
    CampaignResult,
    Order,
    as_document,
    chosen_for_verification,
    jobs_here,
    run_campaign,
)
from pflab.errors import LabError
from pflab.invariants.invariant import Violation
from pflab.terms.verdict import ExitCode, Judgement
from tests.support.samples import sampled
from topology.file.load import topology_from_text

SEEDS = range(1, 7)
SHORT = Order(days=1)


@pytest.fixture(scope="module")
def tiny() -> CampaignResult:
    return run_campaign(SEEDS, SHORT)


def test_a_tiny_campaign(tiny: CampaignResult) -> None:
    """Six seeds with all faults converge and violate no invariant."""
    assert [each.in_words() for each in tiny.failed] == []
    assert [each.seed for each in tiny.results] == list(SEEDS)
    assert tiny.exit_code == ExitCode.GOOD
    assert all(each.bound_us > 0 for each in tiny.results)
    assert tiny.branches()["status sent"] == len(SEEDS)


def test_a_campaign_in_this_process_leaves_the_garbage_collector_as_it_was() -> None:
    """One job plays in this process and collects garbage between labs; afterwards the collector runs by itself again."""
    during: list[bool] = []
    assert gc.isenabled()
    run_campaign(SEEDS[:1], SHORT, done=lambda _: during.append(gc.isenabled()))
    with pytest.raises(ZeroDivisionError):
        run_campaign(SEEDS[:1], SHORT, done=lambda each: print(each.seed // 0))
    assert during == [False]
    assert gc.isenabled()
    assert gc.get_freeze_count() == 0


@pytest.mark.long
def test_results_do_not_depend_on_the_number_of_workers(tiny: CampaignResult) -> None:
    """Two workers give the same results in the same order, with equal digests of all events."""
    heard: list[int] = []
    apart = run_campaign(SEEDS, SHORT, jobs=2, done=lambda result: heard.append(result.seed))
    assert apart.results == tiny.results
    assert heard == list(SEEDS)


def test_another_hash_seed_changes_no_byte(tiny: CampaignResult) -> None:
    """Seeds played again in a process with another PYTHONHASHSEED have the same events."""
    again: list[int] = []
    campaign = run_campaign(range(1, 4), SHORT, verify_share=0.4, verified=again.append)
    assert (campaign.verified, campaign.differing) == (2, ())
    assert again == [1, 3]
    assert campaign.results == tiny.results[:3]
    assert campaign.exit_code == ExitCode.GOOD


def test_a_seed_that_differs_fails_the_campaign(monkeypatch: pytest.MonkeyPatch) -> None:
    """A seed that has other events in another process is a violation."""
    played = iter([SeedResult(1, Judgement.CONVERGED, digest="one"), SeedResult(1, Judgement.CONVERGED, digest="two")])
    monkeypatch.setattr(seeds, "_played", lambda *_, **__: iter([next(played)]))
    campaign = run_campaign([1], SHORT, verify_share=1.0)
    assert campaign.differing == (1,)
    assert campaign.exit_code == ExitCode.VIOLATION


@pytest.mark.parametrize(
    ("count", "share", "chosen"),
    [(0, 1.0, 0), (6, 0.0, 0), (6, 1.0, 6), (6, 0.5, 3), (200, 0.05, 10), (3, 0.05, 1), (3, 9.0, 3)],
)
def test_the_share_that_is_verified(count: int, share: float, chosen: int) -> None:
    """About this share of the seeds, evenly spread and at least one, is played again."""
    assert len(chosen_for_verification(range(count), share)) == chosen


def well(seed: int, *branches: str) -> SeedResult:
    return SeedResult(seed, Judgement.CONVERGED, branches=dict.fromkeys(branches, 1))


def test_a_long_campaign_must_see_every_branch() -> None:
    """From 1,000 seeds on, with all faults and drawn organizations, a branch that no seed reached fails the campaign."""
    most = tuple(well(seed, *BRANCHES[1:]) for seed in range(LONG_CAMPAIGN))
    long = CampaignResult(most)
    assert (long.unseen, long.must_see_all, long.exit_code) == (BRANCHES[:1], True, ExitCode.VIOLATION)
    assert CampaignResult((*most, well(0, *BRANCHES))).exit_code == ExitCode.GOOD
    assert CampaignResult(most[1:]).exit_code == ExitCode.GOOD
    assert CampaignResult(most, Order(faults=FAULT_KINDS[1:])).exit_code == ExitCode.GOOD
    assert CampaignResult(most, Order(topology="{}")).exit_code == ExitCode.GOOD


def test_exit_codes() -> None:
    """0 for success, 1 for a violation, 2 if the result is unknown or there was nothing to judge."""
    bad = SeedResult(1, Judgement.NOT_CONVERGED, (Violation("x", (), 0, ""),))
    unknown = SeedResult(2, Judgement.UNKNOWN, doubts=("why",))
    assert CampaignResult((well(1),)).exit_code == ExitCode.GOOD
    assert CampaignResult((well(1), bad, unknown)).exit_code == ExitCode.VIOLATION
    assert CampaignResult((well(1), unknown)).exit_code == ExitCode.UNKNOWN
    assert CampaignResult(()).exit_code == ExitCode.UNKNOWN
    assert CampaignResult((well(1),), interrupted=True).exit_code == ExitCode.UNKNOWN


def test_an_internal_error_of_the_campaign_ends_one_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bug outside the stores does not end the campaign: its seed is unknown, and the exit status is 70."""

    def broken(*_: object, **__: object) -> SeedResult:
        raise RuntimeError("planted")

    monkeypatch.setattr(seeds, "run_seed", broken)
    campaign = run_campaign([1, 2], SHORT)
    doubt = "the campaign: internal error while playing the seed: RuntimeError: planted"
    assert [each.doubts for each in campaign.results] == [(doubt,)] * 2
    assert all("RuntimeError: planted" in each.traceback for each in campaign.results)
    assert campaign.exit_code == ExitCode.INTERNAL


@dataclass(frozen=True, slots=True)
class Broken(Order):
    """Plays seeds in which a user's request meets a bug in the store, whichever process plays them."""

    def play(self, seed: int) -> SeedResult:
        with pytest.MonkeyPatch.context() as patched:
            for name in ("post", "post_batch"):
                patched.setattr(Node, name, _broken)
            return run_seed(seed, days=self.days)


def _broken(*_: object, **__: object) -> list[str]:
    raise KeyError("planted")


def test_an_internal_error_of_a_store_is_kept_by_worker_processes() -> None:
    """The type, the text and the traceback of a bug in a store come from the worker process; the exit status is 70."""
    campaign = run_campaign([1, 2], Broken(days=1), jobs=2)
    for each in campaign.results:
        assert each.judgement is Judgement.NOT_CONVERGED
        assert each.violations[0].witness.endswith(": internal error while serving a user: KeyError: 'planted'")
        assert "in _broken" in each.traceback
    assert campaign.exit_code == ExitCode.INTERNAL


def test_ctrl_c_keeps_what_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    """An interrupted campaign returns the results so far and is marked as stopped."""

    def stopped(*_: object, **__: object) -> Iterator[SeedResult]:
        yield well(1)
        raise KeyboardInterrupt

    monkeypatch.setattr(seeds, "_played", stopped)
    campaign = run_campaign([1, 2], SHORT)
    assert ([each.seed for each in campaign.results], campaign.interrupted) == ([1], True)


@dataclass(frozen=True, slots=True)
class Endless(Order):
    """Plays seeds that never end. Each says in the FIFO `traces` that it has begun."""

    def play(self, seed: int) -> SeedResult:
        assert self.traces is not None
        self.traces.write_text("begun")
        threading.Event().wait()
        raise AssertionError


def test_ctrl_c_does_not_wait_for_a_seed(tmp_path: Path) -> None:
    """Ctrl-C ends a campaign although its workers play seeds that never end; no process stays."""
    fifo = tmp_path / "begun"
    os.mkfifo(fifo)

    def interrupt() -> None:
        fifo.read_text()
        os.kill(os.getpid(), signal.SIGINT)

    watch = threading.Thread(target=interrupt)
    watch.start()
    campaign = run_campaign(range(1, 9), Endless(traces=fifo), jobs=2)
    watch.join()
    assert (campaign.results, campaign.interrupted) == ((), True)
    assert active_children() == []


@pytest.mark.parametrize("share", [n / 40 for n in range(1, 40)])
def test_ctrl_c_while_workers_start_and_end(monkeypatch: pytest.MonkeyPatch, share: float) -> None:
    """Ctrl-C at any step of the start and the end of the workers ends the campaign, also if another thread of the process gets
    the signal; no process stays."""
    monkeypatch.setattr(seeds, "wait", _interrupted)
    ended = threading.Event()
    other = threading.Thread(target=ended.wait)  # as a progress bar has
    other.start()
    try:
        calls = _calls_of_a_campaign()
        _calls_of_a_campaign(interrupted_at=round(share * calls))
    finally:
        ended.set()
        other.join()
    assert active_children() == []


@pytest.mark.long
def test_other_signals_do_not_end_a_campaign(monkeypatch: pytest.MonkeyPatch) -> None:
    """A signal that the program handles, such as a new size of the terminal, and SIGINT where it is ignored, as after nohup,
    leave no seed unplayed."""
    handlers = {signal.SIGWINCH: signal.getsignal(signal.SIGWINCH), signal.SIGINT: signal.getsignal(signal.SIGINT)}
    signal.signal(signal.SIGWINCH, lambda *_: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def signalled(what: Sequence[Connection]) -> list[object]:
        signal.raise_signal(signal.SIGWINCH)
        signal.raise_signal(signal.SIGINT)
        return list(wait(what))

    monkeypatch.setattr(seeds, "wait", signalled)
    try:
        campaign = run_campaign([1, 2], SHORT, jobs=2)
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    assert not campaign.interrupted
    assert [each.seed for each in campaign.results] == [1, 2]


def _calls_of_a_campaign(interrupted_at: int = 0) -> int:
    """Run a campaign with two workers that Ctrl-C ends. Return how many functions this process called."""
    calls = 0

    def count(_frame: FrameType, event: str, _about: object) -> None:
        nonlocal calls
        calls += event == "call"
        if calls == interrupted_at and event == "call":
            os.kill(os.getpid(), signal.SIGINT)

    sys.setprofile(count)
    try:
        assert run_campaign([1, 2], SHORT, jobs=2).interrupted
    except KeyboardInterrupt:
        assert interrupted_at
    finally:
        sys.setprofile(None)
    return calls


def _interrupted(what: Sequence[Connection]) -> list[object]:
    """Wait as a campaign does, after a Ctrl-C."""
    signal.raise_signal(signal.SIGINT)
    return list(wait(what))


@dataclass(frozen=True, slots=True)
class Killed(Order):
    """Plays seeds in a process that is killed, as the kernel does when memory is short."""

    def play(self, seed: int) -> SeedResult:
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError


@pytest.mark.long
def test_a_worker_that_is_killed_ends_the_campaign() -> None:
    """If a worker dies, the campaign ends with a message that says so, and the other workers end too."""
    with pytest.raises(LabError, match="a worker process has ended, perhaps because the memory is full"):
        run_campaign([1, 2], Killed(), jobs=2)
    assert active_children() == []


def test_the_resource_tracker_outlives_a_signal_to_the_group(project_root: Path) -> None:
    """A signal to the whole group between the starts of two workers does not end the process that Python needs to start the
    second one; Python would print a warning."""
    script = (
        "import os, signal\n"
        "from pflab.campaign.seed import DEFAULT_DAYS\n"
        "from pflab.campaign.seeds import Order, _worker\n"
        "if __name__ == '__main__':\n"
        "    for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):\n"
        "        signal.signal(number, lambda *_: None)\n"
        "    for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):\n"
        "        with _worker(Order(DEFAULT_DAYS)):\n"
        "            os.killpg(0, number)\n"
    )
    process = subprocess.run(
        [sys.executable, "-c", script],
        check=False,
        cwd=project_root,
        capture_output=True,
        text=True,
        start_new_session=True,
        timeout=60,
    )
    assert (process.returncode, process.stderr) == (0, "")


@pytest.mark.parametrize("group", [True, False])
@pytest.mark.parametrize("number", sampled([signal.SIGINT, signal.SIGTERM, signal.SIGHUP], 3))
def test_a_stopped_campaign_prints_its_results(project_root: Path, number: signal.Signals, group: bool) -> None:
    """A signal to the process or to its whole group ends a campaign with workers in order: it prints the results, exit code
    2, and nothing else."""
    script = (
        "from pflab.cli import main\nif __name__ == '__main__': main(['simulate', '--seeds', '1..5000', '--jobs', '2'])"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=project_root,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stderr is not None
    try:
        first_line = process.stderr.readline()
        while not _has_worker(process.pid):
            assert process.poll() is None
        (os.killpg if group else os.kill)(process.pid, number)
        out, err = process.communicate(timeout=60)
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise
    assert first_line == "seeds 1..5000\n"
    assert process.returncode == ExitCode.UNKNOWN
    assert "stopped after" in out
    assert err == ""


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_workers_end_with_a_campaign_that_is_killed(tmp_path: Path, number: signal.Signals) -> None:
    """If the process of a campaign is killed, its workers end without a word, also if their seeds never end."""
    fifo = tmp_path / "begun"
    os.mkfifo(fifo)
    script = (
        "import sys; from pathlib import Path; from pflab.campaign.seeds import run_campaign\n"
        "from tests.pflab.campaign.test_seed import Endless\n"
        "if __name__ == '__main__': run_campaign(range(8), Endless(traces=Path(sys.argv[1])), jobs=2)"
    )
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", script, str(fifo)], stdout=pipe, stderr=pipe, text=True) as process:
        fifo.read_text()
        process.send_signal(number)
        assert process.communicate(timeout=60) == ("", ""), "the pipes close when the last worker has ended"


def _has_worker(pid: int) -> bool:
    """Return whether a process plays seeds for this one."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return any(b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes() for child in children)


def test_the_heal_ends_a_schedule_that_the_first_store_no_longer_knows() -> None:
    """In this seed A is restored from a backup that is older than the schedule "never" of F0, so only B can end it (OUT-1)."""
    assert run_seed(231276014).in_words() == ["seed 231276014: converged"]


@pytest.mark.long
@pytest.mark.parametrize(
    "seed",
    [
        pytest.param(1651148216, id="a deletion that is lost with the store that made it (DU-1)"),
        pytest.param(1651132316, id="a restored server that has forgotten that it reported a link as down (RT-2)"),
        pytest.param(1651135394, id="a restored store whose first status request is lost (ST-7)"),
        pytest.param(1651162436, id="a store that begins as new while no other holder has an address (ST-3, ML-1)"),
        pytest.param(1651140170, id="a 5.5 server that asks again while one source is still asked (BF-3)"),
        pytest.param(1651166754, id="a restored store that has left the folder, after its tombstones are gone (DL-4)"),
        pytest.param(1651171072, id="a response about expired items that waits for its folder (DL-3, HI-4)"),
        pytest.param(1651173859, id="an associated message whose later version has expired everywhere (CN-9, DL-3)"),
        pytest.param(1651174162, id="a source that has forgotten what expired there (DL-3)"),
        pytest.param(1651178846, id="a change that is replaced in the newer of two backups (RP-4, DU-1)"),
        pytest.param(1651131965, id="a crash in the stimulus that stamps an address at the heal"),
        pytest.param(1651156667, id="a crash in the first of two changes of the directory"),
    ],
)
def test_a_seed_that_a_hunt_has_found(seed: int) -> None:
    """What `pflab simulate --forever` has found stays mended."""
    assert run_seed(seed).in_words() == [f"seed {seed}: converged"]


def test_a_mail_that_waits_too_long_for_its_folder_says_nothing() -> None:
    """In this seed a response about expired items comes more than four hours before its folder, and is dropped (HI-4)."""
    assert run_seed(2089617946, days=1).in_words() == ["seed 2089617946: converged"]


def test_a_given_topology_travels_to_the_workers() -> None:
    """A campaign with a given topology plays it in every process."""
    organization = topology_from_text("servers: {A: , B: }\nfolders: {F: {replicas: [A, B]}}\n", "small")
    order = Order.of(1, (), organization)
    assert order.organization() == organization
    assert run_campaign([1], order).results[0].judgement is Judgement.CONVERGED


def test_fault_words() -> None:
    """--faults takes all, none, or kinds by name in any order; another word is refused with the list of kinds."""
    assert parse_faults("all") == FAULT_KINDS
    assert parse_faults("none") == ()
    assert parse_faults("skew, lose") == ("lose", "skew")
    with pytest.raises(ValueError, match="unknown fault frob; write all, none, or some of lose, "):
        parse_faults("lose,frob")


def test_results_for_programs(tiny: CampaignResult) -> None:
    """The JSON document of a campaign has the facts of its text."""
    document = as_document(tiny)
    assert [each["seed"] for each in document["seeds"]] == list(SEEDS)
    assert document["branches"].keys() >= set(BRANCHES)
    assert (document["verified"], document["differing"], document["interrupted"]) == (0, [], False)


def test_traces_of_a_seed(tmp_path: Path) -> None:
    """A seed can be played with its traces kept, and gives the same result."""
    kept = run_seed(1, days=1, folder=tmp_path)
    assert kept.digest == run_seed(1, days=1).digest
    assert list((tmp_path / "seed-1" / "00001" / "traces").glob("*.jsonl"))


def test_as_many_workers_as_cores() -> None:
    """There is at least one worker."""
    assert jobs_here() >= 1
