"""The actions of the verb `directory policy`: the recipient policies of a running lab."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final

from typer import Argument, Option

from pflab.cli.actions import verb_with_actions
from pflab.cli.output import CommandError, Json, page, print_json, print_result
from pflab.cli.property_options import with_properties
from pflab.cli.running_lab import Lab, client_of
from pflab.terms.printable import printable
from pflab.terms.verdict import ExitCode

Name = Annotated[str, Argument(metavar="NAME", help="The policy, such as London.")]

_PROPERTIES: Final = {
    "domain": Option(metavar="DOMAIN", help="The mail domain of the addresses, such as fabrikam.test."),
    "sites": Option(metavar="SITE,SITE", help="It applies only to stores in these sites."),
    "servers": Option(metavar="SERVER,SERVER", help="It applies only to the stores of these servers."),
    "versions": Option(metavar="VERSION,VERSION", help="It applies only to stores of these versions."),
    "priority": Option(metavar="NUMBER", help="1 is the highest; by default just above the Default Policy."),
}
"""The option of each property of a policy."""

_FILTER: Final = ("sites", "servers", "versions")

policy = verb_with_actions(
    """Show the recipient policies of a running lab; add, change and remove them.

    The first policy that applies to a store gives it its address. The Default Policy applies to every store, as the last one.
    Stores get their new addresses when the recipient update service runs; their old addresses stay as secondary ones.
    """
)


@policy.command("list")
def list_policies(lab: Lab = None, as_json: Json = False) -> int:
    """Print the recipient policies in the order of their priority, and how often the recipient update service runs.

    Example: pflab directory policy list
    """
    with client_of(lab) as client:
        policies, service = client.recipient_policies(), client.recipient_policy()["recipient_update"]
    if as_json:
        print_json({"recipient_update": service, "policies": policies})
        return ExitCode.GOOD
    from pflab.explain.fitted_table import FittedTable  # noqa: PLC0415 - only for text

    table = FittedTable("Recipient policies", ("Priority", "Name", "Addresses of", "Applies to"))
    for entry in policies:
        parts = [f"{part} {', '.join(names)}" for part, names in (entry["filter"] or {}).items()]
        table.add_texts(str(entry["priority"]), entry["name"], entry["domain"], "; ".join(parts) or "every store")
    page.print(table)
    return print_result({}, [f"The recipient update service runs: {service}"], as_json=False)


@policy.command()
@with_properties(_PROPERTIES, lists=_FILTER)
def add(name: Name, *, lab: Lab = None, as_json: Json = False, **properties: Any) -> int:
    """Add a recipient policy. It needs a domain, and at least one of --sites, --servers and --versions.

    Example: pflab directory policy add London --domain fabrikam.test --sites LON
    """
    with client_of(lab) as client:
        client.add_policy(name, **_fields(properties))
    return print_result({"added": name}, [f"the recipient policy {name} is added"], as_json)


@policy.command()
@with_properties(_PROPERTIES, lists=_FILTER)
def change(name: Name, *, lab: Lab = None, as_json: Json = False, **properties: Any) -> int:
    """Change a recipient policy. What is not given stays as it is; a new filter replaces the old one as a whole.

    The Default Policy can only get another domain.

    Example: pflab directory policy change "Default Policy" --domain fabrikam.test
    """
    if not properties:
        raise CommandError(
            "say what changes, such as --priority 1; pflab directory policy change --help lists the options"
        )
    with client_of(lab) as client:
        client.change_policy(name, **_fields(properties))
    return print_result({"changed": name}, [f"the recipient policy {name} is changed"], as_json)


@policy.command()
def remove(name: Name, *, lab: Lab = None, as_json: Json = False) -> int:
    """Remove a recipient policy. Its stores get the addresses of the next policy that applies to them.

    Example: pflab directory policy remove London
    """
    with client_of(lab) as client:
        client.remove_policy(name)
    return print_result({"removed": name}, [f"the recipient policy {name} is removed"], as_json)


def _fields(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the properties as HTTP takes them: the priority is a number, and the filter is one property."""
    fields = {name: value for name, value in properties.items() if name not in _FILTER}
    filter_ = {part: properties[part] for part in _FILTER if part in properties}
    if filter_:
        fields["filter"] = filter_
    if "priority" in fields:
        if not fields["priority"].isdecimal():
            raise CommandError(
                f"--priority {printable(fields['priority'])} is not a priority; write a number such as 1"
            )
        fields["priority"] = int(fields["priority"])
    return fields
