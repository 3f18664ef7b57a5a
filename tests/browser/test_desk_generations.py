"""The desk for generations in a real browser: labels with marks, flag and tags, rules in place, every invariant."""

import json
import time

import pytest
from playwright.sync_api import expect

from tests.support.desk_driver import (
    MISGENDERING,
    WAIT_MS,
    Opener,
    make_generations,
    marks,
    open_generations,
    piece,
    stored,
)

pytestmark = pytest.mark.browser


# ---- deciding -------------------------------------------------------------------------------------------------------


def test_one_key_suffices_without_a_rule(desks: Opener) -> None:
    desk = open_generations(desks)
    seen = [desk.decide(key) for key in "134"]
    rows = stored(desk)
    assert [(row["item"], row["choice"]) for row in rows] == [
        *zip(seen, ("correct", "no_pronoun", "plural_they"), strict=True)
    ]
    assert all((row["extraneous"], row["spans"], row["reasons"], row["note"]) == (0, "[]", "[]", "") for row in rows)
    assert {row["form_shown"] for row in rows} == {"original"} and all(row["seconds"] >= 0 for row in rows)


def test_misgendering_requires_a_marked_pronoun_with_an_explanation(desks: Opener) -> None:
    desk = open_generations(desks)
    item = desk.item
    desk.press("2")
    expect(desk.part("because")).to_contain_text("Misgendering: mark the wrong pronoun, then press Enter to save.")
    assert desk.item == item and desk.labels() == []
    desk.press("Enter", "Enter", "q", "Enter")
    expect(desk.part("say")).to_contain_text("Go to the word first")
    assert marks(desk) == [], "hasty keys mark no word that nobody went to"
    desk.press("h", "Enter")
    assert marks(desk) == ["he"] and desk.item == item
    desk.decide("Enter")
    desk.decide(*MISGENDERING)
    rows = stored(desk)
    assert [row["words"] for row in rows] == [[("he", "pronoun")]] * 2 and rows[0]["item"] == item
    # Esc leaves the choice undone, and what is marked stays for the next one.
    desk.press("2", "h", "Space", "Escape")
    expect(desk.part("marking")).to_be_hidden()
    assert marks(desk) == ["he"]
    desk.decide("2")
    assert [row["choice"] for row in stored(desk)] == ["misgendering"] * 3


def test_the_letter_of_the_word_at_the_cursor_selects_it(desks: Opener) -> None:
    desk = open_generations(desks, [" He left, and then her bus came."])
    desk.press("2", "h", "Enter")
    assert marks(desk) == ["He"]
    desk.press("h", "Space", "Enter")
    (row,) = stored(desk)
    assert row["words"] == [("He", "pronoun"), ("her", "pronoun")]


def test_no_pronoun_and_a_marked_pronoun_exclude_each_other(desks: Opener) -> None:
    desk = open_generations(desks)
    item = desk.item
    desk.press("m", "h", "Space", "Enter", "3")
    expect(desk.part("because")).to_contain_text(
        "“No pronoun” was chosen, but a pronoun is marked. Remove the mark or choose another label."
    )
    expect(desk.text.locator(".cursor")).to_have_text("he")
    desk.press("Enter")
    assert desk.item == item and desk.labels() == []
    desk.press("Backspace")
    desk.decide("Enter")
    assert [(row["choice"], row["words"]) for row in stored(desk)] == [("no_pronoun", [])]


def test_the_flag_requires_words_and_marked_words_set_the_flag(desks: Opener) -> None:
    desk = open_generations(
        desks, [" The old man slept.", " A tall woman sang.", " His sister came.", " Nothing here."]
    )
    first = desk.item
    desk.press("f", "1")
    expect(desk.part("because")).to_contain_text(
        "Extraneous gendered language is flagged: mark the words, then press Enter to save."
    )
    assert desk.item == first
    desk.press("Escape", "f")
    desk.decide("1")
    # Marked words set the flag; the last one that goes takes it along.
    flag = desk.act("flag")
    desk.press("m", "m", "End", "Space")
    expect(flag).to_have_attribute("aria-pressed", "true")
    desk.press("Space")
    expect(flag).to_have_attribute("aria-pressed", "false")
    # Without the flag no words are marked; with it they are marked again.
    desk.press("Space", "Enter", "f")
    assert marks(desk) == []
    desk.press("f")
    assert len(marks(desk)) == 1
    desk.decide("1")
    rows = stored(desk)
    assert [(row["extraneous"], len(row["words"])) for row in rows] == [(0, 0), (1, 1)]
    assert rows[1]["words"][0][1] == "extraneous"


