"""A busy lab: however long the work of an instant takes, lab time waits for it. So every driver has the same instants."""

from __future__ import annotations

from node.views import Post
from pflab.drivers.pulse import PATIENCE_S
from pflab.lab.lab import Lab
from pflab.simulation.simulator import Simulator
from tests.support.clock import ALWAYS_US, START_AT
from tests.support.lab_actions import events_of
from tests.support.lab_factory import LabFactory
from tests.support.topologies import THREE_STORES
from topology.file.load import topology_from_text
from traces.events import MailReceived, VersionApplied
from traces.labtime import HOUR_US, LabTime
from transport.smtp.sender import INSIDE

MAILS = 60
BODY = "x" * 200_000
"""All bodies together are more than one stimulus sends."""


async def instants(lab: Lab) -> tuple[LabTime, list[tuple[LabTime, str, str]], list[tuple[LabTime, str, str]]]:
    """Make many large posts in one interval, and then a day of lab time. Return when all stores had them, and what happened
    at which instant."""
    async with lab:
        posts = [Post(f"post {number}", BODY) for number in range(MAILS)]
        await lab.do("A", lambda node, now: node.post_batch(now, "Projects", posts))
        everywhere = lambda: [lab.read(name, lambda node: node.count("Projects")) for name in "ABC"] == [MAILS] * 3  # noqa: E731
        assert await lab.until(everywhere, START_AT + 60 * HOUR_US)
        converged_at = lab.now
        await lab.advance(START_AT + 24 * HOUR_US)
        applied = sorted((each.at, each.node, each.number) for each in events_of(lab, VersionApplied))
        received = sorted((each.at, each.node, each.sender) for each in events_of(lab, MailReceived))
        return converged_at, applied, received


async def test_a_busy_lab_has_the_same_instants_in_every_driver(make_lab: LabFactory) -> None:
    """The posts are everywhere at the next cycle, and all mails of the day arrive when they do in the simulator."""
    # spec: TM-1
    found = await instants(make_lab(THREE_STORES))
    assert found[0] == START_AT + ALWAYS_US
    simulated = await instants(Simulator(topology_from_text(THREE_STORES)))
    assert [(at, node) for at, node, _ in found[1]] == [(at, node) for at, node, _ in simulated[1]]
    assert found[2] == simulated[2]


def test_a_busy_server_is_not_given_up_on_before_the_lab_passes_it_over() -> None:
    """A sender that gives up tries again after lab time, so its limits must not end while the lab still waits."""
    # spec: TM-1
    assert min(INSIDE.greeting_seconds, INSIDE.command_seconds, INSIDE.content_seconds) > PATIENCE_S
