"""Filled blanks against plain transformers: the mean over the tokens of a word; what cannot be read."""

from pathlib import Path

import pytest
import torch

from evenhand.core.models.measure_readers import BlankReader, Filled
from tests.support.tiny_models import bert


def test_a_word_of_two_tokens_has_their_mean_probability(tmp_path: Path) -> None:
    """The second token is scored after the first, without the rest of the word after it."""
    bert(tmp_path)
    reader = BlankReader(str(tmp_path), device="cpu")
    tokenizer, model = reader.loaded.tokenizer, reader.loaded.model

    def p(text: str, token: str) -> float:
        ids = tokenizer.encode(text)
        with torch.no_grad():
            shares = model(torch.tensor([ids])).logits[0, ids.index(tokenizer.mask_token_id)].softmax(-1)
        return float(shares[tokenizer.convert_tokens_to_ids(token)])

    wanted = (p("他在[MASK]。", "a") + p("他在a[MASK]。", "##b")) / 2
    ab, one, nothing, masked = reader.read(
        [
            Filled("他在BLANK。", "ab", "他在ab。"),
            Filled("他在BLANK。", "书", "他在书。"),
            Filled("他在BLANK。", "", "他在。"),
            Filled("[MASK]在BLANK。", "书", "x"),
        ]
    )
    assert ab == pytest.approx(wanted, rel=1e-4) and one == pytest.approx(p("他在[MASK]。", "书"), rel=1e-4)
    assert nothing is None and masked is None
