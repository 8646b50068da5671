"""Tables that are kept by run (`pflab check --tables`): what is new is judged, and nothing is lost, doubled or mixed."""

from __future__ import annotations

import fcntl
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from analytics.embedded import engine, product
from analytics.errors import AnalyticsError, TablesDamaged
from analytics.published import table_store
from analytics.published.tables import PUBLISHED
from analytics.verdicts.conclusion import conclude
from pflab.cli.judging.engines import EngineName, Request, judged
from tests.support.judged_traces import Judged, assert_same_tables, rows_of

SUITE = ("edit", "lost-mail", "new-post")


@pytest.fixture(scope="module")
def checked(judged: Judged, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with `suite`, a few runs; and `tables` and `document`, from a check of the same runs in `runs`."""
    home = tmp_path_factory.mktemp("checked")
    for name in SUITE:
        shutil.copytree(judged.root / "suite" / name, home / "suite" / name)
    shutil.copytree(home / "suite", home / "runs")
    (home / "document").write_text(json.dumps(check(home / "runs", home / "tables")), "utf-8")
    return home


@pytest.fixture
def runs(checked: Path) -> Path:
    """Return the folder of the runs, as they were checked."""
    shutil.rmtree(checked / "runs")
    shutil.copytree(checked / "suite", checked / "runs")
    return checked / "runs"


@pytest.fixture
def tables(checked: Path, tmp_path: Path) -> Path:
    """Return a folder with the tables of the runs."""
    shutil.copytree(checked / "tables", tmp_path / "tables")
    return tmp_path / "tables"


def check(runs: Path, tables: Path) -> dict[str, object]:
    """Return the document of `pflab check RUNS --tables TABLES`."""
    task = Request("check", [str(runs)], EngineName.EMBEDDED, tables=str(tables))
    with judged(task) as (found, _):
        document: dict[str, object] = json.loads(json.dumps(conclude(found.findings).as_document()))
    return document


def assert_same(tables: Path, others: Path) -> None:
    """Both folders have the same rows."""
    assert_same_tables(f"{tables}/{{name}}/*.parquet", f"{others}/{{name}}/*.parquet")


@contextmanager
def judging_nothing(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setattr(engine, "judged", lambda *_: pytest.fail("a run was judged again"))
        yield


def cut(run: Path) -> None:
    """Remove an event of a run."""
    segment = next(run.rglob("A-*.jsonl"))
    lines = segment.read_bytes().splitlines(keepends=True)
    segment.write_bytes(b"".join(lines[:3] + lines[4:]))


def test_what_has_not_changed_is_not_judged_again(runs: Path, tables: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second check gives the same verdict without judging, even if the files were copied or touched."""
    for file in runs.rglob("*.jsonl"):
        file.touch()
    with judging_nothing(monkeypatch):
        again = check(runs, tables)
    assert again == json.loads((runs.parent / "document").read_text("utf-8"))


@pytest.mark.long
def test_a_run_that_is_new_or_has_changed_is_judged(runs: Path, tables: Path, tmp_path: Path) -> None:
    """The verdict and the tables are those of a check of the runs as they are now, whatever they were before."""
    shutil.copytree(runs / "edit", runs / "more")
    cut(runs / "lost-mail")
    now = check(runs, tables)
    assert now == check(runs, tmp_path / "others")
    assert_same(tables, tmp_path / "others")
    (doubtful,) = rows_of(tables, "runs", "judgement = 'unknown'")
    assert doubtful.place == str(runs / "lost-mail")


@pytest.mark.long
def test_a_check_of_some_runs_says_nothing_of_others(runs: Path, tables: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tables have all runs that were judged; a verdict is about the runs that the user names. Old traces may be deleted:
    their rows stay."""
    shutil.rmtree(runs / "edit")
    with judging_nothing(monkeypatch):
        assert check(runs, tables)["traces"] == len(SUITE) - 1
        assert check(runs / "lost-mail", tables)["traces"] == 1
    assert len(rows_of(tables, "runs")) == len(SUITE)


@pytest.mark.long
def test_many_batches_are_joined(runs: Path, tables: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However often runs are added, few files remain, with the same rows."""
    monkeypatch.setattr(table_store, "MANY", 3)
    for name in ("fourth", "fifth"):
        shutil.copytree(runs / "edit", runs / name)
        check(runs, tables)
    assert len(list((tables / "runs").iterdir())) == 1
    check(runs, tmp_path / "others")
    assert_same(tables, tmp_path / "others")


class Killed(BaseException):
    """Stands for SIGKILL: nothing below handles it."""


@pytest.mark.long
def test_a_check_that_is_killed_leaves_no_rows(
    runs: Path, tables: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A check may be killed before each file that it moves or removes. The next check ends with the same tables."""
    cut(runs / "lost-mail")
    check(runs / "lost-mail", tmp_path / "after")
    with table_store.opened(str(tmp_path / "after"), product.version()) as after:
        batch = after._batches[1]
    steps = 0
    while True:
        folder = tmp_path / f"tables-{steps}"
        shutil.copytree(tables, folder)

        def add(publish: Path = tmp_path / "after", into: Path = folder) -> None:
            with table_store.opened(str(into), product.version()) as opened:
                findings = opened.findings(batch.places, batch.findings)
                if opened.outdated(batch.places):
                    opened.add(batch.places, findings, lambda new: copied(publish, new), batch.places)

        with monkeypatch.context() as patch:
            left = iter(range(steps))
            for name in ("rename", "unlink", "write_bytes"):
                patch.setattr(Path, name, _killed_after(left, getattr(Path, name)))
            try:
                add()
            except Killed:
                is_killed = True
            else:
                is_killed = False
        add()
        assert {row.trace for row in rows_of(folder, "runs", "judgement = 'unknown'")} == {f"{runs}/lost-mail#sim-1"}
        assert len(rows_of(folder, "runs")) == len(SUITE)
        assert len(rows_of(folder, "mails")) == expected_mails(tables, tmp_path / "after", runs)
        steps += 7  # two files of three tables in a row differ in nothing
        if not is_killed:
            break
    assert steps > 40


def copied(tables: Path, folder: str) -> None:
    """Write what is kept in these tables into a folder."""
    for name in PUBLISHED:
        shutil.copy(tables / name / "1.parquet", f"{folder}/{name}.parquet")


def expected_mails(before: Path, after: Path, runs: Path) -> int:
    """Return how many rows the table of mails has if a run was judged again."""
    others = rows_of(before, "mails", f"trace not like '{runs}/lost-mail#%'")
    return len(others) + len(rows_of(after, "mails"))


def _killed_after(left: Iterator[int], act: object) -> object:
    def killed(*args: object, **options: object) -> object:
        if next(left, None) is None:
            raise Killed
        assert callable(act)
        return act(*args, **options)

    return killed


@pytest.mark.long
def test_another_version_judges_all_runs_again_or_refuses(
    runs: Path, tables: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another version of pflab judges all runs again. It refuses if the check names only some of them, or if the segments of
    one are gone, so that no row is lost."""
    before = sorted(rows_of(tables, "runs"), key=repr)
    monkeypatch.setattr(product, "version", lambda: "another")
    with pytest.raises(
        AnalyticsError, match=r"this check does not judge .*/edit again; name all runs .*, or give another"
    ):
        check(runs / "lost-mail", tables)
    shutil.rmtree(runs / "edit" / "traces")
    with pytest.raises(AnalyticsError, match=r"another version .*, and the traces of .*/edit are no longer there"):
        check(runs, tables)
    with pytest.raises(AnalyticsError, match="another version of pflab made these tables"):
        check(runs / "edit", tables)
    assert sorted(rows_of(tables, "runs"), key=repr) == before
    shutil.copytree(runs.parent / "suite" / "edit" / "traces", runs / "edit" / "traces")
    check(runs, tables)
    assert sorted(rows_of(tables, "runs"), key=repr) == before
    with table_store.opened(str(tables), "another") as opened:
        assert [batch.version for batch in opened._batches.values()] == ["another"]


def test_tables_in_the_form_of_another_version_are_refused(runs: Path, tables: Path) -> None:
    """What another version of pflab keeps about a batch may have any form. A check says that the tables are not its own."""
    kept = tables / ".kept" / "1"
    kept.write_bytes(msgspec.msgpack.encode({"version": "another", "places": ["a", "b"]}))
    with pytest.raises(AnalyticsError, match="another version of pflab made these tables; give another folder"):
        check(runs, tables)
    assert len(rows_of(tables, "runs")) == len(SUITE)


@pytest.mark.long
def test_files_that_pflab_did_not_write_stay(runs: Path, tables: Path) -> None:
    """A file in the folder of the tables that no check has written is neither deleted nor replaced, whatever its name."""
    mine = [
        tables / name
        for name in (
            "runs/2024.parquet",
            "runs/2.parquet",
            "runs/x",
            ".kept/.DS_Store",
            ".kept/notes",
            ".new/a",
            ".plans/a",
        )
    ]
    for file in mine:
        file.parent.mkdir(exist_ok=True)
        file.write_text("mine", "ascii")
    for name in ("fourth", "fifth"):
        shutil.copytree(runs / "edit", runs / name)
        check(runs, tables)
    assert [file.read_text("ascii") for file in mine] == ["mine"] * len(mine)
    assert sorted(file.name for file in (tables / "mails").iterdir()) == ["1.parquet", "3.parquet", "4.parquet"]


def test_one_check_at_a_time_uses_a_folder(tmp_path: Path) -> None:
    """While another process uses the tables, a check waits, and then says which folder is in use."""
    (tmp_path / "tables").mkdir()
    with (tmp_path / "tables" / ".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        in_use = pytest.raises(AnalyticsError, match="another pflab check uses the tables in")
        with in_use, table_store.opened(str(tmp_path / "tables"), "1", wait_s=0.0):
            raise AssertionError


def test_what_is_damaged_is_named(runs: Path, tables: Path) -> None:
    """A file of the folder that was overwritten gives one line with its name, and the folder stays as it is."""
    (tables / ".kept" / "1").write_bytes(b"\xc1")
    with pytest.raises(TablesDamaged, match=r"\.kept/1: it is damaged: .* delete the folder"):
        check(runs, tables)
    assert len(rows_of(tables, "runs")) == len(SUITE)


@pytest.mark.long
def test_a_table_that_is_damaged_is_named(runs: Path, tables: Path) -> None:
    """A part of a table that cannot be read, but has to be written again, is an error of one line, which says what to do. When
    it is restored, each run has its rows once."""
    part = tables / "mails" / "1.parquet"
    content = part.read_bytes()
    part.write_bytes(content[:200] + bytes(200) + content[400:])
    cut(runs / "edit")
    with pytest.raises(
        TablesDamaged, match=r"mails/1\.parquet: it is damaged: .*\. Restore it; or, .* delete the folder"
    ):
        check(runs, tables)
    part.write_bytes(content)
    assert check(runs, tables)["traces"] == len(rows_of(tables, "runs")) == len(SUITE)


@pytest.mark.long
def test_a_part_of_a_table_that_is_missing_is_named(runs: Path, tables: Path) -> None:
    """If somebody has deleted a file of the tables, its rows are not dropped from the other tables in silence."""
    (tables / "mails" / "1.parquet").unlink()
    with pytest.raises(TablesDamaged, match=r"mails/1\.parquet: it is missing. Restore it"):
        check(runs / "edit", tables)
    assert len(rows_of(tables, "runs")) == len(SUITE)


@pytest.mark.long
def test_a_folder_that_cannot_be_used_is_an_error_of_one_line(runs: Path, tmp_path: Path) -> None:
    """A file in the place of the folder or of a table is named."""
    (tmp_path / "file").touch()
    with pytest.raises(AnalyticsError, match="file: cannot be used for tables: File exists"):
        check(runs, tmp_path / "file")
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "mails").touch()
    with pytest.raises(AnalyticsError, match="mails: cannot be used for tables: File exists"):
        check(runs, tmp_path / "tables")
