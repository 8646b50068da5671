"""Topology files: a missing key gets its default, and every mistake is reported."""

import pickle
from pathlib import Path

import pytest

from topology.enums import ConnectorKind, FolderPriority, Joins, ResolveMethod, ServerVersion
from topology.file.load import load_topology, topology_from_text
from topology.model import Topology
from topology.problems import TopologyError
from topology.schedule import ALWAYS, Schedule
from traces.labtime import parse_instant

EXAMPLES = Path(__file__).parents[2] / "topology" / "examples"

SOUND = """
sites: [SEA, NYC]
connectors:
  - {between: [SEA, NYC]}
servers:
  A: {site: SEA}
  B: {site: NYC}
folders:
  Projects:
"""


def problems_of(text: str) -> list[str]:
    with pytest.raises(TopologyError) as caught:
        topology_from_text(text, "f.yaml")
    return str(caught.value).splitlines()


def test_two_servers_are_enough() -> None:
    """Everything but the servers has a default: one site, version 2003, the fixed start."""
    topology = topology_from_text("servers: {A: {}, B: {}}")
    assert list(topology.servers) == ["A", "B"]
    assert len(topology.sites) == 1
    assert {server.site for server in topology.servers.values()} == set(topology.sites)
    assert topology.servers["A"].version is ServerVersion.V2003
    assert topology.servers["A"].joins is Joins.START
    assert topology.start_at == parse_instant("2003-10-21T00:00Z")
    assert topology.connectors == ()
    assert dict(topology.folders) == {}


def test_every_default_of_a_connector_and_a_folder() -> None:
    """A connector has default name, cost, affinity and bridgeheads; a folder is on every server by default."""
    topology = topology_from_text(SOUND)
    (connector,) = topology.connectors
    assert (connector.name, connector.kind, connector.cost, connector.affinity) == (
        "SEA-NYC",
        ConnectorKind.ROUTING_GROUP,
        1,
        1,
    )
    assert (connector.latency_us, connector.bandwidth, connector.size_limit) == (0, None, None)
    assert connector.schedule == ALWAYS
    assert connector.bridgeheads == ("A", "B")
    folder = topology.folders["Projects"]
    assert folder.replicas == ("A", "B")
    assert (folder.schedule, folder.contacts) == (None, ())
    assert (folder.priority, folder.resolve) == (FolderPriority.NORMAL, ResolveMethod.DEFAULT)


def test_everything_that_a_file_can_say() -> None:
    """Each key of the format arrives in its unit."""
    topology = topology_from_text(
        """
        organization: Fabrikam & Söhne
        domain: fabrikam.test
        start: 2004-01-01 12:00
        sites: [NO, SE]
        settings: {Replication Always Interval: 5}
        connectors:
          - name: line
            kind: x400
            between: [NO, SE]
            cost: 7
            latency: 1.5 s
            bandwidth: 64 kbit/s
            schedule: ["Mon-Fri 20:00-06:00", "Sat,Sun"]
            affinity: none
            size_limit: 10 MB
            bridgeheads: {SE: C}
        servers:
          A: {site: NO, version: 5.5}
          B: {site: SE, version: 2000, settings: {Replication Always Interval: 1 h}}
          C: {site: SE, joins: later}
        folders:
          Projects/Archive: {replicas: [B], schedule: every 4 h}
          Projects: {contacts: [kim@fabrikam.test], priority: not urgent, resolve: last writer wins}
        """
    )
    assert (topology.organization, topology.domain) == ("Fabrikam & Söhne", "fabrikam.test")
    assert topology.start_at == parse_instant("2004-01-01T12:00Z")
    assert topology.sites == ("NO", "SE")
    (connector,) = topology.connectors
    assert (connector.name, connector.kind, connector.cost) == ("line", ConnectorKind.X400, 7)
    assert (connector.latency_us, connector.bandwidth, connector.affinity) == (1_500_000, 64_000, None)
    assert connector.size_limit == 10 * 1024 * 1024
    assert len(connector.schedule.slots) == 5 * 40 + 2 * 96 - 24
    assert connector.bridgeheads == ("A", "C")
    assert [server.version for server in topology.servers.values()] == ["5.5", "2000", "2003"]
    assert [server.settings.text("Replication Always Interval") for server in topology.servers.values()] == [
        "5 min",
        "1 h",
        "5 min",
    ]
    assert topology.servers_from_start() == ("A", "B")
    assert list(topology.folders) == ["Projects", "Projects/Archive"]
    projects, archive = topology.folders.values()
    assert projects.replicas == ("A", "B")
    assert (projects.priority, projects.priority.number) == (FolderPriority.NOT_URGENT, -1)
    assert projects.resolve.number == 1
    assert archive.schedule == Schedule.every(4)
    assert (archive.name, archive.parent, projects.parent) == ("Archive", "Projects", None)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.yaml")), ids=lambda path: path.stem)
