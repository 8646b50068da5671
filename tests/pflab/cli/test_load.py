"""pflab load: seeded work on a running lab at a fixed rate."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import pytest

from pflab.cli.app import run
from pflab.cli.verbs import load
from pflab.client import Client
from pflab.client.changes import BatchMade
from pflab.errors import LabError
from pflab.terms.verdict import ExitCode
from pflab.workload.load import Act, LoadPlan, LoadResult, Target, draw_requests, mix_of, run_load
from tests.support.running_lab import lab_up

A = Target("A", "Projects")
B = Target("B", "Projects")
PLAN = LoadPlan([A, B], mix_of("post=6,edit=3,delete=1"), seed=7, count=300, size=10)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with lab_up(tmp_path_factory.mktemp("lab")) as url:
        yield url


def test_a_seed_fixes_the_load() -> None:
    """A seed always draws the same acts in the same order, another seed others; both follow the mix."""
    asked = list(draw_requests(PLAN))
    assert list(draw_requests(PLAN)) == asked != list(draw_requests(replace(PLAN, seed=8)))
    acts = Counter(each.act for each in asked)
    assert sum(each.size for each in asked) == 300
    assert acts[Act.POST] > acts[Act.EDIT] > acts[Act.DELETE] > 0
    assert {each.target for each in asked} == {A, B}


def test_posts_come_in_batches_up_to_the_count() -> None:
    """A request has as many posts as a batch; the last one has the rest."""
    plan = replace(PLAN, mix=mix_of("post"), batch=40, count=100)
    assert [each.size for each in draw_requests(plan)] == [40, 40, 20]
    assert len({subject for each in draw_requests(plan) for subject, _ in each.posts}) == 100


@pytest.mark.parametrize(
    "text", ["", "posts", "edit,delete", "post=0", "post=x", "post=-1", "post=99999999", "post,,edit"]
)
def test_an_invalid_mix_is_refused(text: str) -> None:
    """A mix without posts or with an unknown act or weight is refused in one line."""
    with pytest.raises(LabError):
        mix_of(text)


def test_percentiles_are_measured_latencies() -> None:
    """p50 and p99 are measured latencies; of two hundred, p99 is the second largest."""
    done = LoadResult(latencies_s=[n / 1000 for n in range(1, 201)])
    assert (done.percentile_ms(50), done.percentile_ms(99)) == (100.0, 198.0)
    assert LoadResult().percentile_ms(50) is None


class WallClock:
    """A clock that moves only when it is read or slept on."""

    def __init__(self, each_s: float = 0.0) -> None:
        self.now_s = 1000.0
        self.slept_s = 0.0
        self.each_s = each_s

    def monotonic(self) -> float:
        self.now_s += self.each_s
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.slept_s += seconds
        self.now_s += seconds


@pytest.mark.live
def test_the_rate_is_kept(lab: str) -> None:
    """Twenty acts at four a second take four and three quarter seconds from the first to the last; three seconds allow twelve
    acts."""
    clock = WallClock()
    plan = LoadPlan([A], mix_of("post"), rate=4.0, count=20, size=1)
    with Client(lab) as client:
        done = run_load(client, plan, monotonic=clock.monotonic, sleep=clock.sleep)
        assert (sum(done.acknowledged.values()), clock.slept_s, done.behind_s) == (20, 4.75, 0.0)
        done = run_load(client, replace(plan, count=None, seconds=3.0), monotonic=clock.monotonic, sleep=clock.sleep)
        assert done.asked == 12
        slow = WallClock(each_s=1.0)
        assert run_load(client, plan, monotonic=slow.monotonic, sleep=slow.sleep).behind_s > 60


@pytest.mark.live
def test_a_load_waits_while_the_clock_is_paused(lab: str) -> None:
    """With --while-running a load does nothing while the lab's clock is paused, and is not late afterwards."""
    clock = WallClock()
    plan = LoadPlan([A], mix_of("post"), rate=4.0, count=4, size=1, while_running=True)
    with Client(lab) as client:
        before = len(client.messages("A", "Projects"))

        def sleep(seconds: float) -> None:
            clock.sleep(seconds)
            if clock.slept_s > 5:
                client.set_rate(1.0)
            else:
                assert len(client.messages("A", "Projects")) == before

        try:
            done = run_load(client, plan, monotonic=clock.monotonic, sleep=sleep)
        finally:
            client.pause()
    assert (sum(done.acknowledged.values()), done.behind_s) == (4, 0.0)