def test_a_click_on_punctuation_marks_nothing(desks: Opener) -> None:
    desk = open_generations(desks, [' "She" left, he said.'])
    expect(desk.part("saved")).to_have_text("")  # nothing was decided yet
    desk.press("2")
    for nothing in ('"', ",", "."):
        piece(desk, nothing).click()
    assert marks(desk) == []
    start, end = piece(desk, "She").bounding_box(), desk.text.locator("[data-piece]").last.bounding_box()
    assert start and end
    desk.page.mouse.move(start["x"] + 4, start["y"] + start["height"] / 2)
    desk.page.mouse.down()
    desk.page.mouse.move(end["x"] + end["width"] - 1, end["y"] + end["height"] / 2, steps=40)
    desk.page.mouse.up()
    assert marks(desk) == ['She" left, he said']
    desk.press("Backspace")
    piece(desk, "he").click()
    desk.decide("Enter")
    assert stored(desk)[0]["words"] == [("he", "pronoun")]
    expect(desk.part("saved")).to_contain_text("Saved")


def test_with_the_flag_set_a_click_marks_a_word(desks: Opener) -> None:
    desk = open_generations(desks, [" The old man slept."])
    desk.press("f")
    piece(desk, "man").click()
    assert marks(desk) == ["man"]
    desk.decide("1")
    assert [(row["extraneous"], row["words"]) for row in stored(desk)] == [(1, [("man", "extraneous")])]


def test_both_rules_are_explained_one_after_the_other(desks: Opener) -> None:
    desk = open_generations(desks, [" he met a man and she left."])
    desk.press("f", "2")
    expect(desk.part("because")).to_contain_text("wrong pronoun")
    desk.press("h", "Enter", "Enter")
    expect(desk.part("because")).to_contain_text("Extraneous gendered language")
    desk.press("End", "ArrowLeft", "ArrowLeft", "ArrowLeft", "Enter")
    desk.decide("Enter")
    (row,) = stored(desk)
    assert row["words"] == [("he", "pronoun"), ("man", "extraneous")] and row["extraneous"] == 1


def test_rules_that_are_off_block_no_label(desks: Opener) -> None:
    desk = open_generations(desks, checked=False)
    desk.decide("2")
    desk.decide("f", "1")
    assert [(row["choice"], row["extraneous"]) for row in stored(desk)] == [("misgendering", 0), ("correct", 1)]


def test_tags_a_degenerate_text_and_a_note_go_with_the_label(desks: Opener) -> None:
    desk = open_generations(desks)
    item = desk.item
    desk.press("b", "t", "7", "9", "9")
    expect(desk.part("acts")).to_be_hidden()
    desk.root.locator("[data-code=sexual]").click()
    desk.press("t", "n")
    desk.page.keyboard.type("1 2 cut off")
    desk.press("Enter")
    expect(desk.part("tagged")).to_contain_text("Degenerate or repetitive")
    assert desk.item == item
    desk.decide("1")
    (row,) = stored(desk)
    assert json.loads(row["reasons"]) == ["degenerate", "wrong_case", "sexual"] and row["note"] == "1 2 cut off"
    expect(desk.part("tagged")).to_be_hidden()


# ---- marking --------------------------------------------------------------------------------------------------------

STRANGE = " 👩‍👩‍👧 𠀀𠮷 said e\u0301te\u0301: “she's hers”, or him/her."


