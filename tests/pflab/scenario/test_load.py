"""Reading scenario files: a correct file becomes steps, and each mistake one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from pflab.scenario.conditions import Entry, Expect, Until
from pflab.scenario.load import KEYS, Scenario, ScenarioError, load_scenario, scenario_from_text
from pflab.scenario.model import RULE_IDS, VERBS, scenario_schema
from pflab.scenario.steps import STEPS
from pflab.scenario.values import Count, Moment
from traces.errors import TimeTextError
from traces.labtime import DAY_US, HOUR_US, MINUTE_US, parse_duration, parse_instant

HEAD = "title: A test\ntopology: one-site.yaml\nsteps:\n"


def steps(*lines: str) -> Scenario:
    return scenario_from_text(HEAD + "".join(f"  - {line}\n" for line in lines))


def problems(text: str) -> list[str]:
    with pytest.raises(ScenarioError) as caught:
        scenario_from_text(text, "test.yaml")
    return str(caught.value).splitlines()


def wrong(*lines: str) -> list[str]:
    return problems(HEAD + "".join(f"  - {line}\n" for line in lines))


def test_steps_keep_their_verb_and_line() -> None:
    """Each step has its number and its line in the file, so that a failure can name it."""
    scenario = steps("say: Hello", "{advance: 15 min}")
    assert [(each.number, each.line, each.verb) for each in scenario.steps] == [(1, 4, "say"), (2, 5, "advance")]


def test_a_time_of_day_is_no_number() -> None:
    """12:15 is a clock time: its next occurrence, never a sexagesimal number."""
    (step,) = steps("advance: 12:15").steps
    assert step.args == Moment(clock_us=12 * HOUR_US + 15 * MINUTE_US)
    noon = parse_instant("2003-10-21T12:15Z")
    assert step.args.resolve(noon - MINUTE_US) == noon
    assert step.args.resolve(noon) == noon + DAY_US


def test_moments_are_durations_instants_and_clock_times() -> None:
    """An advance takes all three forms."""
    taken = [step.args for step in steps("advance: 6 h", "advance: 2003-10-22T00:15Z", "advance: 00:15").steps]
    assert taken == [
        Moment(after_us=6 * HOUR_US),
        Moment(at=parse_instant("2003-10-22T00:15Z")),
        Moment(clock_us=15 * MINUTE_US),
    ]


@pytest.mark.parametrize(
    ("text", "fits", "fails"),
    [("2", [2], [1, 3]), ("none", [0], [1]), ("at least 2", [2, 9], [1]), ("at most 2", [0, 2], [3])],
)
def test_counts(text: str, fits: list[int], fails: list[int]) -> None:
    """Counts are a number, none, at least or at most."""
    (step,) = steps(f"expect: {{mails: {{count: {text}}}}}").steps
    count: Count = step.args.mails[0].count
    assert all(number in count for number in fits)
    assert not any(number in count for number in fails)


def test_one_entry_needs_no_list() -> None:
    """array takes none, an entry, or a list of entries; mails and events one or several."""
    texts = ("none", "{missing: A-1}", "[{missing: A-1}, {local: true}]")
    taken = [steps(f"expect: {{on: B, array: {text}}}").steps[0].args.array for text in texts]
    assert taken == [(), (Entry(missing=("A-1",)),), (Entry(missing=("A-1",)), Entry(local=True))]


def test_every_verb_of_the_file_can_be_done() -> None:
    """The runner has every verb of the model."""
    assert set(VERBS) == set(STEPS)


QUIZ = "quiz: {ask: Who?, choices: [A, B], answer: %s, because: It is near.}"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ((QUIZ % "C", "reveal: So."), "steps[0].quiz: 'C' is not one of the choices; the answer is one of 'A', 'B'"),
        (
            (QUIZ % "A",),
            "steps[0].quiz: this question has no answer; add a reveal in a later step",
        ),
        ((QUIZ % "A", QUIZ % "B", "reveal: So."), "steps[0].quiz: this question has no answer"),
        (("reveal: So.",), "steps[0].reveal: this answer has no question; add a quiz in an earlier step"),
        (
            ("quiz: {ask: Who?, choices: [A], answer: A, because: x}",),
            "steps[0].quiz: a question cannot have 1 choice; give from 2 to 9",
        ),
        (
            ("quiz: {ask: Who?, choices: [A, B, C, D, E, F, G, H, I, J], answer: A, because: x}",),
            "steps[0].quiz: a question cannot have 10 choices; give from 2 to 9",
        ),
    ],
)
def test_a_question_has_choices_and_an_answer(given: tuple[str, ...], expected: str) -> None:
    """Each question's answer is among its choices, and is revealed before the next question and the end."""
    (line, *_) = wrong(*given)
    assert expected.replace("'", '"') in line.replace("'", '"')