def test_a_load_ends_when_the_lab_begins_another_run() -> None:
    """A load belongs to one run: in another, where folders may differ, it does nothing."""
    runs = iter(["r-1", "r-1", "r-2"])
    posts: list[str] = []

    class Renewed(Client):
        """A lab that begins another run after the first post."""

        def lab(self) -> dict[str, Any]:
            return {"run": next(runs), "clock": {"rate": 60.0, "warping": False}}

        def post_batch(
            self, node: str, folder: str, messages: Sequence[Mapping[str, Any]], *, key: str | None = None
        ) -> BatchMade:
            posts.append(folder)
            return {"ids": ["A-1"], "numbers": ["A-1"], "changes": ["a:1"]}

    with Renewed("http://127.0.0.1:9") as client:
        done = run_load(client, LoadPlan([A], mix_of("post"), count=5, while_running=True))
    assert (done.asked, posts) == (1, ["Projects"])


@pytest.mark.live
def test_what_is_acknowledged_is_there(lab: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The summary agrees with the folder: it has as many messages as posts less deletions, and newer versions of the edited
    ones."""
    with Client(lab) as client:
        before = len(client.messages("B", "News"))
        order = ["load", "--lab", lab, "News", "--mix", "post=5,edit=3,delete=2", "--count", "60", "--json"]
        assert run(order) == ExitCode.GOOD
        done = json.loads(capsys.readouterr().out)
        assert (done["asked"], done["acknowledged"], done["refused"], done["unanswered"]) == (60, 60, 0, 0)
        assert 0 < done["p50_ms"] <= done["p99_ms"]
        there = client.messages("B", "News")
        assert len(there) - before == done["acts"]["post"] - done["acts"]["delete"]
        assert any(each["change"] != each["id"] for each in there)


@pytest.mark.live
def test_what_is_refused_is_counted(lab: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A stopped server refuses its requests; the others go on, and the exit code shows the refusals."""
    with Client(lab) as client:
        plan = LoadPlan([A, Target("A", "Nowhere")], mix_of("post"), count=40, size=1)
        done = run_load(client, plan)
        assert done.refused["FolderUnknown"] + sum(done.acknowledged.values()) == 40
        assert done.refused["FolderUnknown"] == sum(each.target.folder == "Nowhere" for each in draw_requests(plan))
        client.stop("B")
        assert run(["load", "--lab", lab, "--node", "B", "--count", "1"]) == ExitCode.UNKNOWN
        client.start("B")
    assert "in this lab, or its server does not run" in capsys.readouterr().err


@pytest.mark.live
def test_people_get_a_summary(lab: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The example of the help works, and prints a summary in words at the end."""
    example = str(load.load.__doc__).partition("Example: pflab ")[2]
    assert run([*shlex.split(example), "--rate", "0", "--lab", lab]) == ExitCode.GOOD
    out = capsys.readouterr().out
    assert "200 of 200 acknowledged" in out and "ms (p99)" in out


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["--mix", "post=x"], "is not an action with a weight"),
        (["--for", "x"], "--for"),
        (["--for", "1 s", "--count", "1"], "give only one"),
    ],
)
def test_misuse_is_one_line(args: list[str], expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    """An impossible load is refused in one line before any request."""
    assert run(["load", *args]) == ExitCode.UNKNOWN
    (line,) = capsys.readouterr().err.splitlines()
    assert expected in line


def test_requests_do_not_end_without_a_count() -> None:
    """With a time instead of a count, requests go on until the time is over."""
    assert len(list(islice(draw_requests(replace(PLAN, count=None, seconds=1.0)), 1000))) == 1000
