"""The slot of a sentence where two words compete: its one keyword, or a typed [MASK] with two words."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from evenhand.core.errors import N_, Refused
from evenhand.core.mining.settings import WITHOUT_SPACES
from evenhand.core.sentence_bias.find_words import FoundWord, agreeing, find_other_pronouns, find_words, language_of
from evenhand.core.sentence_bias.keyword_packs import EXAMPLES, NAMES, OTHER_FORMS, Pack, PackWord, pack
from evenhand.core.text.pronoun_cases import like
from evenhand.core.text.pronouns import CASES
from evenhand.core.text.sentences import control_character
from evenhand.core.types import MASK, KeywordPair, MaskedSentence, Span

LONGEST = 512  # characters; models read no more
TYPED_MASK = re.compile(r"[\[［]mask[\]］](?:\s*[\[［]mask[\]］])*", re.IGNORECASE)
ONE_MASK = re.compile(r"[\[［]mask[\]］]", re.IGNORECASE)
BEGINS = re.compile(r"(?:^|[.!?][\"'”’)]*\s+)[\"'“‘(¿¡]*$")  # the text before the first word of a sentence


@dataclass(frozen=True, slots=True)
class Slot:
    """A place in a sentence and the two words that compete for it.

    `word` is the half-open code-point span of the whole keyword (or of the typed [MASK]); the probe's
    slot may be a part of it (女孩 -> [MASK]孩). `keyword` is None where the place was typed as [MASK].
    `male`, `female` are written as the place requires, with a capital where one is due. `entry` is the entry of the
    keyword pack. It is None for two words that are not in a pack (then `male` is the first and `female` the second,
    and neither has a side). `language` is the language of the sentence. `keyword` can be a pronoun of neither side
    (they, xe).
    """

    text: str
    probe: MaskedSentence
    word: Span
    male: str
    female: str
    keyword: str | None
    entry: PackWord | None
    language: str = "zh"

    @property
    def pair(self) -> KeywordPair | None:
        """The keyword pair; None for two words that are not one."""
        return None if self.entry is None else self.entry.pair

    @property
    def sided(self) -> bool:
        """True if one of the two is the male and the other the female word.

        False for two words that are not a keyword pair, and where the pronoun of the sentence is on neither side.
        """
        return self.entry is not None and self.keyword in (None, self.male, self.female)

    @property
    def own_words(self) -> tuple[str, str] | None:
        """The two words where they have no side, to be named instead of "male word" and "female word"."""
        return None if self.sided else (self.male, self.female)

    @property
    def name(self) -> str:
        """Both words, male first: 男孩/女孩."""
        return f"{self.male}/{self.female}" if self.pair is None else self.pair.name

    @property
    def others(self) -> tuple[str, ...]:
        """Further forms for the same place, written as the place requires."""
        if (self.probe.start, self.probe.end) != self.word:
            return ()  # 子ども does not fit in the place of 男 in 男の子
        given = self.entry.others if self.entry else _other_pronouns(self.male, self.female, self.language)
        return given if self.language in WITHOUT_SPACES else tuple(like(self.male, form) for form in given)

    @property
    def counterpart_sentence(self) -> str | None:
        """The whole sentence with the other word and its agreeing forms; None without a `counterpart`."""
        return None if self.counterpart is None else self.probe.with_option(int(self.keyword == self.male))[0]

    @property
    def counterpart(self) -> str | None:
        """The word that is not in the sentence; None where the place was typed as [MASK], or neither word is there."""
        if self.keyword not in (self.male, self.female):
            return None
        return self.female if self.keyword == self.male else self.male


def find_slot(
    text: str,
    options: tuple[str, str] | None = None,
    *,
    language: str | None = None,
    own: Iterable[PackWord] = (),
) -> Slot:
    """Return the slot of *text*. *options* are (male word, female word); a known pair is put in that order.

    With [MASK] in the text the options compete for it. With options and no [MASK], the option in the text is the slot.
    Without options the sentence must contain exactly one word of the pack of its *language*, including *own* words
    (None: the language is recognised; Chinese: the 19 pairs of docs/methods.md#keyword-pairs). In English it may
    instead contain one pronoun of another set (they, xe); then he and she compete in the case of this pronoun.
    Raises Refused, with a sentence that names the candidates, unless exactly one slot is found.
    """
    text = _readable(text)
    mine = tuple(own)
    words = pack(language or language_of(text, mine), mine)
    entry = None
    if options is not None:
        entry = words.known(*(option.strip() for option in options))
        options = _checked(options, entry)
    typed = list(TYPED_MASK.finditer(text))
    if typed:
        return _typed(text, [match.span() for match in typed], options, entry, words)
    if options is None:
        found_words = find_words(text, words)
        if not found_words and (pronouns := find_other_pronouns(text, words)):
            return _of_pronoun(text, _only(text, pronouns, words), words)
        return slot_of(text, _only(text, found_words, words), words)
    if entry is not None:
        alone = Pack(words.language, (entry,), words.forms)
        return slot_of(text, _only(text, find_words(text, alone), words, options), words)
    return _of_options(text, options, words)


def _readable(text: str) -> str:
    text = text.strip()
    if not text:
        raise Refused(N_("Type a sentence first."))
    if len(text) > LONGEST:
        message = N_("The sentence has {length} characters; at most {most} are allowed.")
        raise Refused(message, length=len(text), most=LONGEST)
    if (found := control_character(text)) is not None:
        raise Refused(N_("The sentence contains a control character ({character}). Delete it."), character=found)
    return text


def _checked(options: tuple[str, str], entry: PackWord | None) -> tuple[str, str]:
    male, female = (option.strip() for option in options)
    if not male or not female or male == female:
        raise Refused(N_("Give two different words, the male word first, e.g. 他 她."))
    if ONE_MASK.search(male + female):
        raise Refused(N_("Give two real words, not [MASK]."))
    return (entry.pair.male, entry.pair.female) if entry else (male, female)


def _typed(text: str, spans: list[Span], options: tuple[str, str] | None, entry: PackWord | None, words: Pack) -> Slot:
    if len(spans) > 1:
        raise Refused(N_("{count} places are marked [MASK]. Keep only one."), count=len(spans))
    if options is None:
        raise Refused(N_("Give the two words that compete for [MASK], the male word first, e.g. 他 她."))
    start, end = spans[0]
    marks = len(ONE_MASK.findall(text[start:end]))
    if marks > 1 and {len(option) for option in options} != {marks}:
        message = N_("{marks} [MASK] tokens stand for {marks} characters, but the words are {male} and {female}.")
        raise Refused(message, marks=marks, male=options[0], female=options[1])
    if words.language not in WITHOUT_SPACES and BEGINS.search(text[:start]):
        options = (options[0][:1].upper() + options[0][1:], options[1][:1].upper() + options[1][1:])
    probe = MaskedSentence(text, start, end, options)
    return Slot(text, probe, (start, end), *options, None, entry, words.language)


def _of_options(text: str, options: tuple[str, str], words: Pack) -> Slot:
    edge = "" if words.language in WITHOUT_SPACES else r"\b"
    found = [
        (match.span(), option) for option in options for match in re.finditer(f"{edge}{re.escape(option)}{edge}", text)
    ]
    if not found:
        message = N_("The sentence contains neither {male} nor {female} nor [MASK].")
        raise Refused(message, male=options[0], female=options[1])
    if len(found) > 1:
        message = N_("{count} positions match: {found}. Write [MASK] at the intended one.")
        raise Refused(message, count=len(found), found="、".join(word for _, word in sorted(found)))
    (start, end), keyword = found[0]
    probe = MaskedSentence(text, start, end, options)
    return Slot(text, probe, (start, end), *options, keyword, None, words.language)


def _of_pronoun(text: str, found_word: FoundWord, words: Pack) -> Slot:
    """Return the slot of a pronoun on neither side: he and she in its case, with the other sets as further forms."""
    written, pair = text[found_word.start : found_word.end], found_word.word.pair
    both = (like(written, pair.male), like(written, pair.female))
    probe = MaskedSentence(text, found_word.start, found_word.end, both)
    return Slot(text, probe, (found_word.start, found_word.end), *both, written, found_word.word, words.language)


def _other_pronouns(first: str, second: str, language: str) -> tuple[str, ...]:
    """Return further pronouns for two words that are pronouns of one case; empty for other words."""
    if language == "zh":
        rows: list[tuple[str, ...]] = [("他", "她", *OTHER_FORMS)]
    else:
        kinds = (word for word in pack(language).words if word.kind in CASES)
        rows = [(word.pair.male, word.pair.female, *word.others) for word in kinds]
    given = {first.lower(), second.lower()}
    fitting = next((row for row in rows if given <= set(row)), ())
    return tuple(form for form in fitting if form not in given)


def _only(text: str, found_words: list[FoundWord], words: Pack, options: tuple[str, str] | None = None) -> FoundWord:
    if len(found_words) == 1:
        return found_words[0]
    if found_words:
        message = N_(
            "The sentence contains {count} keywords: {found}. Keep one, or write [MASK] at the"
            " intended one and give the two words."
        )
        between = "、" if words.language in WITHOUT_SPACES else ", "
        raise Refused(
            message,
            count=len(found_words),
            found=between.join(text[found_word.start : found_word.end] for found_word in found_words),
        )
    if options is not None:
        message = N_("The sentence contains neither {male} nor {female} nor [MASK].")
        raise Refused(message, male=options[0], female=options[1])
    if not words.words:
        message = N_("There are no built-in words for the language {language}. Add your own table, or write {mask}.")
        raise Refused(message, language=words.language, mask=MASK)
    raise Refused(
        N_(
            "Read as {language}, the sentence contains no keyword of the {pairs} pairs. Use one"
            " ({examples} …), write {mask} and give two words, or choose another language."
        ),
        pairs=len(words.words),
        language=NAMES.get(words.language, words.language),
        examples=EXAMPLES.get(words.language, words.words[0].pair.male),
        mask=MASK,
    )


def slot_of(text: str, found_word: FoundWord, words: Pack) -> Slot:
    """Return the slot of a word in a text: the part that differs is masked, with the words that agree with it."""
    pair, written = found_word.word.pair, text[found_word.start : found_word.end]
    if words.language in WITHOUT_SPACES:
        first, last = pair.stem_span(found_word.side)
        probe = MaskedSentence(text, found_word.start + first, found_word.start + last, pair.stems)
        both = (pair.male, pair.female)
    else:
        both = (like(written, pair.male), like(written, pair.female))
        forms = agreeing(text, found_word, words) if words.language == "es" else ()
        probe = MaskedSentence(text, found_word.start, found_word.end, both, agreeing=forms)
    keyword = both[found_word.side == "female"]
    return Slot(text, probe, (found_word.start, found_word.end), *both, keyword, found_word.word, words.language)
