"""A model of the user on the ruler: each value with its null and its reference.

A named model scores the built-in neutral sentences, or the scores of a run are read. With scores of a run only the
references need the model; if it is unavailable, they give the reason and everything else is still computed.

Nulls show what chance alone gives. Two shuffles serve as nulls (docs/ruler.md; drawn by `core.model_bias.nulls`):

* **the words of a pair change sides**: every Bias_c keeps its size and gets a random sign, the same for all sentences
  of a stem (男/女 is that of seven pairs). Null of the signed mean and of Bias_man - Bias_woman. Shuffling sentence by
  sentence gives no valid null, since the sentences of a pair share the lean of its words: that row says so.
* **the sources change sides**: which sentences had the male word, for all of a stem. Null of the side AUC.

Neither shuffle changes |Bias_c|, so neither is a null of Model_bias, Bias_man or Bias_woman. For their size there is
only a reference (`Magnitude`): the context effect between words that do not differ in gender (docs/ruler.md).

The reference measures how far contexts push apart two words such as 甲 and 乙, 新 and 老, 医生 and 学生, in the same
contexts and with the same number of masks. For both kinds of words the mean of the word pair is subtracted from Bias_c
(prior-corrected), so that only the effect of contexts remains.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from evenhand.core.audit.sample import keyword_in, pair_named
from evenhand.core.errors import N_, EvenhandError, NotFound
from evenhand.core.model_bias import Summary, is_reference, prior_corrected, rows_of, summarise, units_of
from evenhand.core.model_bias import nulls as drawn
from evenhand.core.models.catalogue import RANDOM
from evenhand.core.resources import keyword_pairs, table
from evenhand.core.ruler.planted import scored
from evenhand.core.scoring.rows import ScoreItem, item_of
from evenhand.core.sentence_bias.bias import bias_of
from evenhand.core.sentence_bias.keyword_packs import pack
from evenhand.core.sentence_bias.model_answer import neutral_contexts, neutral_probes
from evenhand.core.statistics import RESAMPLES, Estimate, Note, Resampling
from evenhand.core.statistics.intervals import over_units
from evenhand.core.text.keywords import candidate
from evenhand.core.typed_json import fields_of
from evenhand.core.types import Candidate, KeywordPair, MaskedSentence, Scorer, Signature

if TYPE_CHECKING:
    import pandas as pd

PER_PAIR = 40  # sentences of a run that are asked again, per keyword pair
NO_FIT = Note(N_("No neutral words fit the keyword slots of these sentences."))


@dataclass(frozen=True, slots=True)
class Magnitude:
    """Mean |prior-corrected Bias_c| of keyword pairs and of neutral word pairs in the same contexts, in log10.

    `difference` is keyword pairs minus neutral words, above 0: contexts move the keyword pairs more. Intervals are over
    the `contexts`. `pairs` and `words` name those of each kind.
    """

    keyword_pairs: Estimate
    neutral_words: Estimate
    difference: Estimate
    contexts: int
    pairs: tuple[str, ...]
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Question:
    """A word pair in a context. `group` is the word pair with its slot; the mean of the group is subtracted."""

    context: str
    neutral: bool
    group: tuple[str, str]
    probe: MaskedSentence


@cache
def neutral_words(kind: str) -> tuple[KeywordPair, ...]:
    """Return the pairs of neutral words of a kind of context (core/data/neutral_words.tsv)."""
    return tuple(pair_named(f"{row['first']}/{row['second']}") for row in table("neutral_words") if row["kind"] == kind)


@cache
def kind_of(pair_name: str) -> str | None:
    """Return the kind of contexts of a keyword pair; None for a pair that is in no table."""
    return next((row["kind"] for row in table("pair_kinds") if row["pair"] == pair_name), None)


def fitting(pair: KeywordPair) -> tuple[KeywordPair, ...]:
    """Return the neutral pairs that fit the slot of *pair*: same kind, same mask width, same rest of the word."""
    kind = kind_of(pair.name)
    return tuple(other for other in neutral_words(kind) if _shape(other) == _shape(pair)) if kind else ()


def _shape(pair: KeywordPair) -> tuple[str, str, int]:
    first, last = pair.male_stem
    return pair.male[:first], pair.male[last:], last - first


def in_contexts(scorer: Scorer, *, seed: int = 0) -> Magnitude:
    """Measure the magnitudes in the built-in neutral contexts of every keyword pair and every similar neutral pair."""
    questions = []
    for pair in keyword_pairs():
        questions += [_probes(context, pair, False) for context in neutral_contexts(pair.name)]
    examples = {kind_of(pair.name): pair for pair in keyword_pairs()}  # the contexts of a kind, by one pair of it
    for kind, example in examples.items():
        for words in neutral_words(kind or ""):
            questions += [_probes(context, words, True) for context in neutral_contexts(example.name)]
    return _measure(questions, scorer, seed)


def _probes(context: str, pair: KeywordPair, neutral: bool) -> _Question:
    text, at = context.replace("{word}", pair.male), context.index("{word}")
    first, last = pair.male_stem
    probe = MaskedSentence(text, at + first, at + last, pair.stems)
    return _Question(context, neutral, (pair.name, ""), probe)


def in_sentences(rows: "pd.DataFrame", scorer: Scorer, *, per_pair: int = PER_PAIR, seed: int = 0) -> Magnitude:
    """Measure the magnitudes in sentences of a run: one masked sentence for both keywords and neutral words.

    At most *per_pair* sentences of each keyword pair for which neutral words fit, drawn by *seed*.
    """
    questions: list[_Question] = []
    for found in _sample_rows(rows, per_pair, seed):
        for words in (found.pair, *fitting(found.pair)):
            probe = MaskedSentence(found.sentence, found.stem_start, found.stem_end, words.stems)
            questions.append(_Question(found.sentence, words is not found.pair, (words.name, found.pair.name), probe))
    return _measure(questions, scorer, seed)


def _sample_rows(rows: "pd.DataFrame", per_pair: int, seed: int) -> Iterable[Candidate]:
    known = {pair.name: pair for pair in keyword_pairs()}
    sided = rows[rows["side"].isin(["male", "female"])].drop_duplicates("sentence")
    for name, part in sided.groupby("pair", sort=False):
        if name not in known or not fitting(known[str(name)]):
            continue
        some = part.sample(min(per_pair, len(part)), random_state=seed).sort_index()
        for row, text, side, start in zip(some["row"], some["sentence"], some["side"], some["start"], strict=True):
            at = int(start) if isinstance(start, int | np.integer) else None
            try:
                yield keyword_in(str(text), str(name), side, at, row=row)
            except NotFound:  # a file without positions and a word that occurs twice
                continue


def _measure(questions: Sequence[_Question], scorer: Scorer, seed: int) -> Magnitude:
    values = [bias_of(score) for score in scorer.score([question.probe for question in questions])]
    known = [(q, v) for q, v in zip(questions, values, strict=True) if v is not None and np.isfinite(v)]
    groups: dict[tuple[str, str], list[float]] = {}
    for question, value in known:
        groups.setdefault(question.group, []).append(value)
    contexts = {context: i for i, context in enumerate(dict.fromkeys(q.context for q, _ in known))}
    sums = np.zeros((len(contexts), 4))
    for question, value in known:
        own = groups[question.group]
        if len(own) > 1:
            sums[contexts[question.context], 2 * question.neutral :][:2] += abs(value - sum(own) / len(own)), 1
    names = [tuple(dict.fromkeys(q.group[0] for q, _ in known if q.neutral == neutral)) for neutral in (False, True)]
    estimates = _estimates(sums, seed)
    return Magnitude(
        estimates["gendered"], estimates["neutral"], estimates["difference"], len(contexts), names[0], names[1]
    )


def _estimates(sums: NDArray[np.float64], seed: int) -> dict[str, Estimate]:
    """Return two means and their difference from sums per context: |keywords|, count, |neutral words|, count."""

    def measures(weights: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
        total = weights @ sums
        with np.errstate(invalid="ignore", divide="ignore"):
            gendered, neutral = total[:, 0] / total[:, 1], total[:, 2] / total[:, 3]
        return {"gendered": gendered, "neutral": neutral, "difference": gendered - neutral}

    nothing = Estimate.undefined(NO_FIT)
    if not len(sums):
        return {"gendered": nothing, "neutral": nothing, "difference": nothing}
    sides = {"gendered": [sums[:, 1]], "neutral": [sums[:, 3]], "difference": [sums[:, 1], sums[:, 3]]}
    bounds = {"gendered": (0.0, np.inf), "neutral": (0.0, np.inf)}
    units = over_units(Resampling(RESAMPLES, seed), measures, len(sums), bounds, sides)
    return {name: units.get(name, nothing) for name in ("gendered", "neutral", "difference")}


Shuffled = Literal["sentence", "pair", "source"]

NOISE = 6  # decimals: fp32 says nothing beyond them, and a model that says the same everywhere must not look shuffled
WHAT: dict[Shuffled, str] = {
    "sentence": N_("the two words are swapped at random in every sentence"),
    "pair": N_("the two words are swapped, stem by stem"),
    "source": N_("the source words are swapped, stem by stem"),
}
NAMES: dict[str, str] = {
    "signed_mean": N_("signed mean"),
    "side_difference": "Bias_man − Bias_woman",
    "side_auc": N_("side AUC"),
}


@dataclass(frozen=True, slots=True)
class Null(drawn.Null):
    """A measure of a model, compared with chance: the middle 95% of the shuffled values.

    `of`: a key of NAMES. Where the measure is undefined all values are None, with a reason. `p` is None without a
    test. `stems`: the number of stems whose sides were turned.
    """

    shuffled: Shuffled = "pair"
    json_names: ClassVar = {"of": "null_of", "observed": "value", "stems": "units"}
    also_in_json: ClassVar[tuple[str, ...]] = ()

    @property
    def inside(self) -> bool | None:
        """True if the value lies within the middle 95% of the shuffled values; None where undefined."""
        if self.observed is None or self.low is None or self.high is None:
            return None
        return self.low <= self.observed <= self.high


def nulls(rows: "pd.DataFrame", *, seed: int = 0) -> list[Null]:
    """Return every measure with a null, for one model's scores (from `core.model_bias.read_scores`)."""
    rows = rows.assign(bias_log10=rows["bias_log10"].round(NOISE))
    shuffled_sides = drawn.shuffled_sides(rows, seed=seed)
    alone = drawn.shuffled_sides(rows, unit="sentence")
    words = ("signed_mean", "side_difference")
    shuffled: list[tuple[drawn.Null, Shuffled]] = [
        *((alone[name], "sentence") for name in words), *((shuffled_sides[name], "pair") for name in words),
        (shuffled_sides["side_auc"], "source"),
    ]  # fmt: skip
    return [Null(**fields_of(null), shuffled=kind) for null, kind in shuffled]