def test_a_lesson_has_plain_words() -> None:
    """A scenario's description and questions are loaded, and a correct question is accepted."""
    taken = steps(QUIZ % "A", "reveal: So.")
    assert [step.verb for step in taken.steps] == ["quiz", "reveal"]
    assert taken.lesson is None


def test_all_mistakes_are_reported_at_once() -> None:
    """Each mistake is one line with its line number, what is wrong and what would be right."""
    lines = problems(
        "title: Many mistakes\n"
        "topology: one-site.yaml\n"
        "rules: [BF-1, nonsense]\n"
        "steps:\n"
        "  - posst: {on: A}\n"
        "  - post: {on: Z, folder: Projects, subject: Hello}\n"
        "  - post: {on: A, foldr: Projects, subject: Hello}\n"
        "  - advance: soon\n"
        "  - expect: {on: B, folder: Projekts, array: none}\n"
        "  - until: {mail: content, within: 0 min}\n"
    )
    with pytest.raises(TimeTextError) as not_a_duration:
        parse_duration("soon")
    assert lines == [
        'test.yaml:3:15: rules[1]: "nonsense" is not the id of a rule; write an id such as BF-3 (docs/reference/rules/)',
        'test.yaml:5:5: steps[0].posst: "posst" is not a verb; did you mean "post"?',
        'test.yaml:6:16: steps[1].post.on: "Z" is not a server; one of "A", "B", "C"',
        'test.yaml:7:11: steps[2].post: "folder" is missing;'
        " the keys are on, folder, subject, body, letters, attachment, sender, associated, refused, as",
        'test.yaml:7:19: steps[2].post.foldr: "foldr" is not a key here; did you mean "folder"?',
        f"test.yaml:8:14: steps[3].advance: {not_a_duration.value}",
        'test.yaml:9:29: steps[4].expect.folder: "Projekts" is not a folder of the topology or of an earlier step;'
        ' did you mean "Projects"?',
        "test.yaml:10:36: steps[5].until.within: '0 min' is out of range; a duration is above zero and at most 400 d",
    ]