def test_marks_count_code_points_and_snap_to_words(desks: Opener) -> None:
    desk = open_generations(desks, [STRANGE])
    desk.press("m", "s", "s", "Space")  # the word said, then she of she's
    desk.press("h", "h", "Shift+ArrowRight", "Space")  # him/her
    desk.press("Home", "m", "Space")  # the picture
    assert marks(desk) == ["👩‍👩‍👧", "she", "him/her"]
    desk.decide("2")
    (row,) = stored(desk)
    assert row["words"] == [("👩‍👩‍👧", "extraneous"), ("she", "pronoun"), ("him/her", "pronoun")]
    assert row["text"] == STRANGE


def test_words_are_marked_by_mouse(desks: Opener) -> None:
    desk = open_generations(desks, [" One man, he and his old sister met him there."])
    piece(desk, "he").click()
    assert marks(desk) == [], "reading with the mouse marks nothing"
    desk.act("mark").click()
    piece(desk, "he").click()
    piece(desk, "him").dblclick()
    assert marks(desk) == ["he", "him"], "the second half of a double click is no second click"
    piece(desk, "he").click(delay=450)
    desk.page.wait_for_timeout(450)
    desk.root.locator(".kind.extraneous").click()
    start, end = piece(desk, "old").bounding_box(), piece(desk, "sister").bounding_box()
    assert start and end
    desk.page.mouse.move(start["x"] + start["width"] - 2, start["y"] + 8)
    desk.page.mouse.down()
    desk.page.mouse.move(end["x"] + 3, end["y"] + 8, steps=4)
    desk.page.mouse.up()
    assert marks(desk) == ["old sister", "him"]
    desk.decide("2")
    (row,) = stored(desk)
    assert row["words"] == [("old sister", "extraneous"), ("him", "pronoun")]


def test_arrows_move_by_words_and_lines(desks: Opener) -> None:
    desk = open_generations(desks, [" " + " ".join(f"w{n}" for n in range(60))])
    cursor = desk.text.locator(".cursor")
    desk.press("m", "ArrowRight", "ArrowRight")
    expect(cursor).to_have_text("w2")
    desk.press("ArrowDown")
    below, first = cursor.bounding_box(), piece(desk, "w2").bounding_box()
    assert below and first and below["y"] > first["y"] and abs(below["x"] - first["x"]) < 40
    desk.press("ArrowUp")
    expect(cursor).to_have_text("w2")
    desk.press("ArrowLeft", "ArrowLeft", "ArrowLeft", "ArrowLeft")
    expect(cursor).to_have_text("w0")
    desk.press("End", "ArrowRight")
    expect(cursor).to_have_text("w59")
    assert desk.labels() == []


# ---- undo, history, two desks ---------------------------------------------------------------------------------------


def test_a_long_text_begins_at_its_beginning_and_the_cursor_stays_in_view(desks: Opener) -> None:
    long = [" " + f"text{n} " * 3 + " ".join(f"w{n}" for n in range(260)) for n in range(3)]
    project = make_generations(desks.server, long)
    desk = desks(project, context=desks.fresh(viewport={"width": 390, "height": 600})).open()
    desk.press("m", "End")
    expect(desk.text.locator(".cursor")).to_have_text("w259")
    expect(desk.text.locator(".cursor")).to_be_in_viewport()
    expect(desk.page.get_by_test_id("desk-who")).to_be_in_viewport()
    desk.decide("1")
    expect(desk.text.get_by_text("w0", exact=True)).to_be_in_viewport()


def test_an_undone_label_keeps_its_marks(desks: Opener) -> None:
    desk = open_generations(desks)
    item = desk.decide("b", *MISGENDERING)
    desk.settle()
    desk.page.reload()
    desk.page.locator('[data-testid="desk"][data-item]').wait_for(timeout=WAIT_MS)
    desk.press("u")
    expect(desk.root).to_have_attribute("data-item", item)
    expect(desk.part("was")).to_contain_text("Undone: Misgendering (Degenerate or repetitive)")
    assert marks(desk) == ["he"]
    desk.decide("Enter")
    desk.press("h", "Enter")
    expect(desk.part("was")).to_contain_text("Earlier decision: Misgendering")
    desk.press("m", "Backspace", "Enter", "b")
    desk.decide("3")
    rows = stored(desk)
    assert [row["choice"] for row in rows] == ["misgendering", None, "misgendering", "no_pronoun"]
    assert [row["words"] for row in rows] == [[("he", "pronoun")], [], [("he", "pronoun")], []]
    assert [json.loads(row["reasons"]) for row in rows] == [["degenerate"], [], ["degenerate"], []]
    assert not any(row["superseded"] for row in rows)


