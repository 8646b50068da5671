"""The verbs about the organization of a running lab: site, server, connector, topology."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final

from typer import Argument, Option

from pflab.cli.actions import verb_with_actions
from pflab.cli.output import CommandError, Json, out, page, print_json, print_result
from pflab.cli.property_options import names_in, with_properties
from pflab.cli.running_lab import Lab, client_of
from pflab.terms.printable import printable
from pflab.terms.verdict import ExitCode
from topology.changes import start_of
from topology.file.load import topology_from_document
from topology.problems import counted

Name = Annotated[str, Argument(metavar="NAME", help="The connector, such as SEA-NYC.")]
WITHOUT_STORE: Final = ("not started", "store deleted")
"""The statuses of a server without a store."""

_NUMBER: Final = re.compile(r"-?[0-9]{1,18}")

_PROPERTIES: Final = {
    "cost": Option(metavar="COST", help="Mail takes the path of least cost."),
    "latency": Option(metavar="DURATION", help="Lab time that a mail takes to cross, such as 2 s."),
    "bandwidth": Option(metavar="BANDWIDTH", help="Such as 64 kbit/s, or none."),
    "schedule": Option(help="When mail crosses: always, never, or times in UTC."),
    "affinity": Option(metavar="COST", help="The cost of referrals over it, or none."),
    "size_limit": Option(metavar="SIZE", help="The largest mail of a user, such as 1 MB, or none."),
    "senders": Option(metavar="ADDRESS,ADDRESS", help="Whose mail crosses; '' for everybody's."),
    "bridgeheads": Option(metavar="SERVER,SERVER", help="The server at each end, in the order of its sites."),
}
"""The option of each property of a connector."""

connector = verb_with_actions(
    """Show the connectors between the sites of a running lab; add, change and remove them.

    All running servers know a change at once, and the others when they start. Mail that waits takes the new routes.
    """
)


@connector.command()
def show(lab: Lab = None, as_json: Json = False) -> int:
    """Print the connectors as they are now.

    Example: pflab connector show
    """
    with client_of(lab) as client:
        connectors = client.json("GET", "/lab/connectors")
    if as_json:
        print_json(connectors)
        return ExitCode.GOOD
    if not connectors:
        out.print("There is no connector.")
        return ExitCode.GOOD
    from pflab.explain.fitted_table import FittedTable  # noqa: PLC0415 - only for text

    table = FittedTable("Connectors", ("Name", "Between", "Cost", "Schedule", "Bandwidth", "Latency", "Bridgeheads"))
    for entry in connectors:
        schedule = entry["schedule"]
        table.add_texts(
            entry["name"],
            " ".join(entry["between"]),
            str(entry["cost"]),
            schedule if isinstance(schedule, str) else "\n".join(schedule),
            entry.get("bandwidth", "no limit"),
            entry["latency"],
            " ".join(entry["bridgeheads"].values()),
        )
    page.print(table)
    return ExitCode.GOOD


@connector.command()
@with_properties(_PROPERTIES, lists=("senders", "bridgeheads"))
def add(
    name: Name,
    *,
    between: Annotated[str, Option("--between", metavar="SITE,SITE", help="The two sites that it connects.")],
    kind: Annotated[
        str | None, Option("--kind", help="routing-group (the default), x400, direct or smtp-relay.")
    ] = None,
    lab: Lab = None,
    as_json: Json = False,
    **properties: Any,
) -> int:
    """Add a connector between two sites.

    Example: pflab connector add SEA-LON --between SEA,LON --cost 5
    """
    sites = names_in(between)
    with client_of(lab) as client:
        client.add_connector(name, between=sites, kind=kind, **_fields(properties, sites))
    return _report("added", name, f"the connector {name} joins {' and '.join(sites)}", as_json)


@connector.command()
@with_properties(_PROPERTIES, lists=("senders", "bridgeheads"))
def change(name: Name, *, lab: Lab = None, as_json: Json = False, **properties: Any) -> int:
    """Change a connector. What is not given stays as it is.

    Example: pflab connector change SEA-NYC --cost 5
    """
    if not properties:
        raise CommandError("say what changes, such as --cost 5; pflab connector change --help lists the options")
    with client_of(lab) as client:
        sites = {entry["name"]: entry["between"] for entry in client.json("GET", "/lab/connectors")}
        client.change_connector(name, **_fields(properties, sites.get(name, [])))
    return _report("changed", name, f"the connector {name} is changed", as_json)


@connector.command()
def remove(name: Name, *, lab: Lab = None, as_json: Json = False) -> int:
    """Remove a connector. Mail that waits for it takes another way, or waits for one.

    Example: pflab connector remove SEA-NYC
    """
    with client_of(lab) as client:
        client.remove_connector(name)
    return _report("removed", name, f"the connector {name} is removed", as_json)


site = verb_with_actions(
    """Show the sites of a running lab; add and remove them.

    A new site has no server. Add a server to it, start it, and add a connector to another site.
    """
)

SiteName = Annotated[str, Argument(metavar="NAME", help="The site, such as LON.")]


@site.command("show")
def show_sites(lab: Lab = None, as_json: Json = False) -> int:
    """Print the sites as they are now, with their servers.

    Example: pflab site show
    """
    with client_of(lab) as client:
        present = client.json("GET", "/lab/topology")
    members = {
        name: [server for server, entry in present["servers"].items() if entry["site"] == name]
        for name in present["sites"]
    }
    lines = [f"{name}: {', '.join(servers) or 'no server'}" for name, servers in members.items()]
    return print_result(members, lines, as_json)


@site.command("add")
def add_site(name: SiteName, *, lab: Lab = None, as_json: Json = False) -> int:
    """Add a site without servers.

    Example: pflab site add LON
    """
    with client_of(lab) as client:
        client.add_site(name)
    return _report(
        "added", name, f"the site {name} is added; add a server: pflab server add NAME --site {name}", as_json
    )


@site.command("remove")
def remove_site(name: SiteName, *, lab: Lab = None, as_json: Json = False) -> int:
    """Remove a site without servers.

    Example: pflab site remove LON
    """
    with client_of(lab) as client:
        client.remove_site(name)
    return _report("removed", name, f"the site {name} is removed", as_json)


server = verb_with_actions(
    """Show the servers of a running lab; add and remove them.

    All running servers know a change at once, and the others when they start. The store of a new server joins when the server
    is started. A server can be removed after its store was deleted: pflab directory delete NAME --on SERVER.
    """
)


@server.command("show")
def show_servers(lab: Lab = None, as_json: Json = False) -> int:
    """Print the servers: site, version, status, and where they take mail.

    Example: pflab server show
    """
    with client_of(lab) as client:
        servers = client.lab()["servers"]
    if as_json:
        print_json(servers)
        return ExitCode.GOOD
    from pflab.explain.fitted_table import FittedTable  # noqa: PLC0415 - only for text

    table = FittedTable("Servers", ("Name", "Site", "Version", "Status", "SMTP"))
    for entry in servers:
        status = "its store was deleted" if entry["status"] == "store deleted" else entry["status"]
        table.add_texts(entry["name"], entry["site"], entry["version"], status, entry["smtp"] or "")
    page.print(table)
    return ExitCode.GOOD


@server.command("add")
def add_server(
    name: Annotated[str, Argument(metavar="NAME", help="The server, such as F.")],
    *,
    site: Annotated[
        str | None, Option("--site", metavar="SITE", help="Its site; not needed if the organization has one site only.")
    ] = None,
    version: Annotated[
        str | None, Option("--version", metavar="VERSION", help="5.5, 2000, 2003 (the default) or 2007.")
    ] = None,
    setting: Annotated[
        list[str] | None, Option("--set", metavar="NAME=VALUE", help="A setting of the server; may be repeated.")
    ] = None,
    smtp_port: Annotated[
        int | None, Option("--smtp-port", metavar="PORT", help="Where mail programs reach it; default: a free port.")
    ] = None,
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """Add a server to the organization. Its store joins when the server is started.

    Example: pflab server add F --site LON --version 2007
    """
    settings = dict(_setting(text) for text in setting or [])
    with client_of(lab) as client:
        client.add_server(name, site=site, version=version, settings=settings or None, smtp_port=smtp_port)
    sentence = f"the server {name} is in the organization; start it with: pflab fault start {name}"
    return _report("added", name, sentence, as_json)


@server.command("remove")
def remove_server(
    name: Annotated[str, Argument(metavar="NAME", help="The server, such as F.")],
    *,
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """Remove a server without a store: one that has never started, or whose store was deleted.

    A server of its name can be added again. Its first start creates a new store.

    Example: pflab server remove F
    """
    with client_of(lab) as client:
        client.remove_server(name)
    return _report("removed", name, f"the server {name} is removed", as_json)


def _setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise CommandError(f"--set {printable(text)} has no value; write NAME=VALUE")
    return name.strip(), value.strip()


def topology(
    output: Annotated[
        Path | None, Option("--output", "-o", metavar="FILE", help="Write it to this file; default: print it.")
    ] = None,
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """Print the organization of a running lab as it is now, as a topology file.

    It has the sites, servers and connectors with all changes since the lab began. A lab that starts with this file begins with
    the servers that have a store now; servers that have never started, or whose store was deleted, join later there. Folders
    and recipient policies are those with which the lab began, the folders on those of their servers that have a store.

    Example: pflab topology
    """
    with client_of(lab) as client:
        present = topology_from_document(client.json("GET", "/lab/topology"))
        statuses = {server["name"]: server["status"] for server in client.lab()["servers"]}
    began_so = start_of(present, {name for name, status in statuses.items() if status not in WITHOUT_STORE})
    if as_json:
        print_json(began_so.as_document())
        return ExitCode.GOOD
    if output is None:
        out.print(began_so.as_yaml(), markup=False, highlight=False, soft_wrap=True, end="")
        return ExitCode.GOOD
    try:
        output.write_text(began_so.as_yaml(), "utf-8")
    except OSError as error:
        raise CommandError(f"{output}: {error.strerror or error}") from None
    return print_result({"written": str(output)}, [f"the organization is in {output}"], as_json)


def _fields(properties: Mapping[str, Any], sites: list[str]) -> dict[str, Any]:
    """Return the properties as HTTP takes them: costs are numbers, and bridgeheads are named by their sites."""
    fields = dict(properties)
    for name in ("cost", "affinity"):
        if _NUMBER.fullmatch(str(fields.get(name))):
            fields[name] = int(fields[name])
    if isinstance(fields.get("cost"), str):
        raise CommandError(f"--cost {printable(fields['cost'])} is not a whole number; write digits, such as 5")
    if "bridgeheads" in fields and sites:
        fields["bridgeheads"] = _ends(sites, fields["bridgeheads"])
    return fields


def _ends(sites: list[str], servers: list[str]) -> dict[str, str]:
    if len(servers) != len(sites):
        raise CommandError(
            f"--bridgeheads names {counted(len(servers), 'server')}; write one for each site, as in --bridgeheads A,C"
        )
    return dict(zip(sites, servers, strict=True))


def _report(change: str, name: str, sentence: str, as_json: bool) -> int:
    return print_result({change: name}, [sentence], as_json)
