"""SMTP between servers, with the live driver and the simulator: authentication, body encodings, failing
verbs, frozen queues."""

from __future__ import annotations

from pathlib import Path

import pytest

from pflab.drivers.live import LiveLab
from pflab.drivers.processes import ProcessLab
from pflab.errors import LabError
from pflab.faults.fault import Hold, Smtp
from pflab.runs.run_folder import RunFolder
from tests.support.lab_actions import events_of, post, subjects
from tests.support.lab_factory import LabFactory
from tests.support.samples import sampled
from topology.file.load import topology_from_text
from traces.events import FaultHealed, HopExpired, HopFailed, HopReceived, HopSent, MailBad
from traces.labtime import HOUR_US, MINUTE_US

TWO_SITES = """
sites: [SEA, NYC]
connectors: [{name: SEA-NYC, between: [SEA, NYC], cost: 1}]
servers: {A: {site: SEA}, B: {site: SEA}, C: {site: NYC}}
folders:
  Projects: {replicas: [A, B, C]}
"""
RELAYED = TWO_SITES.replace("cost: 1}", "cost: 1, kind: smtp-relay}")


LARGE = "x" * 3000

FATES = {
    "later": (
        (("B", "C"), 1, 0, 0),
        [
            ("connect", "421"), ("connect", "disconnect"), ("EHLO", "451"), ("EHLO", "silence"), ("AUTH", "454"),
            ("AUTH", "disconnect"), ("MAIL", "451"), ("MAIL", "421"), ("MAIL", "disconnect"), ("RCPT", "450"),
            ("RCPT", "silence"), ("XEXCH50", "disconnect"), ("DATA", "451"), ("BDAT", "452"), ("BDAT", "disconnect"),
            ("end of data", "451"), ("end of data", "disconnect"), ("end of data", "silence"),
        ],
    ),
    "ordinary": ((("C",), 0, 1, 0), [("EHLO", "502"), ("AUTH", "535"), ("XEXCH50", "504")]),
    "returned": (
        (("C",), 1, 0, 1), [("MAIL", "550"), ("RCPT", "550"), ("DATA", "554"), ("end of data", "554")],
    ),
}  # fmt: skip
"""For each fate of a mail: who has the post an hour later, attempts that failed, bad mails, mails given up; and the causes."""


@pytest.mark.parametrize("fate", sampled(FATES, 3))
async def test_a_verb_that_goes_wrong_has_one_effect(make_lab: LabFactory, fate: str) -> None:
    """RT-2, ML-3: 4xx and a broken connection delay the mail, 5xx returns it, and a hop without XEXCH50 makes it ordinary
    mail; stores end equal with sockets and without."""
    effect, wrong = FATES[fate]
    found = {}
    async with make_lab() as lab:
        for verb, does in wrong:  # all in less than a day, so no status tells B what it lacks
            before = len(lab.events())
            lab.faults.inject(Smtp(verb=verb, does=does, from_="A", to="B", count=1))
            await post(lab, "A", f"{verb} {does}", body=LARGE)
            await lab.advance(lab.now + HOUR_US)
            events = lab.events(before)
            counts = [
                sum(isinstance(each, kind) for each in events) for kind in (HopFailed, MailBad, HopExpired, FaultHealed)
            ]
            has = tuple(name for name in ("B", "C") if f"{verb} {does}" in subjects(lab, name))
            ordinary = [each.next_hop for each in events if isinstance(each, HopSent) and each.ordinary]
            found[verb, does] = (has, *counts, ordinary, lab.faults.active())
    expected = (*effect, 1, ["B"] * effect[2], ())
    assert found == dict.fromkeys(wrong, expected)


async def test_a_refused_mail_tells_that_it_was_sent_as_ordinary_mail(make_lab: LabFactory) -> None:
    """OUT-7: the limit for users' mail applies to a replication mail that lost its XEXCH50, and the reason says so."""
    limited = TWO_SITES.replace("B: {site: SEA}", "B: {site: SEA, settings: {Message Size Limit: 1 KB}}")
    async with make_lab(limited) as lab:
        lab.faults.inject(Smtp(verb="XEXCH50", does="504", from_="A", to="B", count=1))
        await post(lab, "A", body=LARGE)
        await lab.advance(lab.now + HOUR_US)
        (failed,) = events_of(lab, HopFailed)
        assert failed.reason.startswith("552 5.2.3 larger than the Message Size Limit of this server (1024 bytes)")
        assert "; it was sent as ordinary mail: 504" in failed.reason
        assert subjects(lab, "C") == ["Hello"] and not subjects(lab, "B")