def test_the_examples_are_sound_and_survive_the_round_trip(path: Path) -> None:
    """Each example loads, and what a run writes of it (YAML, or JSON on one line) is the same topology."""
    topology = load_topology(path)
    assert topology_from_text(topology.as_yaml()) == topology
    assert topology_from_text(topology.as_json()) == topology
    assert "\n" not in topology.as_json()
    assert topology.notices() == []
    assert pickle.loads(pickle.dumps(topology)) == topology


def test_the_examples_used_by_scenarios_exist() -> None:
    """Scenarios and demos name these files."""
    sizes = {path.stem: load_topology(path) for path in EXAMPLES.glob("*.yaml")}
    assert list(sizes["one-site"].servers) == ["A", "B", "C"]
    assert sizes["two-sites"].servers_in("NYC") == ("C", "D")
    assert (len(sizes["default"].servers), len(sizes["default"].sites)) == (5, 3)
    assert sizes["joins-later"].servers["E"].joins_later
    assert {server.version for topology in sizes.values() for server in topology.servers.values()} == {"2003"}


def test_awkward_names_survive_the_round_trip() -> None:
    """Texts that a YAML reader may take for another type are written so that they are read back unchanged."""
    text = """
    sites: [NO, "0o17", "1e3", "2003", "12.15", "on"]
    connectors: [{between: [NO, "0o17"]}, {between: [NO, "1e3"]}, {between: [NO, "2003"]},
                 {between: [NO, "12.15"]}, {between: [NO, "on"]}]
    servers: {A: {site: NO}, B: {site: "0o17"}, C: {site: "1e3"}, D: {site: "2003"}, E: {site: "12.15"},
              y: {site: "on"}}
    folders: {"null": {}, "true": {}, "12:15": {}, "- x": {}, "a: b": {}, "~": {}, "#1": {}, "日本語": {}, "=": {}}
    settings: {Maintenance Schedule: "12:15", Preferred Backfill Source: "y"}
    """
    topology = topology_from_text(text)
    assert topology_from_text(topology.as_yaml()) == topology
    assert topology_from_text(topology.as_json()) == topology
    assert topology.sites == ("NO", "0o17", "1e3", "2003", "12.15", "on")


def test_the_same_text_gives_the_same_topology_text() -> None:
    """The canonical form depends only on the file's meaning and order."""
    one = topology_from_text("servers: {B: , A: {version: 2003}}\n")
    other = topology_from_text("{servers: {B: {}, A: {joins: start}}, connectors: , folders: }")
    assert one.as_json() == other.as_json()


def test_a_store_has_its_address() -> None:
    """ML-1: the address of a store is `<server>-IS@<domain>`."""
    topology = topology_from_text("{domain: contoso.test, servers: {SEA-01: , B: }}")
    assert topology.address_of("SEA-01") == "SEA-01-IS@contoso.test"


def test_a_connector_takes_time_by_size() -> None:
    """A connector of 512 kbit/s takes a second for 64,000 bytes, rounded up to the microsecond."""
    (connector,) = load_topology(EXAMPLES / "two-sites.yaml").connectors
    assert connector.transfer_us(64_000) == 1_000_000
    assert connector.transfer_us(1) == 16
    (free,) = topology_from_text(SOUND).connectors
    assert free.transfer_us(10**9) == 0


