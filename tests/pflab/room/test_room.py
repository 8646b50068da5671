"""A class over HTTP: joining, the trainer's step, votes, labs of pupils, and what nobody but the trainer may do."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from pflab.room.pupils import AWAY_S, MOST_LETTERS, MOST_PUPILS, ClassFull
from pflab.room.room import MOST_FORKS
from pflab.runs.lab_file import unpack
from pflab.runs.run_folder import RunFolder
from tests.support.room import Class, Json, Person, class_open

pytestmark = pytest.mark.live


async def at_question(opened: Class) -> Json:
    """Begin the lesson, go on to its question, and return what the trainer sees."""
    await opened.trainer.post("/room/lesson", {"name": "mine"})
    return await opened.trainer.post("/room/next", {"seen": 0})


async def test_pupils_follow_the_trainer() -> None:
    """A pupil joins with a name, and sees the lesson, the text and the step at which the trainer is, without the notes."""
    async with class_open() as opened:
        kim = await opened.door.join("Kim")
        assert (await kim.get())["state"] == "waiting"
        trainer = await opened.trainer.post("/room/lesson", {"name": "mine"})
        seen = await kim.get()
        assert (seen["state"], seen["title"], seen["step"], seen["text"]) == ("text", "A lesson", 0, "A user posts.")
        assert trainer["notes"] == "Say nothing yet."
        assert trainer["following"] == "When has B it?"
        assert "Say nothing yet." not in str(seen)
        await opened.trainer.post("/room/next", {"seen": 0})
        assert ((await kim.get())["state"], (await kim.get())["step"]) == ("question", 1)
        for step in (1, 2):
            await opened.trainer.post("/room/next", {"seen": step})
        seen = await kim.get()
        assert (seen["state"], seen["text"], seen["steps"]) == ("text", "Look.", 4)
        await opened.trainer.post("/room/next", {"seen": 3})
        assert (await kim.get())["state"] == "ended"
        assert (await opened.trainer.ask("DELETE", "/room/lesson")).status == 204
        assert (await kim.get())["state"] == "waiting"


async def test_votes_are_seen_when_the_trainer_shows_them() -> None:
    """A pupil votes, and may vote again until the votes are shown; before that only the trainer sees them. With the answer
    everybody sees them too."""
    async with class_open() as opened:
        kim, ada = await opened.door.join("Kim"), await opened.door.join("Ada")
        await at_question(opened)
        for choice in ("at once", "after 15 minutes"):
            await kim.post("/room/votes", {"step": 1, "choice": choice})
        await ada.post("/room/votes", {"step": 1, "choice": "at once"})
        seen = await kim.get()
        assert (seen["you"]["vote"], seen["tally"], seen["voted"], seen["answer"]) == (
            "after 15 minutes",
            None,
            2,
            None,
        )
        votes = {"at once": 1, "after 15 minutes": 1}
        assert (await opened.trainer.get())["votes"] == votes
        await opened.trainer.post("/room/tally", {"step": 1})
        seen = await ada.get()
        assert (seen["state"], seen["tally"], seen["answer"]) == ("shown", votes, None)
        late = await kim.ask("POST", "/room/votes", {"step": 1, "choice": "at once"})
        assert late.status == 422
        assert "the question is over" in late.json["detail"]
        await opened.trainer.post("/room/next", {"seen": 1})
        seen = await kim.get()
        assert (seen["kind"], seen["tally"], seen["answer"]) == ("reveal", votes, "after 15 minutes")
        assert (seen["asked"], seen["you"]["vote"]) == ("When has B it?", "after 15 minutes")


async def test_votes_that_nobody_showed_come_with_the_answer() -> None:
    """The votes are shown with the answer, if the trainer goes on without showing them. Back at the question, all votes before
    it are kept, and it is open again."""
    async with class_open() as opened:
        kim = await opened.door.join("Kim")
        await at_question(opened)
        await kim.post("/room/votes", {"step": 1, "choice": "at once"})
        await opened.trainer.post("/room/next", {"seen": 1})
        assert (await kim.get())["tally"] == {"at once": 1, "after 15 minutes": 0}
        await opened.trainer.post("/room/again", {"step": 1})
        seen = await kim.get()
        assert (seen["state"], seen["you"]["vote"]) == ("question", "at once")
        await opened.trainer.post("/room/again", {"step": 0})
        await opened.trainer.post("/room/next", {"seen": 0})
        assert (await kim.get())["you"]["vote"] is None


async def test_a_question_that_is_started_again_is_open() -> None:
    """A question whose votes were shown is open again when the trainer goes back to it or starts it again: votes are kept, and
    are not shown until the trainer shows them."""
    async with class_open() as opened:
        kim = await opened.door.join("Kim")
        await at_question(opened)
        await kim.post("/room/votes", {"step": 1, "choice": "at once"})
        for _ in range(2):
            await opened.trainer.post("/room/tally", {"step": 1})
            assert (await kim.get())["state"] == "shown"
            await opened.trainer.post("/room/again", {"step": 1})
            seen = await kim.get()
            assert (seen["state"], seen["tally"], seen["you"]["vote"]) == ("question", None, "at once")
        await kim.post("/room/votes", {"step": 1, "choice": "after 15 minutes"})
        assert (await opened.trainer.get())["votes"] == {"at once": 0, "after 15 minutes": 1}


async def test_a_vote_fits_the_question() -> None:
    """A vote on another step, or for what is no choice, is refused with what would be right."""
    async with class_open() as opened:
        kim = await opened.door.join("Kim")
        assert (await kim.ask("POST", "/room/votes", {"step": 0, "choice": "at once"})).status == 422
        await at_question(opened)
        for vote, words in (
            ({"step": 0, "choice": "at once"}, "nobody can vote on this step"),
            ({"step": 1, "choice": "never"}, "not a choice"),
            ({"step": -1, "choice": "at once"}, "step"),
            ({"choice": "at once"}, "step"),
            ({"step": 1, "choice": "at once", "lab": "/lessons/another"}, "nobody can vote on this step"),
        ):
            refused = await kim.ask("POST", "/room/votes", vote)
            assert (refused.status, words in refused.json["detail"]) == (422, True), refused.content
        assert (await opened.trainer.get())["voted"] == 0
        await kim.post("/room/votes", {"step": 1, "choice": "at once", "lab": (await kim.get())["lab"]})
        assert (await opened.trainer.get())["voted"] == 1


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "x" * (MOST_LETTERS + 1), "a\x00b", "a\x1b[31mb", "\u202eabc"])
async def test_a_name_is_one_line_of_letters(name: str) -> None:
    """A name that is empty, too long, or has other characters than letters and spaces on one line is refused."""
    async with class_open() as opened:
        assert (await opened.door.ask("POST", "/room/pupils", {"name": name})).status == 422
        assert len(opened.room.pupils) == 0


async def test_a_name_that_is_taken_gets_a_number() -> None:
    """Two pupils of the same name can be told apart, also if the name is as long as it may be."""
    async with class_open() as opened:
        for name in ("Kim", "Kim", " Kim ", "x" * MOST_LETTERS, "x" * MOST_LETTERS):
            await opened.door.join(name)
        names = [pupil["name"] for pupil in await opened.trainer.get("/room/pupils")]
        assert names == ["Kim", "Kim 2", "Kim 3", "x" * MOST_LETTERS, "x" * (MOST_LETTERS - 2) + " 2"]


async def test_a_full_class_takes_the_place_of_those_who_left() -> None:
    """A class of the largest size refuses more pupils, in words, until one has been away for long."""

    class RealTime:
        now_s = 0.0

        def __call__(self) -> float:
            return self.now_s

    clock = RealTime()
    async with class_open(monotonic=clock) as opened:
        first, _ = await opened.room.join("first")
        for number in range(MOST_PUPILS - 1):
            await opened.room.join(f"pupil {number}")
        refused = await opened.door.ask("POST", "/room/pupils", {"name": "late"})
        assert (refused.status, f"{MOST_PUPILS} pupils" in refused.json["detail"]) == (409, True)
        clock.now_s = AWAY_S
        assert (await opened.door.ask("POST", "/room/pupils", {"name": "late"})).status == 201
        assert len(opened.room.pupils) == MOST_PUPILS
        assert first not in list(opened.room.pupils)


async def test_those_who_join_together_exceed_no_limit() -> None:
    """A pupil whose lab must end before another one gets its place gives the place to one, not to all who join meanwhile."""
    now_s = 0.0
    async with class_open(monotonic=lambda: now_s) as opened:
        await opened.trainer.post("/room/lesson", {"name": "mine"})
        away = await opened.door.join("away")
        await away.post("/room/forks")
        for number in range(MOST_PUPILS - 1):
            await opened.room.join(f"pupil {number}")
        now_s = AWAY_S - 1
        for pupil in opened.room.pupils:
            pupil.seen_s = now_s if pupil.lab is None else 0.0
        now_s = AWAY_S
        joined = await asyncio.gather(*(opened.room.join("late") for _ in range(3)), return_exceptions=True)
        assert len(opened.room.pupils) == MOST_PUPILS
        assert [type(each) for each in joined].count(ClassFull) == 2


async def test_the_trainer_removes_a_pupil() -> None:
    """A removed pupil is not known any more, and its vote, stream and lab are gone."""
    async with class_open() as opened:
        kim = await opened.door.join("Kim")
        await at_question(opened)
        await kim.post("/room/votes", {"step": 1, "choice": "at once"})
        path = (await kim.post("/room/forks"))["path"]
        (listed,) = await opened.trainer.get("/room/pupils")
        assert (listed["vote"], listed["lab"]) == ("at once", path)
        async with kim.stream() as events:
            await anext(events)
            assert (await opened.trainer.ask("DELETE", f"/room/pupils/{listed['id']}")).status == 204
            rest = [event async for event in events]
        assert {event.name for event in rest} <= {"counts"}
        assert (await kim.ask("GET", "/room")).status == 401
        assert (await opened.trainer.get())["votes"] == {"at once": 0, "after 15 minutes": 0}
        assert (await opened.trainer.ask("GET", f"{path}/lab")).status == 404
        assert (await opened.trainer.ask("DELETE", f"/room/pupils/{listed['id']}")).status == 404


async def test_changes_come_by_stream() -> None:
    """Pages learn each change in order: the step with all that everybody sees, and how many have voted. The trainer's page
    learns who."""
    async with class_open() as opened:
        kim = await opened.door.join("Kim")
        async with kim.stream() as pupils, opened.trainer.stream() as trainers:
            first = await anext(pupils)
            assert (first.name, first.data["state"]) == ("step", "waiting")
            await at_question(opened)
            states = []
            async for event in pupils:
                if event.name == "step":
                    states.append((event.data["state"], event.data["step"]))
                if states and states[-1] == ("question", 1):
                    break
            assert [each for each in states if each[0] != "playing"] == [("text", 0), ("question", 1)]
            await kim.post("/room/votes", {"step": 1, "choice": "at once"})
            async for event in pupils:
                assert "at once" not in str(event.data) or event.name == "step"
                if event.name == "counts" and event.data["voted"] == 1:
                    break
            async for event in trainers:
                if event.name == "class" and event.data["voted"] == 1:
                    break
            assert [(each["name"], each["here"], each["step"], each["vote"]) for each in event.data["list"]] == [
                ("Kim", True, 1, "at once")
            ]


async def test_a_page_that_opens_again_has_one_stream() -> None:
    """A second stream of the same pupil ends the first one, so a pupil holds one place at most."""
    async with class_open() as opened:
        kim = await opened.door.join("Kim")
        async with kim.stream() as before:
            await anext(before)
            async with kim.stream() as after:
                assert (await anext(after)).name == "step"
                assert {event.name async for event in before} <= {"counts"}
                assert [pupil["here"] for pupil in await opened.trainer.get("/room/pupils")] == [True]


async def test_a_pupil_takes_the_lab_of_the_moment(tmp_path: Path) -> None:
    """The lab of the present text can be taken as a file, and begun on the server for one pupil. What the pupil does in it
    changes nothing in the lab of the class, and no other pupil reaches it."""
    async with class_open() as opened:
        kim, ada = await opened.door.join("Kim"), await opened.door.join("Ada")
        assert (await kim.ask("GET", "/room/lab")).status == 404
        await opened.trainer.post("/room/lesson", {"name": "mine"})
        at_first = await kim.ask("GET", "/room/lab")
        assert (at_first.status, "begin the lesson" in at_first.json["detail"]) == (404, True)
        await opened.trainer.post("/room/next", {"seen": 0})
        file = await kim.ask("GET", "/room/lab")
        assert file.status == 200
        unpack(file.content, RunFolder.at(tmp_path / "lab"))
        own = (await kim.post("/room/forks"))["path"]
        common = (await kim.get())["lab"]
        assert (await kim.get())["you"]["lab"] == own != common
        assert len(await kim.get(f"{own}/nodes/A/messages?folder=Projects")) == 1
        await kim.post(f"{own}/nodes/A/messages", {"folder": "Projects", "subject": "Mine"})
        assert len(await kim.get(f"{own}/nodes/A/messages?folder=Projects")) == 2
        assert len(await kim.get(f"{common}/nodes/A/messages?folder=Projects")) == 1
        assert len(await opened.trainer.get(f"{own}/nodes/A/messages?folder=Projects")) == 2
        assert (await ada.ask("GET", f"{own}/lab")).status == 403
        assert (await kim.ask("DELETE", "/room/forks")).status == 204
        assert (await kim.get())["you"]["lab"] is None


async def test_a_pupil_takes_the_lab_while_the_lesson_goes_back() -> None:
    """A pupil who takes the lab again, while the trainer goes back, gets the lab of the earlier text in place of its own."""
    async with class_open() as opened:
        kim, _ = await opened.room.join("Kim")
        await at_question(opened)
        before = await opened.room.fork(kim)
        _, after = await asyncio.gather(opened.room.again(0), opened.room.fork(kim))
        assert len(after.played.beats) == 1
        assert opened.room.lab_of(kim) == after.id != before.id


async def test_a_server_has_as_many_labs_as_it_says() -> None:
    """When the limit is reached, the next pupil reads why and has the lab of the class. A pupil who takes the lab again gets
    another in its place, and the lab of the class never makes room."""
    async with class_open(forks=1) as opened:
        kim, ada = await opened.door.join("Kim"), await opened.door.join("Ada")
        await at_question(opened)
        first = (await kim.post("/room/forks"))["path"]
        refused = await ada.ask("POST", "/room/forks", {})
        assert (refused.status, "room for 1 lab of pupils" in refused.json["detail"]) == (409, True), refused.content
        second = (await kim.post("/room/forks"))["path"]
        assert first != second
        assert (await kim.ask("GET", f"{first}/lab")).status == 403
        assert (await kim.get())["state"] == "question"
        await kim.ask("DELETE", "/room/forks")
        assert (await ada.ask("POST", "/room/forks", {})).status == 201
        await opened.trainer.post("/room/lesson", {"name": "mine"})
        assert (await kim.get())["step"] == 0


async def test_the_projector_shows_the_lab_of_a_pupil() -> None:
    """The trainer chooses whose lab the projector shows, and hears of what happens there. When that lab ends, its pupil is
    removed, or another lesson begins, it shows the common lab again. A pupil without a lab here is refused in words."""
    async with class_open() as opened:
        kim = await opened.door.join("Kim")
        await at_question(opened)
        chosen = {"pupil": (await kim.get())["you"]["id"]}
        refused = await opened.trainer.ask("POST", "/room/projected", chosen)
        assert (refused.status, "no lab on this server" in refused.json["detail"]) == (404, True)
        own = (await kim.post("/room/forks"))["path"]
        projected = (await opened.trainer.post("/room/projected", chosen))["projected"]
        assert (projected["name"], projected["lab"]) == ("Kim", own)
        async with opened.trainer.stream() as events:
            async for event in events:
                if event.name == "class":
                    break
            assert event.data["projected"] == projected
            await kim.post(f"{own}/nodes/A/messages", {"folder": "Projects", "subject": "Mine"})
            async for event in events:
                if event.name == "class" and event.data["projected"]["events"] > projected["events"]:
                    break
        assert "projected" not in await kim.get()
        assert (await opened.trainer.post("/room/projected", {"pupil": None}))["projected"] is None
        await opened.trainer.post("/room/projected", chosen)
        assert (await kim.ask("DELETE", "/room/forks")).status == 204
        assert (await opened.trainer.get())["projected"] is None
        await kim.post("/room/forks")
        await opened.trainer.post("/room/projected", chosen)
        assert (await opened.trainer.post("/room/lesson", {"name": "mine"}))["projected"] is None
        await opened.trainer.post("/room/projected", chosen)
        assert (await opened.trainer.ask("DELETE", f"/room/pupils/{chosen['pupil']}")).status == 204
        assert (await opened.trainer.get())["projected"] is None


async def test_pages_hear_of_a_clock_that_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the clock of the common lab runs, or that of the lab on the projector, pages hear that there are more events, although
    nobody sends a request."""
    monkeypatch.setattr("pflab.room.room.LOOK_S", 0.01)
    async with class_open() as opened:
        kim = await opened.door.join("Kim")
        seen = await at_question(opened)
        async with opened.trainer.stream() as events:
            await opened.trainer.post(f"{seen['lab']}/lab/clock/rate", {"rate": 86400})
            async for event in events:
                if (
                    event.name == "counts" and event.data["events"] > 2 * seen["events"]
                ):  # the status mails of the first day
                    break
            own = (await kim.post("/room/forks"))["path"]
            await opened.trainer.post("/room/projected", {"pupil": (await kim.get())["you"]["id"]})
            await kim.post(f"{own}/lab/clock/rate", {"rate": 86400})
            async for event in events:
                projected = event.data["projected"] if event.name == "class" else None
                if projected and projected["events"] > 2 * seen["events"]:
                    break


