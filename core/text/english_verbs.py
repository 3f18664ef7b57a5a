"""Third person singular and plural of English verbs: he plays, they play.

The rules that the published code gets wrong are right here (SPEC 4.4): plays, says, enjoys, buys; use, house, die.
"""

import re
from functools import cache

from evenhand.core.resources import table

# they-form -> he-form; verbs whose other forms differ too, and those that no rule of spelling gives.
IRREGULAR = {"are": "is", "were": "was", "have": "has", "do": "does", "go": "goes", "quiz": "quizzes", "gas": "gasses"}
IRREGULAR |= {"whiz": "whizzes", "stomach": "stomachs", "axe": "axes", "solo": "solos"}
NEGATED = {"aren": "isn", "weren": "wasn", "haven": "hasn", "don": "doesn"}  # before 't
_SINGULAR = IRREGULAR | NEGATED
_PLURAL = {singular: plural for plural, singular in _SINGULAR.items()}

_SHORT_IES = 4  # dies, lies, ties, vies: -ie; cries, flies, tries: -y


def singular(verb: str) -> str:
    """The form after he or she of a verb as it stands after they: play -> plays, cry -> cries, are -> is."""
    return _like(verb, _to_singular(verb.lower()))


def plural(verb: str) -> str:
    """The form after they of a verb as it stands after he or she: plays -> play, uses -> use, dies -> die, is -> are.

    A word that is no third person singular comes back unchanged (went, can, discuss).
    """
    return _like(verb, _to_plural(verb.lower()))


def _to_singular(verb: str) -> str:
    if verb in _SINGULAR:
        return _SINGULAR[verb]
    if re.search(r"[^aeiou]y$", verb):
        return verb[:-1] + "ies"
    if re.search(r"(?:s|x|z|ch|sh|[^aeiou]o)$", verb):
        return verb + "es"
    return verb + "s"


def _to_plural(verb: str) -> str:
    if verb in _PLURAL:
        return _PLURAL[verb]
    if not verb.endswith("s") or verb.endswith(("ss", "us", "is")):
        return verb
    if verb in word_list("only_s"):
        return verb[:-1]
    if verb in word_list("whole_es") or re.search(r"(?:ss|sh|x|zz|tz|ch|o)es$", verb):
        return verb[:-2]
    if verb.endswith("ies"):
        return verb[:-1] if len(verb) <= _SHORT_IES else verb[:-3] + "y"
    return verb[:-1]


def _like(model: str, word: str) -> str:
    """*word* with the capitals of *model*."""
    if model.isupper() and len(model) > 1:
        return word.upper()
    return word[:1].upper() + word[1:] if model[:1].isupper() else word


@cache
def word_list(name: str) -> frozenset[str]:
    """One of the lists of core/data/english_words.tsv."""
    return frozenset(next(row["words"] for row in table("english_words") if row["list"] == name).split())


@cache
def known_verbs() -> frozenset[str]:
    """Common verbs by their base form."""
    return frozenset(row["base"] for row in table("english_verbs"))


@cache
def noun_like() -> frozenset[str]:
    """Those whose form with -s is often a plural noun: play, drink, work."""
    return frozenset(row["base"] for row in table("english_verbs") if row["noun"])


@cache
def irregular_pasts() -> frozenset[str]:
    """Past forms that do not end with -ed: went, said, put."""
    return frozenset(row["past"] for row in table("english_verbs") if row["past"])