def test_all_mistakes_are_reported_in_the_order_of_the_file() -> None:
    """Mistakes of form and mistakes between parts come in one go, each with its place and what would be right."""
    text = """domain: contoso..test
start: 2003-13-21
sites: [SEA, NYC, LON]
connectors:
  - {name: SEA-NYC, between: [SEA, NCY], cost: ten}
  - {between: [LON, LON], latency: 80, bandwith: 5 kbit/s}
  - {cost: 5}
servers:
  A: {site: SEA, version: "2001"}
  B: {settings: {Prefered Backfill Source: A, Replication Always Interval: soon}}
  C-: {site: NYC}
  D: {site: NYC, joins: maybe}
folders:
  Projects/Archive: {replicas: [A, Q], schedule: every 3 h}
  X: {contacts: [kim]}
"""
    found = problems_of(text)
    assert [line.split(": ")[0:2] for line in found] == [
        ["f.yaml:1:9", "domain"],
        ["f.yaml:2:8", "start"],
        ["f.yaml:5:36", "connectors[0].between[1]"],
        ["f.yaml:5:48", "connectors[0].cost"],
        ["f.yaml:6:15", "connectors[1].between"],
        ["f.yaml:6:36", "connectors[1].latency"],
        ["f.yaml:6:40", "connectors[1].bandwith"],
        ["f.yaml:7:5", "connectors[2]"],
        ["f.yaml:9:27", "servers.A.version"],
        ["f.yaml:10:3", "servers.B"],
        ["f.yaml:10:18", "servers.B.settings.Prefered Backfill Source"],
        ["f.yaml:10:76", "servers.B.settings.Replication Always Interval"],
        ["f.yaml:11:3", "servers.C-"],
        ["f.yaml:12:25", "servers.D.joins"],
        ["f.yaml:14:3", "folders.Projects/Archive"],
        ["f.yaml:14:36", "folders.Projects/Archive.replicas[1]"],
        ["f.yaml:14:50", "folders.Projects/Archive.schedule"],
        ["f.yaml:15:18", "folders.X.contacts[0]"],
    ]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (
            ("A: {site: SEA}", 'A: {site: SEA, version: "2001"}'),
            'f.yaml:6:27: servers.A.version: "2001" is not a version; one of "5.5", "2000", "2003", "2007"',
        ),
        (("A: {site: SEA}", "A: {site: SAE}"), 'servers.A.site: "SAE" is not a site; did you mean "SEA"?'),
        (
            ("A: {site: SEA}", "A: "),
            'servers.A: the server has no site, but the topology has several; add site: one of "SEA", "NYC"',
        ),
        (("A: {site: SEA}", "A: {sight: SEA}"), '"sight" is not a key here; did you mean "site"?'),
        (("A: {site: SEA}", "A: SEA"), '"SEA" is not a mapping'),
        (("A: {site: SEA}", "A: {site: SEA}\n  a: {site: SEA}"), 'server "a" is already there as "A"; give it another'),
        (("A: {site: SEA}", "A: {site: true}"), '"true" is not a text'),
        (("A: {site: SEA}", "A: {site: SEA, smtp_port: 70000}"), "servers.A.smtp_port: "),
        (
            ("A: {site: SEA}", "A: {site: SEA, smtp_port: 2525}\n  Z: {site: SEA, smtp_port: 2525}"),
            "servers.Z.smtp_port: port 2525 is that of server A already; choose another port",
        ),
        (
            ("A: {site: SEA}", "A: {site: SEA, settings: {Replication: maybe}}"),
            '"maybe" is neither on nor off; write 0 or 1',
        ),
        (("  A:", "  Lab:"), 'servers.Lab: "Lab" is not a name for a server; begin with a letter'),
        (("sites: [SEA, NYC]", "sites: [SEA, NYC, SEA]"), 'sites[2]: site "SEA" is named twice; name it once'),
        (("sites: [SEA, NYC]", "sites: [SEA, NYC]\ndomain: fabrikam"), "a domain such as fabrikam.test"),
        (("sites: [SEA, NYC]", "sites: []"), "sites: there are too few entries (0); write at least 1"),
        (("sites: [SEA, NYC]", "sites: SEA"), '"SEA" is not a list'),
        (("{between: [SEA, NYC]}", "{between: [SEA]}"), "between: there are too few entries (1); write at least 2"),
        (("{between: [SEA, NYC]}", "{between: [SEA, SEA]}"), "both ends are the same site"),
        (("{between: [SEA, NYC]}", "{between: [SEA, NYC], cost: 0}"), '"0" is too small; write at least 1'),
        (("{between: [SEA, NYC]}", "{between: [SEA, NYC], cost: 1.5}"), '"1.5" is not a whole number'),
        (("{between: [SEA, NYC]}", "{between: [SEA, NYC], cost: 101}"), '"101" is too large; write at most 100'),
        (("{between: [SEA, NYC]}", "{between: [SEA, NYC], affinity: 101}"), '"101" is too large; write at most 100'),
        (("{between: [SEA, NYC]}", "{between: [SEA, NYC], cost: 500, kind: direct}"), None),
        (("{between: [SEA, NYC]}", "{between: [SEA, NYC], affinity: 0}"), '"0" is not an affinity'),
        (("{between: [SEA, NYC]}", "{between: [SEA, NYC], latency: -5 s}"), '"-5 s" is out of range; a latency is'),
        (("{between: [SEA, NYC]}", "{between: [SEA, NYC], bandwidth: 0 bit/s}"), "bandwidth cannot be 0"),
        (
            ("{between: [SEA, NYC]}", "{between: [SEA, NYC], relay: mail.test:25}"),
            "connectors[0].relay: a connector of kind routing-group has no relay; write kind: smtp-relay",
        ),
        (
            ("{between: [SEA, NYC]}", "{between: [SEA, NYC], kind: smtp-relay, relay: mail.test}"),
            'connectors[0].relay: "mail.test" is not a host with a port; write a text such as 127.0.0.1:25',
        ),
        (("{between: [SEA, NYC]}", "{between: [SEA, NYC], kind: smtp-relay, relay: 25}"), "is not a host with a port"),
        (("{between: [SEA, NYC]}", '{between: [SEA, NYC], kind: smtp-relay, relay: "[::1]:25"}'), None),
        (("{between: [SEA, NYC]}", "{between: [SEA, NYC], bridgeheads: {SEA: B}}"), '"B" is not in SEA; one of "A"'),
        (("{between: [SEA, NYC]}", "{between: [SEA, NYC], bridgeheads: {LON: A}}"), "is not at an end"),
        (("{between: [SEA, NYC]}", "{between: [SEA, NYC], bridgeheads: {SEA: Q}}"), '"Q" is not a server'),
        (
            ("{between: [SEA, NYC]}", "{between: [SEA, NYC]}\n  - {between: [NYC, SEA], name: sea-nyc}"),
            'connector "sea-nyc" is already there as "SEA-NYC"',
        ),
        (
            ("  - {between: [SEA, NYC]}", "  []"),
            None,
        ),
        (("sites: [SEA, NYC]", "sites: [SEA, NYC, LON]\n"), None),
        (("[SEA, NYC]}", "[SEA, NYC]}\n  - {between: [SEA, LON]}"), '"LON" is not a site'),
        (("Projects:", "Projects/Archive:"), 'its parent "Projects" is not a folder'),
        (("Projects:", "Projects: {replicas: []}"), "replicas: there are too few entries (0); write at least 1"),
        (("Projects:", "Projects: {replicas: [A, A]}"), 'replica "A" is named twice'),
        (("Projects:", "Projects: {replicas: [a]}"), 'replicas[0]: "a" is not a server; did you mean "A"?'),
        (("Projects:", '"Projects/": '), "is not a folder path"),
        (
            ("Projects:", "projects:\n  Projects:"),
            'folders.Projects: folder "Projects" is already there as "projects"',
        ),
        (("Projects:", '"1-1": '), '"1-1" is the name of the hierarchy; another name'),
        (("Projects:", '" Projects": '), "is not a folder path"),
        (("Projects:", "/".join("abcdefghijklmnopq") + ":"), "17 folders deep; at most 16"),
        (("Projects:", "Projects: {priority: high}"), 'one of "not urgent", "normal", "urgent"'),
        (("Projects:", "Projects: {contacts: [a@b@c]}"), "is not a mail address"),
        (("Projects:", "Projects: {contacts: ['a\\r\\nb@c']}"), "is not a mail address"),
        (("servers:", "servers: {}\nservants:"), "servers: there are too few entries (0); write at least 1"),
    ],
)
def test_a_mistake_is_reported_with_what_would_be_right(change: tuple[str, str], problem: str | None) -> None:
    """Each kind of mistake has its own text; its mere consequences are not reported."""
    before, after = change
    assert before in SOUND
    text = SOUND.replace(before, after, 1)
    if problem is None:
        topology_from_text(text)
        return
    found = problems_of(text)
    assert problem in "\n".join(found)
    assert len(found) == (2 if "servants" in after else 1), found


