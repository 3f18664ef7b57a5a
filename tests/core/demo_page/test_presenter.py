"""Slides for a talk: they hold the numbers of readings, and the swapped word never touches the slot."""

import json

import pytest

from evenhand.core.demo_page.presenter import as_script, show_data, slide, swap_in
from evenhand.core.models import open_scorer
from evenhand.core.resources import table
from evenhand.core.sentence_bias.model_answer import read
from evenhand.core.sentence_bias.slot import find_slot


def test_a_slide_holds_the_numbers_of_its_readings() -> None:
    scorer = open_scorer("demo-en")
    reading = read("The nurse said he was tired.", scorer)
    swap = swap_in(reading.slot)
    assert swap is not None and swap.text == "The captain said he was tired."
    swapped = read(swap.text, scorer)
    made = slide(reading, "demo-en", swap=swap, swapped=swapped)
    assert [step["log10"] for step in made["steps"]] == [reading.bias_log10, swapped.bias_log10]
    assert made["steps"][0]["shares"] == [reading.p_female, reading.p_male]
    assert made["steps"][1]["parts"] == [
        ["The "], ["word", "captain"], [" said "], ["slot", "she", "he"], [" was tired."],
    ]  # fmt: skip


def test_a_model_of_whole_sentences_has_no_shares_and_says_why() -> None:
    made = slide(read("The nurse said he was tired.", open_scorer("demo-en-causal")), "demo-en-causal")
    (step,) = made["steps"]
    assert step["shares"] is None and "no slot" in step["mass"]["en"] and step["mass"]["zh"] != step["mass"]["en"]


@pytest.mark.parametrize("row", [row for row in table("gallery") if row["language"] in ("zh", "en")], ids=str)
def test_swaps_of_the_examples_leave_the_slot_as_it_is(row: dict[str, str]) -> None:
    options = tuple(row["options"].split()) or None
    slot = find_slot(row["text"], options)  # type: ignore[arg-type]
    if (swap := swap_in(slot)) is None:
        return
    other = find_slot(swap.text, options)  # type: ignore[arg-type]
    assert (other.male, other.female) == (slot.male, slot.female)
    assert swap.word in slot.text and swap.other in swap.text


def test_every_word_of_the_table_is_used_by_an_example() -> None:
    texts = [row["text"] for name in ("gallery", "demo_page") for row in table(name)]
    assert not [row["word"] for row in table("presenter") if not any(row["word"] in text for text in texts)]


def test_hostile_text_cannot_end_the_script() -> None:
    reading = read("他</script><script>alert(1)</script>。", open_scorer("demo-zh"))
    text = as_script(show_data([slide(reading, "</script>")], "zh"))
    assert "<" not in text
    assert json.loads(text)["slides"][0]["model"] == "</script>"
