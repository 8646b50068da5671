"""Reading YAML for people: YAML 1.2 scalars, positions, and bounded size."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from topology.file.yaml_source import MAX_BYTES, MAX_DEPTH, MAX_NODES, YamlSource, read_yaml
from topology.problems import Position


def problems_of(text: str) -> list[str]:
    return [str(problem) for problem in read_yaml(text, "f.yaml").problems]


def data_of(text: str) -> object:
    source = read_yaml(text, "f.yaml")
    assert source.problems == ()
    return source.data


@pytest.mark.parametrize(
    ("scalar", "value"),
    [
        ("NO", "NO"),
        ("yes", "yes"),
        ("on", "on"),
        ("12:15", "12:15"),
        ("2003-10-21", "2003-10-21"),
        ("2003-10-21T00:00Z", "2003-10-21T00:00Z"),
        ("1_000", "1_000"),
        ("<<", "<<"),
        ("true", True),
        ("False", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("2003", 2003),
        ("-5", -5),
        ("010", 10),
        ("0o17", 15),
        ("0x1F", 31),
        ("5.5", 5.5),
        (".5e3", 500.0),
        ('"2003"', "2003"),
        ("'true'", "true"),
        ("!!str 2003", "2003"),
    ],
)
def test_scalars_are_those_of_yaml_1_2(scalar: str, value: object) -> None:
    """A site NO and a time 12:15 are texts; only YAML 1.2's numbers and booleans are converted."""
    data = data_of(f"key: {scalar}\n")
    assert data == {"key": value}
    assert isinstance(data, dict)
    assert type(data["key"]) is type(value)


def test_keys_are_always_text() -> None:
    """A server can be called 1 or NO."""
    assert data_of("{1: a, NO: b, true: c, 12:15: d}") == {"1": "a", "NO": "b", "true": "c", "12:15": "d"}


def test_a_key_that_stands_twice_is_reported_where_it_stands_again() -> None:
    """Duplicate keys are refused, each with its place and that of the first."""
    text = "servers:\n  A: {x: 1, x: 2}\n  B:\n  A:\n"
    assert problems_of(text) == [
        "f.yaml:2:13: servers.A.x: the key is written twice; leave one out; the first is in line 2",
        "f.yaml:4:3: servers.A: the key is written twice; leave one out; the first is in line 2",
    ]


def test_every_value_has_its_position() -> None:
    """Lines and columns count from 1; a missing value has its parent's position."""
    source = read_yaml("servers:\n  A: {version: '2001'}\nlist:\n  - x\n  - [y, z]\n", "f.yaml")
    assert source.position(("servers", "A", "version")) == Position(2, 16)
    assert source.position(("servers", "A", "version"), of_key=True) == Position(2, 7)
    assert source.position(("list", 1, 1)) == Position(5, 9)
    assert source.position(("servers", "A", "site")) == Position(2, 3)
    assert source.position(("nothing", "here")) == Position(1, 1)
    assert source.position(("list", 7)) == Position(3, 1)


def test_a_value_by_alias_is_the_value_that_it_names() -> None:
    """Anchors and aliases work, and a mistake in the value is reported at the anchor."""
    source = read_yaml("a: &x {k: 1}\nb: *x\n", "f.yaml")
    assert source.data == {"a": {"k": 1}, "b": {"k": 1}}
    assert source.position(("b", "k")) == Position(1, 11)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("a: [1, 2", "not YAML"),
        ("a: b: c", "not YAML"),
        ("a: 1\n---\nb: 2\n", "second document"),
        ("? [1, 2]\n: x\n", "the key is not a text"),
        ("a: *nowhere\n", "names nothing"),
        ("a: &x [*x]\n", "contains itself"),
        ("a: &x 1\n*x : 2\n", "an alias cannot be a key"),
        ("a: !!python/object:os.system x\n", "tag"),
        ("a: !!map {}\n", "tag"),
        ("a: " + "9" * 5000, "too long for a number"),
        ("a: \x07\n", "not YAML"),
        ("\ud800", "not YAML"),
    ],
)
def test_unsupported_yaml_is_one_clear_problem(text: str, what: str) -> None:
    """Syntax errors, tags, unusual keys and the like are reported as problems, never raised."""
    assert any(what in problem for problem in problems_of(text))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a: 1\nb:\n\tc: 2\n", "f.yaml:3:1: not YAML: a tab; indent with spaces"),
        ("a:\n  - 1\n \t- 2\n", "f.yaml:3:2: not YAML: a tab; indent with spaces"),
        (
            'a: "one\nb: two\n',
            "f.yaml:1:4: not YAML: a double quote without its partner; close the text on the same line",
        ),
        (
            "a: it is \"so\nb: ['x, y]\nc: 'z'\n",
            "f.yaml:2:5: not YAML: a single quote without its partner; close the text on the same line",
        ),
        (
            'a: "x\nb: "y"\n',
            "f.yaml:1:4: not YAML: a double quote without its partner; close the text on the same line",
        ),
    ],
)
def test_a_tab_or_a_missing_quote_is_told_where_it_is(text: str, told: str) -> None:
    """The parser itself stops at the end of the file, or says that some character cannot start any token."""
    assert problems_of(text) == [told]


@pytest.mark.parametrize("text", ["", "# nothing\n", "--- \n", "null"])
def test_an_empty_document_is_nothing(text: str) -> None:
    """A file without content has no data and, as YAML, no problem."""
    assert data_of(text) is None


def test_an_alias_bomb_is_refused() -> None:
    """A kilobyte that would expand to gigabytes is refused at the limit."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    (problem,) = problems_of("\n".join(lines))
    assert f"more than {MAX_NODES} values" in problem
    assert problem.startswith("f.yaml:5:")


@pytest.mark.parametrize("opening", ["[", "{a: ", "- "])
def test_deep_nesting_is_refused(opening: str) -> None:
    """The limit on depth is far below the recursion limit, and is reached quickly."""
    (problem,) = problems_of(opening * 100_000)
    assert f"nested more than {MAX_DEPTH} levels" in problem


def test_a_huge_file_is_refused_unread() -> None:
    """The size limit counts bytes and is checked first."""
    (problem,) = problems_of("# ä" + "ä" * (MAX_BYTES // 2))
    assert "larger than" in problem


@given(st.text(max_size=200))
def test_no_text_breaks_the_reader(text: str) -> None:
    """Reading any text gives data or problems."""
    source = read_yaml(text, "f.yaml")
    assert isinstance(source, YamlSource)
    assert source.position(("a", 0, "b")).line >= 1


plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)


@given(plain)
def test_quoted_yaml_is_read_as_another_writer_wrote_it(value: object) -> None:
    """Lists, mappings and quoted texts mean the same as in PyYAML."""
    text = yaml.safe_dump(value, default_style='"', allow_unicode=False)
    source = read_yaml(text, "f.yaml")
    # PyYAML marks what is not text with tags in this style; ours reports the tag and takes the text.
    assert all("the tag" in problem.what for problem in source.problems)
