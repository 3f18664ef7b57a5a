"""The desk with two texts in a real browser: keys, buttons, undo, cover, texts side by side or stacked."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from evenhand.annotations.database.store import Store
from evenhand.annotations.items.batch import items
from evenhand.annotations.projects.projects import change_project, project
from tests.support.comparisons import compared_project
from tests.support.desk_driver import Desk, Opener

pytestmark = pytest.mark.browser


def open_pairs(desks: Opener, folder: Path, name: str, **settings: object) -> Desk:
    with Store.open(desks.server.database) as store:
        made, _ = compared_project(store, folder, 8, name=name)
        change_project(store, made, **settings)
    return desks(name).open()


def texts(desk: Desk) -> list[str]:
    """Return the left text and the right text."""
    return [desk.text.inner_text(), desk.page.get_by_test_id("desk-second").inner_text()]


def better(desk: Desk) -> list[str]:
    """Return of each stored label the better text, or its choice."""
    desk.settle()
    with Store.open(desk.server.database) as store:
        results = {item.uid: item for item in items(store, project(store, desk.project))}
    text_of = {"first": lambda item: item.text, "second": lambda item: item.second}
    return [
        text_of[row["choice"]](results[row["item"]]) if row["choice"] in text_of else row["choice"]
        for row in desk.labels()
    ]


def test_keys_arrows_and_buttons_choose_the_text_on_their_side(desks: Opener, tmp_path: Path) -> None:
    desk = open_pairs(desks, tmp_path, "pairs by key")
    assert desk.part("acts").locator(".choice span").all_text_contents() == ["Left is better", "Tie", "Right is better"]
    wanted = []
    for key, side in (("1", 0), ("2", 1), ("ArrowLeft", 0), ("ArrowRight", 1)):
        wanted.append(texts(desk)[side])
        desk.decide(key)
    desk.decide("0")
    undone, item = texts(desk), desk.item
    desk.page.get_by_role("button", name="Right is better", exact=True).click()
    expect(desk.text).not_to_have_text(undone[0])
    desk.press("u")
    expect(desk.part("was")).to_contain_text("Undone: Right is better. Press Enter to save it again.")
    assert (desk.item, texts(desk)) == (item, undone)
    desk.decide("Enter")
    assert better(desk) == [*wanted, "tie", undone[1], None, undone[1]]


def test_both_texts_have_names_and_are_placed_by_screen_width(desks: Opener, tmp_path: Path) -> None:
    desk = open_pairs(desks, tmp_path, "pairs by eye")
    desk.page.set_viewport_size({"width": 1280, "height": 900})
    left, right = (desk.page.get_by_role("region", name=name, exact=True) for name in ("Left text", "Right text"))
    expect(left).to_contain_text(texts(desk)[0])
    expect(right).to_contain_text(texts(desk)[1])
    left_box, right_box = left.bounding_box(), right.bounding_box()
    assert (
        left_box
        and right_box
        and left_box["y"] == right_box["y"]
        and left_box["x"] + left_box["width"] <= right_box["x"]
    )
    desk.page.set_viewport_size({"width": 390, "height": 844})
    left_box, right_box = left.bounding_box(), right.bounding_box()
    assert (
        left_box
        and right_box
        and left_box["x"] == right_box["x"]
        and left_box["y"] + left_box["height"] <= right_box["y"]
    )
    assert desk.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_both_texts_are_covered_until_they_are_opened(desks: Opener, tmp_path: Path) -> None:
    desk = open_pairs(desks, tmp_path, "pairs under cover", blur=True)
    both = (desk.text, desk.page.get_by_test_id("desk-second"))
    for region in both:
        expect(region).to_have_attribute("aria-hidden", "true")
    item = desk.item
    desk.press("1", "ArrowRight")
    assert desk.item == item and not desk.labels()
    desk.press("Space")
    for region in both:
        expect(region).to_have_attribute("aria-hidden", "false")
    expect(desk.part("say")).to_contain_text("Left text: ")
    desk.decide("1")
    assert len(better(desk)) == 1
