"""Settings: real names, units, ranges, versions (spec: SE-1)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topology.enums import ALL_VERSIONS, ServerVersion
from topology.problems import ValueTextError
from topology.schedule import Schedule
from topology.settings.catalogue import SPECS, find_spec
from topology.settings.spec import Kind, Place
from topology.settings.values import RawSetting, Settings, read_value, value_text
from traces.labtime import DAY_US, HOUR_US, MINUTE_US, SECOND_US

V2003 = ServerVersion.V2003


def settings(given: dict[str, RawSetting], version: ServerVersion = V2003) -> Settings:
    return Settings.read(version, given)


def test_the_documented_defaults() -> None:
    """The defaults are those of the sources: X section 2, and the table of time-outs in S1 and S3."""
    defaults = settings({})
    assert defaults.always_interval_us == 15 * MINUTE_US
    assert defaults.message_size_bytes == 307_200
    assert str(defaults.schedule) == "always"
    assert defaults.status_timeout_us == 24 * HOUR_US
    assert defaults.status_alignment_us == 12 * HOUR_US
    assert defaults.status_skew_us == 0
    assert defaults.outstanding_backfill_limit == 50
    assert defaults.preferred_backfill_source is None
    assert defaults.tree_rmq_timeout_us == 7 * DAY_US
    assert defaults.content_rmq_timeout_us == 4 * HOUR_US
    assert defaults.tombstone_age_us == 180 * DAY_US
    assert defaults.conflict_age_us is None
    assert defaults.replication_flags is None
    assert defaults.expiry_interval_us == DAY_US
    assert defaults.message_count_limit is None
    assert defaults.mta_maximum_retries is None
    assert defaults.mta_hop_limit == 30
    assert len(defaults.maintenance.slots) == 7 * 24
    assert (defaults.replication_enabled, defaults.repeat_status, defaults.new_guid_on_restore) == (True,) * 3
    assert not defaults.startup_messages_disabled
    assert not defaults.startup_messages_enabled
    assert not defaults.tombstones_by_age_alone
    assert defaults.not_default() == []
    assert defaults.notices == ()


def test_the_six_backfill_time_outs() -> None:
    """BF-2: first 6 h and 12 h, first retry 12 h and 24 h, later retries 24 h and 48 h, local and remote."""
    defaults = settings({})
    waits = {
        local: [defaults.backfill_wait_us(local=local, requests_sent=sent) // HOUR_US for sent in range(5)]
        for local in (True, False)
    }
    assert waits == {True: [6, 12, 24, 24, 24], False: [12, 24, 48, 48, 48]}


def test_each_backfill_time_out_is_set_on_its_own() -> None:
    """BF-2: all six are settings, and setting one leaves the others."""
    names = [spec.name for spec in SPECS if "Backfill Request Timeout" in spec.name]
    assert len(names) == 6
    for name in names:
        changed = settings({name: "7 h"})
        waits = [
            changed.backfill_wait_us(local=local, requests_sent=sent) for local in (True, False) for sent in range(3)
        ]
        assert waits.count(7 * HOUR_US) == 1
        assert [each.spec.name for each in changed.not_default()] == [name]


@pytest.mark.parametrize(
    ("name", "raw", "text"),
    [
        ("Replication Send Status Timeout", 3600, "1 h"),
        ("Replication Send Status Timeout", "3600", "1 h"),
        ("Replication Send Status Timeout", "90 min", "90 min"),
        ("Replication Send Status Timeout", "1 h 30 min", "90 min"),
        ("Replication Always Interval", 60, "1 h"),
        ("Replication Always Interval", "50 ms", "50 ms"),
        ("Replication Expiry", 86_400_000, "24 h"),
        ("Replication Folder Tombstone Age Limit", 30, "30 d"),
        ("Replication Message Size Limit", 100, "100 KB"),
        ("Replication Message Size Limit", "1 MB", "1 MB"),
        ("Replication Schedule", ["Mon-Fri 20:00-06:00"], "Mon-Fri 20:00-06:00"),
        ("Replication Schedule", "never", "never"),
        ("Repeat Status", 0, "0"),
        ("Repeat Status", "off", "0"),
        ("Repeat Status", True, "1"),
        ("Preferred Backfill Source", "SEA-01", "SEA-01"),
        ("Replication Flags", 4, "4"),
        ("Replication Flags", None, "absent"),
    ],
)
def test_a_value_is_given_in_the_registrys_unit_or_as_people_write_it(name: str, raw: RawSetting, text: str) -> None:
    """SE-1: a number is in the unit of the real value, a text can have its own unit, and null means absent."""
    assert settings({name: raw}).text(name) == text


@pytest.mark.parametrize(
    ("name", "raw", "text"),
    [
        ("Replication Folder Tree RMQ Timeout", 60, "1 h"),
        ("Replication Folder Tree RMQ Timeout", "90 d", "30 d"),
        ("Replication Always Interval", "2 d", "24 h"),
        ("Replication Outstanding Backfill Limit", 0, "1"),
        ("Replication Message Size Limit", 0, "1 KB"),
        ("Replication Message Size Limit", 10**30, "2097151 KB"),
        ("MTA Hop Limit", 1000, "255"),
    ],
)
def test_a_value_out_of_range_is_clamped_with_a_notice(name: str, raw: RawSetting, text: str) -> None:
    """SE-1: the nearer bound is used, and a notice names the setting, the value and the bound."""
    read = settings({name: raw})
    assert read.text(name) == text
    (notice,) = read.notices
    assert notice.startswith(f"{name}: ")
    assert notice.endswith(f"its range; {text} is used")


@pytest.mark.parametrize(
    ("name", "raw", "wrong"),
    [
        ("Replication Always Interval", -5, '"-5" is not a duration; write a whole number of min'),
        ("Replication Always Interval", "-5 min", '"-5 min" is not a duration; write a whole number of min'),
        ("Replication Message Size Limit", -1, '"-1" is not a size'),
        ("MTA Hop Limit", -1, '"-1" is not a count; write a whole number from 1 to 255'),
        ("MTA Hop Limit", 10**400, "a number of more than 40 digits is not a count"),
        ("MTA Hop Limit", "9" * 400, '..." is not a count'),
        ("Replication Always Interval", 10**5000, "a number of more than 40 digits is not a duration"),
        ("Replication Message Size Limit", -(10**5000), "a number of more than 40 digits is not a size"),
        ("Repeat Status", 10**5000, "a number of more than 40 digits is neither on nor off"),
        ("Preferred Backfill Source", "A" * 65, "is not a server name"),
        ("Preferred Backfill Source", "\x1b[2J", "is not a server name"),
        ("Replication Always Interval", float("inf"), '"inf" is not a duration'),
    ],
    ids=lambda each: "huge" if isinstance(each, int) and abs(each) > 10**99 else None,
)
def test_impossible_numbers_are_refused_in_one_line(name: str, raw: RawSetting, wrong: str) -> None:
    """SE-1: negative, infinite or very long numbers are mistakes, not values to be clamped."""
    with pytest.raises(ValueTextError) as caught:
        settings({name: raw})
    assert wrong in str(caught.value)
    assert len(str(caught.value)) < 250
    assert str(caught.value).isprintable()


def test_the_folder_count_limit_is_gone_since_2003() -> None:
    """OUT-2: before 2003 a hierarchy mail holds at most 20 folders, a setting from 1 to 1000; later any number."""
    limits = [settings({}, version).folder_count_limit for version in ALL_VERSIONS]
    assert limits == [20, 20, None, None]
    assert settings({"Replication Folder Count Limit": 5000}, ServerVersion.V2000).folder_count_limit == 1000


def test_a_setting_unknown_to_a_version_has_no_effect_and_gives_a_notice() -> None:
    """SE-1, BF-7: the preferred source is for 2003 and 2007; on other versions the value stays its default."""
    for version in ALL_VERSIONS:
        read = settings({"Preferred Backfill Source": "A"}, version)
        works = version in (ServerVersion.V2003, ServerVersion.V2007)
        assert read.preferred_backfill_source == ("A" if works else None)
        assert read.notices == (
            () if works else (f"Preferred Backfill Source has no effect on {version}, only on 2003, 2007",)
        )


def test_a_value_for_all_servers_gives_no_notice() -> None:
    """An organization with several versions is no mistake; a server's own value overrides the organization's."""
    organization: dict[str, RawSetting] = {"Preferred Backfill Source": "A", "Replication Always Interval": 5}
    old = Settings.read(ServerVersion.V2000, None, organization)
    assert (old.notices, old.preferred_backfill_source, old.always_interval_us) == ((), None, 5 * MINUTE_US)
    own = Settings.read(V2003, {"Replication Always Interval": 7}, organization)
    assert own.always_interval_us == 7 * MINUTE_US
    assert own.preferred_backfill_source == "A"
    reset = Settings.read(V2003, {"Preferred Backfill Source": None}, organization)
    assert reset.preferred_backfill_source is None


def test_names_are_found_in_any_case_and_under_either_name() -> None:
    """SE-1: registry names know no case; "At Startup" (X) and "On Startup" (S2) are one setting."""
    assert find_spec("replication FLAGS").name == "Replication Flags"
    for name in ("Enable Replication Messages At Startup", "Enable Replication Messages On Startup"):
        assert settings({name: 1}).startup_messages_enabled


def test_an_unknown_name_is_an_error_that_helps() -> None:
    """A misspelt setting is an error that names the most similar setting."""
    with pytest.raises(ValueError, match='did you mean "Preferred Backfill Source"'):
        settings({"Prefered Backfil Source": "A"})


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        ("Replication Always Interval", "soon"),
        ("Replication Always Interval", True),
        ("Replication Always Interval", 1.5),
        ("Replication Always Interval", "300 KB"),
        ("Replication Message Size Limit", "6 h"),
        ("Replication Outstanding Backfill Limit", "6 h"),
        ("Repeat Status", 2),
        ("Preferred Backfill Source", 5),
        ("Preferred Backfill Source", ""),
        ("Replication Schedule", 15),
        ("Replication Schedule", ["Funday"]),
    ],
)
def test_a_value_of_another_kind_is_an_error(name: str, raw: RawSetting) -> None:
    """A value of the wrong kind is refused, not converted."""
    with pytest.raises(ValueError, match="; "):
        settings({name: raw})


def test_settings_change_one_at_a_time() -> None:
    """Changing a value leaves the others as they were, and null makes it absent again."""
    before = settings({"Replication Always Interval": 5, "Preferred Backfill Source": "A"})
    after = before.changed({"preferred backfill source": "B", "Replication Folder Tree RMQ Timeout": 1})
    assert after.preferred_backfill_source == "B"
    assert after.always_interval_us == 5 * MINUTE_US
    assert len(after.notices) == 1
    assert after.changed({"Preferred Backfill Source": None}).preferred_backfill_source is None
    assert before.preferred_backfill_source == "A"


def test_the_analyzer_sees_what_is_not_the_default() -> None:
    """S3's check: a preferred source is listed with its default and what it does."""
    (found,) = settings({"Preferred Backfill Source": "A", "Replication Always Interval": 15}).not_default()
    assert (found.spec.name, found.value, found.default) == ("Preferred Backfill Source", "A", "absent")
    assert found.spec.does


