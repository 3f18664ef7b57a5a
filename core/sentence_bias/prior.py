"""The lean of a word pair itself: its mean Bias_c over contexts that say nothing about gender (SPEC 6.1)."""

import math
from dataclasses import dataclass
from functools import cache

from core.errors import N_
from core.resources import table
from core.sentence_bias.bias import bias_of
from core.types import KeywordPair, MaskedSentence, Scorer


@dataclass(frozen=True, slots=True)
class Prior:
    """Mean Bias_c of a pair in log10 over `n` neutral contexts; None, with a reason, where there is none."""

    value: float | None
    n: int
    reason: str | None = None


@cache
def neutral_contexts(pair_name: str) -> tuple[str, ...]:
    """The built-in contexts of a pair, with {word} where its words go; empty for an unknown pair."""
    kinds = {row["pair"]: row["kind"] for row in table("pair_kinds")}
    kind = kinds.get(pair_name)
    return tuple(row["context"] for row in table("neutral_contexts") if row["kind"] == kind)


def neutral_probes(pair: KeywordPair) -> list[MaskedSentence]:
    """The pair in each of its neutral contexts, masked as in any sentence: the stem only."""
    probes = []
    for context in neutral_contexts(pair.name):
        place = context.index("{word}")
        text = context.replace("{word}", pair.male)
        start, end = (place + offset for offset in pair.male_stem)
        probes.append(MaskedSentence(text, start, end, pair.stems))
    return probes


def prior(pair: KeywordPair | None, scorer: Scorer) -> Prior:
    """The pair's mean Bias_c (log10) over its neutral contexts, asked of the same model.

    Undefined for two words that are no built-in pair, and where no context has a finite value.
    """
    probes = [] if pair is None else neutral_probes(pair)
    if not probes:
        return Prior(None, 0, N_("There are no neutral contexts for these two words, so nothing can be subtracted."))
    values = [bias_of(score) for score in scorer.score(probes)]
    finite = [value for value in values if value is not None and math.isfinite(value)]
    if not finite:
        return Prior(None, 0, N_("The model gave no finite value in the neutral contexts."))
    return Prior(math.fsum(finite) / len(finite), len(finite))
