"""The faces of a lab in a test, without a lab."""

from __future__ import annotations

import inspect
import smtplib

import pytest

from pflab.testing import AsyncLab, Lab, Mailbox, Organization, open_mailbox
from topology.file.load import topology_from_document

NOT_FOR_TESTS = {
    "ask",
    "read",
    "json",
    "text",
    "content",
    "surely",
    "close",
    "events",
    "keep_verdict",
    "renew",
    "begin_again",
}
"""What AsyncLab leaves out: raw requests, streams, and what a lab does for the plugin."""


def test_every_call_has_a_coroutine() -> None:
    """An AsyncLab has each call of a Lab, as a coroutine with the same parameters."""
    calls = {
        name for name, _ in inspect.getmembers(Lab, inspect.isfunction) if not name.startswith("_")
    } - NOT_FOR_TESTS
    assert calls == {name for name, _ in inspect.getmembers(AsyncLab, inspect.isfunction) if not name.startswith("_")}
    for name in calls:
        later, now = (inspect.signature(getattr(lab, name)).parameters for lab in (AsyncLab, Lab))
        assert later == now


def test_a_coroutine_in_another_event_loop_is_told_that_it_needs_asyncio() -> None:
    """Under trio no asyncio loop runs, so the first call of a lab says what it needs."""
    lab = AsyncLab(Lab("http://127.0.0.1:1"))
    with pytest.raises(RuntimeError, match=r"^async_lab needs asyncio, and this test runs in another event loop; "):
        lab.now().send(None)


def test_an_organization_is_a_topology() -> None:
    """What the builder makes is a valid topology, with the sites, servers and replicas that were given."""
    built = (
        Organization("Fabrikam", domain="fabrikam.test")
        .site("SEA")
        .server("A", version="2003", settings={"Replication Always Interval": "30 min"})
        .site("NYC")
        .server("B", version="5.5")
        .server("C", site="SEA")
        .connector("SEA", "NYC", cost=5)
        .folder("News", replicas=["A", "B"])
        .folder("Projects")
    )
    found = topology_from_document(built.as_document())
    assert {name: server.site for name, server in found.servers.items()} == {"A": "SEA", "B": "NYC", "C": "SEA"}
    assert found.folders["News"].replicas == ("A", "B")
    assert found.folders["Projects"].replicas == ("A", "B", "C")


def test_an_organization_without_sites_has_one() -> None:
    """Servers need no site."""
    found = topology_from_document(Organization().server("A").folder("News").as_document())
    assert len(found.sites) == 1


@pytest.mark.live
def test_a_mailbox_collects_mail() -> None:
    """A mailbox keeps each mail with its envelope."""
    with open_mailbox() as mailbox:
        assert isinstance(mailbox, Mailbox)
        host, _, port = mailbox.address.rpartition(":")
        with smtplib.SMTP(host, int(port)) as program:
            program.sendmail("kim@contoso.test", ["Lee@outside.test"], b"Subject: Hello\r\n\r\nText\r\n")
        (mail,) = mailbox.to("lee@outside.test")
    assert (mail.sender, mail.recipients, mail.message["Subject"]) == (
        "kim@contoso.test",
        ("Lee@outside.test",),
        "Hello",
    )
