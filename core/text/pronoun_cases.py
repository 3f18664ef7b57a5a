"""The case of an English pronoun whose form could be two cases: her (him or his), his (her or hers), it, xir.

No parser is used: the surrounding words and word lists decide. docs/misgendering.md says how often they are right.

Also the forms of verbs after he and they. The published code gets some of them wrong; they are right here
(docs/misgendering.md#tango-by-probability): plays, says, buys; use, house, die.
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
    """Return the form after he or she of a verb in its form after they: play -> plays, cry -> cries, are -> is."""
    return like(verb, _to_singular(verb.lower()))


def plural(verb: str) -> str:
    """Return the form after they of a verb in its form after he or she: plays -> play, uses -> use, is -> are.

    A word that is not in the third person singular is returned unchanged (went, can, discuss).
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
    """Return one of the lists of core/data/english_words.tsv."""
    return frozenset(next(row["words"] for row in table("english_words") if row["list"] == name).split())


@cache
def known_verbs() -> frozenset[str]:
    """Return the base forms of common verbs."""
    return frozenset(row["base"] for row in table("english_verbs"))


@cache
def noun_like() -> frozenset[str]:
    """Return the base forms of verbs whose form with -s is often a plural noun: play, drink, work."""
    return frozenset(row["base"] for row in table("english_verbs") if row["noun"])


@cache
def irregular_pasts() -> frozenset[str]:
    """Return the past forms that do not end with -ed: went, said, put."""
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


def case_of(form: str, pronoun_set: PronounSet, rest: str, before: str = "") -> str:
    """Return the case of a form; where it could be two (his, it, her, xir), the words around it decide."""
    cases = [case for case in CASES if pronoun_set.form(case) == form]
    if len(cases) == 1:
        return cases[0]
    match = NEXT.match(rest)
    following = match.group(1).lower() if match else ""
    if match and rest[match.end() :][:1] == "-":  # her in-laws, his then-wife
        return "pos_dep"
    if cases[0] == "nom":  # it
        return "nom" if CLITIC.match(rest) or _is_verb_of_one(following) else "acc"
    if cases[0] == "acc":  # her, xir
        if match is None or following in AFTER_OBJECT or _is_bare_verb(before, following):
            return "acc"
        return "acc" if _is_adverb_after_object(following, rest[match.end() :]) else "pos_dep"
    return "pos_ind" if not following or following in AFTER_ALONE else "pos_dep"


def _is_verb_of_one(word: str) -> bool:
    return word in AUXILIARIES | MODALS or (plural(word) != word and plural(word) in known_verbs())


def _is_bare_verb(before: str, word: str) -> bool:
    """Return whether a word after her says what the person does: let her play, made her feel, drove her home.

    False for made her move, where move may be a noun, and for sold her home.
    """
    words = WORD.findall(before)
    led = words[-1].lower() if words else ""
    if word == "home":
        return led in HOMEWARDS
    if led in ("let", "lets"):
        return word in known_verbs()
    return led in WITH_BARE_VERB and word in known_verbs() - noun_like() | FEELINGS


def _is_adverb_after_object(word: str, after: str) -> bool:
    """Return whether a word in -ly after her is an adverb of the verb: met her briefly, saw her quickly leave.

    False for her family and her newly painted door.
    """
    if not word.endswith("ly") or word in LY_OF_THINGS:
        return False
    match = NEXT.match(after)
    return match is None or match.group(1).lower() in AFTER_OBJECT | DETERMINERS | ADVERBS | known_verbs()


def like(model: str, word: str) -> str:
    """Return *word* in upper case or with a capital if *model* is written so, else unchanged."""
    if model.isupper() and len(model) > 1:
        return word.upper()
    return word[:1].upper() + word[1:] if model[:1].isupper() else word