def test_every_setting_is_documented() -> None:
    """SE-1: each has a real name, a place on each version, what it does, and a default within its range."""
    assert len({spec.name.casefold() for spec in SPECS}) == len(SPECS)
    for spec in SPECS:
        assert spec.does
        assert spec.versions
        assert all(spec.place_on(version) for version in ALL_VERSIONS)
        if isinstance(spec.default, int) and spec.kind is not Kind.SWITCH:
            assert spec.low <= spec.default <= spec.high, spec.name


def test_places_follow_the_version() -> None:
    """BF-7, X: the preferred source moved to the directory in 2007; 5.5 has a key of its own."""
    source, flags = find_spec("Preferred Backfill Source"), find_spec("Replication Folder Count Limit")
    assert (source.place_on(V2003), source.place_on(ServerVersion.V2007)) == (Place.REGISTRY, Place.DIRECTORY)
    assert flags.place_on(ServerVersion.V5_5) is Place.REGISTRY_5_5
    assert flags.place_on(ServerVersion.V2000) is Place.REGISTRY


def test_mail_settings_go_by_priority() -> None:
    """RT-2: retry interval and expiry are settings per priority."""
    read = settings({"MTA Retry Interval Urgent": "1 min", "MTA Expiry Not Urgent": "4 d"})
    assert [read.mta_retry_us(priority) for priority in (-1, 0, 1)] == [600 * SECOND_US, 600 * SECOND_US, MINUTE_US]
    assert [read.mta_expiry_us(priority) for priority in (-1, 0, 1)] == [4 * DAY_US, 2 * DAY_US, 2 * DAY_US]