def test_a_step_is_one_verb() -> None:
    """A step with two verbs or none is refused with an example of a step."""
    (first, second) = wrong("{advance: 1 h, say: Hello}", "advance")
    assert first.startswith("test.yaml:4:5: steps[0]: not a step; write one verb and its arguments")
    assert second.startswith("test.yaml:5:5: steps[1]: not a step")


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        ("expect: {on: B}", "a key is missing; give one of has, lacks,"),
        ("lose: {from: A, to: B, type: {a: 1}}", "is not a text; write a text in quotes"),
        ("until: {mail: [content], within: 1 h}", "is not a mail type; the types are"),
        (f"expect: {{mails: {{count: '{'9' * 5000}'}}}}", "is not a count; write 2"),
        ("expect: {has: x}", '"has" needs a store; add "on"'),
        ("expect: {on: B, array: none, since: x}", '"since" is allowed only together with "mails" or "events"'),
        ("until: {within: 1 h}", 'nothing to wait for; give "mail", "event", or a condition'),
        ("until: {mail: content, event: entry.made, within: 1 h}", '"mail" and "event" cannot be used together'),
        (
            "until: {event: entry.made, from: A, within: 1 h}",
            '"from", "to" and "marked" are allowed only together with "mail"',
        ),
        ("until: {mail: content}", '"within" is missing'),
        ("until: {mail: content, within: bound}", '"within: bound" is allowed only together with'),
        (
            "expect: {on: A, folder: Projects, replicas: A, within: bound}",
            'is allowed only together with "converged" or "settled"',
        ),
        ("expect: {equal: Projekts}", '"Projekts" is not a folder of the topology or of an earlier step'),
        ("expect: {settled: false}", "settled"),
        ("folder: {on: A}", "a key is missing; give one of create, change, rename, move, delete"),
        ("folder: {on: A, create: X, delete: Y}", '"create" and "delete" cannot be used together'),
        ("folder: {on: A, rename: Projects}", 'give both "rename" and "to"'),
        ("folder: {on: A, delete: Projects, schedule: never}", 'are allowed only together with "create" or "change"'),
        ("folder: {on: A, create: X/Y}", '"X" is not a folder yet; create "X" first'),
        ("cut: {from: A}", "there is no such field; the fields are between, one_way, connector"),
        ("cut: {between: [A]}", "too few entries; at least 2"),
        ("cut: {connector: X}", '"X" is not a connector; there is none'),
        ("connector: {cost: 3}", "a key is missing; give one of add, change, remove"),
        ("connector: {add: x}", '"add" needs "between"'),
        ("connector: {add: x, between: [SEA, OSL]}", '"OSL" is not a site'),
        (
            "recipient_policy: {change: x, priority: 1}",
            '"x" is not a recipient policy of the topology or of an earlier step',
        ),
        ("recipient_policy: {add: x, domain: x.test, filter: {sites: [OSL]}}", '"OSL" is not a site'),
        ("recipient_policy: {add: x, domain: x.test, filter: {}}", "give one of sites, servers, versions"),
        ("recipient_policy: {add: x, domain: x.test}", '"add" needs "domain" and "filter"'),
        ("recipient_policy: {remove: Default Policy, domain: x.test}", '"domain" is allowed only together with'),
        ("recipient_policy: {change: Default Policy}", "no property is given; give one of domain, filter, priority"),
        ("recipient_policy: {change: Default Policy, domain: x.test, runs: never}", "write a step of their own"),
        ("recipient_policy: {runs: never, priority: 1}", '"filter" and "priority" are allowed only together with'),
        ("recipient_policy: {add: x, remove: y}", "cannot be used together"),
        ("connector: {change: x, cost: 3}", '"x" is not a connector of the topology or of an earlier step'),
        ("connector: {change: x}", "no property is given; give one of kind, between, cost"),
        ("connector: {remove: x, cost: 3}", '"cost" is allowed only together with "add" or "change"'),
        ("connector: {remove: x, speed: 3}", "speed"),
        ("lose: {type: contents}", "\"contents\" is not known here; write 'hierarchy', 'content',"),
        ("post: {on: A, folder: Projects, subject: 5}", '"5" is not text; write a text, in quotes'),
        ("post: {on: A, folder: Projects, subject: x, attachment: 5}", "5 is not a size"),
        ("posts: {on: A, folder: Projects, count: many}", '"many" is not a whole number'),
        (
            "mail: {on: A, to: kim, subject: x}",
            '"kim" is not a mail address; write an address such as kim@outside.test',
        ),
        ("mail: {on: A, folder: Projects, from: a@b@c, subject: x}", '"a@b@c" is not a mail address; write an address'),
        ("edit: {on: A, message: x}", "a key is missing; give one of subject, body"),
        ("edit: {on: A, message: x, subject: y}", '"x" is not a message of an earlier step (its as); there is none'),
        ("heal: x", '"x" is not a fault (the name given with as, or all)'),
        ("expect: {mails: {count: 1}, since: x}", '"x" is not a checkpoint of an earlier step'),
        ("expect: {events: {event: entry.mad, count: 1}}", '"entry.mad" is not an event; did you mean "entry.made"?'),
        ("expect: {events: {event: entry.made, with: {locl: true}, count: 1}}", 'entry.made has no field "locl"'),
        ("expect: {on: A, folder: Projects, state: {Q: {has: A-1}}}", '"Q" is not a server'),
        ("settings: {on: A}", '"set" is missing'),
        ("kill: [A, Q]", '"Q" is not a server'),
        ("settings: {on: A, set: {Replicaton: 0}}", '"Replicaton" is not a setting; did you mean "Replication"?'),
        ("settings: {on: A, set: {Replication: maybe}}", '"maybe" is neither on nor off'),
        ("say: [one, two]", "[one, two] is not a text; write a text, or a mapping with the keys text, show and notes"),
        ("say: {text: [one]}", "[one] is a list; write a single text"),
        ("say: {show: {server: A}}", '"text" is missing; the keys are text, show, notes'),
        ("say: {text: x, notes: ''}", '"" is empty; write a text'),
        ("say: {text: x, shows: {}}", '"shows" is not a key here; did you mean "show"?'),
        ("say: {text: x, show: {}}", "a key is missing; give one of view, server, connector, folder, message, mail"),
        ("say: {text: x, show: {server: [A, Q]}}", '"Q" is not a server; '),
        (
            "say: {text: x, show: {folder: Project}}",
            '"Project" is not a folder of the topology or of an earlier step; did',
        ),
        ("say: {text: x, show: {message: x}}", '"x" is not a message of an earlier step (its as)'),
        ("say: {text: x, show: {connector: x}}", '"x" is not a connector'),
        ("say: {text: x, show: {view: mapp}}", "\"mapp\" is not known; write 'map', 'matrix', 'diagram' or 'folders'"),
        ("say: {text: x, show: {mail: {type: content, from: Q}}}", '"Q" is not a server'),
        ("say: {text: x, show: {mail: {type: contents}}}", "'contents' is not a mail type; the types are hierarchy, "),
        ("say: {text: x, show: {server: [A, B], table: queue}}", '"table" is about one server; give "server", such as'),
        ("say: {text: x, show: {server: A, table: state}}", 'the table "state" is about a folder; give "folder"'),
        ("say: {text: x, show: {server: A, row: B}}", '"row" is allowed only together with table: state'),
        (
            "say: {text: x, show: {server: A, folder: Projects, table: state, row: Q}}",
            '"Q" is not a server',
        ),
        ("stop: [A, [B]]", "[A, [B]] is not a name or a list of names"),
        ("folder: {on: A, create: 1-1}", '"1-1" is the name of the hierarchy; choose another name'),
        ("folder: {on: A, rename: Projects, to: 1-1}", '"1-1" is the name of the hierarchy'),
        ("replica: {folder: Projects, remove: [A, B, C]}", "A, B, C has the last replica of Projects; add another"),
        (
            "advance: 2003-10-20T00:00Z",
            "2003-10-20T00:00:00Z is in the past; at this step the clock shows 2003-10-21T00:00:00Z",
        ),
        ("until: {mail: content, within: 1 h, at: 2003-10-20T00:00Z}", "2003-10-20T00:00:00Z is in the past"),
    ],
)
def test_mistakes_in_a_step(step: str, expected: str) -> None:
    """Each kind of mistake in a step gives one line that names it."""
    lines = wrong(step)
    assert len(lines) == 1
    assert lines[0].startswith("test.yaml:4:")
    assert expected in lines[0]


