"""Places of traces: which segments a path, a folder, a link or a pattern names."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from analytics.embedded.engine import judge
from analytics.errors import AnalyticsError
from analytics.ingest.places import named, segments
from analytics.published.table_store import opened


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of runs, and go there."""
    names = ("a1", "a2", "b1", "more/c1", "more/d1", ".hidden/e1", "_left/f1", "more/_g1")
    for file in (tmp_path / "runs" / name / "traces" / "A-1-1.jsonl" for name in names):
        file.parent.mkdir(parents=True)
        file.touch()
    monkeypatch.chdir(tmp_path / "runs")
    return tmp_path / "runs"


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*", ["a1", "a2", "b1", "more/c1", "more/d1"]),
        ("../runs/*", ["a1", "a2", "b1", "more/c1", "more/d1"]),
        ("a?", ["a1", "a2"]),
        ("[ab]1", ["a1", "b1"]),
        ("[!a]1", ["b1"]),
        ("[^a]1", ["b1"]),
        ("*/traces/*.jsonl", ["a1", "a2", "b1"]),
        ("**/*.jsonl", ["a1", "a2", "b1", "more/c1", "more/d1"]),
        ("**/c1", ["more/c1"]),
        ("_left/*", ["_left/f1"]),
        ("_l*", ["_left/f1"]),
        ("more/_g1", ["more/_g1"]),
        (".hidden", [".hidden/e1"]),
        (".", ["a1", "a2", "b1", "more/c1", "more/d1"]),
    ],
)
def test_a_pattern_names_the_runs_that_have_such_names(runs: Path, pattern: str, expected: list[str]) -> None:
    """A pattern may be relative, and leaves hidden folders out that it does not name. Each segment has its full path."""
    files = [str(runs / name / "traces" / "A-1-1.jsonl") for name in expected]
    assert segments(named([pattern])) == files
    assert segments(named([f"{runs}/{pattern}"])) == files


def test_places_that_overlap_are_read_once(runs: Path) -> None:
    """A run that is named in several ways, also through a link, is one run, and all its segments are in one place."""
    (runs / "link").symlink_to(runs / "a1")
    (runs.parent / "others").symlink_to(runs)
    (runs.parent / "a segment.jsonl").symlink_to(runs / "a1" / "traces" / "A-1-1.jsonl")
    (runs / "a1" / "traces" / "A-1-2.jsonl").touch()
    ways = ["a*", "link", str(runs), f"file://{runs}/a1", "a1/traces", "a1/traces/A-1-1.jsonl", "../others/a*", ".."]
    files = [str(runs / name) for name in ("a1/traces/A-1-1.jsonl", "a1/traces/A-1-2.jsonl", "a2/traces/A-1-1.jsonl")]
    assert [file for file in segments(named(ways)) if "/a" in file.removeprefix(str(runs))] == files
    beside = [str(runs.parent), str(runs / "a1" / "traces" / "A-1-1.jsonl")]
    assert set(files) <= set(segments(beside))
    assert not any("others" in file or "a segment" in file or "link" in file for file in segments(beside))


@pytest.mark.parametrize("given", ["nowhere", "x" * 5000, "a\0b", "nowhere/*", "[", "hdfs", "file:///nowhere"])
def test_what_names_nothing_is_an_error(runs: Path, given: str) -> None:
    """A path or a pattern that names no file or folder is an error of one line."""
    with pytest.raises(AnalyticsError, match=r"no such file or folder|no file or folder has such a name"):
        named([str(runs), given])


def test_a_name_that_is_not_utf_8_is_an_error_of_one_line(runs: Path) -> None:
    """A verdict names each run in UTF-8. A folder with another name is named with escapes."""
    (runs / "a1").rename(os.fsdecode(os.fsencode(runs) + b"/a\xff"))
    with pytest.raises(AnalyticsError, match=r"/a\\xff/traces/A-1-1.jsonl: this name is not UTF-8"):
        segments(named([str(runs)]))
    with (
        pytest.raises(AnalyticsError, match=r"/t\\xff: this name is not UTF-8, so DuckDB cannot write"),
        opened(os.fsdecode(os.fsencode(runs) + b"/t\xff"), "1"),
    ):
        raise AssertionError


def test_the_link_to_the_latest_run_is_not_read_twice(tmp_path: Path) -> None:
    """`latest` names a run that is in the folder too. Hidden files are left out, as Spark does."""
    run = tmp_path / "one" / "traces"
    run.mkdir(parents=True)
    (tmp_path / "latest").symlink_to("one")
    for name in ("A-1-1.jsonl", "_A-1-1.jsonl", ".A-1-1.jsonl", "A-1-1.jsonl.part"):
        (run / name).touch()
    assert segments([str(tmp_path), str(run)]) == [str(run / "A-1-1.jsonl")]
    assert segments(named([f"{tmp_path}/*", str(tmp_path / "latest")])) == [str(run / "A-1-1.jsonl")]


def test_a_name_that_exists_is_no_pattern(tmp_path: Path) -> None:
    """A folder may have signs of patterns in its name, and is read whether it is named or found."""
    path = tmp_path / "run[1]*" / "traces" / "A-1-1.jsonl"
    path.parent.mkdir(parents=True)
    path.touch()
    for place in (str(tmp_path), str(tmp_path / "run[1]*"), str(path), f"{tmp_path}/run?1?*"):
        assert segments(named([place])) == [str(path)]


def test_links_are_followed_once(tmp_path: Path) -> None:
    """A linked run is judged, a loop ends, and what a link shows a second time is not judged again. A real folder may be named
    `latest`."""
    for name in ("runs/a", "runs/latest", "elsewhere/b"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "A-1-1.jsonl").touch()
    for link, target in (("runs/0", "a"), ("runs/a/loop", ".."), ("runs/link", "../elsewhere/b")):
        (tmp_path / link).symlink_to(target)
    found = segments([str(tmp_path / "runs")])
    assert found == [str(tmp_path / "runs" / name / "A-1-1.jsonl") for name in ("a", "latest", "link")]


def test_what_cannot_be_read_is_no_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that may not be listed, and a pipe, are errors: without them the others could have another verdict."""
    os.mkfifo(tmp_path / "A-1-1.jsonl")
    with pytest.raises(AnalyticsError, match="no regular file"):
        judge([str(tmp_path)])

    def refuse(path: str) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", path)

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(AnalyticsError, match="Permission denied"):
        segments([str(tmp_path)])


def test_a_segment_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """A segment that the system does not open gives one line with its name."""
    (tmp_path / "A-1-1.jsonl").symlink_to("nowhere")
    with pytest.raises(AnalyticsError, match=r"A-1-1\.jsonl: cannot be read"):
        judge([str(tmp_path)])