async def test_a_fault_ends_by_itself(make_lab: LabFactory) -> None:
    """A fault with a duration affects each mail until its end, and none after it."""
    async with make_lab() as lab:
        began_at = lab.now
        lab.faults.inject(Smtp(verb="MAIL", does="451", to="B", lasts="40 min"))
        await post(lab, "A", body=LARGE)
        await lab.advance(began_at + HOUR_US)
        # 00:15, 00:25 and 00:35 fail; 00:45 does not.
        assert [event.at for event in events_of(lab, HopFailed)] == [
            began_at + each * MINUTE_US for each in (15, 25, 35)
        ]
        assert subjects(lab, "B") == ["Hello"] and not lab.faults.active()


async def test_a_tarpit_and_a_hold_delay_and_lose_nothing(make_lab: LabFactory) -> None:
    """A tarpit delays each mail of its link by its time; a hold releases all mails at its end."""
    async with make_lab() as lab:
        began_at = lab.now
        lab.faults.inject(Smtp(verb="RCPT", does="tarpit", from_="A", to="B", by="7 min"))
        lab.faults.inject(Hold(from_="A", to="C", lasts="1 h"))
        await post(lab, "A", body=LARGE)
        await lab.advance(began_at + 2 * HOUR_US)
        arrivals = {event.node: event.at - began_at for event in events_of(lab, HopReceived)}
        assert arrivals == {"B": 22 * MINUTE_US, "C": HOUR_US}
        assert events_of(lab, HopFailed) == []


async def test_a_server_without_authentication_stalls_replication(make_lab: LabFactory) -> None:
    """ML-3: its peers get 504, and their mail is ordinary mail; a change of the setting applies at once."""
    async with make_lab() as lab:
        await lab.configure("B", {"SMTP Integrated Authentication": 0})
        await post(lab, "A", body=LARGE)
        await lab.advance(lab.now + HOUR_US)
        assert (subjects(lab, "B"), subjects(lab, "C")) == ([], ["Hello"])
        refused = [event.ordinary for event in events_of(lab, HopSent) if event.next_hop == "B"]
        assert refused == ["504 Need to authenticate first (to XEXCH50)"]
        await lab.configure("B", {"SMTP Integrated Authentication": 1})
        await post(lab, "A", "Again", body=LARGE)
        await lab.advance(lab.now + HOUR_US)
        assert subjects(lab, "B") == ["Again"]


async def test_bodies_are_binary_within_a_site_and_base64_between_sites(make_lab: LabFactory) -> None:
    """ML-4: the copy that crosses a connector is larger by a third; both are the same mail with a valid signature."""
    async with make_lab(TWO_SITES, keeps_mails=True) as lab:
        await post(lab, "A", body=LARGE)
        await lab.advance(lab.now + HOUR_US)
        assert (subjects(lab, "B"), subjects(lab, "C")) == (["Hello"], ["Hello"])
        sizes = {event.next_hop: event.size for event in events_of(lab, HopSent)}
        assert 1.2 < sizes["C"] / sizes["B"] < 1.4
        bodies = {path.name.split("-")[-2]: path.read_bytes() for path in (lab.folder / "mails").glob("*content.eml")}
        assert b"Content-Transfer-Encoding: binary\r\n" in bodies["B"]
        assert b"Content-Transfer-Encoding: base64\r\n" in bodies["C"]
        assert events_of(lab, MailBad) == []


async def test_a_server_without_chunking_gets_base64_by_data(make_lab: LabFactory) -> None:
    """ML-4: the sender encodes the S-TNEF again for it and sends no BDAT."""
    async with make_lab() as lab:
        await lab.configure("B", {"SMTP Chunking": 0})
        lab.faults.inject(Smtp(verb="BDAT", does="451", to="B"))
        await post(lab, "A", body=LARGE)
        await lab.advance(lab.now + HOUR_US)
        assert subjects(lab, "B") == subjects(lab, "C") == ["Hello"]
        sizes = {event.node: event.size for event in events_of(lab, HopReceived)}
        assert 1.2 < sizes["B"] / sizes["C"] < 1.4