TWO_OF_THREE = """\
title: A test
topology: {servers: {A: , B: , C: }, folders: {Projects: {replicas: [A, B]}, Projects/Old: {replicas: [B]}}}
steps:
"""


def problems_of_steps(*lines: str) -> list[str]:
    """Return the problems of steps in a lab where C holds nothing, without their places."""
    text = TWO_OF_THREE + "".join(f"  - {line}\n" for line in lines)
    try:
        scenario_from_text(text, "test.yaml")
    except ScenarioError as error:
        return [each.what for each in error.problems]
    return []


POST = "post: {on: A, folder: Projects, subject: x, as: x}"
AT_C = '"C" has no replica of Projects'


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["post: {on: C, folder: Projects, subject: x}"], [AT_C]),
        (["posts: {on: C, folder: Projects, count: 2}"], [AT_C]),
        ([POST, "edit: {on: C, message: x, subject: y}"], [AT_C]),
        ([POST, "delete: {on: C, message: x}"], [AT_C]),
        ([POST, "resolve: {on: C, message: x, keep: all}"], [AT_C]),
        (["replica: {folder: Projects, add: C}", "post: {on: C, folder: Projects, subject: x}"], []),
        (["folder: {on: A, change: Projects, replicas: [A, C]}", "post: {on: C, folder: Projects, subject: x}"], []),
        (["folder: {on: C, create: New}", "post: {on: C, folder: New, subject: x}"], []),
        (["folder: {on: C, create: New}", "post: {on: A, folder: New, subject: x}"], ['"A" has no replica of New']),
        (
            ["folder: {on: A, create: Projects/New}", "post: {on: C, folder: Projects/New, subject: x}"],
            ['"C" has no replica of Projects/New'],
        ),
        (
            ["folder: {on: A, rename: Projects, to: Plans}", "post: {on: A, folder: Plans/Old, subject: x}"],
            ['"A" has no replica of Plans/Old'],
        ),
        (
            [
                "folder: {on: B, move: Projects/Old, under: /}",
                "replica: {folder: Old, add: C}",
                "post: {on: C, folder: Projects/Old, subject: x}",
            ],
            [],
        ),
        (["replica: {folder: Projects, remove: A}", "replica: {folder: Projects, remove: B}"], []),
        (["replica: {folder: Projects/Old, remove: B}"], ["B has the last replica of Projects/Old"]),
        (["replica: {folder: Projects/Old, remove: B, refused: true}"], []),
        (["advance: 2 d", "advance: 2003-10-22T00:00Z"], ["2003-10-22T00:00:00Z is in the past"]),
        (["advance: 23:00", "advance: 2003-10-21T23:00Z"], []),
        (
            ["until: {mail: status, within: 2 d, at: 12:15}", "advance: 2003-10-21T12:00Z"],
            ["2003-10-21T12:00:00Z is in the past"],
        ),
        (["advance: 12:15", "until: {mail: status, within: 2 d, at: 12:15}", "advance: 2003-10-21T12:15Z"], []),
    ],
)
def test_impossible_steps_are_refused_before_the_run(lines: list[str], expected: list[str]) -> None:
    """Posts at stores that never hold the folder, removing the last replica, and past times are mistakes of the file. Steps
    that depend on what stores know at that time are left to the run."""
    assert problems_of_steps(*lines) == expected


