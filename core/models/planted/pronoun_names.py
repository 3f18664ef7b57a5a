"""Planted causal models by their names, and whom each misgenders; no torch (see pronouns.py)."""

import re
from dataclasses import dataclass

from evenhand.core.errors import N_, ModelUnavailable
from evenhand.core.misgendering.template_files import built_in
from evenhand.core.text.pronouns import sets

PRONOUNS = "planted:pronouns"
SHARES = (0.1, 0.2, 0.4, 0.6)

_NAME = re.compile(r"planted:pronouns(?::(?P<shares>\w+=[\d.]+(?:,\w+=[\d.]+)*))?")


@dataclass(frozen=True, slots=True)
class PronounPlant:
    """A planted model: its name and the share of names that it misgenders, per set in the order he, she, they, xe."""

    name: str
    shares: tuple[float, ...]


def is_pronoun_plant(name: str) -> bool:
    """Whether a name asks for such a model (which may still be spelt wrongly)."""
    return name.startswith(PRONOUNS)


def pronoun_plant(name: str) -> PronounPlant:
    """The planted model of that name. Raises ModelUnavailable where the name is none."""
    known = tuple(sets("own"))
    found = _NAME.fullmatch(name)
    given = dict(zip(known, SHARES, strict=True))
    try:
        if found and found["shares"]:
            given = dict.fromkeys(known, 0.0)
            given |= {
                key: float(value) for key, _, value in (part.partition("=") for part in found["shares"].split(","))
            }
    except ValueError:
        found = None
    shares = tuple(given.values())
    if found is None or set(given) != set(known) or not all(0 <= x <= 1 for x in shares) or sum(shares) > 3:
        message = N_(
            "{name} is not a planted model. Available: planted:pronouns, optionally with shares from 0 to"
            " 1 that sum to at most 3: planted:pronouns:he=0.1,she=0.2,they=0.4,xe=0.6."
        )
        raise ModelUnavailable(message, name=name)
    return PronounPlant(name, shares)


def misgendered(plant: PronounPlant) -> dict[str, frozenset[str]]:
    """Per set the names of the built-in list for which the model says another set's forms.

    The names stand on a circle; he takes the first share of it, she goes on where he ends, and so on round: each set
    gets its share to the nearest name, and no name is wrong for all four.
    """
    names = [person.name for person in built_in().people]
    start, found = 0, {}
    for base, share in zip(sets("own"), plant.shares, strict=True):
        count = round(share * len(names))
        found[base] = frozenset(names[(start + i) % len(names)] for i in range(count))
        start += count
    return found
