"""CrowS-Pairs and its variants against a rewrite of the loops of the published code; ties, files."""

from difflib import SequenceMatcher
from pathlib import Path

import pytest
import torch

from evenhand.core.errors import BadFile, Refused
from evenhand.core.models.loading import load_masked
from evenhand.core.models.measure_readers import SentencePairReader, SentenceTokens, shared_places
from evenhand.core.other_measures.stereotypes import (
    VARIANTS,
    crows_pairs,
    read_crows,
    read_writers,
    sentence_score,
    word_pair,
)
from tests.support.tiny_models import bert

PAIRS = [
    ("他是医生。", "她是医生。"),
    ("爸爸说很好。", "妈妈很好。"),
    ("老师来了", "老师来了"),
    ("男在看书画", "女去书"),
]


def by_hand(model, ids: list[int], places: list[int], mask: int | None) -> list[float]:
    """Return ln p of each token at *places*, with that one masked (*mask*) or nothing (None)."""
    results = []
    for place in places:
        given = torch.tensor([ids])
        if mask is not None:
            given[0, place] = mask
        with torch.no_grad():
            results.append(float(model(given).logits[0, place].log_softmax(-1)[ids[place]]))
    return results


def test_every_variant_equals_its_definition(tmp_path: Path) -> None:
    bert(tmp_path)
    loaded = load_masked(str(tmp_path))
    read = SentencePairReader(str(tmp_path), device="cpu").read(PAIRS)
    for pair, tokens in zip(PAIRS, read, strict=True):
        assert tokens is not None
        ids = [loaded.tokenizer.encode(text) for text in pair]
        equal = [block for block in SequenceMatcher(None, [str(i) for i in ids[0]], [str(i) for i in
        ids[1]]).get_opcodes() if block[0] == "equal"]  # fmt: skip
        for side in (0, 1):
            shared = [i for block in equal for i in range(block[1 + 2 * side], block[2 + 2 * side])][1:-1]
            text = list(range(1, len(ids[side]) - 1))
            changed = [i for i in text if i not in shared]
            mask = loaded.tokenizer.mask_token_id
            assert tokens[side].shared == pytest.approx(by_hand(loaded.model, ids[side], shared, mask), abs=1e-4)
            assert tokens[side].changed == pytest.approx(by_hand(loaded.model, ids[side], changed, mask), abs=1e-4)
            assert tokens[side].unmasked == pytest.approx(by_hand(loaded.model, ids[side], text, None), abs=1e-4)


def test_a_sentence_score_is_computed_by_variant() -> None:
    tokens = SentenceTokens((-1.0, -2.0004), (-0.5,), (-1.0, -2.0, -4.5))
    assert [sentence_score(tokens, variant) for variant in VARIANTS] == [-3.0, -0.5, -1.5, -2.5]
    assert sentence_score(SentenceTokens((), (), ()), "mean") == 0


def test_ties_count_in_the_denominator_only() -> None:
    high, low = SentenceTokens((-1.0,), (), ()), SentenceTokens((-2.0,), (), ())
    near = SentenceTokens((-1.0001,), (), ())
    result = crows_pairs([("a", "b")] * 4, [(high, low), (low, high), (high, near), None], "published", "s")
    assert result.score.value == pytest.approx(100 / 3) and (result.pairs, result.ties, result.left_out) == (3, 1, 1)
    assert result.to_json()["low"] < 33.3 < result.to_json()["high"]
    assert (
        crows_pairs([("a", "b")], [None], "aul", "s").to_json()["score_reason"] == "This model cannot score any pair."
    )


@pytest.mark.parametrize(
    ("more", "less", "expected"),
    [
        ("She cooks.", "He cooks.", "he/she"),
        ("He lost his keys.", "She lost her keys.", "he/she"),
        ("Women can't park.", "Men never park.", "men/women"),
        ("A big dog.", "A dog.", "/big"),
        ("他是护士。", "她是护士。", "他/她"),
        ("Same.", "Same!", "/"),
    ],
)
def test_the_word_pair_is_the_first_difference(more: str, less: str, expected: str) -> None:
    assert word_pair(more, less) == word_pair(less, more) == expected


def test_pairs_of_one_writer_are_one_unit() -> None:
    """40 pairs of 8 writers, each consistent: 8 units, so wider than Wilson of 40."""
    high, low = SentenceTokens((-1.0,), (), ()), SentenceTokens((-2.0,), (), ())
    read = [(high, low) if i % 8 < 4 else (low, high) for i in range(40)]
    pairs = [("a", "b")] * 41
    alone = crows_pairs(pairs[1:], read, "published", "s").share
    together = crows_pairs(pairs, [*read, None], "published", "s", [f"a{i % 8}" for i in range(41)]).share
    assert alone.value == together.value == 0.5
    assert alone.low is not None and together.low is not None and together.low < alone.low - 0.1


def test_shared_positions_are_in_equal_order() -> None:
    assert shared_places([1, 5, 6, 7, 2], [1, 6, 8, 7, 2]) == ([0, 2, 3, 4], [0, 1, 3, 4])


def test_pairs_are_read_from_files(tmp_path: Path) -> None:
    path = tmp_path / "c.csv"
    path.write_text("sent_more,sent_less,bias_type\na,b,gender\nc,d,age\n", encoding="utf-8")
    assert read_writers(path) == ["", ""]
    assert read_crows(path) == [("a", "b"), ("c", "d")] and read_crows(path, "age") == [("c", "d")]
    with pytest.raises(Refused, match="no pair of the kind x"):
        read_crows(path, "x")
    path.write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(BadFile, match="lacks the columns"):
        read_crows(path)