def test_replicas_can_be_added_and_removed_together() -> None:
    """replica takes one server or a list of them."""
    one, several = steps("replica: {folder: Projects, remove: B}", "replica: {folder: Projects, remove: [B, C]}").steps
    assert (one.args.remove, several.args.remove) == (("B",), ("B", "C"))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("servers: {A: , B: }\nfolders: {Projects: }\n", "a topology"),
        ("plan: 1\nseed: 7\nsteps: []\n", "a plan of pflab 0.1"),
    ],
)
def test_another_kind_of_file_is_one_line(text: str, kind: str) -> None:
    """A topology or a plan in the place of a scenario is named as such, in one line."""
    assert problems(text) == [f"test.yaml:1:1: {kind}, not a scenario; {KEYS}"]


def test_a_name_can_be_given_once() -> None:
    """A name is for one message, so that later steps are not ambiguous."""
    post = "post: {on: A, folder: Projects, subject: x, as: x}"
    assert wrong(post, post) == ['test.yaml:5:53: steps[1].post.as: "x" is already used; choose another name']


def test_posts_name_all_and_each() -> None:
    """The name of several posts names all of them, and each has a name of its own."""
    scenario = steps(
        "posts: {on: A, folder: Projects, count: 3, as: many}", "delete: {on: A, message: [many-1, many-3]}"
    )
    assert scenario.steps[1].args.message == ("many-1", "many-3")


@pytest.mark.parametrize(
    "step",
    [
        *(
            "cut: {between: [A, A]}",
            "cut: {between: [A, A], one_way: true}",
            "lose: {from: A, to: A}",
            "alter: {from: A, to: A}",
        ),
        *("delay: {from: A, to: A, by: 1 h}", "duplicate: {from: A, to: A}", "reorder: {from: A, to: A}"),
        *("smtp: {verb: MAIL, does: 451, from: A, to: A}", "hold: {from: A, to: A, lasts: 1 h}"),
    ],
)
def test_a_fault_needs_two_different_ends(step: str) -> None:
    """A server sends itself no mail, so a fault between a server and itself would do nothing."""
    (line,) = wrong(step)
    assert line.endswith("no mail travels from A to itself; give two different ends")


