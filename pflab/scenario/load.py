"""Read and check a scenario file, so that a lab can play it (docs/reference/scenarios.md).

Every mistake in a file is a `Problem`: file, line, what is wrong, what would be right. All are reported at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from node.api.routing.reading import Wrong
from pflab.home import SCENARIOS_OF_PFLAB
from pflab.scenario.conditions import Until
from pflab.scenario.fault_steps import FAULT_VERBS, fault_step
from pflab.scenario.lesson import Course, LessonCheck
from pflab.scenario.model import VERBS, Head, Network
from pflab.scenario.name_check import NameCheck
from pflab.scenario.problems import problems_of
from pflab.scenario.timeline_check import TimelineCheck
from pflab.scenario.values import duration_from_start
from topology.file.examples import EXAMPLES, yaml_file
from topology.file.load import load_topology, topology_from_document
from topology.file.yaml_source import YamlSource, read_text, read_yaml
from topology.model import Topology
from topology.problems import PathItem, Problem, ProblemsError, TopologyError, did_you_mean, quoted

KEYS = "a scenario has the keys title, topology and steps"


def files_of_course() -> list[Path]:
    """Return the files of the scenarios in the course of pflab, in the order of their names, without checking them."""
    return [path for path in sorted(SCENARIOS_OF_PFLAB.glob("*.yaml")) if "\ncourse:" in path.read_text("utf-8")]


class ScenarioError(ProblemsError):
    """A scenario file with mistakes: all of them, one line each."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step: its number from 1, its line in the file, its verb and its arguments (`pflab.scenario.model`).

    at_us: how long after the start of the scenario it happens; None: after the step before it.
    """

    number: int
    line: int
    verb: str
    args: Any
    at_us: int | None = None

    def stores(self) -> list[str]:
        """Return the stores whose last events explain a failure of this step; none means all stores."""
        if isinstance(self.args, Until) and self.args.mail is not None:
            return [name for name in (self.args.from_, self.args.to) if name is not None]
        return []


@dataclass(frozen=True, slots=True)
class Scenario:
    """A checked scenario. `path` is None if it was read from text."""

    title: str
    path: Path | None
    topology: Topology
    rules: tuple[str, ...]
    live: bool
    steps: tuple[Step, ...]
    lesson: str | None = None
    look: str | None = None
    breaks: tuple[str, ...] = ()
    course: Course | None = None
    missing: Literal["fail", "skip"] = "fail"
    seed: int | None = None
    network: Network | None = None


def load_scenario(path: str | Path) -> Scenario:
    """Read a scenario file. Raises ScenarioError if it has mistakes (it lists all), and OSError if it cannot be read."""
    path = Path(path)
    return scenario_from_text(read_text(path, ScenarioError), str(path), path)


def scenario_from_text(text: str, name: str = "scenario", path: Path | None = None) -> Scenario:
    """Read a scenario from YAML text. `name` is its name in problems. Its topology is searched in the folder of `path`."""
    return scenario_from_source(read_yaml(text, name), path)


def scenario_from_source(source: YamlSource, path: Path | None = None) -> Scenario:
    """Return the scenario that the values of a file describe."""
    if source.problems:
        raise ScenarioError(source.problems)
    if not isinstance(source.data, dict):
        raise ScenarioError([source.problem((), "not a scenario", KEYS)])
    for key, without, kind in (("servers", "steps", "a topology"), ("plan", "title", "a plan of pflab 0.1")):
        if key in source.data and without not in source.data:
            raise ScenarioError([source.problem((), f"{kind}, not a scenario", KEYS)])
    problems: list[Problem] = []
    head = _head(source, problems)
    steps = list(_steps(source, problems))
    organization = _topology(source, path, problems)
    if organization is not None:
        names, timeline = NameCheck(organization, source), TimelineCheck(organization, source)
        lesson = LessonCheck(source)
        skips = head is not None and head.missing == "skip"
        if skips:
            names.name_all([step.args for step in steps])
        for step in steps:
            at = ("steps", step.number - 1, step.verb)
            problems += lesson.step(step.verb, at)
            problems += list(names.step(step.verb, step.args, at)) or timeline.step(
                step.args, at, at_us=step.at_us, skips=skips
            )
        problems += lesson.end()
    if problems or head is None or organization is None:
        raise ScenarioError(problems)
    return Scenario(
        head.title,
        path,
        organization,
        head.rules,
        head.live,
        tuple(steps),
        head.lesson,
        head.look,
        head.breaks,
        head.course,
        head.missing,
        head.seed,
        head.network,
    )


def steps_from_text(text: str, name: str) -> tuple[Step, ...]:
    """Read the list `steps` from YAML text, as it stands in a scenario. Names in steps are checked when the steps are played.

    name: the name of the text in problems.

    Raises ScenarioError if steps have mistakes.
    """
    source = read_yaml(text, name)
    problems = list(source.problems)
    steps = () if problems or not isinstance(source.data, dict) else tuple(_steps(source, problems))
    if problems:
        raise ScenarioError(problems)
    return steps


def _head(source: YamlSource, problems: list[Problem]) -> Head | None:
    try:
        return Head.model_validate(source.data)
    except ValidationError as error:
        problems += problems_of(error, Head, source)
        return None


def _steps(source: YamlSource, problems: list[Problem]) -> Iterator[Step]:
    """Yield the correct steps, and add the mistakes of the others to `problems`."""
    listed = source.data.get("steps")
    for index, entry in enumerate(listed if isinstance(listed, list) else ()):
        at: tuple[PathItem, ...] = ("steps", index)
        at_us: int | None = None
        item = entry
        if isinstance(entry, dict) and "at" in entry:
            item = {key: value for key, value in entry.items() if key != "at"}
            try:
                at_us = duration_from_start(entry["at"])
            except ValidationError as error:
                problems += problems_of(error, None, source, (*at, "at"))
        if not isinstance(item, dict) or len(item) != 1:
            right = "write one verb and its arguments, such as {advance: 15 min}; the verbs are " + ", ".join(VERBS)
            problems.append(source.problem(at, "not a step", right))
            continue
        verb, value = next(iter(item.items()))
        if verb not in VERBS:
            right = did_you_mean(verb, VERBS)
            problems.append(source.problem((*at, verb), f"{quoted(verb)} is not a verb", right, of_key=True))
            continue
        try:
            args = arguments_of(verb, value)
        except Wrong as error:
            problems += _fault_problems(error, source, (*at, verb))
            continue
        except ValidationError as error:
            problems += problems_of(error, VERBS[verb], source, (*at, verb))
            continue
        yield Step(index + 1, source.position(at).line, verb, args, at_us)


def arguments_of(verb: str, value: Any) -> Any:
    """Return the arguments of a verb. Raises ValidationError or Wrong if they have mistakes."""
    return fault_step(FAULT_VERBS[verb], value) if verb in FAULT_VERBS else _reader_of(verb).validate_python(value)


@cache
def _reader_of(verb: str) -> TypeAdapter[Any]:
    return TypeAdapter(VERBS[verb])


def _fault_problems(error: Wrong, source: YamlSource, at: tuple[PathItem, ...]) -> Iterator[Problem]:
    for place, words in error.mistakes:
        what, _, right = words.partition("; ")
        path = (*at, *(int(part) if part.isdecimal() else part for part in place))
        yield source.problem(path, what, right)


# --- the topology of a scenario


def _topology(source: YamlSource, path: Path | None, problems: list[Problem]) -> Topology | None:
    """Return the organization, with the scenario's settings for the servers that do not set them.

    This function reads the data of the file itself, without `Head`, so that a mistake in the head does not hide mistakes
    in the steps.
    """
    named, settings = source.data.get("topology"), source.data.get("settings")
    settings = settings if isinstance(settings, dict) else {}
    if isinstance(named, dict):
        return _inline(source, named, settings, problems)
    if not isinstance(named, str):
        return None
    topology_path = find_topology(named, path)
    if topology_path is None:
        right = f"name a file beside the scenario, or one of {', '.join(sorted(file.name for file in EXAMPLES.glob('*.yaml')))}"
        problems.append(source.problem(("topology",), f"{quoted(named)} is not a topology file", right))
        return None
    try:
        organization = load_topology(topology_path)
    except TopologyError as error:
        problems += error.problems
        return None
    except OSError as error:
        problems.append(
            source.problem(("topology",), f"{topology_path} cannot be read: {error}", "name a file that can be read")
        )
        return None
    return _with_settings(source, organization.as_document(), settings, problems) if settings else organization


def find_topology(name: str, scenario: Path | None) -> Path | None:
    """Return the topology file of that name in the scenario's folder, or else among the examples; None if there is none."""
    beside = Path(name) if scenario is None else scenario.parent / name
    with suppress(OSError):  # no file can have this name
        if beside.is_file() and (scenario is None or not beside.samefile(scenario)):
            return beside
    return yaml_file(name, EXAMPLES)


def _inline(
    source: YamlSource, document: Mapping[str, Any], settings: Mapping[str, Any], problems: list[Problem]
) -> Topology | None:
    try:
        organization = topology_from_document(document, source.name)
    except TopologyError as error:
        problems += [source.moved("topology", problem) for problem in error.problems]
        return None
    return _with_settings(source, organization.as_document(), settings, problems) if settings else organization


def _with_settings(
    source: YamlSource, document: dict[str, Any], settings: Mapping[str, Any], problems: list[Problem]
) -> Topology | None:
    document["settings"] = {**document["settings"], **settings}
    try:
        return topology_from_document(document, source.name)
    except TopologyError as error:
        problems += [source.moved("", problem) for problem in error.problems]
        return None
