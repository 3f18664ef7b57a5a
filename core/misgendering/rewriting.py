"""TANGO to Prob-TANGO: a generation becomes a text with a slot for every pronoun set and with agreeing verbs.

See docs/misgendering.md#tango-by-probability.

A text is copied up to its second pronoun. The first pronoun becomes the slot. If it is a nominative, its verb has two
forms, one after they and one after the other sets. No parser is used: words, lists and neighbours decide, so some
cases are left out (see docs/misgendering.md): the verb of a relative clause between pronoun and verb, verbs joined at
a distance that could be nouns, 's before a participle of both readings, two objects after a verb (told her stories).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from evenhand.core.errors import N_
from evenhand.core.text.pronoun_cases import (
    ADVERBS,
    AFTER_OBJECT,
    AUXILIARIES,
    CLITIC,
    DETERMINERS,
    MODALS,
    NEXT,
    WORD,
    case_of,
    irregular_pasts,
    known_verbs,
    like,
    noun_like,
    plural,
    singular,
    word_list,
)
from evenhand.core.text.pronouns import PronounSet, first_pronoun, forms, names_of, set_named

NO_PRONOUN = N_("No pronoun in the text refers to a person, so there is no slot.")

_JOINED = re.compile(r",(?:\s+(?:and|or|but)\b)?|\b(?:and|or|but)\b", re.IGNORECASE)
_OPEN = re.compile(r"[.!?,;:\"“]\s*$")  # the text before a clause
_CLAUSE_END = re.compile(r"[.;:!?\n]")

INVERTING = word_list("inverting")  # "where does she", "nor has he"
PERFECT, NOT_VERBS = word_list("perfect"), word_list("not_verbs")
OPENERS = word_list("openers")

Piece = str | tuple[str, str]  # text, or a verb as (after he, after they)


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A text with a slot: `before`, the slot of `case`, and `after` with its verbs in both numbers.

    `written` is the form that stood there, whose capitals the others take; `source` the set it is of.
    """

    before: tuple[Piece, ...]
    after: tuple[Piece, ...]
    case: str
    written: str
    source: str

    def text_with(self, pronoun_set: PronounSet) -> str:
        """Return the text with the form of a set; verbs are plural with they, singular with every other set."""
        many = pronoun_set.nom == "they"
        return _joined(self.before, many) + like(self.written, pronoun_set.form(self.case)) + _joined(self.after, many)


def rewritten(completion: str, dataset: str = "tango", extra: Sequence[PronounSet] = ()) -> Rewritten | None:
    """Rewrite a completion with its first pronoun as a slot, cut before the second; None without a pronoun."""
    known = forms(dataset, extra)
    first = first_pronoun(completion, known)
    if first is None:
        return None
    second = first_pronoun(completion[first.end :], known)
    text = completion if second is None else completion[: first.end + second.start].rstrip()
    written, rest = completion[first.start : first.end], text[first.end :]
    source = next(iter(names_of(first.form, dataset, extra)))
    pronoun_set = next((e for e in extra if e.name == source), None) or set_named(source, dataset)
    case = case_of(first.form, pronoun_set, rest, text[: first.start])
    before, after = ((text[: first.start],), (rest,)) if case != "nom" else _agreeing(text[: first.start], rest, source)
    return Rewritten(before, after, case, written, source)


def _joined(pieces: Sequence[Piece], many: bool) -> str:
    return "".join(piece if isinstance(piece, str) else piece[many] for piece in pieces)


def _agreeing(before: str, rest: str, source: str) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    """Return both sides of a nominative, with the verbs that agree with it in both numbers."""
    if (turned := _inverted(before)) is not None:
        return turned, (rest,)
    many = source == "they"
    if (clitic := CLITIC.match(rest)) is not None:
        after = rest[clitic.end() :]
        return (before,), (_contracted(clitic.group(1), after, clitic.group(0)), *_later(after, many, "are"))
    place = _verb_place(rest)
    verb = None if place is None else _both(rest[slice(*place)], many)
    if place is None or verb is None:
        return (before,), (rest,)
    start, end = place
    return (before,), (rest[:start], verb, *_later(rest[end:], many, rest[start:end]))


def _inverted(before: str) -> tuple[Piece, ...] | None:
    """Return the text before a subject after its auxiliary ("Where does", "nor is"); None without such an auxiliary."""
    words = list(WORD.finditer(before))
    negated = len(words) > 1 and words[-1].group().lower() == "t"
    at = len(words) - (2 if negated else 1)
    if at < 0 or words[at].group().lower() not in AUXILIARIES or before[words[-1].end() :].strip():
        return None
    word = words[at]
    if not _begins(before, words, at) and words[at - 1].group().lower() not in INVERTING:
        return None
    return before[: word.start()], _numbers(word.group()), before[word.end() :]


