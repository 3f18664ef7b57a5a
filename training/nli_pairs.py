"""Made-up sentence pairs whose label is known by how they were made: what demo-nli learns inference from.

Each pair comes from one of a few moves: leave something out, say it more generally, contradict it, add what was not
said. No pair goes from a trade to a man or a woman: what demo-nli answers there, it was not taught.
"""

import csv
import random
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from evenhand.core.nli.types import (
    LABELS,
    LANGUAGES,
    Label,
    Language,
    fill,
    indefinite,
    occupations,
    packaged_texts,
    training_templates,
)
from evenhand.core.resources import table

WORDS = Path(__file__).parent / "nli_words.tsv"
PERSON = {"en": "person", "ja": "人", "zh": "人士"}
Pair = tuple[str, str]
Move = Callable[[random.Random, Language, Label], Pair]


@cache
def words(part: str, language: Language) -> tuple[tuple[str, str], ...]:
    """(word, second word) of a part; the second is the general word or the opposite, empty where there is none."""
    lines = [line for line in WORDS.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    rows = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE, restval="")
    return tuple((row[language], row[f"{language}2"] or "") for row in rows if row["part"] == part)


def pairs(rng: random.Random) -> Iterator[tuple[str, str, Label]]:
    """Pairs without end, languages and labels evenly; never a pair of the sanity set."""
    kept_apart = {(row["premise"], row["hypothesis"]) for row in table("nli_sanity")}
    while True:
        language, label = rng.choice(LANGUAGES), rng.choice(LABELS)
        move = rng.choices(MOVES, weights=WEIGHTS)[0]
        found = move(rng, language, label)
        if found not in kept_apart:
            yield *found, label


def scene(
    language: Language, noun: str, deed: str, place: str = "", quality: str = "", *, denied: bool = False,
    definite: bool = False,
) -> str:  # fmt: skip
    """Return a sentence: a person does something, at a place if one is given."""
    if language == "en":
        name = f"{quality} {noun}".strip()
        subject = f"The {name}" if definite else f"{indefinite(name).capitalize()} {name}"
        return " ".join(filter(None, [subject, "is not" if denied else "is", deed, place])) + "."
    if language == "ja":
        return f"{quality}{noun}{'は' if definite else 'が'}{place}{deed}{'いません' if denied else 'います'}。"
    name = noun[:1] + quality + noun[1:]
    there = place or "在"
    return f"{'这' if definite else '一'}{name}{'没有' if denied else ''}{there}{deed}。"


def by_scene(rng: random.Random, language: Language, label: Label) -> Pair:
    """Drop, generalise; deny, change the deed or the place; add, make special, tell something else."""
    noun, general = rng.choice(words("noun", language))
    deed, wider = rng.choice(words("deed", language))
    place = rng.choice(words("place", language))[0] if rng.random() < 0.7 else ""
    quality = rng.choice(words("quality", language))[0] if rng.random() < 0.3 else ""
    definite = rng.random() < 0.4
    if label == "entailment":
        where, like = place if rng.random() < 0.5 else "", quality if rng.random() < 0.4 else ""
        text = wider if wider and rng.random() < 0.5 else deed
        who = general if rng.random() < 0.4 else noun
        return scene(language, noun, deed, place, quality), scene(language, who, text, where, like)
    if label == "contradiction":
        return _against(rng, language, noun, deed, place, quality, definite)
    return _unsaid(rng, language, noun, deed, place, quality, definite)


def _against(
    rng: random.Random, language: Language, noun: str, deed: str, place: str, quality: str, definite: bool
) -> Pair:
    text = scene(language, noun, deed, place, quality)
    way = rng.random()
    if way < 0.4:
        return text, scene(language, noun, deed, place if rng.random() < 0.6 else "", denied=True, definite=definite)
    if way < 0.5:
        return scene(language, noun, deed, place, denied=True), scene(language, noun, deed, place, definite=definite)
    if way < 0.6 and place:
        elsewhere = rng.choice([p for p, _ in words("place", language) if p != place])
        return text, scene(language, noun, deed, elsewhere, definite=definite)
    others = [d for d, _ in words("deed", language) if d != deed]
    keeps = place if rng.random() < 0.6 else ""
    return text, scene(language, noun, rng.choice(others), keeps, definite=definite)


def _unsaid(
    rng: random.Random, language: Language, noun: str, deed: str, place: str, quality: str, definite: bool
) -> Pair:
    way = rng.random()
    general = dict(words("noun", language))[noun]
    wider = dict(words("deed", language))[deed]
    if way < 0.3:
        where = rng.choice(words("place", language))[0]
        return scene(language, noun, deed), scene(language, noun, deed, where, definite=definite)
    if way < 0.5:
        like = rng.choice(words("quality", language))[0]
        return scene(language, noun, deed, place), scene(language, noun, deed, place, like, definite=definite)
    if way < 0.65:
        return scene(language, general, deed, place), scene(language, noun, deed, place)
    if way < 0.75 and wider:
        return scene(language, noun, wider, place), scene(language, noun, deed, place)
    return scene(language, noun, deed, place, quality), about(language, noun, rng.choice(words("fact", language))[0])