OpenScorer = Callable[[str], Scorer]

SAMPLE = 400  # sentences of a run that are asked of the untrained model
NO_CORRECTED = Note(N_("No word pair has two sentences with a finite Bias_c, so no pair mean can be subtracted."))
OTHER_WEIGHTS = Note(N_("The weights of this model have changed since these scores were computed."))
OTHER_WAY = Note(N_("These scores and the reference use different scoring methods, so magnitudes are not comparable."))
NOT_ASKED = Note(N_("The model was not run: references are switched off."))


@dataclass(frozen=True, slots=True)
class Untrained:
    """The untrained model (random-zh) on the same sentences, or a sample of them: what no knowledge looks like."""

    n: int
    model_bias: Estimate
    context_effect: Estimate
    signature: str


@dataclass(frozen=True, slots=True)
class OnRuler:
    """The values of a model with their nulls and references, in log10.

    `context_effect`: mean |prior-corrected Bias_c|, the effect of contexts. `neutral_words`, `untrained` are None with
    a reason where unavailable. `source`: "" for the built-in sentences, else the name of the scores.
    """

    model: str
    signature: str
    source: str
    summary: Summary
    context_effect: Estimate
    nulls: tuple[Null, ...]
    neutral_words: Magnitude | None
    neutral_words_reason: Note | None
    untrained: Untrained | None
    untrained_reason: Note | None