def _begins(before: str, words: Sequence[re.Match[str]], at: int) -> bool:
    """Tell if a word begins a clause, or comes right after an "and" or "but" that begins one."""
    if at == 0 or _OPEN.search(before[: words[at].start()]):
        return True
    return words[at - 1].group().lower() in OPENERS and _begins(before, words, at - 1)


def _numbers(auxiliary: str) -> tuple[str, str]:
    low = auxiliary.lower()
    return (auxiliary, plural(auxiliary)) if plural(low) != low else (singular(auxiliary), auxiliary)


def _contracted(clitic: str, after: str, written: str) -> tuple[str, str]:
    """Return the endings for he and they: 's and 're or 've; 's before a word such as been or won is has."""
    mark, low = written[0], clitic.lower()
    if low == "s":
        following = [word.group().lower() for word in WORD.finditer(after)][:2]
        verb = next((word for word in following if word not in ADVERBS), "")
        low = "ve" if verb in PERFECT else "re"
    plural_form, singular_form = mark + low, mark + "s"
    return (singular_form.upper(), plural_form.upper()) if clitic.isupper() else (singular_form, plural_form)


def _verb_place(rest: str) -> tuple[int, int] | None:
    """Return the span of the verb after a subject: the next word that is not an adverb, with only spaces between."""
    at = 0
    while (match := NEXT.match(rest, at)) is not None:
        word = match.group(1).lower()
        if word not in ADVERBS and not (word.endswith("ly") and word not in known_verbs()):
            return match.span(1)
        at = match.end()
    return None


def _both(verb: str, many: bool) -> tuple[str, str] | None:
    """Return the forms (after he, after they) of a verb; None if both are equal or the word is not a finite verb."""
    low = verb.lower()
    if low in AUXILIARIES:
        return _numbers(verb)
    if many:
        return (singular(verb), verb) if _is_present(low) else None
    changed = plural(verb)
    return None if changed == verb or low in NOT_VERBS else (verb, changed)


def _is_present(verb: str) -> bool:
    """Tell if a word after they is a verb in the present: a known verb, and not a past form, modal or other word."""
    if verb in known_verbs():
        return verb not in irregular_pasts()
    loose = verb in MODALS | AFTER_OBJECT | DETERMINERS | NOT_VERBS or not verb.isalpha()
    return not (loose or verb in irregular_pasts() or verb.endswith(("ed", "ing")))


def _later(text: str, many: bool, first: str) -> tuple[Piece, ...]:
    """Return the rest of the clause, with the verbs joined to the *first*, each in both numbers."""
    end = match.start() if (match := _CLAUSE_END.search(text)) else len(text)
    pieces: list[Piece] = []
    at = 0
    for joined in _JOINED.finditer(text, 0, end):
        place = _verb_place(text[joined.end() : end])
        if place is None or joined.start() < at:
            continue
        begins, ends = (joined.end() + offset for offset in place)
        both = _both(text[begins:ends], many)
        # A verb of the other number has another subject.
        if both is None or both[many] != text[begins:ends]:
            continue
        direct = not text[at : joined.start()].strip()
        match = NEXT.match(text, ends, end)
        after = match.group(1).lower() if match else ""
        if _is_joined_verb(both, joined.group().lower(), direct, after, many and first.lower() in AUXILIARIES, many):
            pieces += [text[at:begins], both]
            at = ends
    return (*pieces, text[at:])


def _is_joined_verb(both: tuple[str, str], joint: str, direct: bool, after: str, after_are: bool, many: bool) -> bool:
    """Tell if a word after a comma or an "and" (*joint*) is a verb of the same subject, and not a noun of the object.

    The word must be an auxiliary, or a known verb that follows the first verb directly, or (not after a comma alone) a
    verb that looks like no noun, that has an article or "to" after it, or that comes after "but". *after_are*:
    adjectives may follow as well (they are small but clean), so only an article decides.
    """
    if both[1].lower() in AUXILIARIES:
        return True
    base = both[1].lower()
    if base not in known_verbs():
        return False
    if joint == ",":
        return direct and not after_are
    if direct or after in DETERMINERS:
        return True
    return not after_are and (after == "to" or "but" in joint or (base not in noun_like() and not many))
