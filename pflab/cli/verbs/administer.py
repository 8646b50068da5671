"""Verbs of administrators: content, settings, directory, analyze."""

from __future__ import annotations

from pathlib import Path
from textwrap import wrap
from typing import Annotated, Any, Final

from typer import Argument, Option

from node.views import DirectoryEntryView, SettingView
from pflab.cli.options import A_TOPOLOGY, RunOption, Servers
from pflab.cli.output import CommandError, Json, changed_folder_lines, err, print_json, print_lines, view_json
from pflab.cli.running_lab import Lab, client_of
from pflab.client import Client
from pflab.terms.verdict import ExitCode
from topology.problems import ValueTextError, counted, did_you_mean, quoted
from topology.settings.catalogue import find_spec
from traces.labtime import format_instant

SUSPENDED: Final = "Content Replication Suspended"

ABSENT: Final = "absent"
"""The text with which users remove a value; settings without a value are shown with it too."""

_ACTS: Final = {"suspend": 1, "resume": 0, "show": None}
"""The value that each action sets on every server; None sets nothing."""


def content(
    act: Annotated[str, Argument(metavar="[suspend|resume|show]", help="The action; default: show.")] = "show",
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """Suspend or resume the replication of content on all servers of a running lab.

    Status mails and the hierarchy still replicate. Servers of version 5.5 and 2000 do not have this setting and
    continue to send content.

    Example: pflab content suspend
    """
    if act not in _ACTS:
        raise CommandError(f"pflab content {act}: no such action; {did_you_mean(act, list(_ACTS))}")
    with client_of(lab) as client:
        servers = client.lab()["servers"]
        running = [each for each in servers if each["status"] == "running"]
        if (value := _ACTS[act]) is not None:
            for each in running:
                client.configure(each["name"], {SUSPENDED: value})
        found = [{"server": each["name"], "content": _content_of(client, each)} for each in running]
    if as_json:
        print_json(found)
    else:
        print_lines([f"{each['server']}  {each['content']}" for each in found])
    away = [each["name"] for each in servers if each not in running]
    if away and act != "show":
        raise CommandError(
            f"these servers do not run, so nothing changed there: {', '.join(away)}; "
            f"start them and repeat pflab content {act}"
        )
    return ExitCode.GOOD


def _content_of(client: Client, server: dict[str, Any]) -> str:
    if server["version"] not in map(str, find_spec(SUSPENDED).versions):  # spec: RP-5
        return "replicates; this version cannot suspend content"
    return "replicates" if client.settings(server["name"])["settings"][SUSPENDED] == "0" else "suspended"


def resend(
    folder: Annotated[str, Argument(help="The folder's path, or 1-1 for the hierarchy.")],
    *,
    days: Annotated[int, Option(min=1, help="Send the changes of the last so many days.")],
    from_: Annotated[list[str], Option("--from", help="A server that sends its changes; can be repeated.")],
    to: Annotated[
        list[str] | None, Option("--to", help="A server that gets them; can be repeated; default: all other holders.")
    ] = None,
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """Send the recent changes of a folder, or of the hierarchy, again from chosen servers to chosen servers.

    Exchange System Manager had Send Contents and Send Hierarchy for this. The mails leave at once, and the receivers
    ignore what they have. Under the schedule never, changes that were not sent yet go too. Servers of version 5.5 and
    2000 refuse.

    Example: pflab resend Projects --days 7 --from A --to B
    """
    found: list[dict[str, Any]] = []
    try:
        with client_of(lab) as client:
            found += ({"from": each, **client.send_again(each, folder, days=days, to=to)} for each in from_)
    finally:  # a server that refuses does not hide which servers have sent
        if as_json:
            print_json(found)
        else:
            print_lines([_resent_line(each, days) for each in found])
    return ExitCode.GOOD


def _resent_line(done: dict[str, Any], days: int) -> str:
    if not done["numbers"]:
        return (
            f"{done['from']} has no changes of {done['folder']} of the last {counted(days, 'day')}, so it sends nothing"
        )
    return f"{done['from']} sends {done['numbers']} of {done['folder']} to {', '.join(done['to'])}"


def replicas(
    act: Annotated[str, Argument(metavar="add|remove|replace", help="The action.")],
    folder: Annotated[str, Argument(help="The path of a folder, or 1-1 for all folders.")],
    *,
    replica: Annotated[
        list[str],
        Option(metavar="SERVER", help="A server to add, to remove or to replace; can be repeated for the first two."),
    ],
    by: Annotated[str | None, Option(metavar="SERVER", help="For replace: the server that takes its place.")] = None,
    on: Annotated[str, Option("--on", "--node", "--server", help="The server that makes the change.")],
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """Add, remove or replace replicas of a folder and all its subfolders in a running lab.

    replace 1-1 moves all replicas of a server to another: the old server keeps its data until another holder has all of
    it. remove leaves a folder as it is if no replica would be left. For one folder without its subfolders, use pflab
    folder change.

    Example: pflab replicas replace 1-1 --replica B --by A --on A
    """
    if act not in {"add", "remove", "replace"}:
        raise CommandError(f"pflab replicas {act}: no such action; {did_you_mean(act, ['add', 'remove', 'replace'])}")
    if (act == "replace") != (by is not None) or (act == "replace" and len(replica) != 1):
        raise CommandError(
            f"pflab replicas {act}: give --replica and --by to replace a server, and --by for nothing else"
        )
    what: dict[str, Any] = {"replace": replica[0], "by": by} if act == "replace" else {act: replica}
    with client_of(lab) as client:
        done = client.change_replicas(on, folder, **what)
    if as_json:
        print_json(done)
    else:
        print_lines(changed_folder_lines(done))
    return ExitCode.GOOD


def synchronize(
    folder: Annotated[str, Argument(help="The folder's path, or 1-1 for the hierarchy.")],
    servers: Annotated[
        list[str], Option("--server", "--node", "--on", metavar="SERVER", help="The server that asks; can be repeated.")
    ],
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """Make servers request the status of a folder, or of the hierarchy, from all other holders now.

    Exchange System Manager had Synchronize Content and Synchronize Hierarchy for this; the Shell of 2007 had
    Update-PublicFolder and Update-PublicFolderHierarchy. A server that learns of missing changes requests them after the
    backfill time-out. Servers of version 5.5 and 2000 refuse.

    Example: pflab synchronize Projects --server B
    """
    found: list[dict[str, Any]] = []
    try:
        with client_of(lab) as client:
            found += ({"server": each, "asked": client.synchronize(each, folder)["asked"]} for each in servers)
    finally:
        if as_json:
            print_json(found)
        else:
            print_lines([f"{each['server']} asks {', '.join(each['asked'])} about {folder}" for each in found])
    return ExitCode.GOOD


def settings(
    act: Annotated[str, Argument(metavar="[show|change]", help="The action; default: show.")] = "show",
    setting: Annotated[str | None, Argument(metavar="[SETTING]", help="The name of one setting, in quotes.")] = None,
    value: Annotated[
        str | None,
        Argument(metavar="[VALUE]", help='For change: the new value, such as "12 h"; absent removes the value.'),
    ] = None,
    *,
    servers: Servers = None,
    every: Annotated[bool, Option("--all", help="For show: include settings that have their default.")] = False,
    run: RunOption = None,
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """Print the settings of the stores of a run or a running lab; change those of a running lab.

    show prints the settings that differ from the default. show SETTING also prints where Exchange keeps the setting, and
    what it does. Servers read values in the registry when they start, and values in the directory at once.

    Example: pflab settings change "Replication Send Status Timeout" "12 h" --server A
    """
    if act not in {"show", "change"}:
        raise CommandError(f"pflab settings {act}: no such action; {did_you_mean(act, ['show', 'change'])}")
    if act == "change":
        if setting is None or value is None or not servers:
            raise CommandError(
                'pflab settings change: give a setting, a value and a server: "MTA Hop Limit" 30 --server A'
            )
        if run is not None:
            raise CommandError("pflab settings change: needs a running lab; a run folder cannot be changed")
        return _change_setting(setting, value, servers, lab, as_json=as_json)
    if value is not None:
        raise CommandError("pflab settings show: takes no value; use pflab settings change")
    from pflab.cli.run_or_lab import chosen_reader, chosen_stores  # noqa: PLC0415 - the other verbs need no run

    name = None if setting is None else _setting_named(setting)
    with chosen_reader(run, lab) as reader:
        wanted = (
            [each for server in servers for each in chosen_stores(reader, server)]
            if servers
            else chosen_stores(reader, None)
        )
        found: dict[str, list[SettingView]] = {}
        for store in wanted:
            with reader.reading(store) as look:
                found[store] = [each for each in look.setting_views() if _is_shown(each, name, every)]
    if as_json:
        print_json([{"server": store, **view_json(each)} for store, views in found.items() for each in views])
    elif name is not None:
        does = next(iter(found.values()))[0].does
        print_lines([name, *wrap(does, 80, initial_indent="  ", subsequent_indent="  ")])
        for store, (view,) in found.items():
            print_lines([f"Server {store}: {_value_text(view)}", f"  {view.place}"])
    else:
        for store, views in found.items():
            print_lines([f"Server {store}", *(f"  {each.name}: {_value_text(each)}" for each in views)])
            if not views:
                print_lines(["  Every setting has its default."])
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


def _change_setting(setting: str, value: str, servers: list[str], lab: str | None, *, as_json: bool) -> int:
    name = _setting_named(setting)
    found: list[tuple[str, SettingView]] = []
    try:
        with client_of(lab) as client:
            for server in servers:
                for notice in client.configure(server, {name: None if value == ABSENT else value})["notices"]:
                    err.print(f"warning: server {server}: {notice}", markup=False)
                details = client.setting_details(server)
                found += [(server, SettingView(**each)) for each in details if each["name"] == name]
    finally:  # a server that refuses does not hide which servers have changed
        if as_json:
            print_json([{"server": server, **view_json(view)} for server, view in found])
        else:
            print_lines([f"{server}  {name}: {_value_text(view)}" for server, view in found])
    return ExitCode.GOOD


_DIRECTORY_ACTS: Final = ("show", "update", "schedule", "policy", "delete")


def directory(
    act: Annotated[
        str, Argument(metavar="[show|update|schedule|policy|delete]", help="The action; default: show.")
    ] = "show",
    what: Annotated[
        str | None,
        Argument(
            metavar="[WHAT]",
            help="For show and delete: a server. For schedule: always, never, or a duration such as 1 h. For policy: a "
            "mail domain.",
        ),
    ] = None,
    *,
    on: Annotated[
        str | None,
        Option("--on", "--node", "--server", help="For show: the server that reads; for delete: that deletes."),
    ] = None,
    force: Annotated[
        bool,
        Option(
            "--force", help="Delete the store even if it holds replicas. Changes that only this store had are lost."
        ),
    ] = False,
    run: RunOption = None,
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """Show the directory objects of stores with their mail addresses; delete stores, change the recipient policy.

    A store without an address can neither send nor receive replication mail. schedule says how often the recipient update
    service gives addresses to new stores, and update lets it run now. policy changes the mail domain of all addresses.

    delete deletes a stopped store permanently. The lab refuses this while the store holds replicas: move the replicas first,
    or use --force. Servers that do not run learn of the deletion when they start.

    Example: pflab directory show A
    """
    if act not in _DIRECTORY_ACTS:
        raise CommandError(f"pflab directory {act}: no such action; {did_you_mean(act, list(_DIRECTORY_ACTS))}")
    if act == "show":
        return _show_directory(what, on, run, lab, as_json=as_json)
    if run is not None:
        raise CommandError(f"pflab directory {act}: needs a running lab; a run folder cannot be changed")
    if act != "update" and what is None:
        wanted = {"schedule": "always, never or for example 1 h", "policy": "a mail domain", "delete": "a server"}[act]
        raise CommandError(f"pflab directory {act}: give {wanted}")
    with client_of(lab) as client:
        if act == "delete":
            if on is None:
                raise CommandError("pflab directory delete: give the server that makes the deletion, such as --on A")
            client.delete_store(what or "", on=on, force=force)
            done, said = {"deleted": what, "on": on}, f"store {what} is deleted from the directory"
        elif act == "update":
            client.set_recipient_policy(at_once=True)
            done, said = {"update": "now"}, "the recipient update service has run"
        elif act == "schedule":
            client.set_recipient_policy(recipient_update=what)
            done, said = {"recipient_update": what}, f"the recipient update service runs: {what}"
        else:
            client.set_recipient_policy(domain=what)
            done, said = {"domain": what}, f"the recipient policy gives addresses of the domain {what}"
    if as_json:
        print_json(done)
    else:
        print_lines([said])
    return ExitCode.GOOD


def _show_directory(store: str | None, on: str | None, run: Path | None, lab: str | None, *, as_json: bool) -> int:
    from pflab.cli.run_or_lab import chosen_reader, chosen_stores  # noqa: PLC0415 - the other verbs need no run

    with chosen_reader(run, lab) as reader:
        reading = chosen_stores(reader, on)[0]
        with reader.reading(reading) as look:
            found = look.directory()
    names = [each.store for each in found]
    if store is not None and store not in names:
        raise CommandError(f"no store {quoted(store)} in the directory; {did_you_mean(store, names)}")
    shown = [each for each in found if store in (None, each.store)]
    if as_json:
        print_json([view_json(each) for each in shown])
    else:
        for each in shown:
            print_lines(_entry_lines(each))
    return ExitCode.GOOD


def _entry_lines(entry: DirectoryEntryView) -> list[str]:
    due = "" if entry.stamp_due_at is None else f"; the next is due at {format_instant(entry.stamp_due_at)}"
    return [
        f"Store {entry.store}",
        f"  {entry.dn}",
        f"  mail: {entry.mail or 'none: nothing can be sent to this store'}{due}",
        *(f"  proxyAddresses: {each}" for each in entry.proxy_addresses),
    ]


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
        found = settings_report.analyze(read_topology(topology))
    else:
        stores = {}
        with chosen_reader(run, lab) as reader:
            for store in chosen_stores(reader, None):
                with reader.reading(store) as look:
                    stores[store] = settings_report.StoreNow(
                        look.setting_views(), look.folders(), look.sources(), look.directory()
                    )
            found = settings_report.analyze_stores(reader.topology, stores)
    if as_json:
        print_json(found.as_document())
    else:
        print_lines(found.lines())
    return ExitCode.GOOD
