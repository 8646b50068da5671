"""A lab that is taken as a file goes on in another driver, and comes back: with the same future, and nothing lost."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pflab.cli.app import run
from pflab.client import Client
from pflab.drivers.live import LiveLab
from pflab.drivers.processes import ProcessLab
from pflab.errors import LabError
from pflab.faults.fault import Crash, Cut, Delay, Lose, Stall
from pflab.forecast.fork import present_of
from pflab.lab.served_lab import ServedLab
from pflab.oracle.judge import Observer
from pflab.runs.continued import Earlier, continue_run
from pflab.runs.lab_file import unpack
from pflab.runs.run_folder import RunFolder
from pflab.simulation.simulated_lab import SimulatedLab
from pflab.terms.event_words import tag_of
from pflab.terms.verdict import ExitCode, Judgement
from tests.support.lab_actions import everything
from tests.support.lab_factory import LabFactory
from tests.support.running_lab import lab_up
from tests.support.samples import sampled
from topology.file.load import topology_from_text
from traces.events import NodeStarted
from traces.labtime import HOUR_US, MINUTE_US, SECOND_US
from traces.reading import read_folder

pytestmark = pytest.mark.live

TOPOLOGY = topology_from_text("""
sites: [SEA, NYC]
servers: {A: {site: SEA}, B: {site: SEA}, C: {site: NYC}}
connectors: [{between: [SEA, NYC], latency: 2 min}]
folders: {Projects: {replicas: [A, B, C]}, News: {replicas: [A, C]}}
""")

HORIZON_US = 40 * HOUR_US


def continued(content: bytes, place: Path, name: str) -> tuple[RunFolder, Earlier]:
    """Unpack a lab file, and return the folder of a run that continues it, and what it continues."""
    unpacked, folder = RunFolder.at(place / f"{name}-file"), RunFolder.at(place / "up" / name)
    unpack(content, unpacked)
    return folder, continue_run(unpacked.path, folder)


def happened(lab: ServedLab, since: int = 0) -> Counter[tuple[str, str, int, str]]:
    """Return type, server, second and subject of each event from an index on."""
    return Counter((tag_of(e), e.node, e.at // SECOND_US, str(getattr(e, "mail", ""))) for e in lab.events(since))


async def live_a_little(lab: ServedLab) -> None:
    """Give a lab mails that wait, are delayed and are lost, a cut connector, and a server that was killed."""
    await lab.do("A", lambda node, now: node.post(now, "Projects", subject="arrives"))
    await lab.mail("A", "kim@elsewhere.test", ["Projects@contoso.test"], b"Subject: by SMTP\r\n\r\nHello\r\n")
    await lab.advance(lab.now + HOUR_US)
    await lab.backup("A")
    lab.faults.inject(Lose(from_="A", to="B", type="content", count=1))
    lab.faults.inject(Delay(from_="B", by="3 h", count=2))
    lab.faults.inject(Cut(between=["SEA", "NYC"]))
    await lab.do("A", lambda node, now: node.post(now, "Projects", subject="lost on the way to B"))
    await lab.do("B", lambda node, now: node.post(now, "Projects", subject="delayed"))
    await lab.advance(lab.now + 16 * MINUTE_US)
    await lab.do("A", lambda node, now: node.post(now, "News", subject="not sent yet"))
    await lab.kill("C")


async def subjects(lab: ServedLab, server: str, folder: str) -> set[str]:
    return {message.subject for message in lab.read(server, lambda node: node.messages(folder))}


@pytest.mark.parametrize("make", sampled([LiveLab, ProcessLab], 2))
async def test_a_lab_goes_into_the_simulator_and_back(
    make: type[LiveLab] | type[ProcessLab], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A lab with real SMTP is taken while mails are under way, and goes on in the simulator as its forecast says. It is changed
    there, and comes back to real SMTP. Then oracle and pflab check say that it converged, with all that was ever posted."""
    async with make(TOPOLOGY, folder=RunFolder.at(tmp_path / "up" / "first"), seed=7) as lab:
        await live_a_little(lab)
        content, taken_at = await lab.as_file(), lab.now
        async with (await present_of(lab)).fork() as fork:
            await fork.advance(fork.began_at + HORIZON_US)
            forecast = happened(fork)
        seen = len(lab.events())
        await lab.do("A", lambda node, now: node.post(now, "Projects", subject="after it was taken"))
    folder, earlier = continued(content, tmp_path, "second")
    async with SimulatedLab(TOPOLOGY, folder=folder, seed=7, earlier=earlier) as simulated:
        assert (simulated.now, simulated.run, len(earlier.events)) == (taken_at, "up/first", seen)
        since = simulated.record.count
        await simulated.advance(taken_at + HORIZON_US)
        assert happened(simulated, since) == forecast
        simulated.faults.heal()
        await simulated.start("C")
        await simulated.do("C", lambda node, now: node.post(now, "Projects", subject="in the simulator"))
        [message] = [m for m in simulated.read("A", lambda node: node.messages("Projects")) if m.subject == "arrives"]
        await simulated.do("A", lambda node, now: node.edit(now, "Projects", message.id, subject="edited there"))
        await simulated.advance(simulated.now + 10 * MINUTE_US)
        content, taken_at = await simulated.as_file(), simulated.now
    folder, earlier = continued(content, tmp_path, "third")
    async with make(TOPOLOGY, folder=folder, seed=7, earlier=earlier) as back:
        assert back.now == taken_at
        await back.do("B", lambda node, now: node.post(now, "Projects", subject="back again"))
        await back.mail("C", "kim@elsewhere.test", ["News@contoso.test"], b"Subject: news by SMTP\r\n\r\nHello\r\n")
        await back.advance(back.now + 54 * HOUR_US)
        expected = {"edited there", "by SMTP", "lost on the way to B", "delayed", "in the simulator", "back again"}
        for server in "ABC":
            assert await subjects(back, server, "Projects") == expected
        for server in "AC":
            assert await subjects(back, server, "News") == {"not sent yet", "news by SMTP"}
        judged = Observer(back).judge()
        assert judged.verdict().judgement is Judgement.CONVERGED
    assert read_folder(folder.traces).report() == []
    assert run(["check", str(folder.path), "--engine", "embedded", "--json"]) == ExitCode.GOOD
    assert json.loads(capsys.readouterr().out)["judgement"] == "converged"


