"""Mistakes in a file: where each is, what is wrong, and what would be right."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

PathItem = str | int

# An error message with more names than this does not help.
_MOST_NAMES_LISTED = 12
_MOST_TEXT_QUOTED = 60
# For a longer word, the search for similar names is slow and finds nothing.
_LONGEST_MISSPELLED = 100

# A malicious file can have a mistake in every word.
MOST_PROBLEMS = 200


@dataclass(frozen=True, slots=True)
class Position:
    """Line and column in a file, both from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake. As text it is one line, such as

        file.yaml:12:5: servers.C.version: "2001" is not a version; one of "5.5", "2000", "2003", "2007"

    file: as the caller named it.
    path: the place in the document, such as `connectors[0].cost`; '' means the whole document.
    line and column: from 1.
    """

    file: str
    path: str
    line: int
    column: int
    what: str
    would_be_right: str = ""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}: "
        subject = f"{self.path}: " if self.path else ""
        remedy = f"; {self.would_be_right}" if self.would_be_right else ""
        return place + subject + self.what + remedy


class TopologyBaseError(Exception):
    """The base class of all errors of this package."""


class ProblemsError(TopologyBaseError):
    """A file has mistakes. `problems` has all of them, at most MOST_PROBLEMS, in the order of the file.

    The text of the error has one line for each problem.
    """

    def __init__(self, problems: Iterable[Problem]) -> None:
        in_order = sorted(problems, key=lambda problem: (problem.line, problem.column))
        self.problems = tuple(in_order[:MOST_PROBLEMS])
        super().__init__("\n".join(self.lines))

    @property
    def lines(self) -> list[str]:
        """One line for each problem."""
        return [str(problem) for problem in self.problems]


class TopologyError(ProblemsError):
    """A topology file has mistakes."""


class ValueTextError(TopologyBaseError, ValueError):
    """A single value is wrong. The error says what is wrong and what would be right."""

    def __init__(self, what: str, would_be_right: str = "") -> None:
        self.what = what
        self.would_be_right = would_be_right
        super().__init__(f"{what}; {would_be_right}" if would_be_right else what)


def path_text(path: Sequence[PathItem]) -> str:
    """Return the path `("connectors", 0, "cost")` as `connectors[0].cost`."""
    text = ""
    for item in path:
        if isinstance(item, int):
            text += f"[{item}]"
        else:
            text += f".{item}" if text else item
    return _on_one_line(text)


def quoted(value: object) -> str:
    """Return a value for an error message: in double quotes, on one line, cut if it is long."""
    text = "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
    if len(text) > _MOST_TEXT_QUOTED:
        text = text[:_MOST_TEXT_QUOTED] + "..."
    return f'"{_on_one_line(text)}"'


def _on_one_line(text: str) -> str:
    return "".join(char if char.isprintable() else "?" for char in text)


def counted(number: int, singular: str, plural: str = "") -> str:
    """Return `1 step` or `2 steps`; pass `plural` if it is irregular."""
    return f"{number} {singular if number == 1 else plural or singular + 's'}"


def one_of(names: Iterable[str]) -> str:
    """Return `one of "a", "b"`, shortened if there are many names."""
    quoted_names = [quoted(name) for name in names]
    if not quoted_names:
        return "there is none"
    more = len(quoted_names) - _MOST_NAMES_LISTED
    ending = f" and {more} more" if more > 0 else ""
    return "one of " + ", ".join(quoted_names[:_MOST_NAMES_LISTED]) + ending


def did_you_mean(name: str, candidates: Iterable[str]) -> str:
    """Return a suggestion: the known name most similar to `name`, or else all known names."""
    by_folded = {candidate.casefold(): candidate for candidate in candidates}
    if len(name) > _LONGEST_MISSPELLED:
        return one_of(by_folded.values())
    from difflib import get_close_matches  # noqa: PLC0415 - needed only after a mistake

    near = get_close_matches(name.casefold(), list(by_folded), n=1, cutoff=0.6)
    if near:
        return f"did you mean {quoted(by_folded[near[0]])}?"
    return one_of(by_folded.values())
