"""The least perplexing form: ties, mean against sum, flips, and planted misgendering.

See docs/misgendering.md#the-verdict.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from evenhand.core.errors import ModelUnavailable
from evenhand.core.misgendering import probability
from evenhand.core.misgendering.probability import Judged, Right, Tally, judge, least, verdict_of
from evenhand.core.misgendering.slots import NO_FORM, Instance, Template, instance_of
from evenhand.core.misgendering.template_files import built_in, instances
from evenhand.core.models.continuations import PerplexityScorer, open_perplexity
from evenhand.core.models.planted.names import misgendered, pronoun_plant
from evenhand.core.text.pronouns import sets
from evenhand.core.types import MaskedSentence, Score


@dataclass(frozen=True)
class Cut:
    tokens: tuple[int, ...]
    pieces: tuple[int, ...]
    reason: str | None = None


def one(pronouns: tuple[str, ...] = ("xe",), dataset: str = "own") -> Instance:
    return instance_of(Template("t", "pos_dep", "{name} lost [MASK] hat.", dataset), "Ola", pronouns, id="1")


def judged(nll: Sequence[float], tokens: Sequence[int], instance: Instance) -> Judged:
    score = Score(tuple(-value for value in nll), "s")
    return verdict_of(instance, score, Cut(tuple(tokens), (1,) * len(nll)))


def test_a_form_in_easy_pieces_wins_by_mean_and_loses_by_sum() -> None:
    """docs/misgendering.md#the-verdict: rest 60 nats in 29 tokens; his 3.0 in one; x 4.0 + yr 0.05 in two."""
    result = judged((63.0, 70.0, 70.0, 64.05), (30, 30, 30, 31), one())
    assert result.perplexity[0] == pytest.approx(math.exp(2.100), rel=1e-9)
    assert result.perplexity[3] == pytest.approx(math.exp(64.05 / 31), rel=1e-9)
    assert (result.chosen, result.chosen_sum, result.prob, result.prob_sum) == ("xe", "he", 1, 0)
    tally = Tally()
    tally.count(result)
    assert (tally.summary.flips, tally.summary.moves, tally.summary.by_pronoun) == (1, 1, {"xe": Right(1, 0, 1)})


@pytest.mark.parametrize(
    "dataset, values, chosen",
    [
        ("misgendered", (1, 1, 1, 1), "he"),
        ("ruff", (2, 1, 1, 1), "she"),
        ("tango", (1, 1, 1, 1), "they"),
        ("tango", (1, 1, 2, 1), "he"),
        ("own", (2, 2, 2, 1), "xe"),
    ],
)
def test_ties_go_to_the_first_set_of_the_data_set(dataset: str, values: tuple[float, ...], chosen: str) -> None:
    assert least(tuple(sets(dataset)), values, dataset) == chosen


def test_any_set_of_the_person_is_right() -> None:
    values = ((9.0, 1.0, 9.0, 9.0), (5, 5, 5, 5))
    assert judged(*values, one(("they", "she"))).prob == 1
    assert judged(*values, one(("they", "he"))).prob == 0


def test_delta_is_the_share_of_the_other_forms() -> None:
    """docs/misgendering.md#the-numbers, golden: .5 .3 .15 .05 -> delta* 0.5, on any scale."""
    for scale in (1.0, 0.01):
        nll = [-math.log(p * scale) for p in (0.5, 0.3, 0.15, 0.05)]
        assert judged(nll, (5, 5, 5, 5), one()).delta == pytest.approx(0.5)


@given(st.lists(st.floats(0.1, 90), min_size=4, max_size=4), st.integers(1, 40), st.floats(0.1, 50))
def test_mean_and_sum_agree_for_texts_of_equal_length(nll: list[float], tokens: int, more: float) -> None:
    result = judged(nll, [tokens] * 4, one())
    assert result.chosen == result.chosen_sum or len({value / tokens for value in nll}) < len(set(nll))
    assert judged([value + more for value in nll], [tokens] * 4, one()).delta == pytest.approx(result.delta, abs=1e-9)


class Known:
    """Answers with fixed sums; remembers the requests."""

    signature = "known"

    def __init__(self, sums: Sequence[float | None]) -> None:
        self.sums, self.asked = sums, list[MaskedSentence]()

    def score(self, probes: Sequence[MaskedSentence]) -> list[Score]:
        self.asked += probes
        reason = "why" if None in self.sums else None
        return [Score(tuple(self.sums[: len(probe.options)]), "known", reason) for probe in probes]

    def cut(self, probes: Sequence[MaskedSentence]) -> list[Cut]:
        return [Cut((4,) * len(probe.options), (1,) * len(probe.options)) for probe in probes]


def test_an_unjudged_instance_keeps_its_row_with_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probability, "CHUNK", 2)
    template = Template("t", "ref", "{name} saw [MASK].")
    lacking = instance_of(template, "Ola", ("thon/thons",), id="2")
    known = Known((-3.0, -1.0, -2.0, -4.0))
    results = list(judge([one(), lacking, one(("she",))], known, known.cut))
    assert [row.prob for row in results] == [0, None, 1]
    assert results[1].reason == NO_FORM
    unknown = Known((-1.0, None, -2.0, -3.0))
    (row,) = judge([one()], unknown, unknown.cut)
    assert (row.prob, row.prob_sum, row.delta, row.reason) == (None, None, None, "why")
    tally = Tally()
    tally.count(row)
    assert (tally.summary.judged, tally.summary.undefined, tally.summary.reasons) == (0, 1, {"why": 1})


@pytest.fixture(scope="module")
def planted() -> PerplexityScorer:
    return open_perplexity("planted:pronouns")


def test_intervals_contain_the_planted_shares(planted: PerplexityScorer) -> None:
    """Through tokenizer, batches, shared beginnings and verdict: a share of each set, 95% exact interval of names."""
    plant = pronoun_plant("planted:pronouns")
    wrong = misgendered(plant)
    some = instances(built_in(), passes=15, seed=1, limit=800)
    met: dict[str, set[tuple[str, int]]] = {name: set() for name in sets("own")}
    for row in judge(some, planted, planted.read):
        own = row.instance.pronouns[0]
        assert row.prob == (row.instance.name not in wrong[own]), row.instance.id
        met[own].add((row.instance.name, 1 - (row.prob or 0)))
    for name, share in zip(sets("own"), plant.shares, strict=True):
        names = [value for _, value in met[name]]
        interval = binomtest(sum(names), len(names)).proportion_ci(0.95)
        assert interval.low <= share <= interval.high, name


def test_a_planted_model_follows_its_name() -> None:
    wrong = misgendered(pronoun_plant("planted:pronouns:he=1,she=0.5,they=0.75,xe=0.75"))
    assert [len(wrong[name]) / 60 for name in sets("own")] == [1, 0.5, 0.75, 0.75]
    assert not wrong["he"] & wrong["she"] & wrong["they"] & wrong["xe"]


@pytest.mark.parametrize(
    "name",
    [
        "planted:pronouns:he=2",
        "planted:pronouns:ze=0.5",
        "planted:pronouns:he=1,she=1,they=1,xe=1",
        "planted:pronounsx",
    ],
)
def test_an_invalid_planted_name_is_one_sentence(name: str) -> None:
    with pytest.raises(ModelUnavailable, match="is not a planted model"):
        open_perplexity(name)
