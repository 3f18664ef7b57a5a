"""The sentences of a set, each with the places of its person word and its profession; masks are set at these places.

Words are never found by searching: "manager" contains "man", and a template can contain "of".
Order: class, template, male then female then neutral words, professions (docs/association.md#the-sentences).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from evenhand.core.association.sets import SLOT, AssociationSet, Attribute, Person, Profession, Template
from evenhand.core.files.atomic_file import whole_file
from evenhand.core.types import MASK, MaskedSentence, Span

COLUMNS = ("sentence", "tm", "am", "tam", "person", "profession", "person_gender", "class", "template")
VOWELS = "aeiouAEIOU"


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence: `person_at` is the span of the person noun (without determiner), `profession_at` of the profession.

    Spans are half-open code points.
    """

    text: str
    template: Template
    person: Person
    profession: Profession
    person_at: Span
    profession_at: Span

    @property
    def noun(self) -> str:
        """The person word as it is written in the sentence."""
        return self.text[slice(*self.person_at)]

    @property
    def words_at(self) -> tuple[Span, ...]:
        """The spans of the whitespace words of the profession."""
        start, result = self.profession_at[0], []
        for word in self.text[slice(*self.profession_at)].split():
            start = self.text.index(word, start)
            result.append((start, start + len(word)))
            start += len(word)
        return tuple(result)

    @property
    def tm(self) -> str:
        """The sentence with the person word masked."""
        return masked(self.text, [self.person_at])

    @property
    def am(self) -> str:
        """The sentence with each word of the profession masked."""
        return masked(self.text, self.words_at)

    @property
    def tam(self) -> str:
        """The sentence with the person word and each word of the profession masked."""
        return masked(self.text, [self.person_at, *self.words_at])

    def target_probe(self) -> MaskedSentence:
        """Return the probe for P_T: the person word is masked, the profession is visible."""
        return MaskedSentence(self.text, *self.person_at, (self.noun,))

    def prior_probe(self, attribute: Attribute) -> MaskedSentence:
        """Return the probe for P_prior: the person word is masked, the profession hidden as a whole or word by word."""
        hidden = self.words_at if attribute == "word" else (self.profession_at,)
        return MaskedSentence(self.text, *self.person_at, (self.noun,), hidden)


def masked(text: str, spans: Sequence[Span]) -> str:
    """Return *text* with one [MASK] in place of each span."""
    for start, end in sorted(spans, reverse=True):
        text = text[:start] + MASK + text[end:]
    return text


def sentences(association_set: AssociationSet) -> Iterator[Sentence]:
    """Yield every sentence of the set, in order."""
    for kind in association_set.kinds:
        professions = [profession for profession in association_set.professions if profession.kind == kind]
        for number, template in enumerate(association_set.templates):
            for person in association_set.persons:
                for profession in professions:
                    yield _sentence(template, person, profession, an=association_set.an, acting=number > 0)


def _sentence(template: Template, person: Person, profession: Profession, *, an: bool, acting: bool) -> Sentence:
    """Return the filled template; the first letter of the sentence is a capital."""
    form = profession.form(person.gender)
    noun = person.acting if acting and person.acting else person.word
    feminine = person.gender == "female"
    fill = {
        "person": noun,
        "profession": form,
        "a": "an" if an and form[:1] in VOWELS else "a",
        "un": "una" if feminine else "un",
        "el": "la" if feminine else "el",
    }
    text, at, places = "", 0, {}
    for slot in SLOT.finditer(template.text):
        text += template.text[at : slot.start()]
        if slot[1] == "person" and person.determiner:
            text += person.determiner + ("" if ord(person.determiner[-1]) > 0x2E7F else " ")
        places[slot[1]] = (len(text), len(text) + len(fill[slot[1]]))
        text += fill[slot[1]]
        at = slot.end()
    text += template.text[at:]
    first = text[:1].upper()
    if len(first) == 1:  # a letter whose capital is two would move every place
        text = first + text[1:]
    return Sentence(text, template, person, profession, places["person"], places["profession"])


def corpus_row(sentence: Sentence) -> tuple[str, ...]:
    """Return the cells in the order of COLUMNS."""
    profession = sentence.text[slice(*sentence.profession_at)]
    kind, gender = sentence.profession.kind, sentence.person.gender
    return (
        sentence.text,
        sentence.tm,
        sentence.am,
        sentence.tam,
        sentence.noun,
        profession,
        gender,
        kind,
        sentence.template.name,
    )


def corpus_tsv(association_set: AssociationSet) -> str:
    """Return the whole corpus as TSV with the columns of COLUMNS."""
    lines = [COLUMNS, *(corpus_row(sentence) for sentence in sentences(association_set))]
    return "".join("\t".join(cells) + "\n" for cells in lines)


def write_corpus(association_set: AssociationSet, path: Path) -> None:
    """Write `corpus_tsv` to *path*. Raises BadFile where it cannot be written."""
    with whole_file(path) as write:
        write(corpus_tsv(association_set))