def built_in_items() -> list[ScoreItem]:
    """Return every keyword pair in each of its neutral contexts, as rows to score; the male word is the keyword."""
    candidates = [
        candidate(context.replace("{word}", pair.male), context.index("{word}"), pair, "male")
        for pair in keyword_pairs()
        for context in neutral_contexts(pair.name)
    ]
    return [item_of(row, one) for row, one in enumerate(candidates, 1)]


def pack_items(language: str) -> list[ScoreItem]:
    """Return every pair of a language's keyword pack in each of its neutral contexts, as rows to score."""
    probes = [(entry.pair, probe) for entry in pack(language).words for probe in neutral_probes(entry)]
    return [
        ScoreItem(
            row, probe.text, probe.start, probe.end, probe.start, probe.end, pair.name, "male",
            probe.text[probe.start : probe.end], probe.options, agreeing=probe.agreeing,
        )
        for row, (pair, probe) in enumerate(probes, 1)
    ]  # fmt: skip


def on_built_in(model: str, open_scorer: OpenScorer, *, seed: int = 0) -> OnRuler:
    """Measure *model* on the built-in neutral sentences. Raises ModelUnavailable where it is not available.

    The sentences have no source, so the side AUC is undefined.
    """
    scorer, items = open_scorer(model), built_in_items()
    words = in_contexts(scorer, seed=seed), None
    return _on_ruler(scored(items, scorer, model), "", words, _untrained(items, open_scorer, seed), seed)


def on_scores(
    frame: "pd.DataFrame", model: str, open_scorer: OpenScorer | None, *, source: str, seed: int = 0
) -> OnRuler:
    """Measure *model* by the scores in *frame* (from `core.model_bias.read_scores`).

    *open_scorer* None: no model is asked, and the references say that. Raises NotFound for a model without rows.
    """
    rows = rows_of(frame, model)
    words = _magnitude(rows, model, open_scorer, seed)
    return _on_ruler(rows, source, words, _untrained_of(frame, rows, open_scorer, seed), seed)


