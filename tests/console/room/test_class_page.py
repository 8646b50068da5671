"""The page of a class in Chromium: a trainer, a projector and two pupils, one of them on a phone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import APIResponse, Page, Route, expect

from tests.support.class_up import class_up
from tests.support.console_page import OpenPage, WatchedPage
from tests.support.room import LESSON

LONGEST_MS = 60_000


@pytest.fixture
def served(tmp_path: Path) -> Iterator[dict[str, str]]:
    folder = tmp_path / "class"
    folder.mkdir()
    (folder / "lessons").mkdir()
    (folder / "lessons" / "mine.yaml").write_text(LESSON, "utf-8")
    (folder / "lessons" / "course.yaml").write_text("title: Course\nlessons: [mine, lost-mail]\n", "utf-8")
    with class_up(folder, str(folder / "lessons")) as found:
        yield found.ready


def join(page: Page, name: str) -> None:
    page.get_by_label("Your name").fill(name)
    page.get_by_role("button", name="Join").click()
    expect(page.locator(".who")).to_have_text(name, timeout=LONGEST_MS)


def forgive(status: int, *pages: WatchedPage) -> None:
    """Drop complaints about answers with a status: a page learns by them that its lab or its secret is not there any more."""
    for watched in pages:
        watched.complaints[:] = [each for each in watched.complaints if f"status of {status} " not in each]


def no_wider_than_the_screen(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"))


def test_two_pupils_follow_vote_and_take_the_lab(served: dict[str, str], open_page: OpenPage) -> None:
    """Pupils join with a name, follow the trainer's step, and vote; the votes are bars on the projector when the trainer shows
    them. A pupil takes the lab as it is now and posts in it, which the class does not see. Only the trainer reads the notes."""
    at_trainer = open_page(f"{served['url']}/class?trainer#{served['trainer']}", height=900)
    trainer = at_trainer.page
    at_phone = open_page(served["pupils"], width=390, height=844)
    phone = at_phone.page
    laptop = open_page(served["pupils"], dark=True).page
    assert served["trainer"] not in trainer.url
    join(phone, "Kim")
    join(laptop, "Kim 2")
    expect(trainer.get_by_role("row", name="Kim 2")).to_be_visible(timeout=LONGEST_MS)
    with trainer.expect_popup() as popup:
        trainer.get_by_role("link", name="Projector window").click()
    projector = popup.value
    expect(projector.get_by_role("img", name="QR code of the address")).to_be_visible(timeout=LONGEST_MS)
    trainer.get_by_role("button", name="Begin it").click()
    for page in (phone, laptop, projector, trainer):
        expect(page.get_by_text("A user posts.", exact=True)).to_be_visible(timeout=LONGEST_MS)
    expect(trainer.get_by_label("Notes")).to_have_text("Say nothing yet.")
    trainer.get_by_role("button", name="Next").click()
    choice = phone.get_by_role("button", name="after 15 minutes")
    choice.click(timeout=LONGEST_MS)
    expect(choice).to_have_attribute("aria-pressed", "true")
    laptop.get_by_role("button", name="at once").focus()
    laptop.keyboard.press("Enter")
    expect(projector.get_by_text("2 of 2 have voted")).to_be_visible(timeout=LONGEST_MS)
    expect(projector.get_by_role("list", name="Votes")).to_have_count(0)
    expect(trainer.get_by_role("list", name="Votes").get_by_role("listitem")).to_have_text(
        ["at once 1", "after 15 minutes 1"]
    )
    trainer.get_by_role("button", name="Show the votes").click()
    for page in (phone, laptop, projector):
        expect(page.get_by_role("list", name="Votes")).to_contain_text("after 15 minutes", timeout=LONGEST_MS)
        expect(page.get_by_text("Let them vote.")).to_have_count(0)
    expect(phone.get_by_role("list", name="Votes")).to_contain_text("(your vote)")
    assert no_wider_than_the_screen(phone)
    assert at_phone.serious_violations() == []
    assert at_trainer.serious_violations() == []

    laptop.get_by_role("button", name="Take this lab").click()
    with laptop.expect_popup() as popup:
        laptop.get_by_role("link", name="Open your lab").click(timeout=LONGEST_MS)
    own = popup.value
    own.get_by_role("button", name="Server A,").click(timeout=LONGEST_MS)
    own.get_by_role("button", name="Stop", exact=True).click()
    expect(own.get_by_role("button", name="Server A,")).to_have_accessible_name(
        re.compile("stopped"), timeout=LONGEST_MS
    )
    expect(phone.get_by_role("button", name="Server A,")).to_be_visible()
    trainer.get_by_role("button", name="Next").click()
    expect(phone.get_by_text("The answer: after 15 minutes")).to_be_visible(timeout=LONGEST_MS)
    expect(phone.get_by_role("button", name="Server A,")).to_be_visible()
    expect(trainer.get_by_role("link", name="Show the lab of Kim 2")).to_be_visible(timeout=LONGEST_MS)
    on_projector = trainer.get_by_role("button", name="The lab of Kim 2 on the projector")
    on_projector.click()
    stopped = projector.get_by_role("region", name="The lab of Kim 2").get_by_role("button", name="Server A,")
    expect(stopped).to_have_accessible_name(re.compile("stopped"), timeout=LONGEST_MS)
    expect(on_projector).to_have_attribute("aria-pressed", "true")
    on_projector.click()
    common = projector.get_by_role("region", name="The lab of the class").get_by_role("button", name="Server A,")
    expect(common).not_to_have_accessible_name(re.compile("stopped"), timeout=LONGEST_MS)
    phone.reload()
    expect(phone.locator(".who")).to_have_text("Kim", timeout=LONGEST_MS)
    expect(phone.get_by_text("So it is.")).to_be_visible(timeout=LONGEST_MS)
    own.close()


def test_eight_pupils_take_part(served: dict[str, str], open_page: OpenPage) -> None:
    """Eight pages follow the same steps, and each vote counts once, also one that was changed."""
    trainer = open_page(f"{served['url']}/class?trainer#{served['trainer']}").page
    pupils = [open_page(served["pupils"], width=390, height=844).page for _ in range(8)]
    for number, page in enumerate(pupils):
        join(page, f"Pupil {number}")
    trainer.get_by_role("button", name="Begin it").click()
    for page in pupils:
        expect(page.get_by_text("A user posts.", exact=True)).to_be_visible(timeout=LONGEST_MS)
    trainer.get_by_role("button", name="Next").click()
    for number, page in enumerate(pupils):
        for choice in ("at once", "after 15 minutes")[: 1 + number % 2]:
            page.get_by_role("button", name=choice).click(timeout=LONGEST_MS)
            expect(page.get_by_role("button", name=choice)).to_have_attribute("aria-pressed", "true")
    expect(trainer.get_by_role("list", name="Votes").get_by_role("listitem")).to_have_text(
        ["at once 4", "after 15 minutes 4"], timeout=LONGEST_MS
    )
    trainer.get_by_role("button", name="Next").click()
    for page in pupils:
        expect(page.get_by_text("The answer: after 15 minutes")).to_be_visible(timeout=LONGEST_MS)
        expect(page.get_by_role("list", name="Votes")).to_contain_text("at once")


def test_a_vote_stays_when_an_older_answer_comes_late(served: dict[str, str], open_page: OpenPage) -> None:
    """A pupil who votes while the page still waits to hear what the server knew before keeps the vote on the screen."""
    trainer = open_page(f"{served['url']}/class?trainer#{served['trainer']}").page
    phone = open_page(served["pupils"], width=390, height=844).page
    join(phone, "Kim")
    trainer.get_by_role("button", name="Begin it").click()
    expect(phone.get_by_text("A user posts.", exact=True)).to_be_visible(timeout=LONGEST_MS)
    late: list[tuple[Route, APIResponse]] = []

    def delay_the_first(route: Route) -> None:
        answer = route.fetch()
        if late:
            route.fulfill(response=answer)
        else:
            late.append((route, answer))

    phone.route("**/room", delay_the_first)
    trainer.get_by_role("button", name="Next").click()
    choice = phone.get_by_role("button", name="at once")
    choice.click(timeout=LONGEST_MS)
    expect(trainer.get_by_role("list", name="Votes").get_by_role("listitem").first).to_have_text(
        "at once 1", timeout=LONGEST_MS
    )
    [(route, answer)] = late
    assert answer.json()["you"]["vote"] is None
    with phone.expect_response("**/room"):
        route.fulfill(response=answer)
    trainer.get_by_role("button", name="Show the votes").click()
    expect(phone.get_by_role("list", name="Votes")).to_contain_text("(your vote)", timeout=LONGEST_MS)


def test_the_map_goes_back_with_the_lesson(served: dict[str, str], open_page: OpenPage) -> None:
    """When the trainer goes back a step, or starts one again, every page shows the map of the new lab, and goes on with it. A
    window that opens in the middle knows how many pupils there are."""
    at_trainer = open_page(f"{served['url']}/class?trainer#{served['trainer']}")
    trainer = at_trainer.page
    at_phone = open_page(served["pupils"], width=390, height=844)
    phone = at_phone.page
    join(phone, "Kim")
    trainer.get_by_role("button", name="Begin it").click()
    with trainer.expect_popup() as popup:
        trainer.get_by_role("link", name="Projector window").click()
    projector = popup.value
    expect(projector.get_by_text("1 in the class")).to_be_visible(timeout=LONGEST_MS)
    level = re.compile("1 folder$")
    for _ in range(2):
        trainer.get_by_role("button", name="Next").click()
        for button in ("", "Start this step again"):
            if button:
                trainer.get_by_role("button", name=button).click()
            for page in (phone, projector):
                expect(page.get_by_role("button", name="Server B,")).to_contain_text("lacks", timeout=LONGEST_MS)
        trainer.get_by_role("button", name="Back one step").click()
        for page in (phone, projector):
            expect(page.get_by_text("A user posts.", exact=True)).to_be_visible(timeout=LONGEST_MS)
            expect(page.get_by_role("button", name="Server B,")).to_have_accessible_name(level, timeout=LONGEST_MS)
    forgive(409, at_trainer, at_phone)


def test_a_removed_pupil_joins_again(served: dict[str, str], open_page: OpenPage) -> None:
    """A pupil who was removed reads so, and may join again at the same step: the page shows name and vote, with one stream."""
    at_trainer = open_page(f"{served['url']}/class?trainer#{served['trainer']}")
    trainer = at_trainer.page
    at_phone = open_page(served["pupils"], width=390, height=844)
    phone = at_phone.page
    streams: list[str] = []
    phone.on("request", lambda request: streams.extend([request.url] if request.url.endswith("/room/stream") else []))
    join(phone, "Kim")
    trainer.get_by_role("button", name="Begin it").click()
    trainer.get_by_role("button", name="Next").click()
    choice = phone.get_by_role("button", name="at once")
    expect(choice).to_be_visible(timeout=LONGEST_MS)
    trainer.get_by_role("button", name="Remove Kim").click()
    expect(phone.get_by_text("The class does not know you any more.")).to_be_visible(timeout=LONGEST_MS)
    join(phone, "Kim")
    choice.click()
    expect(choice).to_have_attribute("aria-pressed", "true")
    for button, text in (("Next", "So it is."), ("Back one step", "When has B it?")) * 3:
        trainer.get_by_role("button", name=button).click()
        expect(phone.locator(".text")).to_have_text(text, timeout=LONGEST_MS)
    assert len(streams) == 3  # at first, when the secret was not known any more, and as the new pupil
    forgive(401, at_phone)
    forgive(409, at_phone, at_trainer)


def test_a_window_of_the_trainer_of_another_class_says_so(served: dict[str, str], open_page: OpenPage) -> None:
    """The trainer's page and the projector of a class that has ended show no lesson when another class answers at the address:
    they say what is wrong, and do not go on trying."""
    for page in ("trainer", "projector"):
        watched = open_page(f"{served['url']}/class?{page}#{served['key']}")
        expect(watched.page.get_by_role("main")).to_have_text(
            "This is not the address of the trainer of this class. A class that was started again has a new one.",
            timeout=LONGEST_MS,
        )
        forgive(401, watched)
