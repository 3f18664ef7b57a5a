"""The ruler: models with a planted bias go through the measures of this app, which must find the planted values.

304 sentences of our own (every pair of the released table, 8 neutral contexts, both words; a quarter of the female
word's sentences and three quarters of the male word's speak of rain) are asked of every planted model by the same
scorer, scoring loop and measures as any data. What is expected is worked out from the planted numbers by the plain
definitions written here, not by the measures that are being checked.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import fmean
from typing import Literal

import pandas as pd

from evenhand.core.errors import N_
from evenhand.core.model_bias import Summary, read_scores, summarise, summarise_by
from evenhand.core.model_bias.summary import Grouping
from evenhand.core.models.planted.names import RAIN, PlantedModel, plant_of
from evenhand.core.resources import keyword_pairs
from evenhand.core.scoring.rows import COLUMNS, ScoreItem, item_of, score_items
from evenhand.core.sentence_bias.model_answer import neutral_contexts
from evenhand.core.statistics import Estimate, Note
from evenhand.core.text.keywords import candidate
from evenhand.core.typed_json import with_reasons
from evenhand.core.types import JsonObject, KeywordPair, Scorer, Side

MARKS = (
    "planted:0", "planted:+0.3", "planted:-0.3", "planted:+1", "planted:-1",
    "planted:offset+0.3", "planted:pairs", "planted:context",
)  # fmt: skip
TOLERANCE = 1e-4  # log10 and shares; fp32 alone is off by some 1e-7
RAINY = "雨停了，"
GROUPINGS: tuple[Grouping, ...] = ("masks", "side")
RESAMPLES = 200  # a planted value needs no fine interval
CONTEXTS = 8  # of each pair
EVERY = 4  # one context of so many is the odd one: dry for the male word, rainy for the female word

Quantity = Literal[
    "worst_sentence", "offset", "bias_man", "bias_woman", "model_bias", "one_mask", "two_masks", "male_source",
    "female_source", "pairs_share", "contexts_share", "side_auc",
]  # fmt: skip
QUANTITIES: dict[Quantity, str] = {
    "worst_sentence": N_("largest error of any sentence"),
    "offset": N_("offset: signed mean"),
    "bias_man": "Bias_man",
    "bias_woman": "Bias_woman",
    "model_bias": "Model_bias",
    "one_mask": N_("signed mean, one-mask words"),
    "two_masks": N_("signed mean, two-mask words"),
    "male_source": N_("signed mean, male word in the source"),
    "female_source": N_("signed mean, female word in the source"),
    "pairs_share": N_("variance share of word pairs"),
    "contexts_share": N_("variance share of contexts"),
    "side_auc": N_("side AUC"),
}
NOTHING_TO_SHARE = Note(N_("Every value is 0: there is no variance to decompose."))


@dataclass(frozen=True, slots=True)
class Mark:
    """One quantity of one planted model: the planted and the measured value.

    `planted` None: the quantity must be undefined. `measured` has its interval where the measure has one.
    """

    model: str
    quantity: Quantity
    planted: float | None
    measured: Estimate

    @property
    def difference(self) -> float | None:
        """Measured minus planted; None where both are undefined, or one is."""
        if self.planted is None or self.measured.value is None:
            return None
        return self.measured.value - self.planted

    @property
    def passed(self) -> bool:
        """True if the measured value is within the tolerance, or undefined where it must be."""
        if self.planted is None or self.measured.value is None:
            return self.planted is None and self.measured.value is None
        return abs(self.measured.value - self.planted) <= TOLERANCE

    def to_json(self) -> JsonObject:
        """Return the planted and the measured value; the verdict is the reason of an undefined one."""
        data = {"model": self.model, "quantity": self.quantity, "planted": self.planted, "passed": self.passed}
        data |= {"measured": self.measured.value, "difference": self.difference}
        return with_reasons(data, self.measured.reason or in_words(self))


def in_words(mark: Mark) -> Note:
    """Return the verdict on a mark as a sentence."""
    if mark.planted is None:
        return Note(N_("undefined, as expected") if mark.passed else N_("should be undefined but has a value"))
    if mark.measured.value is None:
        return Note(N_("should have a value but is undefined"))
    return Note(N_("recovered") if mark.passed else N_("not recovered"))


@dataclass(frozen=True, slots=True)
class RulerSentence:
    """A sentence of the ruler with its word, and whether it speaks of rain."""

    text: str
    start: int
    pair: KeywordPair
    side: Side

    @property
    def rain(self) -> bool:
        """True if the sentence contains 雨, which is all that a planted model can see."""
        return RAIN in self.text


@cache
def ruler_sentences() -> tuple[RulerSentence, ...]:
    """Return the 304 sentences, pair by pair in the order of the pair table."""
    sentences = []
    for pair in keyword_pairs():
        dry = [context for context in neutral_contexts(pair.name) if RAIN not in context][:CONTEXTS]
        for n, context in enumerate(dry):
            odd = n % EVERY == EVERY - 1
            sides: tuple[tuple[Side, bool], ...] = (("male", not odd), ("female", odd))
            for side, rainy in sides:
                whole = RAINY * rainy + context
                text = whole.replace("{word}", pair.word(side))
                sentences.append(RulerSentence(text, whole.index("{word}"), pair, side))
    return tuple(sentences)


def scored(items: Iterable[ScoreItem], scorer: Scorer, model: str) -> "pd.DataFrame":
    """Return the scores that *scorer* gives to *items*, as a frame."""
    rows = [row.values() for row in score_items(items, scorer, model=model)]
    return read_scores(pd.DataFrame(rows, columns=list(COLUMNS)))


def ruler_items() -> list[ScoreItem]:
    """Return the ruler's sentences as rows to be scored."""
    return [item_of(row, candidate(s.text, s.start, s.pair, s.side)) for row, s in enumerate(ruler_sentences(), 1)]