def test_a_site_at_a_connector_needs_a_server() -> None:
    """Without a server a site has no bridgehead, so a connector cannot end there."""
    text = SOUND.replace("sites: [SEA, NYC]", "sites: [SEA, NYC, LON]").replace(
        "  - {between: [SEA, NYC]}", "  - {between: [SEA, NYC]}\n  - {between: [NYC, LON]}"
    )
    (problem,) = problems_of(text)
    assert 'site "LON" has no server' in problem


def test_a_replica_on_a_store_that_joins_later_is_refused() -> None:
    """RP-3: a new store knows nothing at first; replicas on it are added after it has joined."""
    (problem,) = problems_of("servers: {A: , E: {joins: later}}\nfolders: {P: {replicas: [A, E]}}\n")
    assert '"E" joins later' in problem
    (problem,) = problems_of("servers: {A: {joins: later}}")
    assert "all servers join later" in problem


def test_the_same_setting_under_two_names_is_refused() -> None:
    """A setting with two names can be given only once."""
    (problem,) = problems_of(
        "servers: {A: {settings: {Enable Replication Messages At Startup: 1,"
        " Enable Replication Messages On Startup: 0}}}"
    )
    assert "the same setting as" in problem


def test_a_clamped_setting_gives_a_notice() -> None:
    """SE-1: a value out of range is clamped with a notice; it is no mistake."""
    topology = topology_from_text("servers: {A: {settings: {Replication Folder Tree RMQ Timeout: 60}}}")
    assert topology.notices() == ["A: Replication Folder Tree RMQ Timeout: 1 min is below its range; 1 h is used"]


