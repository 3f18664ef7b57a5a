"""The desk under an own scheme in a real browser: its choices, flags and kinds of spans with their keys."""

from typing import Any

import pytest
from playwright.sync_api import expect

from evenhand.annotations.database.store import Store
from evenhand.annotations.guideline.drafts import Draft, write_version
from evenhand.annotations.guideline.versions import guideline
from evenhand.annotations.projects.projects import project
from tests.support.desk_driver import Desk, Opener, marks, open_generations, stored
from tests.support.own_schemes import QUESTIONS, own_scheme

pytestmark = pytest.mark.browser


def open_own(desks: Opener, texts: int | list[str] = 6, **parts: Any) -> Desk:
    scheme = own_scheme(**parts)
    return open_generations(desks, texts, choices=scheme.choices, reasons=scheme.flags, scheme=scheme.more)


def test_keys_of_an_own_scheme_store_choices_flags_and_spans(desks: Opener) -> None:
    desk = open_own(desks)
    labels = desk.part("acts").locator(".choice span").all_text_contents()
    assert labels == ["Helpful", "Harmful", "Neither"]
    assert desk.part("toggles").locator("span").all_text_contents() == ["Stereotype", "编造", "Mark words", "Note"]
    desk.press("s")
    expect(desk.part("toggles").get_by_text("Stereotype").locator("..")).to_have_attribute("aria-pressed", "true")
    desk.decide("1")
    # A choice that needs a span waits for it, and a letter goes to a word though it is a key of the scheme.
    item = desk.item
    desk.press("2")
    expect(desk.part("because")).to_have_text("Harmful: mark Slur, then press Enter to save.")
    desk.press("Enter", "Enter")
    assert desk.item == item and marks(desk) == []
    desk.press("ArrowRight", "Space")
    assert len(marks(desk)) == 1
    desk.decide("Enter")
    # A flag that needs one too; the key of a kind begins to mark with it, a digit changes the kind.
    desk.press("f", "c")
    expect(desk.part("marking").locator("[aria-pressed=true]")).to_have_text("Claim")
    desk.press("ArrowRight", "Space", "7", "ArrowRight", "Space", "Escape")
    desk.decide("3")
    rows = stored(desk)
    assert [(row["choice"], row["reasons"], row["extraneous"]) for row in rows] == [
        ("helpful", '["stereotype"]', None), ("harmful", "[]", None), ("neither", '["made_up"]', None),
    ]  # fmt: skip
    assert [[kind for _word, kind in row["words"]] for row in rows] == [[], ["slur"], ["claim", "slur"]]


def test_undo_restores_a_label_with_flags_and_spans(desks: Opener) -> None:
    desk = open_own(desks)
    item = desk.item
    desk.press("s", "2", "ArrowRight", "Space")
    desk.decide("Enter")
    desk.press("u")
    expect(desk.part("was")).to_contain_text("Undone: Harmful (Stereotype). Press Enter to save it again.")
    assert desk.item == item and len(marks(desk)) == 1
    desk.decide("Enter")
    assert [row["choice"] for row in stored(desk)] == ["harmful", None, "harmful"]


def test_an_open_desk_gets_a_new_scheme_as_a_new_version(desks: Opener) -> None:
    desk = open_own(desks)
    desk.decide("1")
    desk.settle()
    with Store.open(desk.server.database) as store:
        made = project(store, desk.project)
        now = guideline(store, made)
        new = own_scheme(choices=[{"code": "fine", "key": "1", "en": "Fine"}, {"code": "not_fine", "en": "Not fine"}],
                         flags=[], spans=[{"code": "name", "key": "7", "en": "Name"}])  # fmt: skip
        write_version(store, made, Draft(1, now.text, new.choices, new.flags, "Two choices.", scheme=new.more))
    desk.decide("1")
    news = desk.page.get_by_test_id("desk-news")
    expect(news).to_contain_text("New: Name")
    expect(news).to_contain_text("Removed: Harmful")
    desk.page.get_by_role("button", name="I have read this; continue").click()
    expect(desk.part("acts").locator(".choice span")).to_have_text(["Fine", "Not fine"])
    expect(desk.part("toggles").locator("span")).to_have_text(["Mark words", "Note"])
    desk.decide("1")
    rows = stored(desk)
    assert [row["choice"] for row in rows] == ["helpful", "helpful", "fine"]


def test_the_key_map_names_everything_with_its_description(desks: Opener) -> None:
    desk = open_own(desks)
    desk.press("?")
    sheet = desk.part("help")
    for text in ("Helpful: Answers what was asked", "Stereotype", "Claim: A statement that can be checked"):
        expect(sheet).to_contain_text(text)
    assert sheet.locator("kbd").all_text_contents()[:7] == ["1", "2", "3", "S", "F", "7", "C"]


def test_questions_are_answered_by_key_and_click_and_enforced_if_required(desks: Opener) -> None:
    why = [QUESTIONS[0], QUESTIONS[1], QUESTIONS[2] | {"required": True}]
    desk = open_own(desks, questions=why)
    item = desk.item
    desk.press("1")
    expect(desk.part("questions")).to_contain_text("Fluency: answer this first, then press Enter to save.")
    desk.press("Enter", "8", "4", "Enter")
    expect(desk.part("noteLabel")).to_have_text("Why?")
    assert desk.item == item and desk.labels() == []
    desk.page.keyboard.type("It reads well.")
    desk.decide("Enter")
    # Before the choice: its key and a digit, or a click; a second time undoes it.
    desk.press("q", "2")
    desk.part("questions").get_by_role("group", name="Care").get_by_text("10", exact=True).click()
    desk.part("questions").get_by_role("group", name="Care").get_by_text("0", exact=True).click()
    desk.press("q", "2", "q", "3", "n")
    desk.page.keyboard.type("Less so.")
    desk.press("Enter")
    desk.decide("3")
    rows = stored(desk)
    assert [(row["choice"], row["reasons"], row["note"]) for row in rows] == [
        ("helpful", '["fluency:4"]', "It reads well."), ("neither", '["fluency:3", "care:0"]', "Less so."),
    ]  # fmt: skip
    desk.press("u")
    expect(desk.part("was")).to_contain_text("Neither (Fluency: 3, Care: 0)")
    expect(desk.part("questions").locator("[aria-pressed=true]")).to_have_text(["3", "0"])
