"""Where in a sentence two words compete: its one keyword, or a typed [MASK] with two words."""

import re
from dataclasses import dataclass

from core.errors import N_, Refused
from core.resources import keyword_pairs
from core.text.keywords import find, probe
from core.text.sentences import control_character
from core.types import MASK, Candidate, KeywordPair, MaskedSentence, Span

LONGEST = 512  # characters; models read no more
TYPED_MASK = re.compile(r"(?:[\[［]mask[\]］]\s*)*[\[［]mask[\]］]", re.IGNORECASE)
ONE_MASK = re.compile(r"[\[［]mask[\]］]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Slot:
    """A place in a sentence and the two words that compete for it.

    `word` is the half-open code-point span of the whole keyword (or of the typed [MASK]); the probe's
    slot may be a part of it (女孩 -> [MASK]孩). `keyword` is None where the place was typed as [MASK].
    `pair` is the keyword pair, None for two words that are not one.
    """

    text: str
    probe: MaskedSentence
    word: Span
    male: str
    female: str
    keyword: str | None
    pair: KeywordPair | None

    @property
    def name(self) -> str:
        """Both words, male first: 男孩/女孩."""
        return f"{self.male}/{self.female}"

    @property
    def counterpart(self) -> str | None:
        """The word that does not stand in the sentence; None where the place was typed as [MASK]."""
        if self.keyword is None:
            return None
        return self.female if self.keyword == self.male else self.male


def find_slot(text: str, options: tuple[str, str] | None = None) -> Slot:
    """The slot of *text*; *options* are (male word, female word), put in that order where they are a known pair.

    With [MASK] in the text the options compete for it. With options and no [MASK], the one that stands in the
    text is the slot. Without options the sentence must hold exactly one keyword of the 19 pairs (SPEC 1.1).
    Raises Refused, with a sentence that names what was found, where there is no slot or more than one.
    """
    text = text.strip()
    if not text:
        raise Refused(N_("Type a sentence first."))
    if len(text) > LONGEST:
        message = N_("The sentence has {length} characters; {most} is the most that is read.")
        raise Refused(message, length=len(text), most=LONGEST)
    if (found := control_character(text)) is not None:
        raise Refused(N_("The sentence holds a control character ({character}). Delete it."), character=found)
    pair = None if options is None else _pair_of_options(options)
    if options is not None:
        options = _checked(options, pair)
    typed = list(TYPED_MASK.finditer(text))
    if typed:
        return _typed(text, [match.span() for match in typed], options, pair)
    if options is None:
        return _of_candidate(_only(text, find(text)))
    if pair is not None and options == (pair.male, pair.female):
        return _of_candidate(_only(text, find(text, (pair,)), options))
    return _of_options(text, options, pair)


def _pair_of_options(options: tuple[str, str]) -> KeywordPair | None:
    """The pair whose words, or else whose stems, the two options are, in either order."""
    asked = {option.strip() for option in options}
    for pair in keyword_pairs():
        if asked == {pair.male, pair.female}:
            return pair
    return None


def _checked(options: tuple[str, str], pair: KeywordPair | None) -> tuple[str, str]:
    male, female = (option.strip() for option in options)
    if not male or not female or male == female:
        raise Refused(N_("Give two different words, the male word first: for example 他 她."))
    if ONE_MASK.search(male + female):
        raise Refused(N_("The two words must be words, not [MASK]."))
    return (pair.male, pair.female) if pair else (male, female)


def _typed(text: str, spans: list[Span], options: tuple[str, str] | None, pair: KeywordPair | None) -> Slot:
    if len(spans) > 1:
        raise Refused(N_("{count} places are marked [MASK]. Leave one."), count=len(spans))
    if options is None:
        raise Refused(N_("Give the two words that compete for [MASK], the male word first: for example 他 她."))
    start, end = spans[0]
    marks = len(ONE_MASK.findall(text[start:end]))
    if marks > 1 and {len(option) for option in options} != {marks}:
        message = N_("{marks} times [MASK] stand for {marks} characters, but the words are {male} and {female}.")
        raise Refused(message, marks=marks, male=options[0], female=options[1])
    return Slot(text, MaskedSentence(text, start, end, options), (start, end), *options, None, pair)


def _of_options(text: str, options: tuple[str, str], pair: KeywordPair | None) -> Slot:
    found = [(match.span(), option) for option in options for match in re.finditer(re.escape(option), text)]
    if not found:
        message = N_("Neither {male} nor {female} stands in the sentence, and there is no [MASK].")
        raise Refused(message, male=options[0], female=options[1])
    if len(found) > 1:
        message = N_("{count} places fit: {found}. Write [MASK] for the one that is meant.")
        raise Refused(message, count=len(found), found="、".join(word for _, word in sorted(found)))
    (start, end), keyword = found[0]
    return Slot(text, MaskedSentence(text, start, end, options), (start, end), *options, keyword, pair)


def _only(text: str, found: list[Candidate], options: tuple[str, str] | None = None) -> Candidate:
    if len(found) == 1:
        return found[0]
    if found:
        message = N_(
            "{count} keywords stand in the sentence: {found}. Keep one, or write [MASK] for the one that is meant "
            "and give the two words."
        )
        raise Refused(message, count=len(found), found="、".join(one.keyword for one in found))
    if options is not None:
        message = N_("Neither {male} nor {female} stands in the sentence, and there is no [MASK].")
        raise Refused(message, male=options[0], female=options[1])
    raise Refused(
        N_(
            "No keyword of the {pairs} pairs stands in the sentence. Write one (他, 女孩, 爸爸 …), or write {mask} "
            "and give two words."
        ),
        pairs=len(keyword_pairs()),
        mask=MASK,
    )


def _of_candidate(candidate: Candidate) -> Slot:
    pair = candidate.pair
    return Slot(
        candidate.sentence,
        probe(candidate),
        (candidate.start, candidate.end),
        pair.male,
        pair.female,
        candidate.keyword,
        pair,
    )