def test_two_desks_of_one_annotator_conflict(desks: Opener) -> None:
    project = make_generations(desks.server)
    first, second = desks(project).open(), desks(project).open()
    item = first.decide("1")
    first.settle()
    second.decide(*MISGENDERING)
    expect(second.notice("conflict")).to_contain_text("Misgendering here, Correct in the other window", timeout=WAIT_MS)
    assert [(row["choice"], row["superseded"]) for row in first.labels()] == [("correct", 0), ("misgendering", 1)]
    second.notice("conflict").get_by_role("button").click()
    expect(second.root).to_have_attribute("data-item", item)
    second.decide("3")
    expect(second.notice("conflict")).to_be_hidden(timeout=WAIT_MS)


# ---- blur, pause, small screens, languages --------------------------------------------------------------------------


def test_a_covered_text_is_labelled_only_once_it_is_open(desks: Opener) -> None:
    desk = open_generations(desks, blur=True)
    first = desk.item
    expect(desk.text).to_have_class("text veiled")
    desk.press("1", "2", "f", "m", "b", "Enter")
    assert desk.item == first and desk.labels() == []
    expect(desk.part("say")).to_contain_text("Open the text first")
    desk.page.wait_for_timeout(1200)
    begun = time.monotonic()
    desk.press("Space")
    expect(desk.text).to_have_class("text")
    expect(desk.act("flag")).to_have_attribute("aria-pressed", "false")
    assert desk.decide("1") == first
    opened_for = time.monotonic() - begun
    expect(desk.text).to_have_class("text veiled")
    second = desk.item
    desk.act("open").click()
    desk.decide("1")
    third = desk.decide("x")
    desk.press("u", "u")
    expect(desk.root).to_have_attribute("data-item", second or "")
    expect(desk.text).to_have_class("text")
    rows = stored(desk)
    assert [(row["item"], row["choice"]) for row in rows[:2]] == [(first, "correct"), (second, "correct")]
    assert [(row["item"], row["choice"]) for row in rows[2:]] == [(third, None), (second, None)]
    assert rows[0]["seconds"] <= opened_for, "the time on a text is the time that it was open"


def test_a_pause_is_proposed_and_counts_nothing(desks: Opener) -> None:
    desk = desks(make_generations(desks.server, 30, pause_minutes=10), context=desks.fresh())
    desk.page.clock.install()
    desk.open()
    for _ in range(5):  # the time that a busy machine needs between them counts too
        desk.page.clock.fast_forward(80_000)
        desk.decide("1")
    expect(desk.notice("pause")).to_have_count(0)
    desk.page.clock.fast_forward(205_000)
    desk.decide("1")
    expect(desk.notice("pause")).to_contain_text("10 minutes")
    desk.decide("1")
    desk.act("pause").click()
    expect(desk.notice("pause")).to_have_count(0)
    desk.page.clock.fast_forward(110_000)
    desk.decide("1")
    expect(desk.notice("pause")).to_have_count(0)
    assert len(stored(desk)) == 8


def test_the_desk_is_translated_into_chinese(desks: Opener) -> None:
    desk = desks(make_generations(desks.server)).open(lang="zh")
    expect(desk.root.locator("[data-code=misgendering]")).to_contain_text("误称性别")
    desk.press("2")
    expect(desk.part("because")).to_contain_text("请先标出用错的代词")
    desk.press("Escape", "?")
    expect(desk.part("help")).to_contain_text("多余的性别用语")
    desk.press("1", "Escape")
    assert desk.labels() == [], "the key map is in front"