class TestDrivers:
    @pytest.fixture(params=["simulated lab", "live", "processes", "managed"])
    def driver(self, request: pytest.FixtureRequest) -> str:
        """The drivers of labs with an HTTP server."""
        return str(request.param)

    async def test_a_lab_from_a_file_has_the_future_of_its_lab(self, make_lab: LabFactory, tmp_path: Path) -> None:
        """In the simulator, the stores of a lab that was taken go on: none of them starts, and they do to the second what the
        lab itself then does. The lab goes on as if it had not been taken."""
        async with make_lab() as lab:
            assert isinstance(lab, ServedLab)
            await lab.advance(lab.now + 20 * MINUTE_US)
            await lab.do("A", lambda node, now: node.post(now, "Projects", subject="One"))
            lab.faults.inject(Lose(from_="A", to="B", type="content", count=1))
            lab.faults.inject(Delay(from_="A", to="C", by="3 h"))  # so this mail is under way
            await lab.advance(lab.now + 16 * MINUTE_US)
            content, since = await lab.as_file(), len(lab.events())
            folder, earlier = continued(content, tmp_path, "second")
            async with SimulatedLab(lab.topology, folder=folder, earlier=earlier) as simulated:
                assert len(earlier.events) == since
                count = simulated.record.count
                await simulated.advance(simulated.now + HORIZON_US)
                assert not any(isinstance(event, NodeStarted) for event in simulated.events(count))
                future = happened(simulated, count)
            await lab.advance(lab.now + HORIZON_US)
            assert _without_ids(future) == _without_ids(happened(lab, since))

    async def test_the_file_has_all_events(self, make_lab: LabFactory, tmp_path: Path) -> None:
        """The traces of a lab that was just taken have every event that happened before, in each driver."""
        async with make_lab() as lab:
            assert isinstance(lab, ServedLab)
            await lab.do("A", lambda node, now: node.post(now, "Projects", subject="One"))
            content, happened = await lab.as_file(), Counter(type(event) for event in lab.events())
            folder = RunFolder.at(tmp_path / "file")
            unpack(content, folder)
            found = read_folder(folder.traces)
            assert Counter(type(event) for event in found.events) == happened


