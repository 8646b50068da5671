"""The verb `replay`: a run or a lesson as a file that plays in a browser."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from pflab.cli.doctor.extras import how_to_install
from pflab.cli.inputs.files import shown_path
from pflab.cli.output import CommandError, print_lines
from pflab.cli.run_or_lab import chosen_reader
from pflab.cli.running_lab import Lab, LabReader
from pflab.cli.verbs.demo import known_lesson
from pflab.cli.verbs.scenario import load_all
from pflab.client.requests import quoted
from pflab.errors import LabError
from pflab.lessons.course import lessons_of_pflab
from pflab.lessons.handout import handout
from pflab.replay.clip import PillowMissing, clip, picture
from pflab.replay.contents import contents_of, kept_mails
from pflab.replay.replay_file import Replay, picture_beside, replay_file
from pflab.runs.events import RunEvents
from pflab.terms.verdict import ExitCode
from traces.errors import TimeTextError
from traces.labtime import LabTime, parse_instant


def replay(
    run: Annotated[
        Path | None,
        Argument(
            metavar="RUN",
            help="A run folder. Default: the lab that runs in this folder; if there is none, runs/latest.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        Option("--output", "-o", metavar="FILE", help="The file to write. Default: run.html, or run.webp with --clip."),
    ] = None,
    lesson: Annotated[
        str | None,
        Option(
            metavar="NUMBER|NAME",
            help="Play this lesson in the simulator and write it with its texts and questions: its number or name in"
            " pflab demo --lessons, or a scenario file.",
        ),
    ] = None,
    notes: Annotated[bool, Option("--notes", help="Write the presenter's notes of the lesson too.")] = False,
    address: Annotated[
        str,
        Option(
            metavar="URL",
            help="Where the file will be on the web, for previews of links to it. A picture for them is written beside"
            " the file; this needs Chromium.",
        ),
    ] = "",
    as_clip: Annotated[
        bool,
        Option("--clip", help="Write an animated WebP of the map instead; this needs Chromium and Pillow."),
    ] = False,
    begin: Annotated[
        str | None, Option("--from", metavar="INSTANT", help="With --clip: the lab time at which it begins.")
    ] = None,
    end: Annotated[
        str | None, Option("--to", metavar="INSTANT", help="With --clip: the lab time at which it ends.")
    ] = None,
    lab: Lab = None,
) -> int:
    """Write a run, or a lesson, as one HTML file that shows it in a browser, moment by moment, without a server.

    The file has the map, the replicas, the folders, all mails and the space-time diagram of the console, a slider over all
    events, and posts and mails with their content. It needs no network, and another page can show it in a frame. Any run
    can be written: live, simulated, or the shrunk failure of a campaign. Mails are in the file if the run kept them.
    With --clip, the map alone is played as a picture for chats and pages.

    Example: pflab replay runs/latest -o lost-mail.html
    """
    if (begin, end) != (None, None) and not as_clip:
        raise CommandError("--from and --to are the span of a clip; add --clip")
    span = _instant("--from", begin), _instant("--to", end)
    if lesson is None:
        page = _page_of_run(run, lab, notes=notes, address=address)
    elif run is not None or lab is not None:
        raise CommandError("--lesson plays a lesson, which has a run of its own; leave out the run and --lab")
    else:
        page = _page_of_lesson(lesson, notes=notes, address=address)
    if as_clip:
        _write(output or Path("run.webp"), _clip(page, *span))
        return ExitCode.GOOD
    file = output or Path("run.html")
    if address:
        _write(Path(picture_beside(str(file))), picture(page))
    _write(file, page.encode(), "; open it in a browser")
    return ExitCode.GOOD


def _write(file: Path, content: bytes, hint: str = "") -> None:
    try:
        file.write_bytes(content)
    except OSError as error:
        raise CommandError(f"{file}: {(error.strerror or str(error)).lower()}") from error
    print_lines([f"wrote {shown_path(file.absolute())}{hint}"])


def _instant(option: str, text: str | None) -> LabTime | None:
    try:
        return None if text is None else parse_instant(text)
    except TimeTextError as error:
        raise CommandError(f"{option} {text}: {error}") from None


def _clip(page: str, from_at: LabTime | None, to_at: LabTime | None) -> bytes:
    try:
        return clip(page, from_at, to_at)
    except PillowMissing as error:
        raise CommandError(f"{error}; {how_to_install('clip')}") from None


def _page_of_lesson(name: str, *, notes: bool, address: str) -> str:
    """Play a lesson to its end, and return the file that replays it. Raises CommandError if there is no such lesson."""
    known = known_lesson(name)
    course = lessons_of_pflab()
    lesson = course[known] if known in course else load_all([known])[0]
    return asyncio.run(handout(Path(known).stem, lesson, notes=notes, address=address))


def _page_of_run(run: Path | None, lab: str | None, *, notes: bool, address: str) -> str:
    with chosen_reader(run, lab) as reader:
        if isinstance(reader, LabReader):
            target = f"/lab/replay?notes={str(notes).lower()}&address={quoted(address)}"
            return reader.client.text("GET", target)
        events = RunEvents.at(reader.path)
    if events.topology is None:
        raise LabError(
            f"{events.path}: its topology cannot be read, so nothing can be drawn; {'; '.join(events.problems[:1])}"
        )
    contents = contents_of(events.path, kept_mails(events.path / "mails"), events.names.stores())
    title = f"{events.path.name}: a run of pflab"
    return replay_file(
        Replay(title=title, topology=events.topology, events=events.events, contents=contents, address=address)
    )
