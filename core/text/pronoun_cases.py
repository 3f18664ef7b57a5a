"""Which case an English pronoun stands in where its form could be two: her (him or his), his (her or hers), it, xir.

There is no parser: the words around it and lists decide. How often they are right: docs/misgendering.md. Verbs after
he and they: the rules that the published code gets wrong are right here (docs/misgendering.md#tango-by-probability):
plays, says, buys; use, house, die.
"""

import re
from functools import cache

from evenhand.core.resources import table
from evenhand.core.text.pronouns import CASES, PronounSet

# they-form -> he-form; verbs whose other forms differ too, and those that no rule of spelling gives.
IRREGULAR = {"are": "is", "were": "was", "have": "has", "do": "does", "go": "goes", "quiz": "quizzes", "gas": "gasses"}
IRREGULAR |= {"whiz": "whizzes", "stomach": "stomachs", "axe": "axes", "solo": "solos"}
NEGATED = {"aren": "isn", "weren": "wasn", "haven": "hasn", "don": "doesn"}  # before 't
_SINGULAR = IRREGULAR | NEGATED
_PLURAL = {singular: plural for plural, singular in _SINGULAR.items()}

_SHORT_IES = 4  # dies, lies, ties, vies: -ie; cries, flies, tries: -y


def singular(verb: str) -> str:
    """The form after he or she of a verb as it stands after they: play -> plays, cry -> cries, are -> is."""
    return like(verb, _to_singular(verb.lower()))


def plural(verb: str) -> str:
    """The form after they of a verb as it stands after he or she: plays -> play, uses -> use, dies -> die, is -> are.

    A word that is no third person singular comes back unchanged (went, can, discuss).
    """
    return like(verb, _to_plural(verb.lower()))


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


WORD = re.compile(r"\w+")
NEXT = re.compile(r"\s+(\w+)")
CLITIC = re.compile(r"['’](s|re|ve)\b", re.IGNORECASE)

MODALS, ADVERBS, AUXILIARIES = word_list("modals"), word_list("adverbs"), word_list("auxiliaries")
DETERMINERS = word_list("determiners")
AFTER_OBJECT = word_list("after_object")
AFTER_ALONE = AFTER_OBJECT - {"i", "you", "we", "a", "an"}  # after his: no noun follows, so it stands by itself
LY_OF_THINGS = word_list("ly_of_things")
WITH_BARE_VERB, FEELINGS = word_list("with_bare_verb"), word_list("feelings")
HOMEWARDS = word_list("homewards")


def case_of(form: str, one: PronounSet, rest: str, before: str = "") -> str:
    """Which case a form stands in, by the words around it where it could be two (his; her and xir)."""
    cases = [case for case in CASES if one.form(case) == form]
    if len(cases) == 1:
        return cases[0]
    found = NEXT.match(rest)
    following = found.group(1).lower() if found else ""
    if found and rest[found.end() :][:1] == "-":  # her in-laws, his then-wife
        return "pos_dep"
    if cases[0] == "nom":  # it
        return "nom" if CLITIC.match(rest) or _is_verb_of_one(following) else "acc"
    if cases[0] == "acc":  # her, xir
        if found is None or following in AFTER_OBJECT or _is_bare_verb(before, following):
            return "acc"
        return "acc" if _is_adverb_after_object(following, rest[found.end() :]) else "pos_dep"
    return "pos_ind" if not following or following in AFTER_ALONE else "pos_dep"


def _is_verb_of_one(word: str) -> bool:
    return word in AUXILIARIES | MODALS or (plural(word) != word and plural(word) in known_verbs())


def _is_bare_verb(before: str, word: str) -> bool:
    """Whether a word after her is what her does: let her play, made her feel, drove her home; not made her move (a noun
    too), sold her home."""
    words = WORD.findall(before)
    led = words[-1].lower() if words else ""
    if word == "home":
        return led in HOMEWARDS
    if led in ("let", "lets"):
        return word in known_verbs()
    return led in WITH_BARE_VERB and word in known_verbs() - noun_like() | FEELINGS


def _is_adverb_after_object(word: str, after: str) -> bool:
    """Whether a word in -ly after her says how: met her briefly, saw her quickly leave; not her family, her newly
    painted door.
    """
    if not word.endswith("ly") or word in LY_OF_THINGS:
        return False
    found = NEXT.match(after)
    return found is None or found.group(1).lower() in AFTER_OBJECT | DETERMINERS | ADVERBS | known_verbs()


def like(model: str, word: str) -> str:
    """*word* in upper case, with a capital, or lower, as *model* is."""
    if model.isupper() and len(model) > 1:
        return word.upper()
    return word[:1].upper() + word[1:] if model[:1].isupper() else word