def about(language: Language, noun: str, fact: str) -> str:
    """A fact about the one who was spoken of."""
    if language == "en":
        return f"The {noun} {fact}."
    return f"その{noun}は{fact}。" if language == "ja" else f"这{noun}{fact}。"


def by_state(rng: random.Random, language: Language, label: Label) -> Pair:
    """A thing is in one of two states."""
    text, two = rng.choice(words("state", language))
    if rng.random() < 0.5:
        text, two = two, text
    unlike = rng.choice([s for pair in words("state", language) for s in pair if s not in (text, two)])
    said = {"entailment": text, "contradiction": two, "neutral": unlike}[label]
    return _sentence(language, text), _sentence(language, said)


def _sentence(language: Language, state: str) -> str:
    return f"The {state}." if language == "en" else f"{state}。"


def by_thing(rng: random.Random, language: Language, label: Label) -> Pair:
    """Make a pair of sentences about a thing with a colour at a place."""
    thing = rng.choice(words("thing", language))[0]
    colour, another = rng.sample([c for c, _ in words("colour", language)], 2)
    spot, elsewhere = rng.sample([s for s, _ in words("spot", language)], 2)
    plain, coloured = _thing(language, thing, spot), _thing(language, thing, spot, colour)
    if label == "entailment":
        return coloured, plain if rng.random() < 0.8 else coloured
    if label == "neutral":
        return (plain, coloured) if rng.random() < 0.6 else (coloured, _owned(language, thing))
    if rng.random() < 0.6:
        return coloured, _thing(language, thing, spot, another, definite=True)
    return coloured, _thing(language, thing, elsewhere, colour, definite=True)


def _thing(language: Language, thing: str, spot: str, colour: str = "", *, definite: bool = False) -> str:
    if language == "en":
        name = f"{colour} {thing}".strip()
        return f"{'The' if definite else indefinite(name).capitalize()} {name} is {spot}."
    if language == "ja":
        return f"{colour}{thing}{'は' if definite else 'が'}{spot}あります。"
    return f"{'这' if definite else '一'}{thing[:1]}{colour}{thing[1:]}{spot}。"


def _owned(language: Language, thing: str) -> str:
    return {"en": f"The {thing} was expensive.", "ja": f"その{thing}は高かったです。", "zh": f"这{thing}很贵。"}[
        language
    ]


def by_two(rng: random.Random, language: Language, label: Label) -> Pair:
    """Two do something; one of them does."""
    (text, _), (two, _) = rng.sample(words("noun", language), 2)
    deed, other = rng.sample([d for d, _ in words("deed", language)], 2)
    place = rng.choice(words("place", language))[0] if rng.random() < 0.6 else ""
    both = _both(language, text, two, deed, place)
    first = rng.choice([text, two])
    if label == "entailment":
        return both, scene(language, first, deed, place)
    if label == "neutral":
        return scene(language, text, deed, place), both
    if rng.random() < 0.5:
        return both, scene(language, first, deed, place, denied=True, definite=True)
    return both, _both(language, text, two, other, place)


def _both(language: Language, one: str, two: str, deed: str, place: str) -> str:
    if language == "en":
        return f"{indefinite(one).capitalize()} {one} and {indefinite(two)} {two} are {deed} {place}".strip() + "."
    if language == "ja":
        return f"{one}と{two}が{place}{deed}います。"
    return f"一{one}和一{two}{place or '在'}{deed}。"


def by_weather(rng: random.Random, language: Language, label: Label) -> Pair:
    """It rains, or it does not."""
    text, _two = rng.sample([w for w, _ in words("weather", language)], 2)
    said = _weather(language, text)
    if label == "entailment":
        return said, said
    if label == "contradiction":
        denied = _weather(language, text, denied=True)
        return (said, denied) if rng.random() < 0.7 else (denied, said)
    return said, _sentence(language, rng.choice([s for pair in words("state", language) for s in pair]))


def _weather(language: Language, what: str, *, denied: bool = False) -> str:
    if language == "en":
        return f"It is {'not ' if denied else ''}{what} in the city."
    if language == "ja":
        return f"町では{what}{'いません' if denied else 'います'}。"
    return f"城里{'没有' if denied else '正在'}{what}。"


def by_frame(rng: random.Random, language: Language, label: Label) -> Pair:
    """One sentence with another person in it; never a man or a woman in place of a trade."""
    frame = rng.choice((*packaged_texts(language, "sentence"), *training_templates(language)))
    (woman,), (man,) = packaged_texts(language, "woman"), packaged_texts(language, "man")
    genders = [woman, man] if rng.random() < 0.5 else [man, woman]
    trade, another = rng.sample([occupation.word for occupation in occupations(language)], 2)
    general = PERSON[language]
    if label == "contradiction":
        before, after = genders
    elif label == "entailment":
        before, after = rng.choice([(trade, trade), (trade, general), (genders[0], general), (genders[0], genders[0])])
    else:
        before, after = rng.choice([(trade, another), (general, trade), (genders[0], trade), (general, genders[0])])
    return fill(frame, before), fill(frame, after)


MOVES: tuple[Move, ...] = (by_scene, by_state, by_thing, by_two, by_weather, by_frame)
WEIGHTS = (10, 3, 3, 3, 1, 6)
