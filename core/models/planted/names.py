"""The answers that each planted model must give, by its name; does not use torch (the models are in masked.py).

| name | Bias_c (log10) it is built to give |
|---|---|
| `planted:0`, `planted:+0.3`, `planted:-1`, ... | that number for every pair, in every sentence |
| `planted:offset+0.3` | the same constant, but it comes out of the encoder, not of the words' own weights |
| `planted:pairs`, `planted:pairs0.35` | +0.35 for words of one mask, -0.6 for words of two; 0 over the 19 pairs |
| `planted:context`, `planted:context0.5` | +0.5 where 雨 occurs in the sentence, -0.5 where it does not |

`planted:association=0.8` is another kind: see masked.py. For planted causal models and the names that each misgenders
see pronouns.py.
"""

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

from evenhand.core.errors import N_, ModelUnavailable
from evenhand.core.misgendering.template_files import built_in
from evenhand.core.resources import keyword_pairs
from evenhand.core.text.pronouns import sets
from evenhand.core.types import KeywordPair

PREFIX = "planted:"
RAIN = "雨"
LARGEST = 6.0  # log10: a million times
USUAL = {"pairs": 0.35, "context": 0.5}
Kind = Literal["constant", "offset", "pairs", "context"]

_NAME = re.compile(r"planted:(?P<kind>offset(?=[+-])|pairs|context)?(?P<size>[+-]?\d{1,2}(\.\d{1,4})?)?")


_ASSOCIATION = re.compile(r"planted:association=(?P<size>[0-3](\.\d{1,3})?)")


@dataclass(frozen=True, slots=True)
class PlantedModel:
    """A planted model: its name, what it depends on, and by how much (log10, positive leans male)."""

    name: str
    kind: Kind
    size: float

    def bias(self, pair: KeywordPair, rain: bool) -> float:
        """Return the Bias_c (log10) that the model is built to give for *pair*; *rain*: 雨 occurs in the sentence."""
        if self.kind == "pairs":
            return self.size if len(pair.stems[0]) == 1 else -self.size * _ones_per_two()
        if self.kind == "context":
            return self.size if rain else -self.size
        return self.size


@cache
def _ones_per_two() -> float:
    """Return the number of released pairs with one mask over the number with two: 12 / 7."""
    widths = [len(pair.stems[0]) for pair in keyword_pairs()]
    return widths.count(1) / widths.count(2)


def is_planted(name: str) -> bool:
    """Return True if a name asks for a planted model; the rest of the name may still be misspelt."""
    return name.startswith(PREFIX)


def association_of(name: str) -> float | None:
    """Return the association (ln) of that planted model with English professions; None for other names."""
    match = _ASSOCIATION.fullmatch(name)
    return float(match["size"]) if match else None


def plant_of(name: str) -> PlantedModel:
    """Return the planted model of that name. Raises ModelUnavailable for other names and for more than 10^6."""
    match = _NAME.fullmatch(name)
    kind: Kind = "constant"
    if match and match["kind"]:
        kind = match["kind"]  # type: ignore[assignment]
    size = float(match["size"]) if match and match["size"] else USUAL.get(kind)
    if match is None or size is None or abs(size) > LARGEST:
        message = N_(
            "{name} is not a planted model. Available: planted:0, planted:+0.3 (any number up to 6),"
            " planted:offset+0.3, planted:pairs and planted:context."
        )
        raise ModelUnavailable(message, name=name)
    return PlantedModel(name, kind, size)


PRONOUNS = "planted:pronouns"
SHARES = (0.1, 0.2, 0.4, 0.6)

_PRONOUN_NAME = re.compile(r"planted:pronouns(?::(?P<shares>\w+=[\d.]+(?:,\w+=[\d.]+)*))?")


@dataclass(frozen=True, slots=True)
class PronounPlant:
    """A planted model: its name and the share of names that it misgenders, per set in the order he, she, they, xe."""

    name: str
    shares: tuple[float, ...]


def is_pronoun_plant(name: str) -> bool:
    """Return True if a name asks for a planted causal model; the rest of the name may still be misspelt."""
    return name.startswith(PRONOUNS)


def pronoun_plant(name: str) -> PronounPlant:
    """Return the planted model of that name. Raises ModelUnavailable for other names."""
    known = tuple(sets("own"))
    match = _PRONOUN_NAME.fullmatch(name)
    given = dict(zip(known, SHARES, strict=True))
    try:
        if match and match["shares"]:
            given = dict.fromkeys(known, 0.0)
            given |= {
                key: float(value) for key, _, value in (part.partition("=") for part in match["shares"].split(","))
            }
    except ValueError:
        match = None
    shares = tuple(given.values())
    if match is None or set(given) != set(known) or not all(0 <= x <= 1 for x in shares) or sum(shares) > 3:
        message = N_(
            "{name} is not a planted model. Available: planted:pronouns, optionally with shares from 0 to"
            " 1 that sum to at most 3: planted:pronouns:he=0.1,she=0.2,they=0.4,xe=0.6."
        )
        raise ModelUnavailable(message, name=name)
    return PronounPlant(name, shares)


def misgendered(plant: PronounPlant) -> dict[str, frozenset[str]]:
    """Return, per pronoun set, the names of the built-in list for which the model uses another set's forms.

    The names form a circle. The set of he takes the first share of it, the set of she continues where he ends, and so
    on. Each set gets its share, rounded to whole names, and no name is wrong for all four.
    """
    names = [person.name for person in built_in().people]
    start, result = 0, {}
    for base, share in zip(sets("own"), plant.shares, strict=True):
        count = round(share * len(names))
        result[base] = frozenset(names[(start + i) % len(names)] for i in range(count))
        start += count
    return result
