"""A post office for tests of the store: real nodes in memory, whose mail the test delivers in any order and number."""

from __future__ import annotations

from pathlib import Path

from node.codec.signing import LabAuthority
from node.store.node import Node
from pflab.lab.directory import OrganizationDirectory
from tests.support.clock import STATUS_CHECK_MIN
from tests.support.topologies import THREE_STORES_AND_CONTACT, TWO_SITES
from topology.file.load import topology_from_text
from traces.events.header import Event
from traces.labtime import HOUR_US, MINUTE_US, LabTime
from transport.envelope import SendOutcome, SendState, Transmission
from transport.mime.headers import incoming_mail

AUTHORITY = LabAuthority(b"office of the tests")


class PostOffice:
    """The nodes of one topology. Times are minutes after the topology's start."""

    def __init__(self, text: str = THREE_STORES_AND_CONTACT, database_folder: Path | None = None) -> None:
        self.topology = topology_from_text(text)
        self.start: LabTime = self.topology.start_at
        self.events: list[Event] = []
        self.nodes = {
            name: Node(
                name,
                topology=self.topology,
                database=database_folder / f"{name}.db" if database_folder else None,
                run="test",
                seed=f"seed of {name}".encode(),
                identity=AUTHORITY.identity(name),
                on_events=self.events.extend,
            )
            for name in self.topology.servers
        }
        self.directory = OrganizationDirectory(self.topology)
        self.running: list[str] = []
        for name in self.topology.servers_from_start():
            self.nodes[name].open(self.start)
            self.running.append(name)

    def __getitem__(self, name: str) -> Node:
        return self.nodes[name]

    def join(self, name: str, now: LabTime) -> None:
        """Start a store that joins later, and give all stores its entry, itself last."""
        self.nodes[name].open(now)
        self.running.append(name)
        self.directory.join(name, now)
        for store in self.running:
            self.nodes[store].enter(now, name, self.directory.object_of(name), self.directory.missing(name))

    def at(self, minutes: float) -> LabTime:
        return self.start + int(minutes * MINUTE_US)

    def take(self, name: str, now: LabTime) -> list[tuple[str, Transmission]]:
        """Take all mails that the node has to send at `now` out of its queue."""
        taken = []
        while mails := self.nodes[name].outgoing(now):
            for mail in mails:
                self.nodes[name].hop_concluded(now, mail.queue_id, SendOutcome(SendState.DELIVERED))
                taken.append((name, mail))
        return taken

    def cycle(self, name: str, now: LabTime) -> list[tuple[str, Transmission]]:
        """Run all due work of the node, and take the mails that it sends."""
        while self.nodes[name].tick(now):
            pass
        return self.take(name, now)

    def deliver(self, mail: tuple[str, Transmission], now: LabTime) -> None:
        sender, transmission = mail
        self.nodes[transmission.next_hop].mail_in(
            now,
            transmission.hop_from(sender, authenticated=True),
            incoming_mail(transmission.sender, transmission.recipients, transmission.content),
        )

    def run(self, now: LabTime, names: str = "") -> None:
        """Cycle and deliver at `now` until no node has work."""
        for _ in range(100):
            mails = [mail for name in names or self.running for mail in self.cycle(name, now)]
            if not mails:
                return
            for mail in mails:
                self.deliver(mail, now)
        raise AssertionError("the office never came to rest")

    def of_type(self, tag: str) -> list[Event]:
        return [event for event in self.events if event.__struct_config__.tag == tag]


def mails_to(mails: list[tuple[str, Transmission]], to: str) -> list[tuple[str, Transmission]]:
    """Return those of the mails that go to a server."""
    return [mail for mail in mails if mail[1].next_hop == to]


def deliver_all(office: PostOffice, mails: list[tuple[str, Transmission]], now: int, to: str = "ABCDE") -> None:
    """Deliver the mails that go to one of these servers; the others are lost."""
    for mail in mails:
        if mail[1].next_hop in to:
            office.deliver(mail, now)


def lose_mail_of_another_site() -> tuple[PostOffice, tuple[str, Transmission]]:
    """A and B are in one site, C in another, whose mail comes through A. A post of C is lost, and A and B know of it. Return
    the post office and that mail."""
    office = PostOffice(TWO_SITES)
    office["C"].post(office.at(1), "Projects", subject="x")
    (lost,) = office.cycle("C", office.at(15))
    deliver_all(office, office.cycle("C", office.at(STATUS_CHECK_MIN)), office.at(STATUS_CHECK_MIN))
    deliver_all(office, office.take("A", office.at(STATUS_CHECK_MIN)), office.at(STATUS_CHECK_MIN))
    return office, lost


def deliver_lost_mail_to_the_site(office: PostOffice, lost: tuple[str, Transmission], now: LabTime) -> None:
    """Deliver the lost mail to A. Its relay to B is lost again, but A tells B within the hour that it has the post."""
    office.deliver(lost, now)
    office.take("A", now)
    office["A"].post(now, "Projects", subject="y")
    deliver_all(office, office.cycle("A", now + HOUR_US), now + HOUR_US, "B")