async def test_the_lesson_may_be_played_on_in_the_console() -> None:
    """The trainer's console plays the lesson on or ends it by the routes of lessons, and the class follows."""
    async with class_open() as opened:
        kim = await opened.door.join("Kim")
        await opened.trainer.post("/room/lesson", {"name": "mine"})
        path = (await kim.get())["lab"]
        async with kim.stream() as events:
            await anext(events)
            await opened.trainer.post(f"{path}/next", {"seen": 0})
            async for event in events:
                if event.name == "step" and event.data["state"] == "question":
                    break
        assert (await kim.get())["step"] == 1
        assert (await opened.trainer.ask("DELETE", path)).status == 204
        assert (await kim.get())["state"] == "waiting"


async def test_the_lab_in_a_tab_is_given_as_files(tmp_path: Path) -> None:
    """A class that has the files of make site gives them and nothing beside them, with their types, and tells pupils so."""
    site = tmp_path / "lab"
    (site / "python").mkdir(parents=True)
    (tmp_path / "secret").write_text("secret", "utf-8")
    contents = {"index.html": "text/html", "service_worker.js": "text/javascript", "python/a.wasm": "application/wasm"}
    for name in contents:
        (site / name).write_text(name, "utf-8")
    async with class_open(tab=site) as opened:
        for name, kind in contents.items():
            answer = await opened.stranger.ask("GET", f"/tab/{'' if name == 'index.html' else name}")
            assert (answer.status, answer.content.decode(), answer.headers["content-type"]) == (200, name, kind)
            again = await opened.stranger.ask("GET", f"/tab/{name}", headers={"If-None-Match": answer.headers["etag"]})
            assert again.status == 304
        for wrong in ("../secret", "..%2Fsecret", "%2e%2e/secret", "python", "python/", "none.js", "/etc/passwd"):
            assert (await opened.stranger.ask("GET", f"/tab/{wrong}")).status in {401, 404}, wrong
        assert (await (await opened.door.join("Kim")).get())["you"]["tab"]
    async with class_open() as opened:
        assert (await opened.stranger.ask("GET", "/tab/")).status == 404
        assert not (await (await opened.door.join("Kim")).get())["you"]["tab"]


