"""The texts of a run: repetition and texts without a pronoun, per model and pronoun set."""

import json
from pathlib import Path

import pytest

from evenhand.core.errors import BadFile
from evenhand.core.misgendering.metrics import read_texts, texts_by_cell


def text(completion: str, pronouns: list[str], **more: str) -> dict[str, object]:
    return {"context": "Sam said:", "completion": completion, "pronouns": pronouns, "model": "m", **more}


def test_cells_are_in_the_order_of_the_file() -> None:
    rows = [text("They left.", ["they"]), text("Nobody.", ["xe"]), text("Then it rained.", ["they"])]
    they, xe = texts_by_cell(rows)
    assert (they.key["pronoun"], they.n, xe.key["pronoun"], xe.n) == ("they", 2, "xe", 1)
    assert (they.without.value, xe.without.value) == (0.5, 1)


def test_repetition_is_computed_with_and_without_the_context() -> None:
    """docs/human_vs_rule.md#repetition [R]: the sentence twice 0.7690804673; the same once 0."""
    sentence = "the cat sat on the mat ."
    rows = [{**text(f" {sentence}", ["he"]), "context": sentence}]
    (figures,) = texts_by_cell(rows)
    assert figures.published.mean == pytest.approx(0.7690804673)
    assert figures.completion.mean == 0


def test_cells_are_split_by_setting_but_not_by_set() -> None:
    rows = [text("She left.", ["she", "they"], setting=setting) for setting in ("pre", "post", "pre")]
    assert [(entry.key["pronoun"], entry.key["setting"], entry.n) for entry in texts_by_cell(rows)] == [
        ("she + they", "pre", 2),
        ("she + they", "post", 1),
    ]


def test_an_invalid_line_is_reported_with_its_number(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(json.dumps(text("a", [])) + "\n{broken\n", encoding="utf-8")
    skipped: list[int] = []
    assert len(read_texts(path, skipped)) == 1 and skipped == [2]
    path.write_text("{broken\n", encoding="utf-8")
    with pytest.raises(BadFile, match=r"t\.jsonl, line 1"):
        read_texts(path, [])
