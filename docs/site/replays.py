"""The replays that pages of the site show in frames: lessons, played in the simulator when the site is built.

A page has the place of a replay between two comments, `<!-- replay: NAME -->` and `<!-- end -->`. What stands between them is
for readers who see no frame: on a page of the repository, and without JavaScript. `<!-- lab -->` is the place of a link to the
lab in a browser tab, and `<!-- lab: LESSON -->` to a lesson there; a site without this lab has nothing in these places.
"""

from __future__ import annotations

import asyncio
import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from html import escape
from typing import Final

from pflab.lessons.course import lessons_of_pflab
from pflab.lessons.handout import handout

FOLDER: Final = "replays"
"""The folder of the files, below that of the site."""

LAB: Final = "lab"
"""The folder of the lab in a browser tab."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A replay in a page.

    lesson: the name of the lesson; replays of one lesson share a file.
    opens: the moment at which it opens, as it stands in the address after "#".
    says: what one sees there, for those who do not see the frame.
    """

    lesson: str
    opens: str
    says: str


REPLAYS: Final = {
    "lost": Shown("lost-mail", "step=2&play=1", "A post on server A, and a mail that will be lost on its way to B"),
    "broadcast": Shown("new-post", "step=2", "A post on A, which the next mail takes to B and C"),
    "backfill": Shown("lost-mail", "step=5", "A gap that B does not know: a status reveals it, and backfill fills it"),
    "conflict": Shown("conflict", "step=1", "Two versions of one post, which meet by mail"),
    "deletion": Shown("delete-against-edit", "step=1", "A post that is deleted on A and edited on B"),
}
"""Each replay that a page can show, by its name in the page."""

_PROMISE: Final = "Nothing is installed, and nothing leaves your machine."

_PLACE: Final = re.compile(r"^<!-- replay: (\S+) -->\n(.*?)^<!-- end -->$", re.MULTILINE | re.DOTALL)
_LINK: Final = re.compile(r"^<!-- lab(?:: (\S+))? -->\n", re.MULTILINE)


@cache
def file_of(lesson: str) -> str:
    return asyncio.run(handout(lesson, lessons_of_pflab()[lesson]))


def files_of_replays() -> Iterator[tuple[str, str]]:
    """Yield the path of each file below the site, and its content. Raises LabError if a lesson fails."""
    for lesson in sorted({shown.lesson for shown in REPLAYS.values()}):
        yield f"{FOLDER}/{lesson}.html", file_of(lesson)


def with_frames(markdown: str, page: str, *, lab: bool) -> str:
    """Put a frame into each place of a replay, and a link into each place of a link to the lab.

    page: the path of the page below the site.
    lab: whether the site has the lab in a browser tab.

    Raises KeyError if there is no such replay or lesson.
    """
    top = posixpath.relpath(".", posixpath.dirname(page) or ".")

    def frame(match: re.Match[str]) -> str:
        name, otherwise = match.groups()
        shown = REPLAYS[name]
        address = escape(f"{top}/{FOLDER}/{shown.lesson}.html#{shown.opens}")
        links = [f'<a href="{address}">Open it in a page of its own</a>']
        if lab:
            links.append(f'<a href="{top}/{LAB}/?lesson={shown.lesson}">Play this lesson in a lab</a>')
        return (
            f'<figure class="replay" markdown="1">\n'
            f'<iframe src="{address}" title="{escape(shown.says)}" loading="lazy"></iframe>\n'
            f'<noscript markdown="1">\nThe replay needs JavaScript.\n\n{otherwise}\n</noscript>\n'
            f"<figcaption>{escape(shown.says)}: press <i>Play</i> or <i>Next</i>. {' · '.join(links)}</figcaption>\n</figure>"
        )

    def link(match: re.Match[str]) -> str:
        lesson = match[1]
        if lesson is None:
            button = f'<a class="md-button md-button--primary" href="{top}/{LAB}/">Open a lab in this browser</a>'
            return f"<p>{button}</p>\n\n{_PROMISE}\n"
        title = escape(lessons_of_pflab()[lesson].title)
        return f'Try it: <a href="{top}/{LAB}/?lesson={lesson}">play <i>{title}</i> in this browser</a>. {_PROMISE}\n'

    return _LINK.sub(link if lab else "", _PLACE.sub(frame, markdown))
