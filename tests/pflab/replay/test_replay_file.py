"""The file of `pflab replay`: one page that needs nothing else."""

from __future__ import annotations

import asyncio
import base64
import json
import re
import shutil
from pathlib import Path

import pytest

from pflab.campaign.seed import run_seed
from pflab.replay.console_files import CONSOLE, resolved, script_paths
from pflab.replay.contents import MOST_BYTES_OF_ONE, contents_of, kept_mails
from pflab.replay.replay_file import Replay, as_handout, replay_file
from pflab.runs.events import RunEvents
from pflab.runs.run_folder import RunFolder
from pflab.simulation.simulated_lab import SimulatedLab
from tests.support.replay_pages import document_in
from topology.file.examples import EXAMPLES
from topology.file.load import load_topology
from traces.events import MailReceived
from traces.labtime import MINUTE_US

RELATIVE = re.compile(r"""(?m)^\s*(?:import|export)\b[^;]*?["']\.{1,2}/""")
COMMENT = re.compile(r"(?ms)^\s*/\*\*.*?\*/")


def replay_of(run: RunEvents, title: str = "run", address: str = "") -> Replay:
    assert run.topology is not None
    return Replay(title=title, topology=run.topology, events=run.events, address=address)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunEvents:
    place = tmp_path_factory.mktemp("runs")
    run_seed(103, folder=place)
    return RunEvents.at(place / "seed-103" / "00001")