def test_sites_without_a_connector_give_a_notice() -> None:
    """RT-6: an administrator may remove the last connector between two sites, so a lab may begin so, too. It is no mistake, but
    a file says it. A site without servers needs no connector."""
    text = "sites: [SEA, NYC, LON, PAR]\nservers: {A: {site: SEA}, B: {site: NYC}, C: {site: LON}}\n"
    topology = topology_from_text(text + "connectors: [{between: [NYC, LON]}]\n")
    assert topology.notices() == ["no connector leads from SEA to NYC, LON: mail waits for one that is added"]
    assert topology_from_text("sites: [SEA, NYC]\nservers: {A: {site: SEA}}").notices() == []


@pytest.mark.parametrize("text", ["", "just words", "[A, B]", "5"])
def test_what_is_no_mapping_is_no_topology(text: str) -> None:
    """A file of another shape is one problem that shows the smallest valid file."""
    (problem,) = problems_of(text)
    assert "not a topology; write keys and values, at least servers" in problem


def test_a_file_without_servers_says_so() -> None:
    """`servers` is the only key without a default."""
    (problem,) = problems_of("organization: Contoso\n")
    assert problem == "f.yaml:1:1: the key servers is missing; write it, such as servers: {A: , B: }"


def test_the_report_of_mistakes_is_bounded() -> None:
    """A hostile file costs neither time nor memory."""
    names = ", ".join(f"Nonsense {number}: 1" for number in range(20_000))
    assert len(problems_of(f"{{servers: {{A: }}, settings: {{{names}}}}}")) == 200
    names = ", ".join(f"nonsense{number}: 1" for number in range(20_000))
    assert len(problems_of(f"{{servers: {{A: }}, {names}}}")) == 200