def _without_ids(events: Counter[tuple[str, str, int, str]]) -> Counter[tuple[str, str, int]]:
    """Leave out the ids of mails, which derive from the secret of a lab in containers."""
    found: Counter[tuple[str, str, int]] = Counter()
    for (kind, node, second, _), count in events.items():
        found[kind, node, second] += count
    return found


class TestFaults:
    """Faults that only the simulator can play."""

    async def test_a_server_that_crashed_in_the_simulator_runs_in_a_live_lab(self, tmp_path: Path) -> None:
        """In the simulator it would come back a minute later. A live lab starts it when it begins."""
        async with SimulatedLab(TOPOLOGY, folder=RunFolder.at(tmp_path / "up" / "first")) as lab:
            lab.faults.inject(Crash(server="B"))
            lab.change("A", lambda node, now: node.post(now, "Projects", subject="Hello"))
            await lab.until(lambda: not lab.running("B"), lab.now + HOUR_US)
            content = await lab.as_file()
        folder, earlier = continued(content, tmp_path, "second")
        async with LiveLab(TOPOLOGY, folder=folder, earlier=earlier) as live:
            assert live.running("B")
            await live.advance(live.now + HOUR_US)
            assert await subjects(live, "B", "Projects") == {"Hello"}

    async def test_a_fault_that_only_the_simulator_has_is_refused(self, tmp_path: Path) -> None:
        """A live lab cannot play it, and says so before it starts anything."""
        async with SimulatedLab(TOPOLOGY, folder=RunFolder.at(tmp_path / "up" / "first")) as lab:
            lab.faults.inject(Stall(server="B", lasts="1 h"))
            content = await lab.as_file()
        folder, earlier = continued(content, tmp_path, "second")
        with pytest.raises(LabError, match="fault F1 of the earlier lab: only the simulator stalls a server"):
            LiveLab(TOPOLOGY, folder=folder, earlier=earlier)


# --- commands

OPTIONS = {"live": [], "processes": ["--processes"], "simulated": ["--simulated"]}


@contextmanager
def _lab(folder: Path, *more: str, topology: str | None) -> Iterator[Client]:
    with lab_up(folder, *more, topology=topology) as url, Client(url) as client:
        yield client


TWO = """
servers: {A: , B: }
folders: {Projects: {replicas: [A, B]}, News: {replicas: [B]}}
"""


