"""What is trained on, what stays untouched, and the swap."""

import gzip
from pathlib import Path

import pytest

from evenhand.core.errors import Refused
from evenhand.core.swap.word_tables import word_table
from evenhand.core.tune.texts import file_texts, training_texts

TEXTS = [f"他有{i}本书。" for i in range(300)]


def test_the_held_out_split_is_stable() -> None:
    result = training_texts(TEXTS, "books", share=0.1)
    again = training_texts([*reversed(TEXTS), "她来了。", TEXTS[0]], "books", share=0.1)
    assert set(result.untouched) <= set(again.untouched) and len(again.trained) + len(again.untouched) == 301
    assert 10 <= len(result.untouched) <= 55 and not set(result.untouched) & set(result.trained)


@pytest.mark.parametrize(("swap", "female"), [("none", 0), ("swap", 1.0), ("cda", 0.5), ("cds", None)])
def test_only_training_texts_are_swapped(swap, female) -> None:
    result = training_texts(TEXTS, "books", swap=swap, words=word_table("zh"))
    share = sum(text.startswith("她") for text in result.trained) / len(result.trained)
    assert 0.35 < share < 0.65 if female is None else share == female
    assert all(text.startswith("他") for text in result.untouched)
    assert result.facts.swap.mode == swap and bool(result.facts.swap.pairs) == (swap != "none")


def test_the_digest_of_texts_ignores_the_swap() -> None:
    facts = [training_texts(TEXTS, "b", swap=swap, words=word_table("zh")).facts for swap in ("none", "cda")]
    assert facts[0].sha256 == facts[1].sha256 and facts[1].lines == 2 * facts[0].trained


def test_too_few_texts_are_refused() -> None:
    with pytest.raises(Refused, match="books has 1 texts for training and"):
        training_texts(["他。"], "books", share=0.001)


def test_texts_are_read_from_files_and_folders(tmp_path: Path) -> None:
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress("他。\n她。\n".encode()))
    (tmp_path / "t.csv").write_text("sentence\n天黑了。\n", encoding="utf-8")
    assert list(file_texts(tmp_path / "a.txt.gz")) == ["他。", "她。"]
    assert list(file_texts(tmp_path / "t.csv")) == ["天黑了。"]
    assert list(file_texts(tmp_path)) == ["他。", "她。", "天黑了。"]