ONLY_TRAINER = [
    ("GET", "/room/pupils", None),
    ("DELETE", "/room/pupils/0", None),
    ("POST", "/room/lesson", {"name": "mine"}),
    ("DELETE", "/room/lesson", None),
    ("POST", "/room/next", {}),
    ("POST", "/room/projected", {"pupil": None}),
    ("POST", "/room/again", {"step": 0}),
    ("POST", "/room/tally", {"step": 1}),
    ("GET", "/room/invitation", None),
    ("GET", "/lessons", None),
    ("POST", "/lessons", {"name": "mine"}),
    ("GET", "{lab}/lesson", None),
    ("POST", "{lab}/next", {}),
    ("POST", "{lab}/again", {"text": 0}),
    ("DELETE", "{lab}", None),
    ("GET", "{lab}/lab/replay?notes=true", None),
    ("GET", "{lab}/lab/file", None),
    ("POST", "{lab}/lab/clock/advance", {"by": "1 h"}),
    ("POST", "{lab}/lab/faults", {"kind": "lose"}),
    ("POST", "{lab}/lab/servers/A/stop", {}),
    ("POST", "{lab}/lab/forecast", {}),
    ("POST", "{lab}/nodes/A/messages", {"folder": "Projects", "subject": "x"}),
    ("PATCH", "{lab}/nodes/A/settings", {}),
    ("GET", "{own}/lesson", None),
    ("POST", "{own}/next", {}),
    ("GET", "{own}/lab/replay?notes=true", None),
    ("GET", "{own}/stream", None),
    ("PUT", "{own}/lab/saved/x", {}),
    ("GET", "/labs/stream?lab=0@x@/lessons/other", None),
    ("GET", "/lab", None),
]