def _on_ruler(
    rows: "pd.DataFrame", source: str, words: tuple[Magnitude | None, Note | None],
    untrained: tuple[Untrained | None, Note | None], seed: int,
) -> OnRuler:  # fmt: skip
    """Return the model with its nulls and its references, or the reason why a reference is missing."""
    summary, effect = summarise(rows, seed=seed), mean_corrected(rows, seed=seed)
    result = tuple(nulls(rows, seed=seed))
    return OnRuler(summary.model, summary.signature, source, summary, effect, result, *words, *untrained)


def mean_corrected(rows: "pd.DataFrame", *, seed: int = 0) -> Estimate:
    """Return mean |prior-corrected Bias_c| of one model's rows (log10), with its interval (docs/ruler.md)."""
    size = prior_corrected(rows).abs().dropna()
    if size.empty:
        return Estimate.undefined(NO_CORRECTED)
    units = units_of(rows.loc[size.index])
    sums = units.sums(size.to_numpy(float), np.ones(len(size)))

    def measures(weights: Any) -> dict[str, Any]:
        total = weights @ sums
        return {"mean": total[:, 0] / total[:, 1]}

    return over_units(
        Resampling(RESAMPLES, seed), measures, units.count, {"mean": (0.0, np.inf)}, {"mean": [sums[:, 1]]}
    )["mean"]


def _magnitude(
    rows: "pd.DataFrame", model: str, open_scorer: OpenScorer | None, seed: int
) -> tuple[Magnitude | None, Note | None]:
    if open_scorer is None:
        return None, NOT_ASKED
    try:
        scorer = open_scorer(model.split(" (")[0])
        if _weights(scorer.signature) not in {_weights(text) for text in rows["signature"].drop_duplicates()}:
            return None, OTHER_WEIGHTS
        if not _same_way(rows, scorer.signature):
            return None, OTHER_WAY
        return in_sentences(rows, scorer, seed=seed), None
    except EvenhandError as error:
        return None, Note(error.message, error.values)


def _same_way(rows: "pd.DataFrame", signature: str) -> bool:
    """Tell if the scores have the same method and the same joint as *signature*."""
    return _scoring_method(signature) in {_scoring_method(text) for text in rows["signature"].drop_duplicates() if text}


def _scoring_method(text: str) -> tuple[str, str]:
    parts = Signature.parse(text)
    return (parts.method, parts.joint) if parts else (text, "")


def _weights(text: str) -> str:
    parts = Signature.parse(text)
    return parts.weights if parts else text


def _untrained_of(
    frame: "pd.DataFrame", rows: "pd.DataFrame", open_scorer: OpenScorer | None, seed: int
) -> tuple[Untrained | None, Note | None]:
    own = frame[frame["model"].map(is_reference).astype(bool)]
    if len(own) and not _same_way(rows, str(own["signature"].iloc[0])):
        return None, OTHER_WAY
    if len(own):  # the run has it already, on all its sentences
        return _as_untrained(own, seed), None
    if open_scorer is None:
        return None, NOT_ASKED
    try:
        if not _same_way(rows, open_scorer(RANDOM).signature):
            return None, OTHER_WAY
    except EvenhandError as error:
        return None, Note(error.message, error.values)
    sided = rows[rows["side"].isin(["male", "female"])]
    some = sided.sample(min(SAMPLE, len(sided)), random_state=seed).sort_index()
    return _untrained(_items(some), open_scorer, seed)


def _items(rows: "pd.DataFrame") -> list[ScoreItem]:
    items = []
    columns = (rows[name] for name in ("row", "sentence", "pair", "side", "start"))
    for number, (row, text, pair, side, start) in enumerate(zip(*columns, strict=True), 1):
        at = int(start) if isinstance(start, int | np.integer) else None
        try:
            items.append(item_of(number, keyword_in(str(text), str(pair), side, at, row=row)))
        except NotFound:  # a file without positions and a word that occurs twice
            continue
    return items


def _untrained(items: list[ScoreItem], open_scorer: OpenScorer, seed: int) -> tuple[Untrained | None, Note | None]:
    try:
        return _as_untrained(scored(items, open_scorer(RANDOM), RANDOM), seed), None
    except EvenhandError as error:
        return None, Note(error.message, error.values)


def _as_untrained(rows: "pd.DataFrame", seed: int) -> Untrained:
    summary = summarise(rows, seed=seed)
    return Untrained(summary.n, summary.model_bias, mean_corrected(rows, seed=seed), summary.signature)