async def test_over_an_ordinary_mail_server_the_signature_alone_counts(make_lab: LabFactory) -> None:
    """ML-6: at the ends of an smtp-relay connector mail arrives without XEXCH50 and is replication mail by its signature."""
    async with make_lab(RELAYED) as lab:
        lab.faults.inject(Smtp(verb="AUTH", does="535", connector="SEA-NYC"))
        await post(lab, "A", body=LARGE)
        await lab.advance(lab.now + HOUR_US)
        assert subjects(lab, "C") == ["Hello"] and events_of(lab, MailBad) == []
        assert [event.authenticated for event in events_of(lab, HopReceived) if event.node == "C"] == [False]


async def test_the_size_limit_of_a_connector_is_for_users(make_lab: LabFactory) -> None:
    """OUT-7: a replication mail crosses a connector that is too small for it; across an smtp-relay it does not."""
    for topology, held_by in ((TWO_SITES, ["Hello"]), (RELAYED, [])):
        async with make_lab(topology.replace("cost: 1", "cost: 1, size_limit: 2 KB")) as lab:
            await post(lab, "A", body=LARGE)
            await lab.advance(lab.now + HOUR_US)
            assert (subjects(lab, "B"), subjects(lab, "C")) == (["Hello"], held_by)
            assert len(events_of(lab, HopExpired)) == (0 if held_by else 1)


async def test_a_verb_that_no_server_offers_has_no_fault(make_lab: LabFactory) -> None:
    """STARTTLS can go wrong only in labs with certificates."""
    async with make_lab() as lab:
        with pytest.raises(LabError, match="no server of this lab offers STARTTLS"):
            lab.faults.inject(Smtp(verb="STARTTLS", does="454"))


@pytest.mark.live
@pytest.mark.parametrize("kind", [LiveLab, ProcessLab])
async def test_a_lab_with_certificates_replicates_in_tls(tmp_path: Path, kind: type[LiveLab | ProcessLab]) -> None:
    """ML-3: with TLS every hop is encrypted; a failing STARTTLS delays the mail."""
    folder = RunFolder.create(tmp_path, "tls")
    async with kind(topology_from_text(TWO_SITES), folder=folder, tls=True) as lab:
        lab.faults.inject(Smtp(verb="STARTTLS", does="454 4.7.0 not now", from_="A", to="B", count=1))
        await post(lab, "A", body=LARGE)
        await lab.advance(lab.now + HOUR_US)
        assert (subjects(lab, "B"), subjects(lab, "C")) == (["Hello"], ["Hello"])
        assert len(events_of(lab, HopFailed)) == 1
        assert all(event.authenticated for event in events_of(lab, HopReceived))
        await lab.mail("A", "kim@outside.test", ["projects@contoso.test"], b"Subject: outside\r\n\r\nx\r\n")
        assert subjects(lab, "A") == ["Hello", "outside"]


async def test_both_ends_log_a_refused_xexch50(make_lab: LabFactory) -> None:
    """The server that sent XEXCH50 logs the refusal as 7004, the one that refused it as 7010, with the same command."""
    # spec: EV-1, ML-3
    async with make_lab(TWO_SITES) as lab:
        lab.faults.inject(Smtp(verb="XEXCH50", does="504", from_="A", to="C", count=1))
        await post(lab, "A", body=LARGE)
        await lab.advance(lab.now + HOUR_US)
        [sent] = lab.read("A", lambda node: node.event_log(event=7004))
        [refused] = lab.read("C", lambda node: node.event_log(event=7010))
        assert not lab.read("C", lambda node: node.event_log(event=7004))
    said = 'to the SMTP command "xexch50" with "504 Need to authenticate first ". The full command sent was "XEXCH50 '
    assert '"C", responded ' + said in sent.text
    assert 'The client at "A" sent a "xexch50" command' in refused.text
    command = sent.text.partition("The full command sent was ")[2]
    assert command in refused.text