async def test_nobody_but_the_trainer_changes_what_is_common() -> None:
    """A pupil is refused each request that plays the lesson on, changes its lab, or reads the notes, also in an own lab; so is
    somebody with the key only, and a stranger."""
    async with class_open() as opened:
        kim = await opened.door.join("Kim")
        before = await at_question(opened)
        own = (await kim.post("/room/forks"))["path"]
        for method, path, body in ONLY_TRAINER:
            opened.room.pupils.with_secret(kim.key).changes.left = 10.0  # type: ignore[union-attr] # the pace is another test's
            for person, status in ((kim, 403), (opened.door, 401), (opened.stranger, 401)):
                target = path.format(lab=before["lab"], own=own)
                answer = await person.ask(method, target, body)
                assert answer.status == status, (method, target, answer)
                assert b"Let them vote" not in answer.content
        after = await opened.trainer.get()
        assert (after["step"], after["lab"], after["state"]) == (before["step"], before["lab"], "question")
        for path in (
            "/lab",
            "/lab/topology",
            "/lab/checkpoint",
            "/lab/events?words=true",
            "/lab/clock",
            "/nodes/A/state?folder=Projects",
        ):
            assert (await kim.ask("GET", before["lab"] + path)).status == 200, path
            assert (await opened.door.ask("GET", before["lab"] + path)).status == 401, path


