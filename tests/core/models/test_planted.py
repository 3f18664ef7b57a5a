"""The planted models answer as their names promise, through the same scorer and loader as any checkpoint."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as effort
from hypothesis import strategies as st

from evenhand.core.errors import ModelUnavailable
from evenhand.core.models import open_scorer
from evenhand.core.models.loading import load_masked
from evenhand.core.models.planted import masked as planted
from evenhand.core.models.planted.names import is_planted, plant_of
from evenhand.core.resources import keyword_pairs
from evenhand.core.sentence_bias.bias import bias_of
from evenhand.core.sentence_bias.keyword_packs import pack
from evenhand.core.sentence_bias.model_answer import neutral_probes
from evenhand.core.types import MaskedSentence

NAMES = (
    "planted:0", "planted:+0.3", "planted:-0.3", "planted:1", "planted:-1",
    "planted:offset+0.3", "planted:offset-1", "planted:pairs", "planted:context", "planted:context0.8",
)  # fmt: skip
RAINY = "下了一夜的雨，"
EXACT = 1e-6  # fp32


def rainy(probe: MaskedSentence) -> MaskedSentence:
    shift = len(RAINY)
    return MaskedSentence(RAINY + probe.text, probe.start + shift, probe.end + shift, probe.options)


def probes(pair):
    entry = pack("zh").known(pair.male, pair.female)
    assert entry is not None
    result = neutral_probes(entry)
    return result + [rainy(probe) for probe in result]


@pytest.mark.parametrize("joint", ["independent", "sequential"])
@pytest.mark.parametrize("name", NAMES)
def test_every_pair_in_every_context_has_the_planted_bias(name: str, joint) -> None:
    scorer = open_scorer(name, joint=joint)
    for pair in keyword_pairs():
        rows = probes(pair)
        for probe, score in zip(rows, scorer.score(rows), strict=True):
            expected = plant_of(name).bias(pair, "雨" in probe.text)
            assert bias_of(score) == pytest.approx(expected, abs=EXACT), (pair.name, probe.text)


def test_a_planted_zero_is_exactly_zero() -> None:
    scorer = open_scorer("planted:0")
    assert {bias_of(score) for pair in keyword_pairs() for score in scorer.score(probes(pair))} == {0.0}


@pytest.mark.parametrize(
    ("name", "pair", "rain", "expected"),
    [
        ("planted:+0.3", "他/她", True, 0.3),
        ("planted:-1", "爸爸/妈妈", False, -1.0),
        ("planted:pairs", "他/她", False, 0.35),
        ("planted:pairs", "爸爸/妈妈", True, -0.6),
        ("planted:pairs0.2", "父亲/母亲", True, 0.2),
        ("planted:context", "丈夫/妻子", True, 0.5),
        ("planted:context", "丈夫/妻子", False, -0.5),
        ("planted:context1", "他/她", False, -1.0),
    ],
)
def test_the_bias_of_a_planted_name(name: str, pair: str, rain: bool, expected: float) -> None:
    pronouns = next(known for known in keyword_pairs() if known.name == pair)
    assert plant_of(name).bias(pronouns, rain) == pytest.approx(expected)


def test_the_leans_of_pairs_cancel() -> None:
    assert sum(plant_of("planted:pairs").bias(pair, False) for pair in keyword_pairs()) == pytest.approx(0)


@pytest.mark.parametrize("name", ["planted:", "planted:x", "planted:offset", "planted:7", "planted:+-1", "planted:nan"])
def test_an_invalid_planted_name_is_refused(name: str) -> None:
    assert is_planted(name)
    with pytest.raises(ModelUnavailable, match="is not a planted model"):
        open_scorer(name)


def test_a_saved_model_loads_as_any_checkpoint(tmp_path: Path) -> None:
    folder = planted.save("planted:context", tmp_path / "context")
    assert json.loads((folder / "config.json").read_text())["model_type"] == "bert"
    assert load_masked(str(folder)).weights == planted.build("planted:context").weights
    mine, theirs = open_scorer("planted:context"), open_scorer(str(folder))
    for pair in keyword_pairs():
        rows = probes(pair)
        assert [s.logprobs for s in mine.score(rows)] == [s.logprobs for s in theirs.score(rows)]


def test_each_planted_model_has_its_own_weights() -> None:
    assert len({planted.build(name).weights for name in NAMES}) == len(NAMES)


def test_half_precision_is_signed_and_close() -> None:
    scorer = open_scorer("planted:+0.3", precision="bf16")
    assert "|bf16|" in scorer.signature
    values = [bias_of(score) for score in scorer.score(probes(keyword_pairs()[0]))]
    assert values == pytest.approx([0.3] * len(values), abs=0.02)


def test_the_card_lists_what_was_planted() -> None:
    assert "| 他/她 | -0.5 | +0.5 |" in planted.build("planted:context").card


@given(st.floats(-6, 6).map(lambda x: round(x, 4)), st.sampled_from(["", "offset"]))
@effort(max_examples=12)
def test_any_size_can_be_planted(size: float, kind: str) -> None:
    scorer = open_scorer(f"planted:{kind}{size:+.4f}")
    pair = keyword_pairs()[-1]
    # The rarer of two words a million times apart has a log-probability near -35: fp32 keeps 4e-6 of it.
    assert [bias_of(s) for s in scorer.score(probes(pair)[:2])] == pytest.approx([size] * 2, abs=1e-5)
