"""Pairs of sentences that differ in a word without gender: what a measure of pairs gives where there is no lean."""

import hashlib
import re
from dataclasses import dataclass
from functools import cache

from evenhand.core.models.catalogue import known_models
from evenhand.core.resources import table

_TWO = re.compile(r"\[([^|\[\]]+)\|([^|\[\]]+)\]")
BLANK = "BLANK"


@dataclass(frozen=True, slots=True)
class ControlPair:
    """A context with BLANK and two words; which of them comes first is drawn by a hash, so it means nothing."""

    context: str
    words: tuple[str, str]

    @property
    def sentences(self) -> tuple[str, str]:
        """Both sentences, in the order of the words."""
        first, second = (self.context.replace(BLANK, word) for word in self.words)
        return first, second


@cache
def control_pairs(language: str) -> tuple[ControlPair, ...]:
    """The 40 pairs of a language ("en", "zh"); none of another."""
    found = []
    for row in table("control_pairs"):
        if row["language"] != language:
            continue
        two = _TWO.search(row["sentence"])
        assert two is not None
        words = (two[1], two[2])
        if hashlib.sha256(row["sentence"].encode()).digest()[0] % 2:
            words = (two[2], two[1])
        found.append(ControlPair(_TWO.sub(BLANK, row["sentence"]), words))
    return tuple(found)


def control_language(model: str, texts: tuple[str, ...]) -> str:
    """Which control fits: the language of the model where it is known, else that of the texts."""
    known = {entry.name: entry.language for task in ("masked", "causal") for entry in known_models(task)}
    if known.get(model) in ("en", "zh"):
        return known[model]
    sample = "".join(texts[:20])
    return "zh" if any("\u4e00" <= sign <= "\u9fff" for sign in sample) else "en"