async def test_a_cookie_opens_the_console_to_the_trainer() -> None:
    """The trainer's browser reaches the common lab with a cookie that no script reads. Another site cannot use it, and a pupil
    gets none."""
    async with class_open() as opened:
        await opened.trainer.post("/room/lesson", {"name": "mine"})
        answer = await opened.trainer.ask("POST", "/room/window", {})
        cookie = answer.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie
        carried = {"Cookie": cookie.partition(";")[0]}
        path = (await opened.trainer.get())["lab"]
        ask = opened.stranger.ask
        assert (await ask("GET", f"{path}/lesson", headers=carried)).status == 200
        assert (await ask("POST", f"{path}/next", {}, headers=carried)).status == 403
        assert (await ask("POST", f"{path}/next", {}, headers={**carried, "Origin": "http://evil.test"})).status == 403
        own = {**carried, "Origin": "http://localhost"}
        assert (await ask("POST", f"{path}/next", {}, headers=own)).status == 200
        assert (await ask("GET", f"{path}/lesson", headers={"Cookie": carried["Cookie"] + "x"})).status == 401


async def test_the_invitation_has_a_picture() -> None:
    """The trainer's page gets the pupils' address, and its QR code as a picture without scripts."""
    async with class_open() as opened:
        invitation = await opened.trainer.get("/room/invitation")
        assert invitation["address"].endswith(f"/class#{opened.room.key}")
        assert invitation["qr"].startswith("<svg")
        assert "<script" not in invitation["qr"]