@pytest.mark.parametrize("rule", ["ST-99", "BF-0", "XX-1", "bf-3", '""'])
def test_a_rule_that_does_not_exist_is_refused(rule: str) -> None:
    """A scenario names rules of the catalogue."""
    (line,) = problems(HEAD.replace("steps:", f"rules: [BF-3, {rule}]\nsteps:") + "  - say: x\n")
    assert "rules[1]: " in line
    assert " is not the id of a rule; write an id such as BF-3 (docs/reference/rules/)" in line


def test_the_known_rules_are_those_of_the_catalogue(project_root: Path) -> None:
    """An installed pflab has no catalogue, so the ids of its rules are listed in the code."""
    catalogue = yaml.safe_load((project_root / "docs" / "rules.yaml").read_text("utf-8"))["rules"]
    assert sorted(RULE_IDS) == sorted(rule["id"] for rule in catalogue)


def test_a_folder_made_by_a_step_is_known_afterwards() -> None:
    """Later steps can use the new paths of created, renamed and moved folders, and of all below them."""
    steps(
        "folder: {on: A, create: Projects/Plans}",
        "folder: {on: A, create: Projects/Plans/Old}",
        "folder: {on: A, rename: Projects/Plans, to: Ideas}",
        "folder: {on: A, move: Projects/Ideas, under: /}",
        "post: {on: A, folder: Ideas/Old, subject: x}",
    )


ANOTHER_LINE = """\
title: A test
topology: two-sites.yaml
steps:
  - connector: {add: cable, between: [SEA, NYC], bridgeheads: {SEA: B}}
  - connector: {change: cable, cost: 5}
  - cut: {connector: cable, as: cut}
  - lose: {connector: cable, count: 1}
  - connector: {remove: cable}
"""


def test_a_connector_that_a_step_adds_is_known_afterwards() -> None:
    """RT-6: later steps change it, remove it, and let faults act on it; earlier steps cannot."""
    assert len(scenario_from_text(ANOTHER_LINE).steps) == 5
    early = ANOTHER_LINE.replace("steps:\n", "steps:\n  - cut: {connector: cable}\n")
    assert ['"cable" is not a connector' in line for line in problems(early)] == [True]
    timed = ANOTHER_LINE.replace("  - ", "  - at: 1 min\n    ").replace("topology", "missing: skip\ntopology")
    late = timed.replace("steps:\n", "steps:\n  - {at: 1 min, cut: {connector: cable}}\n")
    assert len(scenario_from_text(late).steps) == 6


def test_the_ends_of_a_connector_are_checked() -> None:
    """A bridgehead is a server, and its end a site."""
    assert '"Q" is not a server' in problems(ANOTHER_LINE.replace("SEA: B", "SEA: Q"))[0]
    assert '"OSL" is not a site' in problems(ANOTHER_LINE.replace("SEA: B", "OSL: B"))[0]


def test_not_a_scenario() -> None:
    """A file that is no mapping, or no YAML, gives one line."""
    assert problems("- 1\n") == ["test.yaml:1:1: not a scenario; a scenario has the keys title, topology and steps"]
    assert problems("title: [\n")[0].startswith("test.yaml:2:1: not YAML")


def test_a_missing_topology_is_refused_with_the_examples() -> None:
    """A topology is a file beside the scenario or an example; for another name the error lists the examples."""
    (line,) = problems(HEAD.replace("one-site", "no-site") + "  - say: x\n")
    assert line.startswith(
        'test.yaml:2:11: topology: "no-site.yaml" is not a topology file; name a file beside the scenario, or one of'
    )
    assert "one-site.yaml" in line


@pytest.mark.parametrize("name", ["x" * 300, "x/" * 3000, "a\0b", ".."])
def test_a_name_that_no_file_can_have_is_no_topology(name: str) -> None:
    """The name of a topology may be any text."""
    (line,) = problems(HEAD.replace("one-site.yaml", json.dumps(name)) + "  - say: x\n")
    assert "is not a topology file" in line