def test_the_file_has_every_module_and_no_relative_import(run: RunEvents) -> None:
    """Each module of the console is in the import map, and imports others only by their names there."""
    page = replay_file(replay_of(run))
    found = re.search(r'<script type="importmap">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    imports = json.loads(found[1])["imports"]
    assert set(imports) == {f"pflab:/{path}" for path in script_paths()}
    for name, url in imports.items():
        text = base64.b64decode(url.removeprefix("data:text/javascript;base64,")).decode()
        assert RELATIVE.search(COMMENT.sub("", text)) is None, name
        for wanted in re.findall(r'"(pflab:/[^"]+)"', text):
            assert wanted in imports, (name, wanted)


def test_the_file_has_all_events_in_their_order(run: RunEvents) -> None:
    """The run in the file is the run: its topology, and each event with its words."""
    document = document_in(replay_file(replay_of(run)))
    assert [(each["node"], each["seq"]) for each in document["events"]] == [
        (each.node, each.seq) for each in run.events
    ]
    assert all(each["words"] for each in document["events"])
    assert run.topology is not None
    assert document["topology"] == run.topology.as_document()


def test_a_title_is_text(run: RunEvents) -> None:
    """A title cannot add markup to the page."""
    page = replay_file(replay_of(run, '"><b>run</b>', address='https://example.test/"><b>'))
    assert "<b>" not in page.split("<style>")[0]


def test_every_module_is_loaded_by_a_page_or_by_a_worker() -> None:
    """What neither the page of a server, nor that of a class, nor that of a tab imports is a worker that a module starts, or
    imported by one. So the console has no dead module. The build puts the service worker above the console's folder."""
    modules = {path.relative_to(CONSOLE).as_posix() for path in CONSOLE.rglob("*.js")}
    loaded = {*script_paths(), *script_paths("class_main.js"), *script_paths("tab/start.js")}
    for path in sorted(loaded):
        for worker in re.findall(r'new URL\("([^"]+\.js)", import\.meta\.url\)', (CONSOLE / path).read_text("utf-8")):
            place = resolved(path, worker)
            loaded |= set(script_paths({"../service_worker.js": "tab/service_worker.js"}.get(place, place)))
    assert modules - loaded == {each for each in modules if each.startswith("tests/")}


def test_the_file_has_nothing_for_workers_alone() -> None:
    """A replay starts no worker, so neither workers nor the signatures of a lab in a tab make its file larger."""
    assert {"source/shared_streams.js", "vendor/ed25519.js"}.isdisjoint(script_paths())


def test_texts_are_those_that_were_posted(tmp_path: Path) -> None:
    """A replay has the text of each version that a mail carried or a store has, and each mail that the run kept."""

    async def play() -> tuple[Replay, list[str]]:
        folder = RunFolder.at(tmp_path / "run", keeps_mails=True)
        async with SimulatedLab(load_topology(EXAMPLES / "one-site.yaml"), folder=folder) as lab:
            post = await lab.do("A", lambda node, now: node.post(now, "Projects", subject="Plan", body="Monday"))
            await lab.advance(lab.now + 20 * MINUTE_US)
            await lab.do("A", lambda node, now: node.edit(now, "Projects", post.id, body="Tuesday"))
            await lab.do("B", lambda node, now: node.post(now, "Projects", subject="Not sent", body="<b>here</b>"))
            run = RunEvents.of(folder.path, lab.events())
            async with lab.copied(traces=False) as copy:
                contents = contents_of(copy.path, kept_mails(folder.mails), run.names.stores())
        sent = [event.mail for event in lab.events() if isinstance(event, MailReceived)]
        return Replay(title="run", topology=lab.topology, events=run.events, contents=contents), sent

    replay, sent = asyncio.run(play())
    document = document_in(replay_file(replay))
    assert sorted((post["number"], post["body"]) for post in document["contents"]["posts"].values()) == [
        ("A-1", "Monday"),
        ("A-2", "Tuesday"),
        ("B-1", "<b>here</b>"),
    ]
    assert sent
    assert set(sent) <= set(document["contents"]["mails"])
    assert all("PR_SUBJECT" in document["contents"]["mails"][id_]["decoded"] for id_ in sent)


def test_contents_of_strangers_stop_no_replay(tmp_path: Path) -> None:
    """A file that is no mail, a mail that is too large, and a database that is none are left out, and the rest is there."""
    mails = tmp_path / "mails"
    mails.mkdir()
    (mails / "1.eml").write_bytes(b"\xff" * 300)
    (mails / "2.eml").write_bytes(b"Message-ID: <good@contoso.test>\r\nFrom: kim@contoso.test\r\n\r\n</script><b>\r\n")
    (mails / "3.eml").write_bytes(b"Message-ID: <large@contoso.test>\r\n\r\n" + b"x" * MOST_BYTES_OF_ONE)
    (tmp_path / "databases").mkdir()
    (tmp_path / "databases" / "A.sqlite").write_bytes(b"no database")
    shutil.copy(EXAMPLES / "one-site.yaml", tmp_path / "topology.yaml")
    contents = contents_of(tmp_path, kept_mails(mails), {})
    assert list(contents.mails) == ["good@contoso.test"]
    topology = load_topology(EXAMPLES / "one-site.yaml")
    page = replay_file(Replay(title="run", topology=topology, events=(), contents=contents))
    assert page.count("</script>") == 3


def test_readers_of_a_handout_answer_themselves() -> None:
    """A lesson in a file has no answers that learners gave, and the notes only on request."""
    beat = {"seq": 12, "given": "at once", "notes": "Let them vote.", "text": "When?"}
    assert as_handout({"name": "x", "beats": [beat]}, after=10)["beats"] == [
        {**beat, "seq": 2, "given": None, "notes": None}
    ]
    assert as_handout({"name": "x", "beats": [beat]}, notes=True)["beats"][0]["notes"] == "Let them vote."


def test_previews_have_a_picture_beside_the_file(run: RunEvents) -> None:
    """A file says what it shows. With an address it also names the picture beside it, as previews of links need it."""
    page = replay_file(replay_of(run))
    assert '<meta property="og:title" content="run">' in page
    assert "og:image" not in page
    page = replay_file(replay_of(run, address="https://example.test/lost-mail.html"))
    assert '<meta property="og:image" content="https://example.test/lost-mail.png">' in page