async def test_a_class_of_three_hundred() -> None:
    """Three hundred pupils join, follow three steps and vote: each gets each step once, in order, no vote is lost, and no two
    pupils have one name. Then each takes the lab, eight of them on the server, where they post, and the common lab stays."""
    most = 300
    async with class_open(forks=MOST_FORKS) as opened:
        pupils = await asyncio.gather(*(opened.door.join("Kim") for _ in range(most)))

        async def follow(pupil: Person, number: int) -> list[tuple[str, int | None]]:
            seen: list[tuple[str, int | None]] = []
            ids = []
            async with pupil.stream() as events:
                async for event in events:
                    ids.append(event.id)
                    if event.name != "step":
                        continue
                    seen.append((event.data["state"], event.data["step"]))
                    if seen[-1] == ("question", 1):
                        choice = event.data["choices"][number % 2]
                        await pupil.post("/room/votes", {"step": 1, "choice": choice})
                    if seen[-1] == ("text", 2):
                        assert event.data["tally"] == {"at once": most / 2, "after 15 minutes": most / 2}
                        break
            assert ids == sorted(ids)
            return seen

        following = asyncio.gather(*(follow(pupil, number) for number, pupil in enumerate(pupils)))
        while not all(each["here"] for each in await opened.trainer.get("/room/pupils")):
            pass
        await at_question(opened)
        while (await opened.trainer.get())["voted"] < most:
            pass
        await opened.trainer.post("/room/next", {"seen": 1})
        for seen in await following:
            assert [each for each in seen if each[0] in {"text", "question"}] == [
                ("text", 0),
                ("question", 1),
                ("text", 2),
            ]
        names = {each["name"] for each in await opened.trainer.get("/room/pupils")}
        assert len(names) == most

        async def take(pupil: Person, number: int) -> None:
            if number % (most // MOST_FORKS):
                assert (await pupil.ask("GET", "/room/lab")).content == file.content
                return
            own = (await pupil.post("/room/forks"))["path"]
            for subject in ("Mine", "Mine too"):
                await pupil.post(f"{own}/nodes/A/messages", {"folder": "Projects", "subject": subject})
            assert len(await pupil.get(f"{own}/nodes/A/messages?folder=Projects")) == 3

        file = await opened.trainer.ask("GET", "/room/lab")
        assert file.status == 200
        await asyncio.gather(*(take(pupil, number) for number, pupil in enumerate(pupils[: most - most % MOST_FORKS])))
        common = (await opened.trainer.get())["lab"]
        assert len(await opened.trainer.get(f"{common}/nodes/A/messages?folder=Projects")) == 1