@pytest.mark.parametrize("way", sampled([f"{a}-{b}" for a in OPTIONS for b in OPTIONS], 10))
def test_pflab_up_continues_a_taken_lab_in_every_driver(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """pflab lab take writes the lab, and pflab up --from shows what it showed, whatever runs the servers."""
    first, second = way.split("-")
    monkeypatch.chdir(tmp_path)
    with _lab(tmp_path, *OPTIONS[first], topology=TWO) as client:
        client.post("A", "Projects", subject="before")
        client.advance("15 min")
        client.inject("lose", from_="A", to="B", type="content")
        client.post("A", "Projects", subject="lost")
        client.advance("1 h")
        assert run(["lab", "take", "lab.zip"]) == ExitCode.GOOD
        assert "pflab up --from lab.zip continues it" in capsys.readouterr().out
        assert run(["lab", "take", "lab.zip"]) == ExitCode.UNKNOWN
        assert "replace it with --force" in capsys.readouterr().err
        assert run(["lab", "take", "no/lab.zip"]) == ExitCode.UNKNOWN
        assert "name a file that can be written" in capsys.readouterr().err
        before, faults = everything(client), client.faults()
        assert run(["check", "lab.zip", "--engine", "embedded"]) == ExitCode.UNKNOWN
        assert "the run has no end" in capsys.readouterr().out
    with _lab(tmp_path, *OPTIONS[second], "--from", "lab.zip", topology=None) as client:
        assert everything(client) == before
        assert client.faults() == faults
        client.heal()
        client.post("B", "Projects", subject="after")
        assert client.until_converged("Projects", "54 h")["held"]
        assert {each["subject"] for each in client.messages("B", "Projects")} == {"before", "lost", "after"}
        run_folder = Path(client.lab()["folder"])
    assert (tmp_path / run_folder / "continues").read_text("utf-8").strip() == str(tmp_path / "lab.zip")
    assert read_folder(tmp_path / run_folder / "traces").report() == []
    assert run(["check", "runs/latest", "--engine", "embedded"]) == ExitCode.GOOD


def refusal_of(capsys: pytest.CaptureFixture[str], *order: str) -> str:
    """Run pflab up, which must end with one line before it makes a run folder."""
    assert run(["up", "--port", "0", *order]) == ExitCode.UNKNOWN
    [line] = capsys.readouterr().err.splitlines()
    assert not Path("runs").exists()
    return line


async def file_of(folder: Path, change: Callable[[SimulatedLab], object], topology: str = TWO) -> None:
    """Write the file of a lab after a change."""
    async with SimulatedLab(topology_from_text(topology), folder=RunFolder.at(folder / "first")) as lab:
        change(lab)
        (folder / "lab.zip").write_bytes(await lab.as_file())


class TestRefusals:
    @pytest.fixture(autouse=True)
    def _here(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)

    def test_what_is_no_lab_file_is_told(self, capsys: pytest.CaptureFixture[str]) -> None:
        """A wrong file, and a file that does not exist."""
        Path("lab.zip").write_bytes(b"x")
        assert refusal_of(capsys, "--from", "lab.zip") == "lab.zip: this is not a lab file; pflab lab take writes one"
        assert "no.zip: no such file or directory" in refusal_of(capsys, "--from", "no.zip")

    def test_options_that_the_file_decides_are_refused(self, capsys: pytest.CaptureFixture[str]) -> None:
        """The file has topology and seed; --outside says something only with a file."""
        assert "leave out TOPOLOGY, --seed" in refusal_of(capsys, "one-site", "--from", "lab.zip", "--seed", "7")
        assert "leave out --resume" in refusal_of(capsys, "--from", "lab.zip", "--resume", "runs/latest")
        assert "--outside without --from" in refusal_of(capsys, "--outside")

    def test_a_fault_that_the_lab_cannot_have_is_told(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        """A stalled server is only in the simulator."""
        asyncio.run(file_of(tmp_path, lambda lab: lab.faults.inject(Stall(server="B", lasts="1 h"))))
        assert "fault F1 of the earlier lab: only the simulator stalls" in refusal_of(capsys, "--from", "lab.zip")

    @pytest.mark.parametrize("where", sampled(["topology", "database", "connector"], 3))
    def test_a_lab_that_sends_mail_outside_is_started_only_on_request(
        self, where: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """The file of a stranger must not make this machine send mail: the servers outside are named, and --outside lets it."""
        host = {"Smart Host": "mail.example:25"}
        topology = {
            "topology": 'servers: {A: {settings: {"Smart Host": "mail.example:25"}}, B: }\nfolders: {F: {replicas: [A]}}\n',
            "database": TWO,
            "connector": "sites: [X, Y]\nservers: {A: {site: X}, B: {site: Y}}\n"
            "connectors: [{between: [X, Y], kind: smtp-relay, relay: 'mail.example:25'}]\nfolders: {F: {replicas: [A]}}\n",
        }[where]

        def change(lab: SimulatedLab) -> None:
            if where == "database":
                lab.change("A", lambda node, now: node.configure(now, host))

        asyncio.run(file_of(tmp_path, change, topology))
        line = refusal_of(capsys, "--from", "lab.zip")
        assert line == "lab.zip: this lab sends mail to mail.example:25; add --outside to let it, or --simulated"
        for more in ("--outside", "--simulated"):
            with lab_up(tmp_path, "--from", "lab.zip", more, topology=None):
                pass


def test_the_file_is_an_attachment(tmp_path: Path) -> None:
    """A browser saves it, and two files of a lab that did not change are equal."""
    with _lab(tmp_path, "--simulated", topology=TWO) as client:
        with client.ask("GET", "/lab/file") as answer:
            assert answer.headers["Content-Disposition"] == 'attachment; filename="lab.zip"'
            assert answer.headers["Content-Type"] == "application/zip"
            content = answer.read()
        assert client.take() == content
