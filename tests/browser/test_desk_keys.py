"""Keys of the desk that an annotator moves, and how they are shown."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support.desk_driver import (
    Desk,
    Opener,
    labelled,
    make_generations,
    make_project,
    marks,
    open_generations,
    stored,
)

pytestmark = pytest.mark.browser


def rebind(desk: Desk, key: str, to: str) -> None:
    """Press another key for *key* in the list of keys, and close the list."""
    desk.press("?")
    desk.part("help").locator(f'[data-act=rekey][data-code="{key}"]').click()
    desk.press(to)


def test_a_moved_key_is_shown_everywhere_and_remembered(desks: Opener) -> None:
    desk = desks(make_project(desks.server, 12)).open()
    rebind(desk, "J", "d")
    expect(desk.part("keyTold")).to_have_text("The key is now D.")
    rebind_row = desk.part("help").locator('[data-act=rekey][data-code="J"]')
    expect(rebind_row).to_be_focused()
    expect(rebind_row.locator("kbd")).to_have_text("D")
    rebind_row.press("Escape")
    rebind(desk, "6", "g")
    desk.press("Escape")
    keep = desk.root.locator("[data-act=choose][data-code=accept]")
    expect(keep.locator("kbd")).to_have_text("D")
    expect(keep).to_have_attribute("aria-keyshortcuts", "D")
    expect(desk.part("guideline").locator("li.keyed", has_text="Generic").locator("kbd")).to_have_text("G")
    first = desk.item
    desk.press("j")  # moved away: it means nothing
    assert desk.item == first
    assert desk.decide("d") == first
    second = desk.decide("k", "g", "Enter")
    desk.settle()
    assert [(row["choice"], row["reasons"]) for row in desk.labels()] == [("accept", "[]"), ("reject", '["generic"]')]
    expect(desk.part("past").locator("button").first.locator("i")).to_have_text("G")
    desk.open()
    third = desk.decide("d")
    desk.settle()
    assert labelled(desk) == [first, second, third]
    desk.press("?")
    desk.act("reset-keys").click()
    desk.press("Escape")
    fourth = desk.decide("j")
    desk.settle()
    assert labelled(desk)[-1] == fourth


def test_a_key_in_use_is_refused_with_one_sentence(desks: Opener) -> None:
    desk = desks(make_project(desks.server)).open()
    rebind(desk, "J", "x")
    told = "X is already in use: skip: the item comes back once, at the end. The key stays as it was."
    expect(desk.part("keyTold")).to_have_text(told)
    desk.part("help").locator('[data-act=rekey][data-code="J"]').click()
    desk.press("ArrowUp")
    expect(desk.part("keyTold")).to_contain_text("Press a letter or a digit")
    desk.press("Escape")  # leaves the key, not the list
    expect(desk.part("keyTold")).to_have_text("The key stays as it was.")
    expect(desk.part("help")).to_be_visible()
    desk.press("Escape")
    expect(desk.part("help")).to_be_hidden()
    first = desk.decide("j")
    desk.settle()
    assert labelled(desk) == [first] and desk.storage("evenhand:desk:keymap") == {}


def test_two_keys_can_be_exchanged_and_each_annotator_has_keys_of_their_own(desks: Opener) -> None:
    context = desks.context()
    project = make_project(desks.server)
    desk = desks(project, context=context).open()
    for key, to in (("J", "q"), ("K", "j"), ("J", "k")):
        rebind(desk, key, to)
        desk.press("Escape")
    first = desk.decide("k")
    desk.settle()
    assert [(row["item"], row["choice"]) for row in desk.labels()] == [(first, "accept")]
    other = desks(project, "Bo", context=context).open()
    second = other.decide("j")
    other.settle()
    assert [(row["item"], row["choice"]) for row in other.labels()] == [(second, "accept")]


def test_moved_keys_still_write_their_letter_while_words_are_marked(desks: Opener) -> None:
    desk = desks(make_generations(desks.server, [" Then he met a man."] * 2)).open()
    for key, to in (("H", "g"), ("2", "h")):  # the second is in use until the first has moved
        rebind(desk, key, to)
        desk.press("Escape")
    desk.decide("h", "h", "Enter", "Enter")
    (row,) = stored(desk)
    assert row["choice"] == "misgendering" and row["words"] == [("he", "pronoun")]


def test_f_begins_to_mark_at_once(desks: Opener) -> None:
    desk = open_generations(desks, [" Then he met a girl and left."] * 3)
    desk.press("f", "g")
    expect(desk.part("say")).to_have_text("girl")
    desk.press("Enter")
    assert marks(desk) == ["girl"]
    desk.decide("1")
    desk.press("f")  # and back without marks: the flag stays until it is taken back
    expect(desk.root).to_have_attribute("data-mode", "mark")
    desk.press("Escape")
    expect(desk.act("flag")).to_have_attribute("aria-pressed", "true")
    desk.press("f")
    desk.decide("1")
    first, second = stored(desk)
    assert (first["choice"], first["extraneous"], first["words"]) == ("correct", 1, [("girl", "extraneous")])
    assert (second["choice"], second["extraneous"], second["words"]) == ("correct", 0, [])


def test_every_covered_word_is_equally_wide(desks: Opener) -> None:
    texts = [f"{word}第{n}天在河边散步。" for n, word in enumerate(("他", "爸爸", "女孩", "妈妈", "她", "叔叔"))]
    desk = desks(make_project(desks.server, texts)).open()
    widths = set()
    for _text in texts:
        box = desk.text.locator(".cover").bounding_box()
        widths.add(round(box["width"], 1) if box else None)
        desk.decide("j")
    (width,) = widths
    size = desk.text.evaluate("text => parseFloat(getComputedStyle(text).fontSize)")
    assert width is not None and 1.9 * size < width < 2.6 * size, "as wide as a word of two signs, the most common"


RIGHT_TO_LEFT = {
    "ar": ["قالت إنها ستعود غداً.", " ذهب إلى السوق واشترى خبزاً."],
    "he": [" היא אמרה שתחזור מחר.", " הוא הלך לשוק וקנה לחם."],
}


@pytest.mark.parametrize("language", RIGHT_TO_LEFT)
def test_texts_from_right_to_left_are_labelled_and_marked(desks: Opener, language: str) -> None:
    texts = RIGHT_TO_LEFT[language]
    desk = desks(make_generations(desks.server, texts, language=language)).open()
    expect(desk.text).to_have_attribute("lang", language)
    assert desk.text.evaluate("text => getComputedStyle(text).direction") == "rtl"
    desk.press("n")
    desk.page.keyboard.type(texts[1])
    assert desk.part("note").evaluate("note => getComputedStyle(note).direction") == "rtl"
    desk.press("Enter", "2", "ArrowRight", "Enter")
    assert len(marks(desk)) == 1
    desk.decide("Enter")
    (row,) = stored(desk)
    assert row["choice"] == "misgendering" and row["note"] == texts[1].strip()
    assert row["words"][0][0] in row["text"].split()
    line = desk.part("past").locator(".line").first
    expect(line).to_have_attribute("lang", language)
    assert line.evaluate("line => getComputedStyle(line).direction") == "rtl"


def visible_at(page: Page, width: int, height: int) -> dict[str, Any]:
    page.set_viewport_size({"width": width, "height": height})
    return page.evaluate("""() => {
      const find = (root, part) => root.querySelector(part)
        ?? [...root.querySelectorAll("*")].map((one) => one.shadowRoot && find(one.shadowRoot, part)).find(Boolean);
      const box = (part) => find(document, part).getBoundingClientRect();
      return { text: box("[data-testid=desk-text]").bottom, list: box("[data-part=guideline]").bottom,
               scrolls: find(document, "[data-part=guideline]").scrollHeight - box("[data-part=guideline]").height };
    }""")


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("kind", ["sentences", "generations"])
def test_criteria_are_visible_at_1280_and_the_text_at_400_percent(app_desks: Opener, kind: str, lang: str) -> None:
    make = make_generations if kind == "generations" else make_project
    desk = app_desks(make(app_desks.server), context=app_desks.fresh()).open(lang=lang)
    seen = visible_at(desk.page, 1280, 900)
    assert seen["list"] <= 900 and seen["scrolls"] < 2, "the whole guideline is on the first screen"
    magnified = visible_at(desk.page, 320, 256)
    if kind == "sentences":
        assert magnified["text"] <= 256
    else:
        assert desk.text.evaluate("text => text.getBoundingClientRect().top") < 220, "its first line"