def measure_marks(open_scorer: Callable[[str], Scorer], names: Sequence[str] = MARKS, *, seed: int = 0) -> list[Mark]:
    """Return every quantity of every planted model.

    *open_scorer* returns the scorer of a name, in this process or another. Raises ModelUnavailable for a name that
    does not belong to a planted model.
    """
    marks = []
    for name in names:
        frame = scored(ruler_items(), open_scorer(name), name)
        marks += _marks(plant_of(name), frame, seed)
    return marks


def _marks(plant: PlantedModel, frame: "pd.DataFrame", seed: int) -> list[Mark]:
    planted = expected(plant)
    each = [plant.bias(s.pair, s.rain) for s in ruler_sentences()]
    worst = max(abs(value - true) for value, true in zip(frame["bias_log10"], each, strict=True))
    measured = {"worst_sentence": Estimate(float(worst), units=len(each))} | measured_quantities(frame, seed)
    return [Mark(plant.name, quantity, planted[quantity], measured[quantity]) for quantity in QUANTITIES]


def measured_quantities(frame: "pd.DataFrame", seed: int = 0) -> dict[str, Estimate]:
    """Return the quantities of the ruler from `core.model_bias`, for the rows of one model."""
    whole = summarise(frame, resamples=RESAMPLES, seed=seed)
    groups = {
        part.group: part.signed_mean
        for by in GROUPINGS
        for part in summarise_by(frame, by, resamples=RESAMPLES, seed=seed)
    }
    return {
        "offset": whole.signed_mean,
        "bias_man": whole.bias_man,
        "bias_woman": whole.bias_woman,
        "model_bias": whole.model_bias,
        "one_mask": groups["1"],
        "two_masks": groups["2"],
        "male_source": groups["male"],
        "female_source": groups["female"],
        **_variance_shares(whole),
        "side_auc": whole.side_auc,
    }


def _variance_shares(whole: Summary) -> dict[str, Estimate]:
    """Return the shares of pairs and contexts in the mean square of Bias_c, offset^2 + pairs + contexts.

    Unlike the shares of the variance these are defined for a model that says the same everywhere: 0 and 0.
    """
    offset, total, within = whole.signed_mean.value, whole.variance_shares.total_sd, whole.variance_shares.context_sd
    square = (offset or 0.0) ** 2 + (total or 0.0) ** 2
    if total is None or within is None or square < TOLERANCE**2:
        nothing = Estimate.undefined(NOTHING_TO_SHARE)
        return {"pairs_share": nothing, "contexts_share": nothing}
    shares = {"pairs_share": (total**2 - within**2) / square, "contexts_share": within**2 / square}
    return {name: Estimate(value, units=whole.n) for name, value in shares.items()}


def expected(plant: PlantedModel) -> dict[Quantity, float | None]:
    """Return the values that correct measures give for *plant* on the sentences of the ruler, by plain definition."""
    rows = [(s, plant.bias(s.pair, s.rain)) for s in ruler_sentences()]
    values = [value for _, value in rows]
    man, woman = _mean([v for v in values if v > 0]), _mean([-v for v in values if v < 0])
    offset = fmean(values)
    of_pair = {pair.name: fmean(v for s, v in rows if s.pair == pair) for pair in keyword_pairs()}
    square = fmean(v * v for v in values)
    between = fmean((of_pair[s.pair.name] - offset) ** 2 for s, _ in rows)
    within = fmean((v - of_pair[s.pair.name]) ** 2 for s, v in rows)
    wins = [
        (a > b) + (a == b) / 2
        for s, a in rows
        if s.side == "male"
        for t, b in rows
        if t.side == "female" and t.pair == s.pair
    ]
    result: dict[Quantity, float | None] = {
        "worst_sentence": 0.0,
        "offset": offset,
        "bias_man": man,
        "bias_woman": woman,
        "model_bias": None if man is None or woman is None else (man + woman) / 2,
        "one_mask": fmean(v for s, v in rows if len(s.pair.stems[0]) == 1),
        "two_masks": fmean(v for s, v in rows if len(s.pair.stems[0]) == 2),
        "male_source": fmean(v for s, v in rows if s.side == "male"),
        "female_source": fmean(v for s, v in rows if s.side == "female"),
        "pairs_share": between / square if square else None,
        "contexts_share": within / square if square else None,
        "side_auc": fmean(wins),
    }
    return {quantity: None if value is None else round(value, 12) for quantity, value in result.items()}


def _mean(values: list[float]) -> float | None:
    return fmean(values) if values else None
