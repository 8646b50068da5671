"""Verbs about settings: settings, analyze."""

from __future__ import annotations

from pathlib import Path
from textwrap import wrap
from typing import Annotated, Final

from typer import Argument, Option

from node.views import SettingView
from pflab.cli.actions import verb_with_actions
from pflab.cli.options import A_TOPOLOGY, RunOption, Servers
from pflab.cli.output import CommandError, Json, err, print_json, print_lines, print_result, view_json
from pflab.cli.running_lab import Lab, client_of
from pflab.terms.verdict import ExitCode
from topology.problems import ValueTextError
from topology.settings.catalogue import find_spec

ABSENT: Final = "absent"
"""The text with which users remove a value; settings without a value are shown with it too."""

settings = verb_with_actions(
    """Print the settings of the stores of a run or a running lab; change those of a running lab.

    Without an action, the verb prints the settings that differ from their default.
    """
)


@settings.command()
def show(
    setting: Annotated[
        str | None, Argument(metavar="[SETTING]", help="Only this setting; write its name in quotes.")
    ] = None,
    *,
    servers: Servers = None,
    every: Annotated[bool, Option("--all", help="Include settings that have their default.")] = False,
    run: RunOption = None,
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """Print the settings that differ from their default.

    With a setting, the verb also prints where Exchange keeps the setting, and what it does.

    Example: pflab settings show "MTA Hop Limit"
    """
    from pflab.cli.run_or_lab import chosen_reader, chosen_stores  # noqa: PLC0415 - the other action needs no run

    name = None if setting is None else _setting_named(setting)
    with chosen_reader(run, lab) as reader:
        stores = (
            [store for server in servers for store in chosen_stores(reader, server)]
            if servers
            else chosen_stores(reader, None)
        )
        views_of: dict[str, list[SettingView]] = {}
        for store in stores:
            with reader.reading(store) as look:
                views_of[store] = [view for view in look.setting_views() if _is_shown(view, name, every)]
    if as_json:
        print_json([{"server": store, **view_json(view)} for store, views in views_of.items() for view in views])
    elif name is not None:
        does = next(iter(views_of.values()))[0].does
        print_lines([name, *wrap(does, 80, initial_indent="  ", subsequent_indent="  ")])
        for store, (view,) in views_of.items():
            print_lines([f"Server {store}: {_value_text(view)}", f"  {view.place}"])
    else:
        for store, views in views_of.items():
            print_lines([f"Server {store}", *(f"  {view.name}: {_value_text(view)}" for view in views)])
            if not views:
                print_lines(["  Every setting has its default."])
    return ExitCode.GOOD


@settings.command()
def change(
    setting: Annotated[str, Argument(metavar="SETTING", help="The name of the setting, in quotes.")],
    value: Annotated[
        str, Argument(metavar="VALUE", help='The new value, such as "12 h". The word absent removes the value.')
    ],
    *,
    servers: Annotated[
        list[str],
        Option("--server", "--node", metavar="SERVER", help="A server that gets the value; can be repeated."),
    ],
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """Change a setting of servers in a running lab.

    Settings in the directory apply immediately. A server reads settings in the registry when it starts.

    Example: pflab settings change "Replication Send Status Timeout" "12 h" --server A
    """
    name = _setting_named(setting)
    changes: list[tuple[str, SettingView]] = []
    try:
        with client_of(lab) as client:
            for server in servers:
                for notice in client.configure(server, {name: None if value == ABSENT else value})["notices"]:
                    err.print(f"warning: server {server}: {notice}", markup=False)
                details = client.setting_details(server)
                changes += [(server, SettingView(**detail)) for detail in details if detail["name"] == name]
    finally:  # a server that refuses does not hide which servers have changed
        if as_json:
            print_json([{"server": server, **view_json(view)} for server, view in changes])
        else:
            print_lines([f"{server}  {name}: {_value_text(view)}" for server, view in changes])
    return ExitCode.GOOD


def _setting_named(text: str) -> str:
    """Return the real name of a setting. Raises CommandError if there is none."""
    try:
        return find_spec(text).name
    except ValueTextError as error:
        raise CommandError(f"pflab settings: {error}") from None


def _is_shown(view: SettingView, name: str | None, every: bool) -> bool:
    if name is not None:
        return view.name == name
    return every or view.value != view.default or view.next_value is not None


def _value_text(view: SettingView) -> str:
    if not view.effective:
        return "this version does not have the setting"
    default = "" if view.value == view.default else f" (default {view.default})"
    later = "" if view.next_value is None else f"; from the next start {view.next_value}"
    return f"{view.value}{default}{later}"


def analyze(
    topology: Annotated[
        Path | None,
        Argument(metavar="[TOPOLOGY]", help=f"{A_TOPOLOGY}; default: the lab or the run, as it is now."),
    ] = None,
    run: RunOption = None,
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """List the settings that differ from the defaults, and what they do: of a topology, a run or a running lab.

    The list also shows values that were out of range, settings without effect, and settings with a surprising effect. For a
    run or a lab, it shows the present settings, and registry keys with the GUID of each store.

    Example: pflab analyze two-sites
    """
    from pflab.cli.inputs.by_name import read_topology  # noqa: PLC0415 - the other verbs need no topology
    from pflab.cli.run_or_lab import chosen_reader, chosen_stores  # noqa: PLC0415 - as above
    from pflab.explain import settings_report  # noqa: PLC0415 - a store's code takes long to import

    if topology is not None:
        if run is not None or lab is not None:
            raise CommandError("pflab analyze: both a topology and a run or a lab are given; give only one")
        report = settings_report.analyze(read_topology(topology))
    else:
        stores = {}
        with chosen_reader(run, lab) as reader:
            for store in chosen_stores(reader, None):
                with reader.reading(store) as look:
                    stores[store] = settings_report.StoreNow(
                        look.setting_views(), look.folders(), look.sources(), look.directory()
                    )
            report = settings_report.analyze_stores(reader.topology, stores)
    return print_result(report.as_document(), report.lines(), as_json)
