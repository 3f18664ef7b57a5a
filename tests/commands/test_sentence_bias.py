"""`score-sentence` and `models` on the command line: the agreed keys, reasons for what is undefined, exit codes."""

import json

import pytest
from click.testing import CliRunner

from evenhand.commands import sentence_bias as commands
from evenhand.core.types import MaskedSentence, Score
from tests.conftest import FakeScorer
from tests.support.terminal import typed

AGREED = {
    "pair",
    "keyword",
    "counterpart",
    "p_male",
    "p_female",
    "bias_log10",
    "bias_ln",
    "pair_mass",
    "signature",
}


class Nothing(FakeScorer):
    """A model that lacks a character of every option."""

    def score(self, probes: list[MaskedSentence]) -> list[Score]:
        return [Score((None, None), self.signature, "A word is not in this model's vocabulary.") for _ in probes]


class Sure(FakeScorer):
    """A model that knows only the first option."""

    def score(self, probes: list[MaskedSentence]) -> list[Score]:
        return [Score((0.0, float("-inf")), self.signature) for _ in probes]


def answer(monkeypatch, scorer, *arguments):
    monkeypatch.setattr(commands, "open_scorer", lambda name, joint: scorer)
    done = CliRunner().invoke(commands.score_sentence, [*arguments, "--model", "m", "--json"], catch_exceptions=False)
    assert done.exit_code == 0
    return json.loads(done.stdout)


def test_json_has_the_agreed_keys(monkeypatch):
    data = answer(monkeypatch, FakeScorer(), "那个女孩来了。")
    assert set(data) >= AGREED
    assert (data["pair"], data["keyword"], data["counterpart"]) == ("男孩/女孩", "女孩", "男孩")
    assert (data["p_male"], data["p_female"], data["pair_mass"]) == pytest.approx((0.6, 0.3, 0.9))
    assert (data["bias_log10"], data["bias_ln"]) == pytest.approx((0.30103, 0.693147), abs=1e-6)
    assert not [key for key in data if key.endswith("_reason")]


def test_a_typed_mask_has_no_keyword_and_a_reason(monkeypatch):
    data = answer(monkeypatch, FakeScorer(), "[MASK]来了。", "--options", "甲", "乙")
    assert data["pair"] == "甲/乙"
    assert data["keyword"] is None
    assert "[MASK]" in data["keyword_reason"]
    assert data["corrected_log10"] is None
    assert "neutral contexts" in data["corrected_log10_reason"]


def test_every_null_has_a_reason(monkeypatch):
    data = answer(monkeypatch, Nothing(), "他来了。")
    empty = [key for key, value in data.items() if value is None]
    assert {"p_male", "p_female", "bias_log10", "bias_ln", "pair_mass"} <= set(empty)
    assert all(data[f"{key}_reason"] for key in empty)


def test_an_infinite_ratio_is_null_with_the_reason(monkeypatch):
    data = answer(monkeypatch, Sure(), "他来了。")
    assert data["bias_log10"] is None
    assert "probability 0" in data["bias_log10_reason"]
    assert (data["p_male"], data["p_female"]) == (1.0, 0.0)


def test_two_words_outside_the_pairs_are_named_literally(monkeypatch):
    monkeypatch.setattr(commands, "open_scorer", lambda *_, **__: FakeScorer())
    arguments = ["Tenzin said [MASK] was tired.", "--model", "m", "--options", "they", "xe"]
    data = json.loads(
        CliRunner().invoke(commands.score_sentence, [*arguments, "--json"], catch_exceptions=False).stdout
    )
    assert (data["words"], data["sided"], data["leans_towards"]) == (["they", "xe"], False, "they")
    text = CliRunner().invoke(commands.score_sentence, arguments, catch_exceptions=False).stdout
    assert "they is 2.0 times as likely as xe." in text and "log ratio (+ they, - xe)" in text
    assert "male" not in text


def test_a_pronoun_of_neither_side_is_read(monkeypatch):
    data = answer(monkeypatch, FakeScorer(), "The engineer lost their keys.")
    assert (data["keyword"], data["words"], data["sided"]) == ("their", ["his", "her"], False)
    assert data["counterpart"] is None and data["counterpart_reason"] == "their is neither of the two words."


def test_a_refusal_is_one_sentence_and_code_2():
    done = typed("score-sentence", "今天下雨。", "--model", "known", "--json")
    assert done.code == 2
    assert done.stdout == ""
    assert ", the sentence contains no keyword of the 19 pairs. Use one" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_models_lists_the_built_in_ones_first():
    done = CliRunner().invoke(commands.models, ["--json"], catch_exceptions=False)
    names = [row["name"] for row in json.loads(done.stdout)["models"]]
    assert names[:3] == ["known", "demo-zh", "random-zh"]
    assert "bert-base-chinese" in names
    assert "known" in CliRunner().invoke(commands.models, []).stdout
