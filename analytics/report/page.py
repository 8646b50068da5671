"""The report: one HTML file that opens without a network and without scripts. The verdict, a map and a timeline come first."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup, escape

from analytics import drawing
from analytics.drawing import lab_time, organization_map, spacetime, timeline
from analytics.drawing.mail_types import KINDS
from analytics.drawing.svg import cleaned, natural
from analytics.report.contents import Contents, contents
from analytics.report.runs import Run, line_of, organization
from analytics.rows import Answers, Findings
from analytics.rules.catalogue import SUBJECTS
from analytics.verdicts.judgements import BROKEN, CONVERGED, NOT_CONVERGED, UNKNOWN
from analytics.verdicts.result import CheckResult, FolderVerdict, RuleResult, counted, short
from traces.trace_version import TRACE_VERSION

CARDS: Final = 24
"""How many findings of a single run are described; the page gives the number of the others. Of several runs, a third each."""

FOLDERS: Final = 60
"""How many lines about folders the page has."""

LONGEST: Final = 600
"""How many characters of a witness are shown."""

COLOURS: Final = {CONVERGED: "good", NOT_CONVERGED: "bad", BROKEN: "bad", UNKNOWN: "doubt"}
SIGNS: Final = {"good": "✓", "bad": "✕", "doubt": "?"}

_HERE: Final = Path(__file__).parent


def write_report(answers: Answers, findings: Findings, result: CheckResult, engine: str, file: Path) -> None:
    """Write the report. Its size is limited, however many runs there are.

    engine: the name and version of what answers.
    """
    file.write_text(page(contents(answers, findings, result, engine), datetime.now(UTC)), encoding="utf-8")


def page(what: Contents, written_at: datetime) -> str:
    """Return the report as HTML.

    written_at: the date that it shows.
    """
    single = what.matrix is None
    start_at = what.runs[0].start_at if single and what.runs else None
    environment = Environment(
        loader=FileSystemLoader(_HERE), autoescape=True, trim_blocks=True, lstrip_blocks=True, finalize=_shown
    )
    environment.filters.update(
        {
            "colour": COLOURS.__getitem__,
            "count": lambda number: f"{number:,}",
            "counted": counted,
            "duration": lab_time.duration,
            "join": lambda parts, between: between.join(map(cleaned, parts)),
            "sign": lambda judgement: SIGNS[COLOURS[judgement]],
            "timed": lambda words: timed(words, start_at),
        }
    )
    checks = {rule.check: rule for rule in what.result.rules}
    sections = [
        _section(what, nth, run, CARDS if single else CARDS // len(what.runs)) for nth, run in enumerate(what.runs)
    ]
    return environment.get_template("report.html.j2").render(
        what=what,
        result=what.result,
        single=single,
        style=Markup("\n".join((path).read_text("utf-8") for path in _styles())),
        name=short(what.runs[0].trace) if single and what.runs else counted(what.result.traces, "run"),
        organization=str(what.runs[0].topology.get("organization", "")) if what.runs else "",
        judged=_judged_runs(what.result),
        sections=sections,
        folders=_folder_lines(what.result.told)[:FOLDERS],
        more_folders=_left_out(what.result),
        subjects=[(name, _rows(members, checks, single)) for name, members in SUBJECTS.items()],
        idle=sum(not rule.consumed for rule in what.result.rules),
        violated=sum(bool(rule.violations) for rule in what.result.rules),
        held=sum(bool(rule.consumed) and not rule.violations for rule in what.result.rules),
        kinds=KINDS,
        written_at=f"{written_at:%-d %B %Y, %H:%M} UTC",
        versions=_versions(what),
    )


def timed(words: str, start_at: int | None) -> Markup:
    """Return a text as markup, with its instants as lab time: `day 2 00:15` in a run that started at `start_at`, otherwise the
    date to the minute. The exact instant is in the tooltip."""
    parts, position = [], 0
    for begin, end, instant in lab_time.instants(words):
        moment = datetime.fromisoformat(instant)
        at = int((moment - datetime.fromtimestamp(0, UTC)).total_seconds() * 1_000_000)
        text = f"{moment:%Y-%m-%d %H:%M}" if start_at is None else lab_time.day_time(at, start_at)
        tag = Markup('<time datetime="{0}" title="{0}">{1}</time>').format(instant, text)
        parts += [escape(_shown(words[position:begin])), tag]
        position = end
    return Markup("").join([*parts, escape(_shown(words[position:]))])


def _shown(value: Any) -> Any:
    """Return a value of the template; a text is made harmless first, because it may come from a trace."""
    return cleaned(value, LONGEST) if isinstance(value, str) and not isinstance(value, Markup) else value


def _styles() -> tuple[Path, Path]:
    return Path(drawing.__file__).with_name("pictures.css"), _HERE / "report.css"


def _versions(what: Contents) -> list[tuple[str, str]]:
    """Return what the report was made with, and the runs from."""
    formats = sorted({cleaned(run.format, 12) for run in what.runs if run.format}, key=natural)
    return [
        ("pflab", importlib.metadata.version("pflab")),
        ("judged by", what.engine),
        ("trace format", f"{', '.join(formats) or 'unknown'} (read as {TRACE_VERSION})"),
    ]


def _judged_runs(result: CheckResult) -> list[tuple[str, int]]:
    """Return the number of runs of each judgement, the worst first."""
    order = (NOT_CONVERGED, BROKEN, UNKNOWN, CONVERGED)
    numbers = {judgement: sum(run.judgement == judgement for run in result.runs) for judgement in order}
    if result.runs:  # The list of runs is limited; it has the worst ones.
        numbers[result.runs[-1].judgement] += max(result.traces - len(result.runs), 0)
    return [(judgement, number) for judgement, number in numbers.items() if number]


@dataclass(frozen=True, slots=True)
class Card:
    """A finding on the page.

    lines: its witnesses.
    more: how many more there are like the first one.
    mails: the mails of its picture in words.
    """

    anchor: str
    title: str
    rules: tuple[str, ...]
    says: str
    when: str
    lines: tuple[str, ...]
    more: int
    picture: Markup
    mails: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """A run on the page.

    facts: its figures, with their names.
    """

    name: str
    judgement: str
    start_at: int
    started: str
    facts: tuple[tuple[str, str], ...]
    map: Markup
    timeline: Markup
    cards: tuple[Card, ...]
    more_cards: int


def _section(what: Contents, nth: int, run: Run, most: int) -> Section:
    name = short(run.trace)
    verdict = next(
        (run_verdict.judgement for run_verdict in what.result.runs if run_verdict.trace == name), what.result.judgement
    )
    witnesses = {(folder.trace, folder.folder): folder.witnesses for folder in what.result.told}
    says = {check.id: check for members in SUBJECTS.values() for check in members}
    cards = []
    for index, finding in enumerate(run.findings[:most]):
        check = says.get(finding.title) if not finding.folder else None
        diagram = what.diagrams.get((nth, index))
        lines = witnesses.get((name, finding.folder), ()) or (what.texts[nth][index],)
        cards.append(
            Card(
                anchor=f"found-{nth + 1}-{index + 1}",
                title=f"{finding.title} has not converged" if finding.folder else finding.title,
                rules=check.rules if check else (),
                says=check.says if check else "",
                when="" if finding.at is None else lab_time.day_time(finding.at, run.start_at),
                lines=lines,
                more=0 if finding.folder else finding.times - 1,
                picture=Markup(spacetime.draw(diagram) if diagram else ""),
                mails=tuple(spacetime.described(mail, run.start_at) for mail in diagram.mails) if diagram else (),
            )
        )
    copies = sum(sum(slot.copies.values()) for slot in run.slots)
    lost = sum(slot.lost for slot in run.slots)
    facts = (
        ("lab time", lab_time.duration(run.end_at - run.start_at)),
        ("servers", f"{len(run.servers)}"),
        ("copies of mails", f"{copies:,}"),
        ("of them lost", f"{lost:,}"),
        ("faults", f"{len(run.faults):,}"),
        ("seed", run.seed or "unknown"),
    )
    anchors = {index: card.anchor for index, card in enumerate(cards)}
    return Section(
        name, verdict, run.start_at, lab_time.instant(run.start_at), facts, Markup(organization_map.draw(organization(run))),
        Markup(timeline.draw(line_of(run, anchors))), tuple(cards), len(run.findings) - len(cards),
    )  # fmt: skip


def _folder_lines(verdicts: Iterable[FolderVerdict]) -> list[tuple[str, str, list[str], list[str], FolderVerdict]]:
    """Return run, judgement, paths, holders and one of the verdicts for folders of a run with the same judgement and witnesses,
    so that one line says it once. The holders are empty if these folders have different ones."""
    alike: dict[tuple[str, str, Sequence[str]], list[FolderVerdict]] = {}
    for verdict in verdicts:
        alike.setdefault((verdict.trace, verdict.judgement, verdict.witnesses), []).append(verdict)
    lines: list[tuple[str, str, list[str], list[str], FolderVerdict]] = []
    for (run, judged, _), same in alike.items():
        holders = {tuple(sorted(verdict.holders, key=natural)) for verdict in same}
        paths = sorted((verdict.path for verdict in same), key=natural)
        lines.append((run, judged, paths, list(next(iter(holders))) if len(holders) == 1 else [], same[0]))
    return lines


def _left_out(result: CheckResult) -> int:
    """Return how many folders have no line."""
    listed = sum(len(paths) for _, _, paths, *_ in _folder_lines(result.told)[:FOLDERS])
    return sum(result.folders.values()) - listed


def _rows(members: Iterable[Any], results: Mapping[str, RuleResult], single: bool) -> list[tuple[Any, RuleResult, str]]:
    """Return each check of a subject with its result and first witness. For a single run the witness does not name the run."""
    rows = []
    for check in members:
        result = results.get(check.id, RuleResult(check.id, check.rules, 0, 0))
        witness = result.witness.partition(": ")[2] if single else result.witness
        rows.append((check, result, witness))
    return rows
