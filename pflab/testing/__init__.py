"""Labs in tests: a pytest plugin with fixtures, and the labs themselves for other test frameworks.

    def test_a_lost_mail_comes_back(lab):
        lab.inject("lose", from_="A", to="B", type="content", count=1)
        lab.post("A", "Projects", subject="Hello")
        lab.assert_converged("Projects", within="54 h")

It needs the standard library and pytest; a mailbox also aiosmtpd, which comes with pflab. Labs run in separate processes.

Public names: `AsyncLab`, `Driver`, `Lab`, `LabNotStarted`, `LabProcess`, `Mailbox`, `Organization`, `ReceivedMail`, `Topology`,
`open_mailbox`.
"""

from pflab.testing.async_lab import AsyncLab
from pflab.testing.lab import Lab
from pflab.testing.lab_process import LabProcess
from pflab.testing.labs import Topology
from pflab.testing.mailbox import Mailbox, ReceivedMail, open_mailbox
from pflab.testing.organization import Organization
from pflab.testing.up_process import Driver, LabNotStarted

__all__ = [
    "AsyncLab",
    "Driver",
    "Lab",
    "LabNotStarted",
    "LabProcess",
    "Mailbox",
    "Organization",
    "ReceivedMail",
    "Topology",
    "open_mailbox",
]
