"""The lean of a word pair itself: its mean Bias_c over contexts that say nothing about gender (SPEC 6.1)."""

import math
from dataclasses import dataclass
from functools import cache

from evenhand.core.errors import N_
from evenhand.core.mining.settings import WITHOUT_SPACES
from evenhand.core.resources import table
from evenhand.core.sentence_bias.agreement_in_spanish import agreeing
from evenhand.core.sentence_bias.bias import bias_of
from evenhand.core.sentence_bias.find_words import FoundWord
from evenhand.core.sentence_bias.keyword_packs import Pack, PackWord, pack
from evenhand.core.types import MaskedSentence, Scorer


@dataclass(frozen=True, slots=True)
class Prior:
    """Mean Bias_c of a pair in log10 over `n` neutral contexts; None, with a reason, where there is none."""

    value: float | None
    n: int
    reason: str | None = None


@cache
def neutral_contexts(pair_name: str) -> tuple[str, ...]:
    """The built-in contexts of a Chinese pair, with {word} where its words go; empty for an unknown pair."""
    kinds = {row["pair"]: row["kind"] for row in table("pair_kinds")}
    kind = kinds.get(pair_name)
    return tuple(row["context"] for row in table("neutral_contexts") if row["kind"] == kind)


def neutral_probes(entry: PackWord) -> list[MaskedSentence]:
    """The pair in each of its neutral contexts, masked as in any sentence: in Chinese the stem only."""
    pair = entry.pair
    alone = Pack(pair.language, (entry,), pack(pair.language).forms)
    probes = []
    for context in entry.contexts:
        start = context.index("{word}")
        before, after = context[:start], context[start + len("{word}") :]
        if pair.language in WITHOUT_SPACES:
            first, last = (start + offset for offset in pair.male_stem)
            probes.append(MaskedSentence(before + pair.male + after, first, last, pair.stems))
            continue
        both = tuple(word if before else word[:1].upper() + word[1:] for word in (pair.male, pair.female))
        text, end = before + both[0] + after, start + len(both[0])
        found = FoundWord(start, end, entry, "male")
        forms = agreeing(text, found, alone) if pair.language == "es" else ()
        probes.append(MaskedSentence(text, start, end, both, agreeing=forms))
    return probes


def prior(entry: PackWord | None, scorer: Scorer) -> Prior:
    """The pair's mean Bias_c (log10) over its neutral contexts, asked of the same model.

    Undefined for two words that are in no keyword pack, and where no context has a finite value.
    """
    probes = [] if entry is None else neutral_probes(entry)
    if not probes:
        return Prior(
            None, 0, N_("There are no neutral contexts for these two words, so no baseline can be subtracted.")
        )
    values = [bias_of(score) for score in scorer.score(probes)]
    finite = [value for value in values if value is not None and math.isfinite(value)]
    if not finite:
        return Prior(None, 0, N_("The model gives no finite value in the neutral contexts."))
    return Prior(math.fsum(finite) / len(finite), len(finite))
