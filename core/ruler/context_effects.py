"""How large a context effect is between words that differ in nothing gendered: the reference for sizes (SPEC 6.1).

No shuffle says how large Model_bias may be by chance. What can be said: how far two words such as 甲 and 乙, 新 and 老,
医生 and 学生 are pushed apart in the same contexts, with the same number of masks. For both kinds of words Bias_c is
taken less the mean of its word pair (prior-corrected), so that what remains is what contexts do.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from evenhand.core.audit.sample import keyword_in, pair_named
from evenhand.core.errors import N_, NotFound
from evenhand.core.resources import keyword_pairs, table
from evenhand.core.sentence_bias.bias import bias_of
from evenhand.core.sentence_bias.prior import neutral_contexts
from evenhand.core.statistics import RESAMPLES, Estimate, Note, Resampling
from evenhand.core.statistics.intervals import over_units
from evenhand.core.types import Candidate, KeywordPair, MaskedSentence, Scorer

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
    """A word pair in a context: `group` is the word pair with the slot it stands in, whose mean is subtracted."""

    context: str
    neutral: bool
    group: tuple[str, str]
    probe: MaskedSentence


@cache
def neutral_words(kind: str) -> tuple[KeywordPair, ...]:
    """The pairs of neutral words of a kind of context (core/data/neutral_words.tsv)."""
    return tuple(pair_named(f"{row['first']}/{row['second']}") for row in table("neutral_words") if row["kind"] == kind)


@cache
def kind_of(pair_name: str) -> str | None:
    """The kind of contexts of a keyword pair; None for a pair that is in no table."""
    return next((row["kind"] for row in table("pair_kinds") if row["pair"] == pair_name), None)


def fitting(pair: KeywordPair) -> tuple[KeywordPair, ...]:
    """The neutral pairs that can stand in the slot of *pair*: same kind, same mask width, same rest of the word."""
    kind = kind_of(pair.name)
    return tuple(other for other in neutral_words(kind) if _shape(other) == _shape(pair)) if kind else ()


def _shape(pair: KeywordPair) -> tuple[str, str, int]:
    first, last = pair.male_stem
    return pair.male[:first], pair.male[last:], last - first


def in_contexts(scorer: Scorer, *, resamples: int = RESAMPLES, seed: int = 0) -> Magnitude:
    """The magnitudes in the built-in neutral contexts: every keyword pair and every neutral pair of their kind."""
    questions = []
    for pair in keyword_pairs():
        questions += [_probes(context, pair, False) for context in neutral_contexts(pair.name)]
    examples = {kind_of(pair.name): pair for pair in keyword_pairs()}  # the contexts of a kind, by one pair of it
    for kind, example in examples.items():
        for words in neutral_words(kind or ""):
            questions += [_probes(context, words, True) for context in neutral_contexts(example.name)]
    return _measure(questions, scorer, resamples, seed)


def _probes(context: str, pair: KeywordPair, neutral: bool) -> _Question:
    text, at = context.replace("{word}", pair.male), context.index("{word}")
    first, last = pair.male_stem
    probe = MaskedSentence(text, at + first, at + last, pair.stems)
    return _Question(context, neutral, (pair.name, ""), probe)


def in_sentences(
    rows: "pd.DataFrame", scorer: Scorer, *, per_pair: int = PER_PAIR, resamples: int = RESAMPLES, seed: int = 0
) -> Magnitude:
    """The magnitudes in sentences of a run: the same masked sentence is asked for the keywords and for neutral words.

    At most *per_pair* sentences of each keyword pair for which neutral words fit, drawn by *seed*.
    """
    questions: list[_Question] = []
    for found in _sample_rows(rows, per_pair, seed):
        for words in (found.pair, *fitting(found.pair)):
            probe = MaskedSentence(found.sentence, found.stem_start, found.stem_end, words.stems)
            questions.append(_Question(found.sentence, words is not found.pair, (words.name, found.pair.name), probe))
    return _measure(questions, scorer, resamples, seed)


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
            except NotFound:  # a file without positions and a word that stands twice
                continue


def _measure(questions: Sequence[_Question], scorer: Scorer, resamples: int, seed: int) -> Magnitude:
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
    found = _estimates(sums, resamples, seed)
    return Magnitude(found["gendered"], found["neutral"], found["difference"], len(contexts), names[0], names[1])


def _estimates(sums: NDArray[np.float64], resamples: int, seed: int) -> dict[str, Estimate]:
    """The two means and their difference from sums per context: |keywords|, how many, |neutral words|, how many."""

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
    found = over_units(Resampling(resamples, seed), measures, len(sums), bounds, sides)
    return {name: found.get(name, nothing) for name in ("gendered", "neutral", "difference")}