def test_limits_hold() -> None:
    """Counts of things have named limits."""
    many = ", ".join(f"S{number}: " for number in range(501))
    (problem,) = problems_of(f"servers: {{{many}}}")
    assert "at most 500" in problem


def test_a_file_is_read_with_its_name_and_encoding(tmp_path: Path) -> None:
    """Problems name the file as given; a byte order mark is no problem, another encoding is one."""
    path = tmp_path / "lab.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + "organization: Söhne\nservers: {A: }\n".encode())
    assert load_topology(str(path)).organization == "Söhne"
    path.write_bytes("servers:\n  A:\norganization: Söhne\n".encode("latin-1"))
    with pytest.raises(TopologyError, match="not UTF-8") as caught:
        load_topology(path)
    assert str(caught.value).startswith(f"{path}:3:1: ")
    path.write_bytes(b"#" * 2_000_000)
    with pytest.raises(TopologyError, match="larger than"):
        load_topology(path)


def test_sites_may_be_left_to_the_servers() -> None:
    """Without a list, the sites are those that servers name, in that order."""
    topology = topology_from_text(
        "servers: {A: {site: Oslo}, B: {site: Bergen}}\nconnectors: [{between: [Oslo, Bergen]}]\n"
    )
    assert isinstance(topology, Topology)
    assert topology.sites == ("Oslo", "Bergen")


@pytest.mark.parametrize(
    ("key", "entry", "most", "expected"),
    [
        ("connectors: [%s]", "{between: [SEA, NYC]}", 1000, "connectors: there are too many entries"),
        ("sites: [%s]", "S{n}", 200, "sites: there are too many entries"),
        ("folders: {%s}", "F{n}: ", 5000, "folders: there are too many entries"),
        (
            "folders: {Projects: {contacts: [%s]}}",
            "a@b.test",
            50,
            "folders.Projects.contacts: there are too many entries",
        ),
    ],
)
def test_too_many_entries_are_one_problem(key: str, entry: str, most: int, expected: str) -> None:
    """A list over its limit is a mistake of the file like others; the other checks leave the list out."""
    entries = ", ".join(entry.replace("{n}", str(n)) for n in range(most + 1))
    with pytest.raises(TopologyError) as refused:
        topology_from_text("servers: {A: {site: SEA}, B: {site: NYC}}\n" + key % entries)
    (line,) = refused.value.lines
    assert f": {expected}" in line and line.endswith(f"; write at most {most}")


def test_a_problem_is_one_line_whatever_the_keys_are() -> None:
    """A key may contain characters that end a line; the problem stays on one."""
    with pytest.raises(TopologyError) as refused:
        topology_from_text('servers: {A: , "B\\nC": , "D\\u2028E": }')
    assert len(str(refused.value).splitlines()) == len(refused.value.problems) == 2


@pytest.mark.parametrize("start", ["1969-12-31T23:59Z", "0001-01-01", "9000-01-01", "9999-12-31T23:59Z"])
def test_lab_time_begins_within_its_bounds(start: str) -> None:
    """A lab that began outside could write no date of its next events."""
    with pytest.raises(
        TopologyError, match=r"start: .* is out of range; lab time begins in one of the years 1970 to 8999"
    ):
        topology_from_text(f"start: {start}\nservers: {{A: }}\n")
