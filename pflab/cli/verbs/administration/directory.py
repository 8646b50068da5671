"""The verb `directory`: the directory objects of stores."""

from __future__ import annotations

from typing import Annotated, Any

from typer import Argument, Option

from node.views import DirectoryEntryView
from pflab.cli.actions import verb_with_actions
from pflab.cli.options import OnServer, RunOption
from pflab.cli.output import CommandError, Json, print_json, print_lines, print_result, view_json
from pflab.cli.running_lab import Lab, client_of
from pflab.cli.verbs.administration.policies import policy
from pflab.terms.verdict import ExitCode
from topology.problems import did_you_mean, quoted
from traces.labtime import format_instant

directory = verb_with_actions(
    """Show the directory objects of stores; delete stores and create them again; change the recipient policies.

    Without an action, the verb shows the objects. A store without an address can neither send nor receive replication mail.
    The recipient update service gives addresses to new stores.
    """
)


directory.add_typer(policy, name="policy")


@directory.command()
def show(
    store: Annotated[str | None, Argument(metavar="[SERVER]", help="Only the store of this server.")] = None,
    *,
    on: Annotated[
        str | None,
        Option("--on", "--node", "--server", help="The server whose directory is read; default: the first that runs."),
    ] = None,
    run: RunOption = None,
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """Print the directory objects of stores, with their mail addresses.

    Example: pflab directory show A
    """
    from pflab.cli.run_or_lab import chosen_reader, chosen_stores  # noqa: PLC0415 - the other actions need no run

    with chosen_reader(run, lab) as reader, reader.reading(chosen_stores(reader, on)[0]) as look:
        entries = look.directory()
    names = [entry.store for entry in entries]
    if store is not None and store not in names:
        raise CommandError(f"no store {quoted(store)} in the directory; {did_you_mean(store, names)}")
    matches = [entry for entry in entries if store in (None, entry.store)]
    if as_json:
        print_json([view_json(entry) for entry in matches])
    else:
        for entry in matches:
            print_lines(_entry_lines(entry))
    return ExitCode.GOOD


def _entry_lines(entry: DirectoryEntryView) -> list[str]:
    due = "" if entry.stamp_due_at is None else f"; the next is due at {format_instant(entry.stamp_due_at)}"
    return [
        f"Store {entry.store}",
        f"  {entry.dn}",
        f"  objectClass: {entry.object_class}",
        *(
            (f"  legacyExchangeDN: {entry.legacy_dn}", f"  msExchOwningPFTree: {entry.owning_tree or 'none'}")
            if entry.dn != entry.legacy_dn
            else ()
        ),
        f"  mail: {entry.mail or 'none: nothing can be sent to this store'}{due}",
        *(f"  proxyAddresses: {address}" for address in entry.proxy_addresses),
        *(["  There is a second object of this store."] if entry.doubled else []),
    ]


@directory.command()
def update(lab: Lab = None, as_json: Json = False) -> int:
    """Let the recipient update service give addresses to new stores now.

    Example: pflab directory update
    """
    with client_of(lab) as client:
        client.set_recipient_policy(at_once=True)
    return _report({"update": "now"}, "the recipient update service has run", as_json)


@directory.command()
def schedule(
    how_often: Annotated[
        str, Argument(metavar="SCHEDULE", help="How often: always, never, or a duration such as 1 h.")
    ],
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """Set how often the recipient update service gives addresses to new stores.

    Example: pflab directory schedule "1 h"
    """
    with client_of(lab) as client:
        client.set_recipient_policy(recipient_update=how_often)
    return _report({"recipient_update": how_often}, f"the recipient update service runs: {how_often}", as_json)


@directory.command()
def delete(
    store: Annotated[str, Argument(metavar="SERVER", help="The server whose store is deleted. It must be stopped.")],
    *,
    on: OnServer,
    force: Annotated[
        bool,
        Option(
            "--force", help="Delete the store even if it holds replicas. Changes that only this store has are lost."
        ),
    ] = False,
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """Delete the store of a stopped server permanently.

    Without --force, the lab refuses this while the store holds replicas; pflab replicas replace moves them. Servers that do
    not run learn of the deletion when they start.

    Example: pflab directory delete B --on A --force
    """
    with client_of(lab) as client:
        client.delete_store(store, on=on, force=force)
    return _report({"deleted": store, "on": on}, f"store {store} is deleted from the directory", as_json)


@directory.command()
def create(
    store: Annotated[str, Argument(metavar="SERVER", help="The server, whose store was deleted.")],
    *,
    lab: Lab = None,
    as_json: Json = False,
) -> int:
    """Create a new, empty store for a server whose store was deleted, and start it.

    The store holds no replicas until they are added to it.

    Example: pflab directory create B
    """
    with client_of(lab) as client:
        client.create_store(store)
    return _report({"created": store}, f"server {store} has a new store", as_json)


def _report(change: dict[str, Any], sentence: str, as_json: bool) -> int:
    return print_result(change, [sentence], as_json)