@pytest.mark.parametrize("raw", ["relay.test", "relay.test:0", "relay.test:65536", ":25", "a b:25", 25, "-x:25", ""])
def test_a_smart_host_is_a_host_with_a_port(raw: RawSetting) -> None:
    """ML-5: anything else is refused, and the text says what would be right."""
    assert settings({"Smart Host": "[::1]:25"}).smart_host == "[::1]:25"
    with pytest.raises(ValueTextError, match="not a host with a port"):
        settings({"Smart Host": raw})


def test_versions_order_by_age() -> None:
    """5.5 is the oldest, although as text it would sort last."""
    assert sorted(ALL_VERSIONS, key=lambda version: version.rank) == ["5.5", "2000", "2003", "2007"]


@given(st.sampled_from([spec for spec in SPECS if spec.kind is not Kind.SERVER]), st.integers(0, 10**12))
def test_the_text_of_a_value_is_read_back(spec: object, number: int) -> None:
    """The output of `text` is read back as the same value, for every possible value."""
    spec = find_spec(getattr(spec, "name", ""))
    raw: RawSetting = number
    if spec.kind is Kind.SWITCH:
        raw = number % 2
    if spec.kind is Kind.HOST:
        raw = f"relay.test:{number % 65_535 + 1}"
    if spec.kind is Kind.LEVEL:
        raw = (0, 1, 3, 5)[number % 4]
    if spec.kind is Kind.SCHEDULE:
        raw = str(Schedule.of_slots([number % 672, 7]))
    value, _ = read_value(spec, raw)
    again, notice = read_value(spec, value_text(spec, value))
    assert again == value
    assert notice is None