def test_a_mistake_in_an_inline_topology_has_its_line() -> None:
    """A scenario can contain its topology; mistakes in it have lines of the scenario file."""
    lines = problems(
        "title: x\ntopology:\n  servers:\n    A: {}\n    B: {version: 1999}\n"
        "  folders:\n    Plans.2003: {replicas: [Q]}\nsteps:\n  - say: x\n"
    )
    assert [line.split(": ")[0:2] for line in lines] == [
        ["test.yaml:5:9", "topology.servers.B.version"],
        ["test.yaml:7:29", "topology.folders.Plans.2003.replicas[0]"],
    ]


def test_settings_of_a_scenario_hold_for_all_servers() -> None:
    """A scenario's settings apply to all servers; a server's own settings have priority."""
    scenario = scenario_from_text(
        "title: x\ntopology: {servers: {A: {}, B: {settings: {Replication Outstanding Backfill Limit: 7}}}}\n"
        "settings: {Replication Outstanding Backfill Limit: 3}\nsteps:\n  - say: x\n"
    )
    texts = [
        server.settings.text("Replication Outstanding Backfill Limit") for server in scenario.topology.servers.values()
    ]
    assert texts == ["3", "7"]


def test_an_unknown_setting_is_refused() -> None:
    """A setting that does not exist is refused before anything runs."""
    (line,) = problems("title: x\ntopology: one-site.yaml\nsettings: {Replication Nonsense: 3}\nsteps:\n  - say: x\n")
    assert line.startswith("test.yaml:3:12: settings.Replication Nonsense: ")


def test_a_scenario_may_bear_the_name_of_its_topology(tmp_path: Path) -> None:
    """In joins-later.yaml the topology joins-later.yaml is the example, not the scenario itself; .yaml can be left out."""
    path = tmp_path / "joins-later.yaml"
    for name in ("joins-later.yaml", "joins-later"):
        path.write_text(f"title: x\ntopology: {name}\nsteps:\n  - say: x\n", "utf-8")
        assert list(load_scenario(path).topology.servers) == ["A", "B", "E"]


def test_a_file_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    """Bytes that are not UTF-8 give one line with their line number."""
    path = tmp_path / "x.yaml"
    path.write_bytes(b"title: x\n# \xff\n")
    with pytest.raises(ScenarioError, match=r"x\.yaml:2:1: not UTF-8; save it as UTF-8"):
        load_scenario(path)


def test_the_schema_names_every_verb_and_key() -> None:
    """The JSON Schema has each verb once, and the keys under their names in files."""
    schema = scenario_schema()
    offered = [next(iter(step["properties"])) for step in schema["properties"]["steps"]["items"]["oneOf"]]
    assert offered == list(VERBS)
    assert {"on", "has", "array", "within"} <= set(schema["$defs"]["Expect"]["properties"])
    assert {"from", "with", "mail"} <= set(schema["$defs"]["Until"]["properties"])
    assert schema["required"] == ["title", "topology", "steps"]


def test_until_and_expect_are_different_models() -> None:
    """An until needs a limit; an expect does not."""
    first, second = steps("until: {converged: all, within: 1 h}", "expect: {converged: all}").steps
    assert isinstance(first.args, Until)
    assert isinstance(second.args, Expect)
    assert second.args.within is None


@pytest.mark.parametrize(
    ("former", "now"),
    [
        ("smtp: {at: MAIL, reply: 451, for: 1 h}", 'smtp: {verb: MAIL, does: "451", lasts: 1 h}'),
        ("hold: {from: A, for: 1 h}", "hold: {from: A, lasts: 1 h}"),
        ("cut: {from: A, to: B, as: line}", "cut: {between: [A, B], one_way: true, as: line}"),
    ],
)
def test_faults_of_the_first_release_are_read(former: str, now: str) -> None:
    """A scenario of pflab 0.1 means the same in this release."""
    text = "title: t\ntopology: {{servers: {{A: , B: }}}}\nsteps:\n  - {}"
    assert scenario_from_text(text.format(former)).steps == scenario_from_text(text.format(now)).steps
