"""Pseudo-log-likelihood: every token masked in turn, equal to doing just that, one row at a time."""

from pathlib import Path

import pytest
import torch

from evenhand.core.models import open_scorer
from evenhand.core.models.loading import load_masked
from evenhand.core.models.masked import MaskedScorer
from evenhand.core.models.probe_tokens import TOO_LONG, UNKNOWN_OPTION
from evenhand.core.models.whole_sentences import HIDDEN, PllScorer
from evenhand.core.types import MaskedSentence
from tests.support import tiny_models

PROBES = [
    MaskedSentence("今天他说很好。", 2, 3, ("他", "她")),
    MaskedSentence("今天她说很好。", 2, 3, ("他", "她")),
    MaskedSentence("爸爸去看山和水了。", 0, 2, ("爸爸", "妈妈")),
    MaskedSentence("囧老师他", 3, 4, ("他", "爸爸")),
]


@pytest.fixture(scope="module")
def scorer(tmp_path_factory: pytest.TempPathFactory) -> PllScorer:
    folder = tmp_path_factory.mktemp("tiny")
    tiny_models.bert(folder)
    return PllScorer(load_masked(str(folder)))


def plain(scorer: PllScorer, text: str) -> float:
    """Compute equation 2 of Salazar et al. 2020 literally."""
    tokenizer = scorer.loaded.tokenizer
    ids, total = tokenizer(text).input_ids, 0.0
    for place in range(1, len(ids) - 1):
        masked = list(ids)
        masked[place] = tokenizer.mask_token_id
        with torch.inference_mode():
            logprobs = scorer.loaded.model(input_ids=torch.tensor([masked])).logits[0, place].log_softmax(-1)
        total += float(logprobs[ids[place]])
    return total


def test_scores_equal_masking_every_token_in_turn(scorer: PllScorer) -> None:
    for probe, score in zip(PROBES, scorer.score(PROBES), strict=True):
        texts = [probe.text[: probe.start] + option + probe.text[probe.end :] for option in probe.options]
        assert score.reason is None
        assert score.logprobs == pytest.approx([plain(scorer, text) for text in texts], abs=1e-4)


def test_equal_masked_rows_of_both_sentences_are_read_once(scorer: PllScorer, monkeypatch: pytest.MonkeyPatch) -> None:
    rows: list[tuple[int, ...]] = []
    forward = scorer.loaded.forward

    class Counting:
        batches = staticmethod(forward.batches)

        def __call__(self, ids: list[tuple[int, ...]], places: list[tuple[int, ...]]) -> torch.Tensor:
            rows.extend(ids)
            return forward(ids, places)

    monkeypatch.setitem(vars(scorer.loaded), "forward", Counting())
    scorer.score(PROBES[:2])  # a sentence and its twin: the same two sentences
    length = len(PROBES[0].text)
    assert len(rows) == len(set(rows)) == 2 * length - 1


def test_pll_has_its_own_signature(scorer: PllScorer) -> None:
    masked = MaskedScorer(scorer.loaded)
    assert scorer.signature.startswith("pll|") and scorer.signature.endswith("|sum|fp32|v1")
    assert scorer.score(PROBES[:1])[0].signature == scorer.signature != masked.signature
    assert scorer.cache_key != masked.cache_key
    assert scorer.score(PROBES[:1])[0].logprobs != masked.score(PROBES[:1])[0].logprobs


UNDEFINED = [
    (MaskedSentence("今天他", 2, 3, ("他", "囧")), UNKNOWN_OPTION, (True, False)),
    (MaskedSentence("今天他在", 2, 3, ("他", "她"), hidden=((0, 2),)), HIDDEN, (False, False)),
    (MaskedSentence("今" * 62 + "他", 62, 63, ("他", "她")), TOO_LONG, (False, False)),
]


@pytest.mark.parametrize(("probe", "reason", "defined"), UNDEFINED)
def test_undefined_pll_has_a_reason(
    scorer: PllScorer, probe: MaskedSentence, reason: str, defined: tuple[bool, ...]
) -> None:
    score = scorer.score([probe])[0]
    assert score.reason == reason
    assert tuple(value is not None for value in score.logprobs) == defined


def test_many_probes_keep_their_order(scorer: PllScorer) -> None:
    """More than fit into memory together."""
    probes = [PROBES[i % 3] for i in range(70)]
    scores = scorer.score(probes)
    for i in (0, 31, 32, 63, 69):
        assert scores[i].logprobs == pytest.approx(scores[i % 3].logprobs, abs=1e-5)
    assert scorer.score([]) == []


def test_the_method_pll_is_opened_by_name(tmp_path: Path) -> None:
    tiny_models.bert(tmp_path)
    scorer = open_scorer(str(tmp_path), method="pll")
    assert isinstance(scorer, PllScorer)
    assert [len(slot) for slot in scorer.fillers(PROBES[0], top=3)] == [3]