def test_all_values_as_text_are_what_a_run_writes_down() -> None:
    """`as_texts` has every setting once, so that a trace holds the run's settings."""
    texts = settings({"Preferred Backfill Source": "A"}).as_texts()
    assert list(texts) == [spec.name for spec in SPECS]
    assert texts["Preferred Backfill Source"] == "A"
    assert texts["Replication Message Size Limit"] == "300 KB"


@pytest.mark.parametrize(
    ("version", "raw", "level", "number"),
    [
        ("2003", "Maximum", "Maximum", 5),
        ("2003", "expert", "Maximum", 5),
        ("5.5", "Lowest", "None", 0),
        ("2000", 5, "Maximum", 5),
        ("2003", "1", "Minimum", 1),
        ("2007", None, "Expert", 7),
        ("2007", "Maximum", "Expert", 7),
        ("2007", 5, "High", 5),
        ("2007", "minimum", "Low", 1),
        ("2007", "None", "Lowest", 0),
    ],
)
def test_every_server_takes_the_levels_of_every_version(version: str, raw: RawSetting, level: str, number: int) -> None:
    """A diagnostics logging level is kept under the version's own name; a number is what the registry keeps (EV-1)."""
    name = "Diagnostics Logging Replication DS Updates"
    found = Settings.read(ServerVersion(version), {name: raw})
    assert found.text(name) == level
    assert found.logging_level("Replication AD Updates") == number
    changed = [] if level in {"Maximum", "Expert"} else [find_spec(name).name]
    assert [each.spec.name for each in found.not_default()] == changed


@pytest.mark.parametrize("raw", [2, True, 5.0, "Loud", "", pytest.param(10**5000, id="huge")])
def test_what_is_no_level_is_refused_with_the_levels_of_the_version(raw: RawSetting) -> None:
    """The error names the levels that this version has."""
    name = "Diagnostics Logging Replication Errors"
    for version, levels in (("2003", "None, Minimum, Medium, Maximum"), ("2007", "Lowest, Low, Medium, High, Expert")):
        with pytest.raises(ValueTextError, match=f"is not a diagnostics logging level.*{levels}"):
            Settings.read(ServerVersion(version), {name: raw})
